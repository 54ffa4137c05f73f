"""Answers of `kraft_853` that nobody waits for any more, which it takes as published and Kafka's servers ignore.

Kafka's wait for the answer to one request at a time of each other server (RequestManager.isResponseExpected). So the
model does more with `answers=all`: steps in which it takes another answer are not brought about, and of the answers on
their way those alone are compared that Kafka waits for: each of them is in the model as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.correspondence import Facts, number_in
from insync.conformance.quorum.member_facts import reply_of_kafka, reply_of_model
from insync.conformance.quorum.member_steps import ANSWERS_TO_MEMBERS_FETCHES, ANSWERS_TO_MEMBERS_VOTES
from insync.conformance.quorum.quorum_facts import FETCH, VOTE, server_name
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync.conformance.quorum.quorum_steps import awaited_answers
from insync.model import ReadableState

__all__ = ["heeded", "require_heeded"]

_IGNORED = "Kafka ignores an answer that nobody waits for (RequestManager.isResponseExpected)"
_KINDS = ("votes", "replies")


def heeded(model: Facts, kafka: Facts) -> Facts:
    """Return the facts of the model without the answers that Kafka does not wait for."""
    return model | {kind: [one for one in _listed(kafka, kind) if one in _listed(model, kind)] for kind in _KINDS}


def require_heeded(action: str, given: Mapping[str, str], seen: QuorumSeen, state: ReadableState) -> None:
    """Refuse to take an answer that Kafka ignores.

    Raises:
        NotSchedulable: Kafka does not wait for it.
    """
    if action in ANSWERS_TO_MEMBERS_VOTES and not _waits_for_ballot(action, given, seen):
        raise NotSchedulable(_IGNORED)
    if action in ANSWERS_TO_MEMBERS_FETCHES and not _waits_for_reply(given, seen, state):
        raise NotSchedulable(_IGNORED)


def _listed(facts: Facts, kind: str) -> list[str]:
    return cast(list[str], facts[kind])


def _waits_for_ballot(action: str, given: Mapping[str, str], seen: QuorumSeen) -> bool:
    told = int(given["epoch"]), given.get("leader"), action == "handle_vote"
    return any(
        (one.epoch, None if one.granted else server_name(one.leader), one.granted) == told
        for one in awaited_answers(seen, VOTE, number_in(given["i"]))
        if one.source == number_in(given["voter"])
    )


def _waits_for_reply(given: Mapping[str, str], seen: QuorumSeen, state: ReadableState) -> bool:
    """Whether all answers of the model to the fetch that is under way say what Kafka waits for."""
    follower = state["server"][given["i"]]
    there = [one for one in state["replies"][given["source"]][given["i"]] if _answers(one["request"], follower)]
    awaited = [
        reply_of_kafka(one, seen)
        for one in awaited_answers(seen, FETCH, number_in(given["i"]))
        if one.source == number_in(given["source"])
    ]
    return {reply_of_model(one) for one in there} == set(awaited)


def _answers(asked: Mapping[str, Any], follower: Mapping[str, Any]) -> bool:
    end = follower["end"]
    position = {"offset": end, "last_epoch": follower["log"][end - 1]["epoch"] if end else 0}
    return {name: asked[name] for name in position} == position and asked["epoch"] == follower["pending"]["epoch"]
