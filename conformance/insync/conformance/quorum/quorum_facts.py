"""The state of the model `kraft` and that of Kafka's quorum as facts by name, in the same words.

Where voters stay, Kafka's epochs begin with 0 and the model's with 1; where they come and go, epochs are the same.
Kafka keeps messages that the model forgets, as their receivers can do nothing with them. Those are left out: responses
that nobody awaits, refusals without news for a candidate, BeginQuorumEpoch and EndQuorumEpoch of an epoch that is over
for their receiver.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from insync.conformance.correspondence.facts import Fact, Facts
from insync.conformance.quorum.quorum_seen import KafkaRecord, Letter, QuorumSeen, ServerSeen
from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.sorts import FIRST_EPOCH, LedEpoch, LogEnd
from insync.kafka.quorum.state import FAILED, Result
from insync.model import ReadableState

__all__ = ["BEGIN", "END", "FETCH", "VOTE", "Words", "facts_of_kafka", "facts_of_model", "pending_of", "server_name"]

BEGIN, END, FETCH, VOTE = "BEGIN_QUORUM_EPOCH", "END_QUORUM_EPOCH", "FETCH", "VOTE"

_SAID = {"begins": BEGIN, "ends": END}
"""The requests that leaders send of their epochs, by the fields of the model."""

_INVALID = {"INVALID": "invalid", "TOO_EARLY": "invalid, of an earlier epoch"}
"""The words for responses that call a vote request invalid, and name no leader."""

_ABSENT: Facts = {"state": "ABSENT"}


class Words:
    """The names that facts have in a model.

    Args:
        model: the model.

    Attributes:
        founders: the first voters, where voters come and go, by the names of the model; None where they stay.
        pre_votes: whether servers request pre-votes.
        said: the fields of the model that have requests which leaders send of their epochs.
        servers: how many there are, those included that are not started yet.
        position: offset and epoch of the end of a log, by what the model calls it.
    """

    def __init__(self, model: Kraft) -> None:
        self.founders = [str(one) for one in model.voter_set.founders] if model.features.changes_voters else None
        self.pre_votes, self.servers = model.features.pre_votes, model.b.servers
        self.said = ("begins", "ends") if model.features.resigns else ("begins",)
        ends = [(0, 0), *itertools.product(range(1, model.capacity + 1), LedEpoch.numbers(model.b))]
        self.position = {int(LogEnd.number(model.b, *end)): end for end in ends}

    def epoch(self, kafka: int) -> int:
        """Return what the model calls an epoch of Kafka's."""
        return kafka + (FIRST_EPOCH if self.founders is None else 0)

    def end(self, offset: int, epoch: int) -> tuple[int, int]:
        """Return the end of a log of Kafka's as the model has it: the epoch of the last record is 0 where is none."""
        return offset, self.epoch(epoch) if offset else 0


def server_name(number: int) -> str | None:
    """Return what the model calls a server, None where there is none."""
    return None if number < 0 else f"n{number}"


def _position(one: str, other: str, epoch: int, offset: int, last_epoch: int) -> str:
    """A request of a server to another in words: its epoch, and where its log ends."""
    return f"{one} to {other}, epoch {epoch}, end {offset}@{last_epoch}"


def _pre_vote(voter: str, candidate: str, epoch: int, leader: str | None, *, granted: bool) -> str:
    return f"{voter} to {candidate}: {'yes' if granted else 'no'}, epoch {epoch}, {leader} leads"


# ------------------------------------------------------------------------------------------------------------ the model


def facts_of_model(state: ReadableState, words: Words) -> Facts:
    """Return what is compared of a state of the model."""
    facts: dict[str, Fact] = {}
    for name, server in state["server"].items():
        facts |= {f"{name}.{fact}": value for fact, value in _server_of_model(name, server, words).items()}
    facts["acknowledged"] = sorted(value for value, known in state["written"].items() if known == "ACKNOWLEDGED")
    facts["vote requests"] = sorted(
        _position(one, other, int(epoch), request["offset"], request["last_epoch"])
        for one, other, epoch, request in _by_epoch(state["vote_requests"])
        if request
    )
    for kind in words.said:
        said = [one for one in _by_epoch(state[kind]) if one[-1]]
        facts[kind] = sorted(f"{leader} to {other}, epoch {epoch}" for leader, other, epoch, _ in said)
    responses = [one for one in _between(state["vote_responses"]) if one[2]]
    prospective = {name for name, server in state["server"].items() if server["state"] == "PROSPECTIVE"}
    facts["votes"] = sorted(
        f"{voter} to {candidate}: {_vote_of_model(response, state['server'][candidate]['epoch'])}"
        for candidate, voter, response in responses
        if candidate not in prospective
    )
    if words.pre_votes:
        facts["pre-vote requests"] = sorted(
            _position(one, other, request["epoch"], request["offset"], request["last_epoch"])
            for one, other, request in _between(state["pre_vote_requests"])
            if request
        )
        facts["pre-votes"] = sorted(
            _pre_vote(voter, candidate, response["epoch"], response["leader"], granted=response["result"] == "GRANTED")
            for candidate, voter, response in responses
            if candidate in prospective
        )
    facts["fetches"] = sorted(
        _position(one, other, int(epoch), *words.position[int(end)])
        for one, other, epoch, ends in _by_epoch(state["fetches"])
        for end, is_so in ends.items()
        if is_so
    )
    facts["fetch responses"] = sorted(
        f"to {name}: {_fetch_response_of_model(response, state['server'][name])}"
        for name, response in state["fetch_responses"].items()
        if response
    )
    return facts


def _server_of_model(name: str, server: Mapping[str, Any], words: Words) -> Facts:
    state = server["state"]
    if words.founders is not None and not server["members"]:
        return _ABSENT
    facts: dict[str, Fact] = {
        "state": state,
        "epoch": server["epoch"],
        "leader": server["leader"],
        "log": _log_of_model(server["log"][: server["end"]], words),
        "high_watermark": server["high_watermark"],
        "fetches from": server["fetches_from"],
    }
    if words.founders is not None and server["end"]:
        facts["voters"], facts["is a voter"] = sorted(server["members"]), name in server["members"]
    if words.pre_votes or state in ("CANDIDATE", "VOTED"):
        facts["voted_for"] = server["voted_for"]
    if state in ("CANDIDATE", "PROSPECTIVE"):
        facts["votes"] = sorted(server["votes"])
    if state == "PROSPECTIVE":
        facts["refused"] = sorted(server["refused"])
    if words.pre_votes and state == "FOLLOWER":
        facts["has_fetched"] = server["has_fetched"]
    if state == "LEADER":
        facts["fetched"] = [f"{other}:{end}" for other, end in sorted(server["fetched"].items()) if other != name]
    return facts


def _log_of_model(records: Iterable[Mapping[str, Any]], words: Words) -> list[str]:
    """Records in words: those that change the voters have all voters, as Kafka's."""
    voters, found = set(words.founders or ()), []
    for record in records:
        changed = record.get("added") or record.get("removed")
        voters = voters ^ {changed} if changed else voters
        what = f"{{{','.join(sorted(voters))}}}" if changed else record["value"] or "*"
        found.append(f"{what}@{record['epoch']}")
    return found


def _between(messages: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The messages between two servers."""
    for one, others in messages.items():
        yield from ((one, other, message) for other, message in others.items())


def _by_epoch(messages: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Any]]:
    """The messages between two servers by epoch."""
    for one, other, epochs in _between(messages):
        yield from ((one, other, epoch, message) for epoch, message in epochs.items())


def _vote_of_model(response: Mapping[str, Any], current: int) -> str:
    """The response to a vote request in words."""
    if (result := response["result"]) in _INVALID:
        return _INVALID[result]
    if response["epoch"] > current:
        return f"epoch {response['epoch']}, {response['leader']} leads"
    return "yes" if result == "GRANTED" else f"{response['leader']} leads"


def _fetch_response_of_model(response: Mapping[str, Any], server: Mapping[str, Any]) -> str:
    result = response["result"]
    if Result[result] in FAILED:
        leader = response["leader"] if result == "NOT_LEADER" else server["fetches_from"]
        return f"failed, epoch {response['epoch']}, {leader} leads"
    if result == "DIVERGING":
        return f"logs part at {response['end']}@{response['record_epoch']}"
    record = "nothing"
    if result == "RECORD":
        added, removed = response.get("added"), response.get("removed")
        changed = f"+{added}" if added else f"-{removed}" if removed else None
        record = f"{changed or response['value'] or '*'}@{response['record_epoch']}"
    return f"{record}, HW {response['high_watermark']}"


# ---------------------------------------------------------------------------------------------------------------- Kafka


def facts_of_kafka(seen: QuorumSeen, acknowledged: Set[int], words: Words) -> Facts:
    """Return what is compared of Kafka's quorum.

    Args:
        seen: its state.
        acknowledged: the clients' records that any leader has committed so far.
        words: the model's names.
    """
    facts: dict[str, Fact] = {}
    for number in range(1, words.servers + 1):
        its = _server_of_kafka(number, seen, words) if number in seen.servers else _ABSENT
        facts |= {f"n{number}.{fact}": value for fact, value in its.items()}
    facts["acknowledged"] = sorted(f"v{value}" for value in acknowledged)
    letters = [letter for letter in seen.letters if letter.to > 0]
    requests = [letter for letter in letters if not letter.is_response]
    responses = [letter for letter in letters if letter.is_response and letter.awaited]
    for fact, kind in (("vote requests", VOTE), ("fetches", FETCH)):
        sent = [one for one in requests if one.kind == kind and not one.pre_vote]
        facts[fact] = sorted({_request(one, words) for one in sent})
    for fact in words.said:
        facts[fact] = sorted(
            f"{_pair(one)}, epoch {words.epoch(one.epoch)}"
            for one in requests
            if one.kind == _SAID[fact] and one.epoch >= seen.servers[one.to].epoch
        )
    votes = [one for one in responses if one.kind == VOTE and not one.pre_vote]
    facts["votes"] = sorted(f"{_pair(one)}: {vote}" for one in votes if (vote := _vote(one, seen, words)))
    if words.pre_votes:
        facts["pre-vote requests"] = sorted(
            _request(one, words)
            for one in requests
            if one.pre_vote and (one.awaited or one.epoch > seen.servers[one.to].epoch)
        )
        facts["pre-votes"] = sorted(
            _pre_vote(
                f"n{one.source}", f"n{one.to}", words.epoch(one.epoch), server_name(one.leader), granted=one.granted
            )
            for one in responses
            if one.pre_vote
        )
    fetched = [one for one in responses if one.kind == FETCH]
    facts["fetch responses"] = sorted(f"to n{one.to}: {_fetch_response(one, seen, words)}" for one in fetched)
    return facts


def pending_of(seen: QuorumSeen, number: int) -> str | None:
    """Return from whom a server awaits a fetch response; None for nobody, or one of no name."""
    for letter in seen.letters:
        follower, leader = (letter.to, letter.source) if letter.is_response else (letter.source, letter.to)
        if letter.kind == FETCH and letter.awaited and follower == number and leader > 0:
            return server_name(leader)
    return None


def _server_of_kafka(number: int, seen: QuorumSeen, words: Words) -> Facts:
    server = seen.servers[number]
    voters = [f"n{one}" for one in _voters(server)]
    state = "VOTED" if server.state == "Unattached" and server.voted >= 0 else server.state.upper()
    facts: dict[str, Fact] = {
        "state": state,
        "epoch": words.epoch(server.epoch),
        "leader": server_name(server.leader),
        "log": [f"{_told(record)}@{words.epoch(record[1])}" for record in server.log],
        "high_watermark": max(0, server.high_watermark),
        "fetches from": pending_of(seen, number),
        "voted_for": server_name(server.voted),
        "votes": sorted(f"n{one}" for one in server.votes),
        "refused": sorted(f"n{one}" for one in server.refused),
        "has_fetched": server.has_fetched,
        "voters": voters,
        "is a voter": f"n{number}" in voters,
    }
    if state == "LEADER":
        others = [one for one in range(1, words.servers + 1) if one != number]
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


def _request(letter: Letter, words: Words) -> str:
    end = words.end(letter.offset, letter.last_epoch)
    return _position(f"n{letter.source}", f"n{letter.to}", words.epoch(letter.epoch), *end)


def _vote(letter: Letter, seen: QuorumSeen, words: Words) -> str | None:
    """The response to a vote request in words; None where it has no news for the candidate."""
    epoch, leader = seen.servers[letter.to].epoch, server_name(letter.leader)
    if letter.error == "INVALID_REQUEST" and letter.epoch < epoch:
        return _INVALID["TOO_EARLY"]
    if letter.error == "INVALID_REQUEST" and letter.epoch == epoch and leader is None:
        return _INVALID["INVALID"]
    if letter.epoch > epoch:
        return f"epoch {words.epoch(letter.epoch)}, {leader} leads"
    if letter.granted:
        return "yes"
    return None if leader is None else f"{leader} leads"


def _fetch_response(letter: Letter, seen: QuorumSeen, words: Words) -> str:
    """The response to a fetch in words."""
    if letter.error != "NONE":
        return f"failed, epoch {words.epoch(letter.epoch)}, {server_name(letter.leader)} leads"
    offset, epoch = letter.parting
    if epoch >= 0:
        return "logs part at {}@{}".format(*words.end(offset, epoch))
    end = len(seen.servers[letter.to].log) + len(letter.records)
    records = " ".join(f"{_change(record, letter, seen)}@{words.epoch(record[1])}" for record in letter.records)
    return f"{records or 'nothing'}, HW {max(0, min(letter.high_watermark, end))}"


def _change(record: KafkaRecord, letter: Letter, seen: QuorumSeen) -> str:
    """A record in words, which names who comes or goes, by the voters of the follower's log."""
    if not record[0].startswith("{"):
        return _told(record)
    after = {int(one) for one in record[0].strip("{}").split(",")}
    before = set(_voters(seen.servers[letter.to]))
    return " ".join([f"+n{one}" for one in sorted(after - before)] + [f"-n{one}" for one in sorted(before - after)])


def _pair(letter: Letter) -> str:
    return f"n{letter.source} to n{letter.to}"
