"""Two controllers stand for election in one epoch: one is elected, and the other one follows it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from insync.conformance.live.live_quorum import BEGIN_QUORUM_EPOCH, END_QUORUM_EPOCH, FETCH, VOTE, LiveQuorum
from insync.conformance.live.nodes.controller_files import ElectionOnDisk, QuorumPlan
from insync.conformance.live.proxies import Hold

__all__ = [
    "HELD",
    "LOSER",
    "VOTER",
    "WINNER",
    "ContestedElection",
    "contested_election",
    "contested_plan",
    "hold_election",
    "wait_for_copy",
]

LOSER, WINNER, VOTER = 1, 2, 3
"""Who stands and follows, who stands and leads, and who votes."""

HELD = "messages between controllers that are held"
"""With which means."""

_SOON, _TOLD, _HELD, _NEVER = "1500", "10000", "60000", "600000"
"""Milliseconds: who stands for election does so soon, who is to vote does not stand, and nobody loses patience.

A leader tells others that it leads after each half of its fetch timeout, and goes on without a majority for 1.5 of it.
"""


@dataclass(frozen=True, slots=True)
class ContestedElection:
    """What is held after it.

    Attributes:
        to_voter: the loser's request for a vote to the voter, and those after it.
        others: what the winner asks the loser, and what the voter would learn of the winner by.
    """

    to_voter: Hold
    others: tuple[Hold, ...]

    def release(self) -> None:
        """Let all of it go on."""
        for one in (self.to_voter, *self.others):
            one.release()


def contested_plan(*, dynamic: bool) -> QuorumPlan:
    """Return the quorum that `hold_election` is for.

    Args:
        dynamic: whether the voters are known by the log, and can change (KIP-853).
    """
    return QuorumPlan(
        dynamic=dynamic,
        settings={
            "controller.quorum.election.timeout.ms": _SOON,
            "controller.quorum.fetch.timeout.ms": _TOLD,
            "controller.quorum.request.timeout.ms": _HELD,
            "metadata.max.idle.interval.ms": "0",  # else a leader writes twice a second, and logs are never as long
        },
        of_one={VOTER: {"controller.quorum.election.timeout.ms": _NEVER}},
    )


def contested_election(quorum: LiveQuorum, tell: Callable[[str], None]) -> None:
    """Have it as `hold_election` has it, hold nothing any more, and wait until the follower has all of the leader's."""
    hold_election(quorum).release()
    wait_for_copy(quorum)
    tell(f"{LOSER} and {WINNER} stand for election in epoch 1, and {WINNER} is elected")


def wait_for_copy(quorum: LiveQuorum) -> None:
    """Wait until the follower has all that the leader has written, and the leader has written nothing for a second."""
    before, since = 0, time.monotonic()

    def settled() -> bool:
        nonlocal before, since
        written = quorum.log_bytes(WINNER)
        if written != before or written != quorum.log_bytes(LOSER):
            before, since = written, time.monotonic()
        return time.monotonic() - since > 1

    quorum.until(settled, f"that {LOSER} has all that {WINNER} has written")


def hold_election(quorum: LiveQuorum) -> ContestedElection:
    """Start all controllers, have two of them stand in epoch 1, and one of these follow the other and have its records.

    The voter learns no more of who was elected, until what is held goes on.
    """
    to_voter = quorum.hold(VOTE, LOSER, VOTER)
    to_winner = quorum.hold(VOTE, LOSER, WINNER)
    of_winner = [quorum.hold(key, WINNER, LOSER) for key in (VOTE, FETCH)]
    winning = quorum.hold(VOTE, WINNER, VOTER)
    news = [quorum.hold(key, WINNER, VOTER) for key in (BEGIN_QUORUM_EPOCH, END_QUORUM_EPOCH)]
    news += [quorum.hold(key, VOTER, other) for key in (VOTE, FETCH) for other in (LOSER, WINNER)]
    quorum.start(*quorum.plan.numbers)

    has_stood = ElectionOnDisk(1, -1, LOSER)
    to_voter.let_pass()  # the request for a pre-vote, whose answer is a majority
    quorum.until(lambda: quorum.election(LOSER) == has_stood, f"that {LOSER} stands for election")
    winning.release()
    quorum.until(lambda: quorum.leader_known(WINNER) == WINNER, f"that {WINNER} is elected")
    to_winner.release()
    quorum.until(lambda: quorum.leader_known(LOSER) == WINNER, f"that {LOSER} follows {WINNER}")
    quorum.until(lambda: quorum.committed(WINNER) > 0, f"that {LOSER} has records of {WINNER}")
    return ContestedElection(to_voter, (*of_winner, *news))
