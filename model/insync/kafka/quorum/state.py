"""The state of `kraft`: the servers, the messages on their way, which values are acknowledged, and what is spent.

A request, and the response to it, are named by the sender of the request, and then by the other server.
`request_manager` says which messages are kept.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from insync.kafka.quorum.options import When, always
from insync.kafka.quorum.sorts import (
    FIRST_EPOCH,
    CandidateEpoch,
    FetchEpoch,
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
    "VoteRequest",
    "VoteResponse",
    "VoteResult",
]

Some = OptionValue | Num | int | Nothing | None
"""What an optional member can be given as."""
MaybeFields = Fields | Nothing
Epochs = Places[Places[Places[Bool, Condition], object], object]
"""Whether a request is on its way, by its sender, its receiver and its epoch."""


class VoteResult(Enum):
    """The result of a request for a vote or a pre-vote; the last two are INVALID_REQUEST without a leader."""

    GRANTED = "yes"
    REFUSED = "no"
    INVALID = "invalid"
    TOO_EARLY = "invalid, of an earlier epoch"


class Result(Enum):
    """The result of a fetch; the last three are errors."""

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
    """A record; one without a value and a change is that with which a leader begins (LeaderChangeMessage)."""

    epoch = _epoch("in which it was written, 0 for none")
    value = _value("the client's value")
    added = _server("the voter that it adds", on=lambda f: f.changes_voters)
    removed = _server("the voter that it removes", on=lambda f: f.changes_voters)


class ServerState:
    """One server."""

    epoch = _epoch("its epoch, 0 in the illegal state and of a server that has seen none")
    state = _one_of("what it is in its epoch (EpochState)", VoterState)
    voted_for = _server("for whom it has voted (ElectionState.votedKey)")
    leader = _server("whom it takes for the leader (ElectionState.leaderId)")
    fetches_from = _server("whose response it waits for; it fetches in its epoch, from the end of its log")
    votes = _servers("of a candidate: who has voted for it; of a prospective voter: who has given it a pre-vote")
    refused = _servers("of a prospective voter: who has refused it", on=lambda f: f.pre_votes)
    has_fetched = _flag(
        "a fetch has succeeded since it follows (FollowerState.hasFetchedFromLeader)", on=lambda f: f.pre_votes
    )
    asks_beside = _flag(
        "a leader has worked ever since it requested pre-votes, with nothing of earlier requests on its way",
        on=lambda f: f.notes_askers,
    )
    members = _servers("the voters by its log (VoterSet); none where it does not run", on=lambda f: f.changes_voters)
    high_watermark = _offset("up to where its log is committed, as far as it has learned")
    end = _offset("the end of its log")
    log: Field[Places[LogEntry, Fields], object] = Field(
        "its records", lambda b, features: Array(capacity_of(b), record_of(LogEntry, b, features)), always
    )
    fetched: Field[Places[Num, Num | int], object] = Field(
        "of a leader: up to where each other server has fetched its log (LeaderState.ReplicaState.endOffset)",
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
    """The response to a request for a vote or a pre-vote."""

    result = _one_of("what it is", VoteResult)
    epoch = _epoch("of its sender")
    leader = _server("whom its sender takes for the leader")


class FetchResponse:
    """The response to a fetch."""

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
        "which values clients have sent, and which are acknowledged", lambda *_: Array(Value, Written), always
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
        lambda f: f.pre_votes,
    )
    vote_responses: Field[Places[Places[Maybe[VoteResponse], MaybeFields], object], object] = Field(
        "responses to both", lambda b, features: _pairs(Option(record_of(VoteResponse, b, features))), always
    )
    begins: Field[Epochs, object] = Field(
        "BeginQuorumEpoch, by the epoch that its sender leads",
        lambda *_: _pairs(Array(CandidateEpoch, Bool)),
        always,
    )
    ends: Field[Epochs, object] = Field(
        "EndQuorumEpoch, by the epoch that its sender led",
        lambda _, f: _pairs(Array(LedEpoch if f.changes_voters else CandidateEpoch, Bool)),
        lambda f: f.resigns,
    )
    fetches: Field[Places[Places[Places[Places[Bool, Condition], object], object], object], object] = Field(
        "fetches, by epoch and by the end of the log that they continue",
        lambda _, f: _pairs(Array(FetchEpoch if f.changes_voters else CandidateEpoch, Array(LogEnd, Bool))),
        always,
    )
    fetch_responses: Field[Places[Maybe[FetchResponse], MaybeFields], object] = Field(
        "the response to the fetch of a server",
        lambda b, features: Array(Voter, Option(record_of(FetchResponse, b, features))),
        always,
    )
