"""Which command to Kafka's quorum a step of the model is: a timeout, a message, a record of a client, a restart."""

from __future__ import annotations

from collections.abc import Mapping

from insync.conformance.classes.subject import Argument
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.quorum_facts import BEGIN, END, FETCH, VOTE, Words
from insync.conformance.quorum.quorum_seen import Letter, QuorumSeen, ServerSeen

__all__ = ["VERSIONS", "Command", "Steps", "awaited_responses", "next_in_opening", "next_of_change", "number_in"]

Command = tuple[str, dict[str, Argument]]
"""The name of a command to Kafka's quorum, and its arguments."""

VERSIONS = "API_VERSIONS"

_BY_ITSELF = "Kafka does this at once and by itself, or the action is none that can be brought about"
_NOT_CAUGHT_UP = "Kafka's leader adds nobody who has not caught up with it"
_AWAITS = "Kafka's leader requests the versions of a new voter, and still waits for the response to another request"
_UNKNOWN_LEADER = "Kafka's server does not follow a leader that is no voter by its log when it restarts"
_FLUSHED = "Kafka has flushed its log, so a restart loses nothing of it"
_LEADER = "n1"

_TIMEOUTS = ("request_vote", "request_pre_votes", "resigned_timeout", "pre_vote_timeout", "observer_fetch_timeout")
"""The actions that a server takes because time has passed."""
_NEWS = {"handle_begin_quorum": BEGIN, "handle_end_quorum": END}
_RESPONSES_TO_PRE_VOTES = ("handle_pre_vote", "handle_pre_refusal")
_RESPONSES_TO_VOTES = ("handle_vote", "handle_refusal", "handle_invalid", "handle_too_early")
_RESPONSES_TO_FETCHES = ("handle_records", "handle_diverging", "handle_fetch_error")
"""The actions in which a server takes the response to its fetch."""


class Steps:
    """The commands of a model's steps.

    Args:
        words: the names that facts have in the model.
    """

    def __init__(self, words: Words) -> None:
        self._words, self._changes_voters = words, words.founders is not None

    def command_of(self, action: str, given: Mapping[str, str], seen: QuorumSeen) -> Command | None:
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
        if action in _TIMEOUTS or (action == "resign" and not self._changes_voters):
            return "time_out", {"server": server}
        if action == "resign":
            return "resign", {"server": server}
        if action in ("restart", "restart_unflushed"):
            _require_known_leader(server, seen.servers[server])
            if "kept" in given and int(given["kept"]) != len(seen.servers[server].log):
                raise NotSchedulable(_FLUSHED)
            return "restart", {"server": server}
        if action == "client_request":
            return "append", {"server": server, "value": number_in(given["value"])}
        if action == "add_voter":
            new = number_in(given["new"])
            _require_ready(server, new, seen)
            return "add_voter", {"server": server, "voter": new}
        if action == "remove_voter":
            return "remove_voter", {"server": server, "voter": number_in(given["old"])}
        if action == "send_fetch_request" and seen.servers[server].state == "Unattached":
            return "address", {"server": server, "to": number_in(given["leader"])}
        letter = self._letter_of(action, given, seen, server)
        return None if letter is None else ("deliver", {"letter": letter.number})

    def _letter_of(self, action: str, given: Mapping[str, str], seen: QuorumSeen, to: int) -> Letter | None:
        """The newest of the messages that a step delivers: where there are several, that alone can be waited for."""
        if action in _RESPONSES_TO_FETCHES:
            found = awaited_responses(seen, FETCH, to)
        elif action in _RESPONSES_TO_VOTES + _RESPONSES_TO_PRE_VOTES:
            wanted = action in _RESPONSES_TO_PRE_VOTES
            found = [one for one in awaited_responses(seen, VOTE, to) if one.source == number_in(given["voter"])]
            found = [one for one in found if one.pre_vote == wanted]
        elif action == "handle_pre_vote_request":
            candidate = number_in(given["candidate"])
            found = [one for one in seen.letters if one.pre_vote and not one.is_response]
            found = [one for one in found if (one.source, one.to) == (candidate, to)]
        elif action == "handle_vote_request":
            found = self._requests(seen, VOTE, to, given["candidate"], given["epoch"])
        elif action in _NEWS:
            found = self._requests(seen, _NEWS[action], to, given["leader"], given["epoch"])
        elif action == "handle_fetch":
            sent = self._requests(seen, FETCH, to, given["follower"], given["epoch"])
            end = int(given["fetch_offset"]), int(given["last_fetched_epoch"])
            found = [one for one in sent if self._words.end(one.offset, one.last_epoch) == end]
        else:
            raise NotSchedulable(_BY_ITSELF)
        return max(found, key=lambda one: one.number, default=None)

    def _requests(self, seen: QuorumSeen, kind: str, to: int, source: str, epoch: str) -> list[Letter]:
        key = (kind, to, number_in(source), int(epoch))
        found = [one for one in seen.letters if not one.is_response and not one.pre_vote]
        return [one for one in found if (one.kind, one.to, one.source, self._words.epoch(one.epoch)) == key]


def awaited_responses(seen: QuorumSeen, kind: str, to: int) -> list[Letter]:
    """Return the responses of a kind for which a server waits."""
    return [one for one in seen.letters if one.is_response and one.awaited and (one.kind, one.to) == (kind, to)]


def _require_known_leader(server: int, its: ServerSeen) -> None:
    """Refuse the restart of a server whose leader is no voter, unless it has voted for itself, and so stands."""
    waits = its.state in ("Follower", "Prospective") and its.leader >= 0 and its.voted != server
    if waits and its.membership and its.leader not in its.membership.voters:
        raise NotSchedulable(_UNKNOWN_LEADER)


def _require_ready(leader: int, new: int, seen: QuorumSeen) -> None:
    membership = seen.servers[leader].membership
    if membership is None or new not in membership.caught_up:
        raise NotSchedulable(_NOT_CAUGHT_UP)
    if any(one.awaited and {one.source, one.to} == {leader, new} and one.kind != FETCH for one in seen.letters):
        raise NotSchedulable(_AWAITS)


def next_of_change(seen: QuorumSeen) -> Command | None:
    """Return what is delivered with a step, as it changes nothing that is compared, or is part of it; None for nothing.

    Responses to BeginQuorumEpoch without news make the leader ready for another request; that of a voter that it has
    removed is not delivered, as the leader throws then. The versions of a new voter are requested, and it responds.
    """
    for letter in seen.letters:
        if letter.kind == VERSIONS and letter.awaited:
            return "deliver", {"letter": letter.number}
        if letter.kind == BEGIN and letter.is_response and letter.awaited and _tells_nothing(letter, seen.servers):
            return "deliver", {"letter": letter.number}
    return None


def _tells_nothing(letter: Letter, servers: Mapping[int, ServerSeen]) -> bool:
    leader = servers[letter.to]
    is_voter = leader.membership is not None and letter.source in leader.membership.voters
    return is_voter and letter.error == "NONE" and letter.epoch == leader.epoch


def next_in_opening(seen: QuorumSeen) -> Command | None:
    """Return what is next until the first server leads, and all voters have its record below their high watermark."""
    leader = seen.servers[number_in(_LEADER)]
    if leader.state == "Unattached":
        return "time_out", {"server": number_in(_LEADER)}
    for letter in seen.letters:
        sender = seen.servers[letter.source]
        has_all = bool(sender.log) and sender.high_watermark == 1 and leader.fetched.get(letter.source) == 1
        if letter.to > 0 and (letter.is_response or letter.kind != FETCH or not has_all):
            return "deliver", {"letter": letter.number}
    return None


def number_in(name: str) -> int:
    """Return the number by which Kafka names a server or a value of the model's, such as `n1` or `v2`."""
    return int(name[1:])
