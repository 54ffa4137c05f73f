"""The state of the model `kraft` and that of Kafka's quorum as facts by name, in the same words.

Kafka's epochs begin with 0 and the model's with 1. Kafka keeps messages that the model forgets, as their receivers can
do nothing with them. Those are left out: answers that nobody waits for, refusals that tell a candidate nothing, what
was said of an epoch that is over for who would hear it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from insync.conformance.quorum.correspondence import Facts
from insync.conformance.quorum.quorum_seen import KafkaRecord, Letter, QuorumSeen, ServerSeen
from insync.kafka.published.quorum.voter_log import FIRST_EPOCH
from insync.model import ReadableState

__all__ = [
    "BEGIN",
    "END",
    "FAILED",
    "FETCH",
    "INVALID",
    "VOTE",
    "end_of",
    "facts_of_kafka",
    "facts_of_model",
    "invalid_words",
    "model_epoch",
    "pair_of",
    "pending_of",
    "position",
    "server_name",
    "state_of",
]

BEGIN, END, FETCH, VOTE = "BEGIN_QUORUM_EPOCH", "END_QUORUM_EPOCH", "FETCH", "VOTE"

_SAID = {"begins": BEGIN, "ends": END}
"""What leaders say of their epochs: that they lead, and that they have resigned."""

INVALID = {"invalid": "invalid", "too_early": "invalid, of an earlier epoch"}
"""How answers are told that call a vote request invalid, and name no leader."""

FAILED = ("NOT_LEADER", "FENCED", "UNKNOWN")
"""The results of a fetch with which a model's server says that it does not lead, or not in that epoch."""


def model_epoch(epoch: int, earlier: int = FIRST_EPOCH) -> int:
    """Return what a model calls an epoch of Kafka's, which has so many before Kafka's first."""
    return epoch + earlier


def end_of(offset: int, epoch: int, earlier: int = FIRST_EPOCH) -> tuple[int, int]:
    """Return the end of a log as the model has it: the epoch of the last record is 0 where there is none."""
    return offset, model_epoch(epoch, earlier) if offset else 0


# ------------------------------------------------------------------------------------------------------------ the model


def facts_of_model(state: ReadableState) -> Facts:
    """Return what is compared of a state of the model."""
    facts: Facts = {}
    for name, server in state["server"].items():
        facts |= {f"{name}.{fact}": value for fact, value in _server_of_model(server).items()}
    facts["acknowledged"] = sorted(value for value, known in state["written"].items() if known == "ACKNOWLEDGED")
    facts["vote requests"] = sorted(
        position(one, other, int(epoch), asked["offset"], asked["last_epoch"])
        for one, other, epoch, asked in _asked(state["vote_requests"])
        if asked
    )
    facts |= {
        kind: sorted(
            f"{leader} to {other}, epoch {epoch}" for leader, other, epoch, said in _asked(state[kind]) if said
        )
        for kind in _SAID
        if kind in state
    }
    facts["votes"] = sorted(_votes_of_model(state))
    facts["fetches"] = sorted(
        text
        for one, other, epoch, ends in _asked(state["fetches"])
        for end, copies in ends.items()
        if copies
        for text in [f"{one} to {other}, epoch {epoch}, end {end}"] * copies
    )
    facts["replies"] = sorted(
        f"to {name}: {_reply_of_model(reply, state['server'][name])}"
        for name, replies in state["replies"].items()
        for reply in replies
    )
    return facts


def _server_of_model(server: Mapping[str, Any]) -> Facts:
    state = server["state"]
    facts: Facts = {
        "state": state,
        "epoch": server["epoch"],
        "leader": server["leader"],
        "log": [f"{record['value'] or '*'}@{record['epoch']}" for record in server["log"][: server["end"]]],
        "high_watermark": server["high_watermark"],
        "fetches from": None if server["pending"] is None else server["pending"]["to"],
    }
    has_pre_votes = "has_fetched" in server
    if has_pre_votes or state in ("CANDIDATE", "VOTED"):
        facts["voted_for"] = server["voted_for"]
    if state in ("CANDIDATE", "PROSPECTIVE"):
        facts["votes"] = sorted(server["votes"])
    if state == "PROSPECTIVE":
        facts["refused"] = sorted(server["refused"])
    if has_pre_votes and state == "FOLLOWER":
        facts["has_fetched"] = server["has_fetched"]
    if state == "LEADER":
        ends = {name: end for name, end in server["fetched"].items() if name != server["leader"]}
        facts["fetched"] = [f"{name}:{end}" for name, end in sorted(ends.items())]
    return facts


def _asked(messages: Mapping[str, Any]) -> Iterable[tuple[str, str, str, Any]]:
    """The messages between two servers by epoch."""
    for one, others in messages.items():
        for other, epochs in others.items():
            for epoch, message in epochs.items():
                yield one, other, epoch, message


def _votes_of_model(state: ReadableState) -> Iterable[str]:
    for name, voters in state["votes"].items():
        yield from (f"{voter} to {name}: yes" for voter in voters)
    for name, refusals in state["refusals"].items():
        yield from (f"{voter} to {name}: {leader} leads" for voter, leader in refusals.items() if leader)
    for name, voter, epoch, fence in _asked(state["fences"]):
        leaders = [None] * fence["nobody"] + [one for one, times in fence["leader"].items() for _ in range(times)]
        yield from (f"{voter} to {name}: epoch {epoch}, {leader} leads" for leader in leaders)
    for kind, words in INVALID.items():
        for name, voters in state.get(kind, {}).items():
            yield from (f"{voter} to {name}: {words}" for voter in voters)


def _reply_of_model(reply: Mapping[str, Any], server: Mapping[str, Any]) -> str:
    result, watermark = reply["result"], reply["high_watermark"]
    if result in FAILED:
        leader = reply["leader"] if result == "NOT_LEADER" else server["pending"]["to"]
        return f"failed, epoch {reply['epoch']}, {leader} leads"
    if result == "DIVERGING":
        return f"logs part at {reply['end']}@{reply['record_epoch']}"
    record = f"{reply['value'] or '*'}@{reply['record_epoch']}" if result == "RECORD" else "nothing"
    return f"{record}, HW {watermark}"


def position(one: str, other: str, epoch: int, offset: int, last_epoch: int) -> str:
    """Return a request of a server to another in words: its epoch, and where its log ends."""
    return f"{one} to {other}, epoch {epoch}, end {offset}@{last_epoch}"


# ---------------------------------------------------------------------------------------------------------------- Kafka


def facts_of_kafka(seen: QuorumSeen, acknowledged: Set[int], number_of_end: Mapping[tuple[int, int], int]) -> Facts:
    """Return what is compared of Kafka's quorum.

    Args:
        seen: its state.
        acknowledged: the clients' records that any leader has committed so far.
        number_of_end: what the model calls the end of a log, by offset and epoch.
    """
    facts: Facts = {}
    for number, server in seen.servers.items():
        told = _server_of_kafka(server) | {"fetches from": pending_of(seen, number)}
        facts |= {f"{server_name(number)}.{fact}": value for fact, value in told.items()}
    facts["acknowledged"] = sorted(f"v{value}" for value in acknowledged)
    letters = [letter for letter in seen.letters if not letter.pre_vote]
    requests = [letter for letter in letters if not letter.is_answer]
    answers = [letter for letter in letters if letter.is_answer and letter.awaited]
    facts["vote requests"] = sorted(
        {
            position(*pair_of(one), model_epoch(one.epoch), *end_of(one.offset, one.last_epoch))
            for one in requests
            if one.kind == VOTE
        }
    )
    for fact, kind in _SAID.items():
        facts[fact] = sorted(
            f"{one} to {other}, epoch {model_epoch(letter.epoch)}"
            for letter in requests
            for one, other in [pair_of(letter)]
            if letter.kind == kind and letter.epoch >= seen.servers[letter.to].epoch
        )
    facts["votes"] = sorted(filter(None, (_vote(letter, seen) for letter in answers if letter.kind == VOTE)))
    facts["fetches"] = sorted(
        f"{one} to {other}, epoch {model_epoch(letter.epoch)}, end {number_of_end[end]}"
        for letter in requests
        for (one, other), end in [(pair_of(letter), end_of(letter.offset, letter.last_epoch))]
        if letter.kind == FETCH
    )
    facts["replies"] = sorted(
        f"to {server_name(letter.to)}: {_reply(letter, seen)}" for letter in answers if letter.kind == FETCH
    )
    return facts


def pending_of(seen: QuorumSeen, number: int) -> str | None:
    """Return from whom a server fetches, as it waits for the answer; None for nobody, or one of no name."""
    for letter in seen.letters:
        asker, asked = (letter.to, letter.source) if letter.is_answer else (letter.source, letter.to)
        if letter.kind == FETCH and letter.awaited and asker == number and asked > 0:
            return server_name(asked)
    return None


def state_of(server: ServerSeen) -> str:
    """Return what the models call the state of a server."""
    return "VOTED" if server.state == "Unattached" and server.voted >= 0 else server.state.upper()


def _server_of_kafka(server: ServerSeen) -> Facts:
    state = state_of(server)
    facts: Facts = {
        "state": state,
        "epoch": model_epoch(server.epoch),
        "leader": server_name(server.leader),
        "log": [_record(record) for record in server.log],
        "high_watermark": max(0, server.high_watermark),
        "voted_for": server_name(server.voted),
        "votes": sorted(f"n{number}" for number in server.votes),
        "refused": sorted(f"n{number}" for number in server.refused),
        "has_fetched": server.has_fetched,
    }
    if state == "LEADER":
        facts["fetched"] = [f"n{number}:{max(0, end)}" for number, end in sorted(server.fetched.items())]
    return facts


def _vote(letter: Letter, seen: QuorumSeen) -> str | None:
    """An answer to a vote request; None where it tells the candidate nothing."""
    voter, candidate = pair_of(letter)
    if (words := invalid_words(letter, seen)) is not None:
        return f"{voter} to {candidate}: {words}"
    if letter.epoch > seen.servers[letter.to].epoch:
        return f"{voter} to {candidate}: epoch {model_epoch(letter.epoch)}, {server_name(letter.leader)} leads"
    if letter.granted:
        return f"{voter} to {candidate}: yes"
    return None if letter.leader < 0 else f"{voter} to {candidate}: {server_name(letter.leader)} leads"


def invalid_words(letter: Letter, seen: QuorumSeen) -> str | None:
    """Return how an answer is told that calls a vote request invalid, and names neither a leader nor a later epoch."""
    epoch = seen.servers[letter.to].epoch
    if letter.error != "INVALID_REQUEST" or letter.epoch > epoch:
        return None
    if letter.epoch < epoch:
        return INVALID["too_early"]
    return None if letter.leader >= 0 else INVALID["invalid"]


def _reply(letter: Letter, seen: QuorumSeen) -> str:
    if letter.error != "NONE":
        return f"failed, epoch {model_epoch(letter.epoch)}, {server_name(letter.leader)} leads"
    offset, epoch = letter.parting
    if epoch >= 0:
        return "logs part at {}@{}".format(*end_of(offset, epoch))
    end = len(seen.servers[letter.to].log) + len(letter.records)
    records = " ".join(map(_record, letter.records)) or "nothing"
    return f"{records}, HW {max(0, min(letter.high_watermark, end))}"


def _record(record: KafkaRecord) -> str:
    value, epoch = record
    return f"{'*' if value == '*' else f'v{value}'}@{model_epoch(epoch)}"


def pair_of(letter: Letter) -> tuple[str, str]:
    """Return what the models call who has sent a message, and who gets it."""
    return f"n{letter.source}", f"n{letter.to}"


def server_name(number: int) -> str | None:
    """Return what the models call a server, None where there is none."""
    return None if number < 0 else f"n{number}"
