"""The state of the model `kraft` and that of Kafka's quorum as facts by name, in the same words.

Where voters stay, Kafka's epochs begin with 0 and the model's with 1; where they come and go, epochs are the same.
Kafka keeps messages that the model forgets, as their receivers can do nothing with them. Those are left out: answers
that nobody waits for, refusals that tell a candidate nothing, what was said of an epoch that is over for who would
hear it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from insync.conformance.correspondence.facts import Fact, Facts
from insync.conformance.quorum.quorum_seen import KafkaRecord, Letter, QuorumSeen, ServerSeen
from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.sorts import FIRST_EPOCH, LogEnd
from insync.kafka.quorum.state import FAILED, Result
from insync.model import ReadableState

__all__ = ["BEGIN", "END", "FETCH", "VOTE", "Words", "facts_of_kafka", "facts_of_model", "pending_of", "server_name"]

BEGIN, END, FETCH, VOTE = "BEGIN_QUORUM_EPOCH", "END_QUORUM_EPOCH", "FETCH", "VOTE"

_SAID = {"begins": BEGIN, "ends": END}
"""What leaders say of their epochs: that they lead, and that they have resigned."""

_INVALID = {"INVALID": "invalid", "TOO_EARLY": "invalid, of an earlier epoch"}
"""How answers are told that call a vote request invalid, and name no leader."""

_ABSENT: Facts = {"state": "ABSENT"}


class Words:
    """How facts are told of a model.

    Args:
        model: the model.

    Attributes:
        founders: the first voters, where voters come and go, by the names of the model; None where they stay.
        pre_votes: whether servers ask for pre-votes.
        said: the kinds of what leaders say that are messages.
        servers: how many there are, those included that are not started yet.
        position: offset and epoch of the end of a log, by what the model calls it.
    """

    def __init__(self, model: Kraft) -> None:
        self.founders = [str(one) for one in model.voter_set.founders] if model.features.changes_voters else None
        self.pre_votes, self.servers = model.features.asks_first, model.b.servers
        self.said = ("begins", "ends") if model.features.resigns else ("begins",)
        requests, ends = model.request_manager, LogEnd.numbers(model.b)
        self.position = {end: (int(requests.offset_of(end)), int(requests.epoch_of(end))) for end in ends}

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


def _pre_vote(voter: str, asker: str, epoch: int, leader: str | None, *, granted: bool) -> str:
    return f"{voter} to {asker}: {'yes' if granted else 'no'}, epoch {epoch}, {leader} leads"


# ------------------------------------------------------------------------------------------------------------ the model


def facts_of_model(state: ReadableState, words: Words) -> Facts:
    """Return what is compared of a state of the model."""
    facts: dict[str, Fact] = {}
    for name, server in state["server"].items():
        facts |= {f"{name}.{fact}": value for fact, value in _server_of_model(name, server, words).items()}
    facts["acknowledged"] = sorted(value for value, known in state["written"].items() if known == "ACKNOWLEDGED")
    facts["vote requests"] = sorted(
        _position(one, other, int(epoch), asked["offset"], asked["last_epoch"])
        for one, other, epoch, asked in _by_epoch(state["vote_requests"])
        if asked
    )
    for kind in words.said:
        said = [one for one in _by_epoch(state[kind]) if one[-1]]
        facts[kind] = sorted(f"{leader} to {other}, epoch {epoch}" for leader, other, epoch, _ in said)
    answers = [one for one in _between(state["vote_answers"]) if one[2]]
    prospective = {name for name, server in state["server"].items() if server["state"] == "PROSPECTIVE"}
    facts["votes"] = sorted(
        f"{voter} to {asker}: {_vote_of_model(answer, state['server'][asker]['epoch'])}"
        for asker, voter, answer in answers
        if asker not in prospective
    )
    if words.pre_votes:
        facts["pre-vote requests"] = sorted(
            _position(one, other, asked["epoch"], asked["offset"], asked["last_epoch"])
            for one, other, asked in _between(state["pre_vote_requests"])
            if asked
        )
        facts["pre-votes"] = sorted(
            _pre_vote(voter, asker, answer["epoch"], answer["leader"], granted=answer["answer"] == "GRANTED")
            for asker, voter, answer in answers
            if asker in prospective
        )
    facts["fetches"] = sorted(
        _position(one, other, int(epoch), *words.position[int(end)])
        for one, other, epoch, ends in _by_epoch(state["fetches"])
        for end, is_so in ends.items()
        if is_so
    )
    facts["replies"] = sorted(
        f"to {name}: {_reply_of_model(reply, state['server'][name])}"
        for name, reply in state["fetch_answers"].items()
        if reply
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
    voters, told = set(words.founders or ()), []
    for record in records:
        changed = record.get("added") or record.get("removed")
        voters = voters ^ {changed} if changed else voters
        what = f"{{{','.join(sorted(voters))}}}" if changed else record["value"] or "*"
        told.append(f"{what}@{record['epoch']}")
    return told


def _between(messages: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The messages between two servers."""
    for one, others in messages.items():
        yield from ((one, other, message) for other, message in others.items())


def _by_epoch(messages: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Any]]:
    """The messages between two servers by epoch."""
    for one, other, epochs in _between(messages):
        yield from ((one, other, epoch, message) for epoch, message in epochs.items())


def _vote_of_model(answer: Mapping[str, Any], current: int) -> str:
    """What an answer to a vote request tells."""
    if (said := answer["answer"]) in _INVALID:
        return _INVALID[said]
    if answer["epoch"] > current:
        return f"epoch {answer['epoch']}, {answer['leader']} leads"
    return "yes" if said == "GRANTED" else f"{answer['leader']} leads"


def _reply_of_model(reply: Mapping[str, Any], server: Mapping[str, Any]) -> str:
    result = reply["result"]
    if Result[result] in FAILED:
        leader = reply["leader"] if result == "NOT_LEADER" else server["fetches_from"]
        return f"failed, epoch {reply['epoch']}, {leader} leads"
    if result == "DIVERGING":
        return f"logs part at {reply['end']}@{reply['record_epoch']}"
    record = "nothing"
    if result == "RECORD":
        added, removed = reply.get("added"), reply.get("removed")
        changed = f"+{added}" if added else f"-{removed}" if removed else None
        record = f"{changed or reply['value'] or '*'}@{reply['record_epoch']}"
    return f"{record}, HW {reply['high_watermark']}"


# ---------------------------------------------------------------------------------------------------------------- Kafka


def facts_of_kafka(seen: QuorumSeen, acknowledged: Set[int], words: Words) -> Facts:
    """Return what is compared of Kafka's quorum.

    Args:
        seen: its state.
        acknowledged: the clients' records that any leader has committed so far.
        words: how it is told.
    """
    facts: dict[str, Fact] = {}
    for number in range(1, words.servers + 1):
        its = _server_of_kafka(number, seen, words) if number in seen.servers else _ABSENT
        facts |= {f"n{number}.{fact}": value for fact, value in its.items()}
    facts["acknowledged"] = sorted(f"v{value}" for value in acknowledged)
    letters = [letter for letter in seen.letters if letter.to > 0]
    requests = [letter for letter in letters if not letter.is_answer]
    answers = [letter for letter in letters if letter.is_answer and letter.awaited]
    for fact, kind in (("vote requests", VOTE), ("fetches", FETCH)):
        asked = [one for one in requests if one.kind == kind and not one.pre_vote]
        facts[fact] = sorted({_request(one, words) for one in asked})
    for fact in words.said:
        facts[fact] = sorted(
            f"{_pair(one)}, epoch {words.epoch(one.epoch)}"
            for one in requests
            if one.kind == _SAID[fact] and one.epoch >= seen.servers[one.to].epoch
        )
    votes = [one for one in answers if one.kind == VOTE and not one.pre_vote]
    facts["votes"] = sorted(f"{_pair(one)}: {told}" for one in votes if (told := _vote(one, seen, words)))
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
            for one in answers
            if one.pre_vote
        )
    facts["replies"] = sorted(f"to n{one.to}: {_reply(one, seen, words)}" for one in answers if one.kind == FETCH)
    return facts


def pending_of(seen: QuorumSeen, number: int) -> str | None:
    """Return from whom a server fetches, as it waits for the answer; None for nobody, or one of no name."""
    for letter in seen.letters:
        asker, asked = (letter.to, letter.source) if letter.is_answer else (letter.source, letter.to)
        if letter.kind == FETCH and letter.awaited and asker == number and asked > 0:
            return server_name(asked)
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
    """What an answer to a vote request tells; None where it tells the candidate nothing."""
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


def _reply(letter: Letter, seen: QuorumSeen, words: Words) -> str:
    """An answer to a fetch in words."""
    if letter.error != "NONE":
        return f"failed, epoch {words.epoch(letter.epoch)}, {server_name(letter.leader)} leads"
    offset, epoch = letter.parting
    if epoch >= 0:
        return "logs part at {}@{}".format(*words.end(offset, epoch))
    end = len(seen.servers[letter.to].log) + len(letter.records)
    records = " ".join(f"{_change(record, letter, seen)}@{words.epoch(record[1])}" for record in letter.records)
    return f"{records or 'nothing'}, HW {max(0, min(letter.high_watermark, end))}"


def _change(record: KafkaRecord, letter: Letter, seen: QuorumSeen) -> str:
    """A record in words, which names who comes or goes, by the voters whom the follower knows."""
    if not record[0].startswith("{"):
        return _told(record)
    after = {int(one) for one in record[0].strip("{}").split(",")}
    before = set(_voters(seen.servers[letter.to]))
    return " ".join([f"+n{one}" for one in sorted(after - before)] + [f"-n{one}" for one in sorted(before - after)])


def _pair(letter: Letter) -> str:
    return f"n{letter.source} to n{letter.to}"
