"""Which command to Kafka's quorum a step of the model `kraft_853` is."""

from __future__ import annotations

from collections.abc import Mapping

from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.correspondence import Command, number_in
from insync.conformance.quorum.quorum_facts import BEGIN, FETCH, VOTE
from insync.conformance.quorum.quorum_seen import Letter, QuorumSeen, ServerSeen
from insync.conformance.quorum.quorum_steps import (
    ANSWERS_TO_FETCHES,
    ANSWERS_TO_PRE_VOTES,
    BY_ITSELF,
    TIMEOUTS,
    awaited_answers,
    pre_vote_requests,
)

__all__ = [
    "ANSWERS_TO_MEMBERS_FETCHES",
    "ANSWERS_TO_MEMBERS_VOTES",
    "VERSIONS",
    "command_of",
    "next_in_opening",
    "next_of_change",
]

VERSIONS = "API_VERSIONS"

_NOT_CAUGHT_UP = "Kafka's leader adds nobody who has not caught up with it"
_AWAITS = "Kafka's leader asks a new voter for its versions, and waits for the answer to another request to it still"
_UNKNOWN_LEADER = "Kafka's server does not follow a leader that is no voter when it restarts, but knows who leads"
_NO_API = "only a voter's upper layer has it resign"
_LEADER = "n1"

ANSWERS_TO_MEMBERS_VOTES = (
    "handle_vote",
    "handle_refusal",
    "handle_refusal_naming",
    "handle_invalid",
    "handle_too_early",
)
ANSWERS_TO_MEMBERS_FETCHES = (*ANSWERS_TO_FETCHES, "handle_addition", "handle_removal")


def command_of(action: str, given: Mapping[str, str], seen: QuorumSeen) -> Command | None:
    """Return the command, None where Kafka has no such message.

    Args:
        action: the model's action.
        given: its parameters.
        seen: Kafka's state.

    Raises:
        NotSchedulable: it cannot be brought about.
    """
    if action == "start_server":
        return "start", {"server": number_in(given["new"])}
    server = number_in(given["i"])
    its = seen.servers[server]
    if action in (*TIMEOUTS, "observer_fetch_timeout"):
        return "time_out", {"server": server}
    if action == "client_request":
        return "append", {"server": server, "value": number_in(given["value"])}
    if action == "resign":
        return "resign", {"server": server}
    if action == "restart":
        _require_known_leader(server, its)
        return "restart", {"server": server}
    if action == "add_voter":
        new = number_in(given["new"])
        _require_ready(server, new, seen)
        return "add_voter", {"server": server, "voter": new}
    if action == "remove_voter":
        return "remove_voter", {"server": server, "voter": number_in(given["old"])}
    if action == "send_fetch_request" and its.state == "Unattached":
        return "address", {"server": server, "to": number_in(given["leader"])}
    letter = _letter_of(action, given, seen, server)
    return None if letter is None else ("deliver", {"letter": letter.number})


def _require_known_leader(server: int, its: ServerSeen) -> None:
    """Refuse the restart of who knows a leader that is no voter, and waits then; who has voted for itself stands."""
    knows = its.state in ("Follower", "Prospective") and its.leader >= 0 and its.voted != server
    if knows and its.membership and its.leader not in its.membership.voters:
        raise NotSchedulable(_UNKNOWN_LEADER)


def _require_ready(leader: int, new: int, seen: QuorumSeen) -> None:
    known = seen.servers[leader].membership
    if known is None or new not in known.caught_up:
        raise NotSchedulable(_NOT_CAUGHT_UP)
    if any(one.awaited and {one.source, one.to} == {leader, new} and one.kind != FETCH for one in seen.letters):
        raise NotSchedulable(_AWAITS)


def next_of_change(seen: QuorumSeen) -> Command | None:
    """Return what is delivered with a step, as it changes nothing that is compared, or is part of it; None for nothing.

    Answers to BeginQuorumEpoch that tell the leader nothing make it ready for another request; not of one that it has
    removed, which it does not take. The new voter is asked for its versions, and answers.
    """
    for letter in seen.letters:
        if letter.kind == VERSIONS and letter.awaited:
            return "deliver", {"letter": letter.number}
        if letter.kind == BEGIN and letter.is_answer and letter.awaited and _tells_nothing(letter, seen.servers):
            return "deliver", {"letter": letter.number}
    return None


def _tells_nothing(letter: Letter, servers: Mapping[int, ServerSeen]) -> bool:
    leader = servers[letter.to]
    is_voter = leader.membership is not None and letter.source in leader.membership.voters
    return is_voter and letter.error == "NONE" and letter.epoch == leader.epoch


def next_in_opening(seen: QuorumSeen) -> Command | None:
    """Return what is next until the first server leads, and all voters have its record and know it to be committed."""
    leader = seen.servers[number_in(_LEADER)]
    if leader.state == "Unattached":
        return "time_out", {"server": number_in(_LEADER)}
    for letter in seen.letters:
        sender = seen.servers[letter.source]
        has_all = bool(sender.log) and sender.high_watermark == 1 and leader.fetched.get(letter.source) == 1
        if letter.to > 0 and (letter.is_answer or letter.kind != FETCH or not has_all):
            return "deliver", {"letter": letter.number}
    return None


def _letter_of(action: str, given: Mapping[str, str], seen: QuorumSeen, to: int) -> Letter | None:
    """The newest of the messages that a step delivers: where there are several, that alone can be waited for."""
    if action in ANSWERS_TO_MEMBERS_FETCHES:
        found = _answers(seen, FETCH, to, given["source"])
    elif action in ANSWERS_TO_MEMBERS_VOTES + ANSWERS_TO_PRE_VOTES:
        wanted = action in ANSWERS_TO_PRE_VOTES
        found = [one for one in _answers(seen, VOTE, to, given["voter"]) if one.pre_vote == wanted]
    elif action == "handle_pre_vote_request":
        found = pre_vote_requests(seen, number_in(given["candidate"]), to)
    elif action == "handle_vote_request":
        found = _requests(seen, VOTE, to, given["candidate"], given)
    elif action == "handle_begin_quorum":
        found = _requests(seen, BEGIN, to, given["leader"], given)
    elif action in ("handle_fetch", "handle_first_fetch"):
        found = _requests(seen, FETCH, to, given["follower"], given)
    else:
        raise NotSchedulable(BY_ITSELF)
    return max(found, key=lambda one: one.number, default=None)


def _answers(seen: QuorumSeen, kind: str, to: int, source: str) -> list[Letter]:
    return [one for one in awaited_answers(seen, kind, to) if one.source == number_in(source)]


def _requests(seen: QuorumSeen, kind: str, to: int, source: str, given: Mapping[str, str]) -> list[Letter]:
    """The requests of an epoch; of votes and fetches those from a log that ends so."""
    key = (kind, to, number_in(source), int(given["epoch"]))
    found = [one for one in seen.letters if not one.is_answer and not one.pre_vote]
    found = [one for one in found if (one.kind, one.to, one.source, one.epoch) == key]
    if kind == BEGIN:
        return found
    end = int(given.get("offset", 0)), int(given.get("record_epoch", 0))
    return [one for one in found if (one.offset, one.last_epoch if one.offset else 0) == end]
