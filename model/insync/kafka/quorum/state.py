"""The state of `kraft`: the servers, what is on its way between them, what clients know, and what is spent.

A message is named by who has sent the request, and then by the other server; so is the answer to one. `request_manager`
says which messages are kept.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from insync.kafka.quorum.options import When, always
from insync.kafka.quorum.sorts import (
    FIRST_EPOCH,
    CandidateEpoch,
    HeardEpoch,
    LedEpoch,
    LogEnd,
    Value,
    Voter,
    VoterState,
    Written,
    capacity_of,
)
from insync.kafka.typed_state import Field, Fields, Maybe, Of, Places, record_of
from insync.model import (
    Array,
    Bool,
    Condition,
    EnumValue,
    Int,
    Nothing,
    Num,
    Option,
    OptionValue,
    Set,
    SetValue,
)

__all__ = [
    "FAILED",
    "Epochs",
    "FetchResponse",
    "KraftState",
    "LogEntry",
    "PreVoteRequest",
    "Result",
    "ServerState",
    "Some",
    "VoteAnswer",
    "VoteRequest",
    "VoteResponse",
]

Some = OptionValue | Num | int | Nothing | None
"""What an optional member can be given as."""
MaybeFields = Fields | Nothing
Epochs = Places[Places[Places[Bool, Condition], object], object]
"""Whether something is said, by who says it, to whom, and of which epoch."""


class VoteAnswer(Enum):
    """What a request for a vote or a pre-vote is answered with; the last two name no leader (INVALID_REQUEST)."""

    GRANTED = "yes"
    REFUSED = "no"
    INVALID = "invalid"
    TOO_EARLY = "invalid, of an earlier epoch"


class Result(Enum):
    """What a fetch is answered with; the last three are errors."""

    RECORD = "record"
    EMPTY = "nothing new"
    DIVERGING = "diverging"
    NOT_LEADER = "not leader"
    FENCED = "fenced epoch"
    UNKNOWN = "unknown leader"


FAILED = (Result.NOT_LEADER, Result.FENCED, Result.UNKNOWN)
"""The results that are errors."""


# ---------------------------------------------------------------------------------------------------- kinds of fields


def _number(says: str, of: Of, on: When = always) -> Field[Num, Num | int]:
    return Field(says, lambda b, _: of(b), on)


def _epoch(says: str) -> Field[Num, Num | int]:
    return _number(says, lambda b: Int(0, b.elections + FIRST_EPOCH))


def _offset(says: str) -> Field[Num, Num | int]:
    return _number(says, lambda b: Int(0, capacity_of(b)))


def _spent(says: str, of: Of, on: When = always) -> Field[Num, Num | int]:
    return _number(says, lambda b: Int(0, of(b)), on)


def _flag(says: str, on: When = always) -> Field[Bool, Condition]:
    return Field(says, lambda *_: Bool, on)


def _one_of(says: str, kind: type[Enum]) -> Field[EnumValue, EnumValue | Enum]:
    return Field(says, lambda *_: kind, always)


def _servers(says: str, on: When = always) -> Field[SetValue, SetValue | set[Any]]:
    return Field(says, lambda *_: Set(Voter), on)


def _server(says: str, on: When = always) -> Field[OptionValue, Some]:
    return Field(says, lambda *_: Option(Voter), on)


def _value(says: str) -> Field[OptionValue, Some]:
    return Field(says, lambda *_: Option(Value), always)


def _pairs(message: Any) -> Array:
    """Return messages of a kind between each two servers."""
    return Array(Voter, Array(Voter, message))


# ---------------------------------------------------------------------------------------------------------- the server


class LogEntry:
    """A record; one without a value and a change tells of a new leader."""

    epoch = _epoch("in which it was written, 0 for none")
    value = _value("the client's value")
    added = _server("the voter that it adds", on=lambda f: f.changes_voters)
    removed = _server("the voter that it removes", on=lambda f: f.changes_voters)


class ServerState:
    """What one server knows."""

    epoch = _epoch("its epoch, 0 in the illegal state and of a server that has heard of none")
    state = _one_of("what it is in its epoch", VoterState)
    voted_for = _server("for whom it has voted")
    leader = _server("who leads, as far as it knows")
    fetches_from = _server("whose answer it waits for; it fetches in its epoch, from the end of its log")
    votes = _servers("who has voted for it, of a candidate, or would, of a server that asks for pre-votes")
    refused = _servers("who would not", on=lambda f: f.asks_first)
    has_fetched = _flag(
        "a fetch has succeeded since it follows (FollowerState.hasFetchedFromLeader)", on=lambda f: f.asks_first
    )
    asks_beside = _flag(
        "a leader has worked ever since it began to ask, with nothing of earlier asking on its way",
        on=lambda f: f.notes_askers,
    )
    members = _servers("the voters by its log; none where it does not run", on=lambda f: f.changes_voters)
    high_watermark = _offset("up to where it knows its log to be committed")
    end = _offset("the end of its log")
    log: Field[Places[LogEntry, Fields], object] = Field(
        "its records", lambda b, features: Array(capacity_of(b), record_of(LogEntry, b, features)), always
    )
    fetched: Field[Places[Num, Num | int], object] = Field(
        "of a leader: up to where the others have its log, as far as it knows",
        lambda b, _: Array(Voter, Int(0, capacity_of(b))),
        always,
    )


# ------------------------------------------------------------------------------------------------------- the messages


class VoteRequest:
    """A request for a vote: where the log of its sender ends."""

    offset = _offset("the end of the log")
    last_epoch = _epoch("of its last record")


class PreVoteRequest:
    """A request for a pre-vote."""

    epoch = _epoch("of its sender")
    offset = _offset("the end of its log")
    last_epoch = _epoch("of its last record")


class VoteResponse:
    """The answer to a request for a vote or a pre-vote."""

    answer = _one_of("what it says", VoteAnswer)
    epoch = _epoch("of its sender")
    leader = _server("who leads, as far as its sender knows")


class FetchResponse:
    """The answer to a fetch."""

    result = _one_of("what it is", Result)
    leader = _server("who leads, where its sender does not; of all others the sender does")
    epoch = _epoch("of its sender, if it is an error; of all others it is that of the fetch")
    high_watermark = _offset("the leader's, as far as the follower can make use of it")
    record_epoch = _epoch("of the record, or of the last one before the logs part")
    value = _value("the record's")
    end = _offset("where the logs part")
    added = _server("the voter that the record adds", on=lambda f: f.changes_voters)
    removed = _server("the voter that it removes", on=lambda f: f.changes_voters)


class KraftState:
    """The quorum."""

    server: Field[Places[ServerState, object], object] = Field(
        "the servers", lambda b, features: Array(Voter, record_of(ServerState, b, features)), always
    )
    written: Field[Places[EnumValue, EnumValue | Written], object] = Field(
        "what clients know of their values", lambda *_: Array(Value, Written), always
    )
    elections = _spent("elections that have begun", lambda b: b.elections)
    restarts = _spent("restarts", lambda b: b.restarts)
    resignations = _spent("leaders that have resigned", lambda b: b.resignations, on=lambda f: f.resigns)
    started = _spent("how many servers were started", lambda b: b.servers, on=lambda f: f.starts_servers)
    additions = _spent("voters that were added", lambda b: b.additions, on=lambda f: f.adds_voters)
    removals = _spent("voters that were removed", lambda b: b.removals, on=lambda f: f.removes_voters)
    lost_disks = _spent("servers that have lost their disk", lambda b: b.lost_disks, on=lambda f: f.loses_disks)
    vote_requests: Field[Places[Places[Places[Maybe[VoteRequest], MaybeFields], object], object], object] = Field(
        "requests for votes, by the epoch in which the candidate stands",
        lambda b, features: _pairs(Array(CandidateEpoch, Option(record_of(VoteRequest, b, features)))),
        always,
    )
    pre_vote_requests: Field[Places[Places[Maybe[PreVoteRequest], MaybeFields], object], object] = Field(
        "requests for pre-votes",
        lambda b, features: _pairs(Option(record_of(PreVoteRequest, b, features))),
        lambda f: f.asks_first,
    )
    vote_answers: Field[Places[Places[Maybe[VoteResponse], MaybeFields], object], object] = Field(
        "answers to both", lambda b, features: _pairs(Option(record_of(VoteResponse, b, features))), always
    )
    begins: Field[Epochs, object] = Field(
        "who says that it leads an epoch (BeginQuorumEpoch)",
        lambda *_: _pairs(Array(CandidateEpoch, Bool)),
        always,
    )
    ends: Field[Epochs, object] = Field(
        "who says that it led one and has resigned (EndQuorumEpoch)",
        lambda _, f: _pairs(Array(LedEpoch if f.changes_voters else CandidateEpoch, Bool)),
        lambda f: f.resigns,
    )
    fetches: Field[Places[Places[Places[Places[Bool, Condition], object], object], object], object] = Field(
        "fetches, by epoch and by the end of the log from which they are",
        lambda _, f: _pairs(Array(HeardEpoch if f.changes_voters else CandidateEpoch, Array(LogEnd, Bool))),
        always,
    )
    fetch_answers: Field[Places[Maybe[FetchResponse], MaybeFields], object] = Field(
        "the answer to the fetch of a server",
        lambda b, features: Array(Voter, Option(record_of(FetchResponse, b, features))),
        always,
    )
