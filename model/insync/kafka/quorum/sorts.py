"""The sorts of the quorum: servers, values, epochs, ends of logs; and what a server and a client can be.

Offsets begin with 1, as in the TLA+ modules, so the end of a log is both how many records it has and the offset of the
last one. Kafka's end is the offset of the next record, which is the same number.
"""

from __future__ import annotations

from enum import Enum

from insync.model import BoundValues, If, Index, Num, Range, bound

__all__ = [
    "FIRST_EPOCH",
    "CandidateEpoch",
    "FetchEpoch",
    "LastEpoch",
    "LedEpoch",
    "LogEnd",
    "LogOffset",
    "Value",
    "Voter",
    "VoterState",
    "Written",
    "capacity_of",
    "changes_voters",
]

FIRST_EPOCH = 1
"""The epoch in which servers begin: without a leader, where voters stay; led by the first server, where they change."""


class Voter(Index, symmetric=True):
    """A server of the quorum."""

    label = "n"
    size = bound("servers")


class Value(Index):
    """A value that a client writes, once."""

    label = "v"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """As many as the bound says, and one that nobody writes where it says 0."""
        return max(1, bounds.records)


class VoterState(Enum):
    """What a server is in its epoch (Kafka: the classes of EpochState); ILLEGAL is an exception there.

    Kafka's Unattached is VOTED where it has voted; PROSPECTIVE is there with pre-votes alone.
    """

    UNATTACHED = "Unattached"
    FOLLOWER = "Follower"
    CANDIDATE = "Candidate"
    LEADER = "Leader"
    VOTED = "Voted"
    ILLEGAL = "Illegal"
    RESIGNED = "Resigned"
    PROSPECTIVE = "Prospective"


class Written(Enum):
    """How far the write of a value has come."""

    NEVER = "not sent"
    ASKED = "asked"
    ACKNOWLEDGED = "acknowledged"


def changes_voters(bounds: BoundValues) -> bool:
    """Return whether servers are told apart by their disks, and voters may come and go (KIP-853)."""
    return bool(bounds.spare_servers or bounds.additions or bounds.removals or bounds.lost_disks)


def capacity_of(bounds: BoundValues) -> int:
    """Return how many records a log can have: the clients' values, one for each leader, and the changes of voters.

    Once two voters were removed, an epoch can have another leader for each restart of the only one that is left.
    """
    if not changes_voters(bounds):
        return bounds.records + bounds.elections
    again = bounds.restarts * bounds.removals // 2
    return bounds.records + bounds.elections + 1 + bounds.additions + bounds.removals + again


class CandidateEpoch(Range):
    """An epoch that an election began; each election raises the epoch of one server by 1."""

    lo, hi = FIRST_EPOCH + 1, bound("elections") + FIRST_EPOCH


class LedEpoch(Range):
    """An epoch that somebody can lead: where voters change also the first one, which the first server leads."""

    lo, hi = FIRST_EPOCH, bound("elections") + FIRST_EPOCH

    @classmethod
    def numbers(cls, bounds: BoundValues) -> range:
        """Return the epochs: where voters stay, those that an election began."""
        return range(FIRST_EPOCH if changes_voters(bounds) else FIRST_EPOCH + 1, bounds.elections + FIRST_EPOCH + 1)


class FetchEpoch(Range):
    """An epoch in which a server can fetch. A server that is started later begins in epoch 0."""

    lo, hi = 0, bound("elections") + FIRST_EPOCH

    @classmethod
    def numbers(cls, bounds: BoundValues) -> range:
        """Return the epochs: where voters stay, those that somebody can lead."""
        return range(0 if changes_voters(bounds) else FIRST_EPOCH + 1, bounds.elections + FIRST_EPOCH + 1)


class LogOffset(Range):
    """The end of a log."""

    lo, hi = 0, bound("records")

    @classmethod
    def numbers(cls, bounds: BoundValues) -> range:
        """Return as many as a log can have records."""
        return range(capacity_of(bounds) + 1)


class LastEpoch(Range):
    """The epoch of the last record of a log, 0 of an empty log."""

    lo, hi = 0, bound("elections") + FIRST_EPOCH


class LogEnd(Range):
    """Offset and epoch of the last record of a log as one number: 0 is the empty log, then by offset and epoch."""

    lo, hi = 0, bound("records") * bound("elections")

    @classmethod
    def numbers(cls, bounds: BoundValues) -> range:
        """Return as many as there are offsets and epochs of records."""
        return range(capacity_of(bounds) * len(LedEpoch.numbers(bounds)) + 1)

    @staticmethod
    def number(bounds: BoundValues, offset: Num | int, epoch: Num | int) -> Num | int:
        """Return the number of an offset and an epoch, which is 0 where the offset is."""
        epochs = LedEpoch.numbers(bounds)
        return If(offset == 0, 0, (offset - 1) * len(epochs) + epoch - epochs.start + 1)
