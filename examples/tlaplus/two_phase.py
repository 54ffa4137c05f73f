"""Two-phase commit: the TLA+ module TwoPhase, by Leslie Lamport.

A transaction manager asks the resource managers of module TCommit, and decides for them. Messages are never lost, and
may be received again, so what was sent is a set.
"""

from __future__ import annotations

import enum

from insync.model import Array, Bool, Bound, BoundValues, Bounds, Condition, Model, Or, Set, State, StateView, action
from insync.model import invariant, refines, require
from tcommit import Manager, Phase, TCommit


class Decision(enum.Enum):
    """What the transaction manager has decided."""

    NONE_YET = 0
    COMMIT = 1
    ABORT = 2


class TwoPhase(Model):
    """The transaction manager commits when all are prepared, and may abort before."""

    bounds = Bounds(managers=Bound(3, 1, 12, "resource managers"))
    headline = ("consistent", "implements_tcommit")

    def declare(self, b: BoundValues) -> State:
        return State(
            phase=Array(Manager, Phase),
            decision=Decision,
            heard_from=Set(Manager),
            # what was sent:
            prepared=Set(Manager),
            commit=Bool,
            abort=Bool,
        )

    # the transaction manager

    @action
    def hear(self, s: StateView, manager: Manager) -> None:
        require(s.decision == Decision.NONE_YET, s.prepared.contains(manager))
        s.heard_from |= {manager}

    @action
    def decide_commit(self, s: StateView) -> None:
        require(s.decision == Decision.NONE_YET, s.heard_from == set(self.all(Manager)))
        s.decision = Decision.COMMIT
        s.commit = True

    @action
    def decide_abort(self, s: StateView) -> None:
        require(s.decision == Decision.NONE_YET)
        s.decision = Decision.ABORT
        s.abort = True

    # the resource managers

    @action
    def prepare(self, s: StateView, manager: Manager) -> None:
        require(s.phase[manager] == Phase.WORKING)
        s.phase[manager] = Phase.PREPARED
        s.prepared |= {manager}

    @action
    def give_up(self, s: StateView, manager: Manager) -> None:
        """Nobody needs to be told: the transaction manager may abort at any time."""
        require(s.phase[manager] == Phase.WORKING)
        s.phase[manager] = Phase.ABORTED

    @action
    def obey_commit(self, s: StateView, manager: Manager) -> None:
        require(s.commit)
        s.phase[manager] = Phase.COMMITTED

    @action
    def obey_abort(self, s: StateView, manager: Manager) -> None:
        require(s.abort)
        s.phase[manager] = Phase.ABORTED

    @invariant
    def consistent(self, s: StateView, a: Manager, c: Manager) -> Condition:
        """No two managers end differently."""
        return Or(s.phase[a] != Phase.ABORTED, s.phase[c] != Phase.COMMITTED)

    @refines(TCommit)
    def implements_tcommit(self, s: StateView, other: StateView) -> None:
        """What the resource managers do is a transaction commit."""
        other.phase = s.phase
