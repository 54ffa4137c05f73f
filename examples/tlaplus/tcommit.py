"""Transaction commit: the TLA+ module TCommit, by Leslie Lamport.

Resource managers decide one by one whether a transaction is committed or aborted, and never decide differently.
"""

from __future__ import annotations

import enum

from insync.model import Array, Bound, BoundValues, Bounds, Condition, Index, Model, Or, State, StateView, action
from insync.model import bound, for_all, invariant, require


class Manager(Index, symmetric=True):
    """A resource manager, which takes part in the transaction."""

    size = bound("managers")


class Phase(enum.Enum):
    """How far a manager is."""

    WORKING = 0
    PREPARED = 1
    COMMITTED = 2
    ABORTED = 3


class TCommit(Model):
    """All managers commit, or none does."""

    bounds = Bounds(managers=Bound(3, 1, 12, "resource managers"))
    headline = ("consistent",)

    def declare(self, b: BoundValues) -> State:
        return State(phase=Array(Manager, Phase))

    @action
    def prepare(self, s: StateView, manager: Manager) -> None:
        require(s.phase[manager] == Phase.WORKING)
        s.phase[manager] = Phase.PREPARED

    @action
    def commit(self, s: StateView, manager: Manager) -> None:
        """Once all are prepared, or have committed already."""
        require(s.phase[manager] == Phase.PREPARED)
        require(for_all(Manager, lambda m: Or(s.phase[m] == Phase.PREPARED, s.phase[m] == Phase.COMMITTED)))
        s.phase[manager] = Phase.COMMITTED

    @action
    def abort(self, s: StateView, manager: Manager) -> None:
        """As long as nobody has committed."""
        require(Or(s.phase[manager] == Phase.WORKING, s.phase[manager] == Phase.PREPARED))
        require(for_all(Manager, lambda m: s.phase[m] != Phase.COMMITTED))
        s.phase[manager] = Phase.ABORTED

    @invariant
    def consistent(self, s: StateView, a: Manager, c: Manager) -> Condition:
        """No two managers decide differently."""
        return Or(s.phase[a] != Phase.ABORTED, s.phase[c] != Phase.COMMITTED)
