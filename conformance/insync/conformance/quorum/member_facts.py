"""The state of the model `kraft_853` and that of Kafka's quorum, whose voters come and go, as facts by name.

Epochs are the same in both. Offsets are those of Kafka's batches, as the first leader writes the first voters with its
own record. What Kafka keeps and nobody can do anything with is left out, as in `quorum_facts`: answers that nobody
waits for, refusals that tell a candidate nothing, what was said of an epoch that is over for who would hear it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from insync.conformance.quorum.correspondence import Facts
from insync.conformance.quorum.quorum_facts import (
    BEGIN,
    FAILED,
    FETCH,
    INVALID,
    VOTE,
    invalid_words,
    pair_of,
    pending_of,
    server_name,
    state_of,
)
from insync.conformance.quorum.quorum_seen import KafkaRecord, Letter, QuorumSeen, ServerSeen
from insync.model import ReadableState

__all__ = ["facts_of_kafka", "facts_of_model", "reply_of_kafka", "reply_of_model"]

_ABSENT: Facts = {"state": "ABSENT"}


# ------------------------------------------------------------------------------------------------------------ the model


def facts_of_model(state: ReadableState) -> Facts:
    """Return what is compared of a state of the model."""
    facts: Facts = {}
    servers = state["server"]
    for name in servers:
        facts |= {f"{name}.{fact}": value for fact, value in _server_of_model(name, state).items()}
    facts["acknowledged"] = sorted(value for value, known in state["written"].items() if known == "ACKNOWLEDGED")
    facts["vote requests"] = sorted(f"{one} to {other}, {_position(asked)}" for one, other, asked in _sent(state, VOTE))
    facts["begins"] = sorted(
        f"{one} to {other}, epoch {epoch}"
        for one, other, epoch in _sent(state, BEGIN)
        if epoch >= servers[other]["epoch"]
    )
    facts["fetches"] = sorted(f"{one} to {other}, {_position(asked)}" for one, other, asked in _sent(state, FETCH))
    votes = [(one, other, ballot) for one, other, ballot in _between(state["votes"])]
    facts["votes"] = sorted(
        f"{voter} to {candidate}: {told}"
        for voter, candidate, ballot in votes
        for told in [_ballot(ballot["epoch"], ballot["leader"], ballot["granted"], servers[candidate]["epoch"])]
        if told
    )
    facts["invalid votes"] = sorted(
        f"{voter} to {candidate}: {words}"
        for kind, words in INVALID.items()
        for candidate, voters in state.get(kind, {}).items()
        for voter in voters
    )
    facts["replies"] = sorted(f"to {name}: {reply_of_model(reply)}" for _, name, reply in _replies(state))
    return facts


def _server_of_model(name: str, state: ReadableState) -> Facts:
    server = state["server"][name]
    its = server["state"]
    if its == "ABSENT":
        return _ABSENT
    facts: Facts = {
        "state": its,
        "epoch": server["epoch"],
        "leader": server["leader"],
        "log": _log_of_model(state, server["log"][: server["end"]]),
        "high_watermark": server["high_watermark"],
        "fetches from": None if server["pending"] is None else server["pending"]["to"],
    }
    if server["end"]:
        facts["voters"] = sorted(server["members"])
        facts["is a voter"] = server["role"] == "VOTER"
    has_pre_votes = "fetched_in" in server
    if has_pre_votes or its in ("CANDIDATE", "VOTED"):
        facts["voted_for"] = server["voted_for"]
    if its in ("CANDIDATE", "PROSPECTIVE"):
        facts["votes"] = sorted(server["votes"])
    if its == "PROSPECTIVE":
        facts["refused"] = sorted(server["refused"])
    if has_pre_votes and its == "FOLLOWER":
        facts["has_fetched"] = server["fetched_in"] == server["epoch"]
    if its == "LEADER":
        facts["fetched"] = [f"{other}:{end}" for other, end in sorted(server["fetched"].items()) if other != name]
    return facts


def _log_of_model(state: ReadableState, records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Records in words: those that change the voters have all voters, as Kafka's."""
    voters, told = set(state["founders"]), []
    for record in records:
        changed = record["added"] or record["removed"]
        voters = voters ^ {changed} if changed else voters
        what = f"{{{','.join(sorted(voters))}}}" if changed else record["value"] or "*"
        told.append(f"{what}@{record['epoch']}")
    return told


_NAMES = {VOTE: "vote_requests", BEGIN: "begins", FETCH: "fetches"}


def _sent(state: ReadableState, kind: str) -> Iterable[tuple[str, str, Any]]:
    return _between(state[_NAMES[kind]])


def _replies(state: ReadableState) -> Iterable[tuple[str, str, Any]]:
    return _between(state["replies"])


def _between(messages: Mapping[str, Any]) -> Iterable[tuple[str, str, Any]]:
    """The messages of a kind with their senders and receivers."""
    for one, others in messages.items():
        for other, sent in others.items():
            for message in sent:
                yield one, other, message


def _position(asked: Mapping[str, Any]) -> str:
    return f"epoch {asked['epoch']}, end {asked['offset']}@{asked['last_epoch']}"


def _ballot(epoch: int, leader: str | None, granted: bool, current: int) -> str | None:
    """What an answer to a vote request tells; None where it tells the candidate nothing."""
    if epoch > current:
        return f"epoch {epoch}, {leader} leads"
    if granted:
        return "yes"
    return None if leader is None else f"{leader} leads"


def reply_of_model(reply: Mapping[str, Any]) -> str:
    """Return an answer to a fetch in words."""
    if reply["result"] in FAILED:
        return f"failed, epoch {reply['epoch']}, {reply['leader']} leads"
    if reply["result"] == "DIVERGING":
        return f"logs part at {reply['end']}@{reply['record_epoch']}"
    record = "nothing"
    if reply["result"] == "RECORD":
        changed = f"+{reply['added']}" if reply["added"] else f"-{reply['removed']}" if reply["removed"] else None
        record = f"{changed or reply['value'] or '*'}@{reply['record_epoch']}"
    return f"{record}, HW {reply['high_watermark']}"


# ---------------------------------------------------------------------------------------------------------------- Kafka


def facts_of_kafka(seen: QuorumSeen, answered: Set[int], servers: int) -> Facts:
    """Return what is compared of Kafka's quorum.

    Args:
        seen: its state.
        answered: the clients' records that the leaders which wrote them have committed so far, in the same epoch.
        servers: how many there are, those included that are not started yet.
    """
    facts: Facts = {}
    for number in range(1, servers + 1):
        told = _server_of_kafka(number, seen, servers) if number in seen.servers else _ABSENT
        facts |= {f"n{number}.{fact}": value for fact, value in told.items()}
    facts["acknowledged"] = sorted(f"v{value}" for value in answered)
    requests = [one for one in seen.letters if not one.is_answer and one.to > 0]
    answers = [one for one in seen.letters if one.is_answer and one.awaited and not one.pre_vote]
    ballots = [one for one in answers if one.kind == VOTE]
    for fact, kind in (("vote requests", VOTE), ("fetches", FETCH)):
        facts[fact] = sorted(f"{_pair(one)}, {_end(one)}" for one in requests if one.kind == kind and not one.pre_vote)
    facts["begins"] = sorted(
        f"{_pair(one)}, epoch {one.epoch}"
        for one in requests
        if one.kind == BEGIN and one.epoch >= seen.servers[one.to].epoch
    )
    facts["votes"] = sorted(
        f"{_pair(one)}: {told}"
        for one in ballots
        if invalid_words(one, seen) is None
        for told in [_ballot(one.epoch, server_name(one.leader), one.granted, seen.servers[one.to].epoch)]
        if told
    )
    facts["invalid votes"] = sorted(f"{_pair(one)}: {words}" for one in ballots if (words := invalid_words(one, seen)))
    facts["replies"] = sorted(f"to n{one.to}: {reply_of_kafka(one, seen)}" for one in answers if one.kind == FETCH)
    return facts


def _server_of_kafka(number: int, seen: QuorumSeen, servers: int) -> Facts:
    server = seen.servers[number]
    state = state_of(server)
    facts: Facts = {
        "state": state,
        "epoch": server.epoch,
        "leader": server_name(server.leader),
        "log": [f"{_told(record)}@{record[1]}" for record in server.log],
        "high_watermark": max(0, server.high_watermark),
        "fetches from": pending_of(seen, number),
        "voted_for": server_name(server.voted),
        "votes": sorted(f"n{one}" for one in server.votes),
        "refused": sorted(f"n{one}" for one in server.refused),
        "has_fetched": server.has_fetched,
        "voters": [f"n{one}" for one in _voters(server)],
        "is a voter": number in _voters(server),
    }
    if state == "LEADER":
        others = [one for one in range(1, servers + 1) if one != number]
        facts["fetched"] = [f"n{one}:{max(0, server.fetched.get(one, 0))}" for one in others]
    return facts


def _voters(server: ServerSeen) -> tuple[int, ...]:
    return server.membership.voters if server.membership else ()


def _told(record: KafkaRecord) -> str:
    """A record in words: a client's value, all voters, or * for the record of a leader."""
    value, _ = record
    if value.startswith("{"):
        return f"{{{','.join(f'n{one}' for one in value.strip('{}').split(','))}}}"
    return value if value == "*" else f"v{value}"


def _end(letter: Letter) -> str:
    return f"epoch {letter.epoch}, end {letter.offset}@{letter.last_epoch if letter.offset else 0}"


def reply_of_kafka(letter: Letter, seen: QuorumSeen) -> str:
    """Return an answer to a fetch in words."""
    if letter.error != "NONE":
        return f"failed, epoch {letter.epoch}, {server_name(letter.leader)} leads"
    offset, epoch = letter.parting
    if epoch >= 0:
        return f"logs part at {offset}@{epoch if offset else 0}"
    follower = seen.servers[letter.to]
    end = len(follower.log) + len(letter.records)
    records = " ".join(f"{_change(record, letter, seen)}@{record[1]}" for record in letter.records) or "nothing"
    return f"{records}, HW {max(0, min(letter.high_watermark, end))}"


def _change(record: KafkaRecord, letter: Letter, seen: QuorumSeen) -> str:
    """A record in words, which names who comes or goes, by the voters whom the follower knows."""
    if not record[0].startswith("{"):
        return _told(record)
    after = {int(one) for one in record[0].strip("{}").split(",")}
    before = set(_voters(seen.servers[letter.to]))
    return " ".join([f"+n{one}" for one in sorted(after - before)] + [f"-n{one}" for one in sorted(before - after)])


def _pair(letter: Letter) -> str:
    return " to ".join(pair_of(letter))
