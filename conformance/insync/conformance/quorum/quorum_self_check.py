"""A course of events on three servers of a quorum: that the harness fits a release is seen by running it."""

from __future__ import annotations

from insync.conformance.quorum.quorum_harness import QuorumSubject
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync.runtime.errors import InternalError

__all__ = ["quorum_self_check"]

_ENOUGH = 60


def quorum_self_check(subject: QuorumSubject, *, restart: bool = True) -> QuorumSeen:
    """Have server 1 elected and commit a record that all have then, restart it, and return what is seen.

    Args:
        subject: who takes the commands.
        restart: whether it is restarted.

    Raises:
        InternalError: Kafka does otherwise than it should.
    """
    seen = subject.give("open", servers=3)
    seen = _delivered(subject, subject.give("time_out", server=1))
    seen = _delivered(subject, subject.give("append", server=1, value=7))
    leader = seen.servers[1]
    if (leader.state, leader.acknowledged) != ("Leader", (7,)):
        message = f"The quorum of Kafka {subject.version} does not elect and commit in the self-check: {leader}."
        raise InternalError(message)
    return subject.give("restart", server=1) if restart else seen


def _delivered(subject: QuorumSubject, seen: QuorumSeen) -> QuorumSeen:
    """Deliver messages, the oldest first, as many as are needed for all that can happen."""
    for _ in range(_ENOUGH):
        if seen.letters:
            seen = subject.give("deliver", letter=seen.letters[0].number)
    return seen
