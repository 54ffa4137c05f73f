"""How many brokers must fail before writes stop: as sentences and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from insync.explorer.documents.text import plural
from insync.kafka_questions.availability import STOPS, FewestFailures

if TYPE_CHECKING:
    from insync.kafka_questions.documents.json_types import StopEntry

__all__ = ["availability_json", "stops_in_words"]


def stops_in_words(found: Sequence[FewestFailures], replicas: int) -> list[str]:
    """Return a sentence for each of `STOPS`, about a partition with this number of replicas."""
    return [_when(words, replicas, {one.by: one for one in found if one.name == name}) for name, words in STOPS.items()]


def _when(words: str, replicas: int, by: dict[str, FewestFailures]) -> str:
    if by["down"].failures == 0:
        return f"{words} though no broker has failed"
    said = []
    for name, noun, state in (("down", "broker", "down"), ("fenced", "broker", "fenced"), ("slow", "follower", "slow")):
        if (number := by[name].failures) is not None:
            said.append(f"{plural(number, noun)} {'is' if number == 1 else 'are'} {state}")
    beside, alone = by["down_beside_slow"].failures, by["down"].failures
    if beside and (alone is None or beside < alone):
        are = "is" if beside == 1 else "are"
        others = "the other one" if replicas - beside == 1 else f"the other {replicas - beside}"
        said.append(f"{plural(beside, 'broker')} {are} down after {others} left the ISR")
    unknown = [one.by for one in by.values() if one.failures is None and one.more_than < 0]
    if not said:
        return f"when {words} is unknown" if unknown else f"{words} in no such way"
    listed = f"{', '.join(said[:-1])}, or {said[-1]}" if len(said) > 1 else said[0]
    return f"{words} when {listed}{'; not all was searched' if unknown else ''}"


def availability_json(found: Sequence[FewestFailures]) -> list[StopEntry]:
    """Return the failures that stop writes, as JSON values."""
    return [
        {
            "name": one.name,
            "by": one.by,
            "failures": one.failures,
            "more_than": one.more_than,
            "steps": list(one.steps),
        }
        for one in found
    ]
