"""What is seen of Kafka's quorum after a command: the servers, and the messages between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["KafkaRecord", "Letter", "Membership", "QuorumSeen", "ServerSeen"]

QuorumJson = Mapping[str, Any]

KafkaRecord = tuple[str, int]
"""A client's number, voters such as {1,2}, or * for another record of Kafka's own, and its epoch."""


@dataclass(frozen=True, slots=True)
class Membership:
    """The voters of a server, where they come and go (KIP-853).

    Attributes:
        voters: who they are by its log, or by the checkpoint with which it was formatted.
        changes: its responses to requests for a change since it was started, PENDING where there is none yet.
        caught_up: of a leader: the observers that it would add.
        answered: the values that clients have sent it in its epoch, and that it has committed.
    """

    voters: tuple[int, ...]
    changes: tuple[str, ...]
    caught_up: tuple[int, ...]
    answered: tuple[int, ...]

    @classmethod
    def read(cls, json: QuorumJson) -> Membership | None:
        """Read what the harness has written; None where voters are configured."""
        names = ("voters", "changes", "caught_up", "answered")
        return cls(*(tuple(json[name]) for name in names)) if "voters" in json else None


@dataclass(frozen=True, slots=True)
class ServerSeen:
    """A server.

    Attributes:
        state: the name of its class of EpochState, such as `Follower`.
        epoch: its epoch, 0 at first.
        leader: whom it takes for the leader, -1 for nobody.
        voted: for whom it has voted, as far as its state shows, -1 for nobody.
        votes: of a candidate: who has voted for it; of a prospective voter: who has given it a pre-vote.
        high_watermark: the offset after the last record that is committed, -1 for unknown.
        log: its records.
        fetched: of a leader up to where the others have its log, -1 for unknown; also observers, where voters change.
        acknowledged: the clients' records that it has committed while it led.
        has_fetched: whether it follows a leader from whom a fetch has succeeded; true of all others.
        membership: its voters, where they come and go.
        refused: of a prospective voter: who has refused it.
    """

    state: str
    epoch: int
    leader: int
    voted: int
    votes: tuple[int, ...]
    high_watermark: int
    log: tuple[KafkaRecord, ...]
    fetched: Mapping[int, int]
    acknowledged: tuple[int, ...]
    has_fetched: bool
    membership: Membership | None = None
    refused: tuple[int, ...] = ()

    @classmethod
    def read(cls, json: QuorumJson) -> ServerSeen:
        """Read what the harness has written."""
        return cls(
            json["state"],
            json["epoch"],
            json["leader"],
            json["voted"],
            tuple(json["votes"]),
            json["high_watermark"],
            _records(json["log"]),
            {int(server): end for server, end in json["fetched"].items()},
            tuple(json["acknowledged"]),
            json["has_fetched"],
            Membership.read(json),
            tuple(json.get("refused", ())),
        )


@dataclass(frozen=True, slots=True)
class Letter:
    """A message on its way, a request or a response; what it has not got is -1, empty or False.

    Attributes:
        number: what it is delivered by.
        source: who has sent it.
        to: who gets it; -2 for whom a command may still say.
        kind: the name of the API, such as `VOTE`.
        is_response: whether it is a response.
        awaited: whether the sender of the request still waits for the response.
        pre_vote: whether it is a request for a pre-vote (KIP-996), or the response to one.
        urges: of an EndQuorumEpoch: whether who gets it stands at once.
        epoch: the epoch of the sender.
        offset: of a request: the end of the sender's log.
        last_epoch: of a request: the epoch of its last record.
        error: of a response: what is wrong, NONE for nothing.
        leader: of a response: whom its sender takes for the leader.
        granted: of a response: whether it is a vote.
        high_watermark: of a fetch response.
        parting: of a fetch response: offset and epoch of where the logs diverge, -1 for they do not.
        records: of a fetch response.
    """

    number: int
    source: int
    to: int
    kind: str
    is_response: bool
    awaited: bool
    pre_vote: bool = False
    urges: bool = False
    epoch: int = -1
    offset: int = -1
    last_epoch: int = -1
    error: str = "NONE"
    leader: int = -1
    granted: bool = False
    high_watermark: int = -1
    parting: tuple[int, int] = (-1, -1)
    records: tuple[KafkaRecord, ...] = ()

    @classmethod
    def read(cls, json: QuorumJson) -> Letter:
        """Read what the harness has written."""
        more = {name: json[name] for name in _PLAIN if name in json}
        if "records" in json:
            more |= {"parting": tuple(json["parting"]), "records": _records(json["records"])}
        return cls(json["letter"], json["from"], json["to"], json["kind"], json["answer"], json["awaited"], **more)


@dataclass(frozen=True, slots=True)
class QuorumSeen:
    """All of it.

    Attributes:
        servers: by their numbers.
        letters: in the order in which they were sent.
    """

    servers: Mapping[int, ServerSeen]
    letters: tuple[Letter, ...]

    @classmethod
    def read(cls, json: QuorumJson) -> QuorumSeen:
        """Read what the harness has written."""
        servers = {int(number): ServerSeen.read(server) for number, server in json["servers"].items()}
        return cls(servers, tuple(Letter.read(letter) for letter in json["letters"]))


_PLAIN = ("pre_vote", "urges", "epoch", "offset", "last_epoch", "error", "leader", "granted", "high_watermark")


def _records(json: list[list[Any]]) -> tuple[KafkaRecord, ...]:
    return tuple((str(value), epoch) for value, epoch in json)
