"""The network of Vanlightly/kafka-tlaplus: sets of messages, from which a message is taken when it is received.

There is a set for each kind of message and each ordered pair of servers. The modules also keep which messages were
received; the models here do not.
"""

from __future__ import annotations

from typing import Any

from insync.kafka.published.quorum.voter import Voter
from insync.kafka.published.quorum.voter_log import last_epoch
from insync.kafka.quorum.sorts import FIRST_EPOCH
from insync.model import And, Array, Condition, Num, Or, Range, RecordView, SetOf, StateView, bound, record, require
from insync_published_quorum.actor import PublishedActor

__all__ = ["LedEpoch", "MessageSets", "between", "is_end"]


class LedEpoch(Range):
    """An epoch that a server can lead, and the epoch of a record."""

    lo, hi = FIRST_EPOCH, bound("epochs")


class MessageSets(PublishedActor):
    """How messages are taken, and what they say of a log."""

    def receive(self, s: StateView, kind: str, i: Voter, sender: Voter, message: Any) -> None:
        """Take a message that is on its way (TLA+: Discard)."""
        channel = getattr(s, kind)[sender][i]
        require(i != sender, channel.contains(message))
        channel.remove(message)

    def position_of(self, me: RecordView) -> Any:
        """A server's epoch and the end of its log."""
        return record(epoch=me.epoch, offset=me.end, last_epoch=last_epoch(me))

    def request(self, epoch: int, offset: int, record_epoch: int) -> Any:
        """A request of somebody in an epoch, whose log ends so."""
        require(record_epoch <= epoch, is_end(offset, record_epoch))
        return record(epoch=epoch, offset=offset, last_epoch=record_epoch)


def is_end(offset: Num | int, record_epoch: Num | int) -> Condition:
    """Whether a log can end with a record of an epoch at an offset; the first record is of the first epoch."""
    return And(offset > 0, Or(offset > 1, record_epoch == FIRST_EPOCH))


def between(message: Any, most: int) -> Array:
    """Messages of a kind for each sender and receiver, at most so many."""
    return Array(Voter, Array(Voter, SetOf(message, most)))
