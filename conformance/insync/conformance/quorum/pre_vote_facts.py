"""What is on its way of pre-votes (KIP-996) in the models of the quorum and in Kafka's, in the same words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from insync.conformance.quorum.correspondence import Facts
from insync.conformance.quorum.quorum_facts import end_of, model_epoch, pair_of, position, server_name
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync.kafka.published.quorum.voter_log import FIRST_EPOCH
from insync.model import ReadableState

__all__ = ["pre_votes_of_kafka", "pre_votes_of_model"]


def pre_votes_of_model(state: ReadableState) -> Facts:
    """Return the requests and the answers; nothing without pre-votes."""
    if "pre_ballots" not in state:
        return {}
    return {
        "pre-vote requests": sorted(
            position(one, other, asked["epoch"], asked["offset"], asked["last_epoch"])
            for one, other, asked in _there(state["pre_vote_requests"])
        ),
        "pre-votes": sorted(
            _answer(voter, asker, ballot["epoch"], ballot["leader"], granted=ballot["granted"])
            for asker, voter, ballot in _there(state["pre_ballots"])
        ),
    }


def pre_votes_of_kafka(seen: QuorumSeen, earlier: int = FIRST_EPOCH) -> Facts:
    """Return the requests that can have an effect still, and the answers that are awaited.

    Args:
        seen: Kafka's state.
        earlier: how many epochs of the model there are before Kafka's first.
    """
    letters = [letter for letter in seen.letters if letter.pre_vote]
    requests = [letter for letter in letters if not letter.is_answer]
    answers = [letter for letter in letters if letter.is_answer and letter.awaited]
    return {
        "pre-vote requests": sorted(
            position(*pair_of(one), model_epoch(one.epoch, earlier), *end_of(one.offset, one.last_epoch, earlier))
            for one in requests
            if one.awaited or one.epoch > seen.servers[one.to].epoch
        ),
        "pre-votes": sorted(
            _answer(*pair_of(one), model_epoch(one.epoch, earlier), server_name(one.leader), granted=one.granted)
            for one in answers
        ),
    }


def _there(messages: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The messages between two servers that are there."""
    for one, others in messages.items():
        yield from ((one, other, message) for other, message in others.items() if message)


def _answer(voter: str, asker: str, epoch: int, leader: str | None, *, granted: bool) -> str:
    return f"{voter} to {asker}: {'yes' if granted else 'no'}, epoch {epoch}, {leader} leads"
