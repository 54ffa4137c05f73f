"""Which command to Kafka's quorum a step of the model `kraft` is."""

from __future__ import annotations

from collections.abc import Mapping

from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.correspondence import Command, number_in
from insync.conformance.quorum.quorum_facts import BEGIN, END, FETCH, VOTE, end_of, model_epoch
from insync.conformance.quorum.quorum_seen import Letter, QuorumSeen
from insync.model import ReadableState

__all__ = [
    "ANSWERS_TO_FETCHES",
    "ANSWERS_TO_PRE_VOTES",
    "BY_ITSELF",
    "TIMEOUTS",
    "awaited_answers",
    "command_of",
    "pre_vote_requests",
]

BY_ITSELF = "Kafka does it at once, by itself, or not yet"
"""Why an action is none that can be brought about."""
_OLD_COPY = "Kafka does not take the answer to the fetch of before a restart for that to the one after it"
TIMEOUTS = ("request_vote", "ask_for_pre_votes", "resigned_timeout", "pre_vote_timeout")
"""The actions that a server takes because time has passed."""
_NEWS = {"handle_begin_quorum": BEGIN, "handle_end_quorum": END}
ANSWERS_TO_PRE_VOTES = ("handle_pre_vote", "handle_pre_refusal")
_ANSWERS_TO_VOTES = (
    "handle_vote",
    "handle_refusal",
    "handle_fence",
    "handle_fence_naming",
    "handle_invalid",
    "handle_too_early",
)
ANSWERS_TO_FETCHES = (
    "handle_record",
    "handle_leader_change",
    "handle_nothing",
    "handle_diverging",
    "handle_not_leader",
    "handle_other_leader",
    "handle_wrong_epoch",
)
"""The actions in which a server takes the answer to its fetch."""


def command_of(
    action: str,
    given: Mapping[str, str],
    seen: QuorumSeen,
    before: ReadableState,
    end_numbered: Mapping[int, tuple[int, int]],
) -> Command | None:
    """Return the command, None where Kafka has no such message.

    Args:
        action: the model's action.
        given: its parameters.
        seen: Kafka's state.
        before: the model's.
        end_numbered: offset and epoch of the end of a log, by what the model calls it.

    Raises:
        NotSchedulable: it cannot be brought about.
    """
    server = number_in(given["i"])
    if action in (*TIMEOUTS, "resign"):
        return "time_out", {"server": server}
    if action == "restart":
        return "restart", {"server": server}
    if action == "client_request":
        return "append", {"server": server, "value": number_in(given["value"])}
    letter = _letter_of(action, given, seen, server, end_numbered)
    if letter is None:
        return None
    if action == "handle_fetch" and not letter.awaited and _is_waited_for(given, before, end_numbered):
        raise NotSchedulable(_OLD_COPY)
    return "deliver", {"letter": letter.number}


def _letter_of(
    action: str,
    given: Mapping[str, str],
    seen: QuorumSeen,
    to: int,
    end_numbered: Mapping[int, tuple[int, int]],
) -> Letter | None:
    """The newest of the messages that a step delivers: where there are several, that alone can be waited for."""
    if action in ANSWERS_TO_FETCHES:
        found = awaited_answers(seen, FETCH, to)
    elif action in _ANSWERS_TO_VOTES + ANSWERS_TO_PRE_VOTES:
        wanted = action in ANSWERS_TO_PRE_VOTES
        found = [one for one in awaited_answers(seen, VOTE, to) if one.source == number_in(given["voter"])]
        found = [one for one in found if one.pre_vote == wanted]
    elif action == "handle_pre_vote_request":
        found = pre_vote_requests(seen, number_in(given["candidate"]), to)
    elif action == "handle_vote_request":
        found = _requests(seen, VOTE, to, given["candidate"], given["epoch"])
        found = [one for one in found if not one.pre_vote]
    elif action in _NEWS:
        found = _requests(seen, _NEWS[action], to, given["leader"], given["epoch"])
    elif action == "handle_fetch":
        asked = _requests(seen, FETCH, to, given["follower"], given["epoch"])
        end = end_numbered[int(given["end"])]
        found = [one for one in asked if end_of(one.offset, one.last_epoch) == end]
    else:
        raise NotSchedulable(BY_ITSELF)
    return max(found, key=lambda one: one.number, default=None)


def pre_vote_requests(seen: QuorumSeen, asker: int, to: int) -> list[Letter]:
    """Return the pre-vote requests of a server to another."""
    found = [one for one in seen.letters if one.pre_vote and not one.is_answer]
    return [one for one in found if (one.source, one.to) == (asker, to)]


def awaited_answers(seen: QuorumSeen, kind: str, to: int) -> list[Letter]:
    """Return the answers of a kind for which a server waits."""
    return [one for one in seen.letters if one.is_answer and one.awaited and (one.kind, one.to) == (kind, to)]


def _requests(seen: QuorumSeen, kind: str, to: int, source: str, epoch: str) -> list[Letter]:
    return [
        one
        for one in seen.letters
        if not one.is_answer
        and (one.kind, one.to, one.source) == (kind, to, number_in(source))
        and model_epoch(one.epoch) == int(epoch)
    ]


def _is_waited_for(
    given: Mapping[str, str], before: ReadableState, end_numbered: Mapping[int, tuple[int, int]]
) -> bool:
    """Whether the model takes the answer to a fetch for that to the one that is under way."""
    follower = before["server"][given["follower"]]
    end = follower["end"]
    position = end, follower["log"][end - 1]["epoch"] if end else 0
    asked = {"epoch": int(given["epoch"]), "to": given["i"]}
    return follower["pending"] == asked and end_numbered[int(given["end"])] == position
