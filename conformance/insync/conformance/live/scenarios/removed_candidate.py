"""Q-17: a controller that has stood for election in its epoch and was removed from the voters cannot be started."""

from __future__ import annotations

from collections.abc import Callable

from insync.conformance.live.live_quorum import LiveQuorum
from insync.conformance.live.scenarios.contested_election import (
    HELD,
    LOSER,
    WINNER,
    contested_election,
    contested_plan,
    wait_for_copy,
)
from insync.conformance.live.scenarios.quorum_scenario import QuorumOutcome, QuorumScenario, ending, removed

__all__ = ["REMOVED_CANDIDATE"]

_ATTEMPTS = 3


def _run(quorum: LiveQuorum, tell: Callable[[str], None]) -> QuorumOutcome:
    contested_election(quorum, tell)
    removed(quorum, WINNER, LOSER)
    wait_for_copy(quorum)
    tell(f"an operator has {LOSER} removed from the voters, which it learns from its log")
    quorum.kill(LOSER)
    code, said = None, ""
    for attempt in range(_ATTEMPTS):
        quorum.start(LOSER)
        code, said = ending(quorum, LOSER)
        tell(f"{LOSER} is started{' again' if attempt else ''}, and {'runs' if code is None else 'has ended'}")
        if code is None:
            break
    return QuorumOutcome(LOSER, code, said, led=quorum.leader() is not None)


REMOVED_CANDIDATE = QuorumScenario(
    name="q-17",
    title="a controller that has stood for election in its epoch and was removed from the voters cannot be started",
    means=f"{HELD} in one election, the removal of a voter, and a controller that is killed and starts again",
    plan=contested_plan(dynamic=True),
    run=_run,
    pre_votes=True,
)
