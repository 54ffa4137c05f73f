"""Q-6: a follower that was a candidate in its epoch ends when it is started again."""

from __future__ import annotations

from collections.abc import Callable

from insync.conformance.live.live_quorum import VOTE, LiveQuorum
from insync.conformance.live.scenarios.contested_election import (
    HELD,
    LOSER,
    VOTER,
    WINNER,
    contested_plan,
    hold_election,
)
from insync.conformance.live.scenarios.quorum_scenario import QuorumOutcome, QuorumScenario, ending

__all__ = ["CANDIDATE_AGAIN"]


def _run(quorum: LiveQuorum, tell: Callable[[str], None]) -> QuorumOutcome:
    held = hold_election(quorum)
    to_winner = quorum.hold(VOTE, LOSER, WINNER)
    tell(f"{LOSER} and {WINNER} stand for election in epoch 1; {VOTER} votes for {WINNER}, and learns no more of it")
    quorum.kill(LOSER)
    for one in (held.to_voter, to_winner):
        one.drop()
    held.to_voter.let_pass()
    quorum.start(LOSER)
    tell(f"{LOSER}, which follows {WINNER} and has its records, is killed and started again")
    code, said = ending(quorum, LOSER)
    tell(f"{LOSER} {'runs' if code is None else f'asks {VOTER} for its vote, and has ended'}")
    led = quorum.leader() is not None
    to_winner.release()
    held.release()
    quorum.until(lambda: quorum.leader_known(VOTER) == WINNER, f"that {VOTER} learns of {WINNER}")
    if code is not None:
        quorum.start(LOSER)
        quorum.until(lambda: quorum.leader_known(LOSER) == WINNER, f"that {LOSER} follows again")
        tell(f"{VOTER} learns of {WINNER}; {LOSER} is started once more, and follows")
    return QuorumOutcome(LOSER, code, said, led)


CANDIDATE_AGAIN = QuorumScenario(
    name="q-6",
    title="a follower that has stood for election in its epoch ends when it is started again",
    means=f"{HELD}, and a controller that is killed and starts again",
    plan=contested_plan(dynamic=False),
    run=_run,
    pre_votes=True,
)
