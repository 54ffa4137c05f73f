"""Q-18: two controllers lead one epoch: who leads has removed itself, and the only voter left is started again."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from insync.conformance.live.live_quorum import FETCH, LiveQuorum
from insync.conformance.live.proxies import Hold
from insync.conformance.live.scenarios.contested_election import (
    HELD,
    LOSER,
    VOTER,
    WINNER,
    contested_election,
    contested_plan,
    wait_for_copy,
)
from insync.conformance.live.scenarios.quorum_scenario import QuorumOutcome, QuorumScenario, ending, removed

__all__ = ["SECOND_LEADER"]


def _run(quorum: LiveQuorum, tell: Callable[[str], None]) -> QuorumOutcome:
    contested_election(quorum, tell)
    removed(quorum, WINNER, VOTER)
    wait_for_copy(quorum)
    tell(f"an operator has {VOTER} removed from the voters")
    fetches = quorum.hold(FETCH, LOSER, WINNER)
    before = quorum.log_bytes(WINNER)
    threading.Thread(target=_remove, args=(quorum,), daemon=True).start()  # which is answered once it is committed
    quorum.until(lambda: quorum.log_bytes(WINNER) > before, f"that {WINNER} has written it")
    quorum.until(lambda: _has_copy(quorum, fetches), f"that {LOSER} has it")
    tell(f"and {WINNER}, which leads: {LOSER} has the record, and {WINNER} does not know that yet")
    quorum.kill(LOSER)
    fetches.drop()
    quorum.start(LOSER)
    quorum.until(lambda: quorum.leads(LOSER) or quorum.ended(LOSER) is not None, f"that {LOSER} leads")
    known = {node: quorum.election(node) for node in (LOSER, WINNER) if quorum.leads(node)}
    leaders = {node: told.epoch for node, told in known.items() if told is not None}
    told = " and ".join(f"{node} leads epoch {epoch}" for node, epoch in leaders.items())
    tell(f"{LOSER} is killed and started again; {told or 'nobody leads'}")
    both = len(leaders) > 1 and len({*leaders.values()}) == 1
    fetches.release()
    code, said = ending(quorum, LOSER)
    return QuorumOutcome(LOSER, code, said, led=bool(leaders), leaders=tuple(leaders) if both else ())


def _has_copy(quorum: LiveQuorum, fetches: Hold) -> bool:
    """Whether the follower has all that the leader has written; a fetch of one who has not goes on."""
    if quorum.log_bytes(LOSER) == quorum.log_bytes(WINNER):
        return True
    if fetches.waiting:
        fetches.let_pass()
    return False


def _remove(quorum: LiveQuorum) -> None:
    with contextlib.suppress(OSError):
        quorum.remove_voter(WINNER, WINNER)


SECOND_LEADER = QuorumScenario(
    name="q-18",
    title="two controllers lead one epoch",
    means=f"{HELD}, the removal of two voters, and a controller that is killed and starts again",
    plan=contested_plan(dynamic=True),
    run=_run,
    pre_votes=True,
)
