"""Q-6: a follower that was a candidate in its epoch ends when it is started again."""

from __future__ import annotations

from collections.abc import Callable

from insync.conformance.live.live_quorum import BEGIN_QUORUM_EPOCH, END_QUORUM_EPOCH, FETCH, VOTE, LiveQuorum
from insync.conformance.live.nodes.controller_files import ElectionOnDisk, QuorumPlan
from insync.conformance.live.scenarios.quorum_scenario import QuorumOutcome, QuorumScenario, ending

__all__ = ["CANDIDATE_AGAIN"]

_LOSER, _WINNER, _VOTER = 1, 2, 3
_SOON, _TOLD, _HELD, _NEVER = "1500", "10000", "60000", "600000"
"""Milliseconds: who stands for election does so soon, who is to vote does not stand, and nobody loses patience.

A leader tells others that it leads after each half of its fetch timeout, and goes on without a majority for 1.5 of it.
"""


def _run(quorum: LiveQuorum, tell: Callable[[str], None]) -> QuorumOutcome:
    to_voter = quorum.hold(VOTE, _LOSER, _VOTER)
    to_winner = quorum.hold(VOTE, _LOSER, _WINNER)
    of_winner = [quorum.hold(key, _WINNER, _LOSER) for key in (VOTE, FETCH)]
    winning = quorum.hold(VOTE, _WINNER, _VOTER)
    news = [quorum.hold(key, _WINNER, _VOTER) for key in (BEGIN_QUORUM_EPOCH, END_QUORUM_EPOCH)]
    news += [quorum.hold(key, _VOTER, other) for key in (VOTE, FETCH) for other in (_LOSER, _WINNER)]
    quorum.start(*quorum.plan.numbers)

    has_stood = ElectionOnDisk(1, -1, _LOSER)
    to_voter.let_pass()  # the request for a pre-vote, whose answer is a majority
    quorum.until(lambda: quorum.election(_LOSER) == has_stood, f"that {_LOSER} stands for election")
    winning.release()
    quorum.until(lambda: quorum.leader_known(_WINNER) == _WINNER, f"that {_WINNER} is elected")
    to_winner.release()
    quorum.until(lambda: quorum.leader_known(_LOSER) == _WINNER, f"that {_LOSER} follows {_WINNER}")
    to_winner = quorum.hold(VOTE, _LOSER, _WINNER)
    quorum.until(lambda: quorum.committed(_WINNER) > 0, f"that {_LOSER} has records of {_WINNER}")
    tell(f"{_LOSER} and {_WINNER} stand for election in epoch 1; {_VOTER} votes for {_WINNER}, and hears no more of it")
    quorum.kill(_LOSER)
    for one in (to_voter, to_winner):
        one.drop()
    to_voter.let_pass()
    quorum.start(_LOSER)
    tell(f"{_LOSER}, which follows {_WINNER} and has its records, is killed and started again")
    code, said = ending(quorum, _LOSER)
    tell(f"{_LOSER} {'runs' if code is None else f'asks {_VOTER} for its vote, and has ended'}")
    led = quorum.leader() is not None
    for one in (to_voter, to_winner, *of_winner, *news):
        one.release()
    quorum.until(lambda: quorum.leader_known(_VOTER) == _WINNER, f"that {_VOTER} hears of {_WINNER}")
    if code is not None:
        quorum.start(_LOSER)
        quorum.until(lambda: quorum.leader_known(_LOSER) == _WINNER, f"that {_LOSER} follows again")
        tell(f"{_VOTER} hears of {_WINNER}; {_LOSER} is started once more, and follows")
    return QuorumOutcome(_LOSER, code, said, led)


CANDIDATE_AGAIN = QuorumScenario(
    name="q-6",
    title="a follower that has stood for election in its epoch ends when it is started again",
    means="messages between controllers that are held, and a controller that is killed and starts again",
    plan=QuorumPlan(
        settings={
            "controller.quorum.election.timeout.ms": _SOON,
            "controller.quorum.fetch.timeout.ms": _TOLD,
            "controller.quorum.request.timeout.ms": _HELD,
        },
        of_one={_VOTER: {"controller.quorum.election.timeout.ms": _NEVER}},
    ),
    run=_run,
    pre_votes=True,
)
