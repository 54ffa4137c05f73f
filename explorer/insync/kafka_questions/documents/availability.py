"""How many brokers must fail before writes stop: as sentences and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from insync.explorer.documents.text import plural
from insync.kafka_questions.availability import STOPS, FewestFailures

if TYPE_CHECKING:
    from insync.kafka_questions.documents.json_types import StopEntry

__all__ = ["availability_json", "stops_in_words"]


def stops_in_words(found: Sequence[FewestFailures], replicas: int) -> list[str]:
    """Return a sentence for each of `STOPS`, about a partition with this number of replicas; one where they agree."""
    by = {name: {one.by: one for one in found if one.name == name} for name in STOPS}
    counted = [[(one.by, one.failures, one.more_than) for one in of.values()] for of in by.values()]
    if all(one == counted[0] for one in counted):
        return [_when(" and ".join(STOPS.values()), replicas, next(iter(by.values())))]
    return [_when(words, replicas, by[name]) for name, words in STOPS.items()]


def _when(words: str, replicas: int, by: Mapping[str, FewestFailures]) -> str:
    if by["down"].failures == 0:
        return f"{words} though no broker has failed"
    said = list[str]()
    for name in ("down", "fenced"):
        if (number := by[name].failures) is not None:
            said.append(f"{_replicas(number, replicas, ('is', 'are'), first=not said)} {name}")
    if (slow := by["slow"].failures) is not None:
        said.append(f"{plural(slow, 'follower')} {'is' if slow == 1 else 'are'} slow")
    beside, alone = by["down_beside_slow"].failures, by["down"].failures
    if beside and (alone is None or beside < alone):
        left = _replicas(replicas - beside, replicas, ("has", "have"), first=not said)
        others = "the other one is" if beside == 1 else f"the other {beside} are"
        said.append(f"{left} left the ISR and {others} down")
    unknown = [one.by for one in by.values() if one.failures is None and one.more_than < 0]
    if not said:
        return f"it is unknown when {words}" if unknown else f"{words} in no such way"
    listed = f"{', '.join(said[:-1])}, or {said[-1]}" if len(said) > 1 else said[0]
    return f"{words} when {listed}{'; not all was searched' if unknown else ''}"


def _replicas(number: int, replicas: int, verbs: tuple[str, str], *, first: bool) -> str:
    """Return a number of replicas as a subject with its verb; the first subject of a sentence has the total too.

    Args:
        number: the number.
        replicas: the number of all replicas of the partition.
        verbs: the verb for one replica, and that for several.
        first: whether the subject is the first of its sentence.
    """
    verb = verbs[0 if number == 1 else 1]
    if replicas == 1:
        return f"the only replica {verb}" if first else f"it {verb}"
    return f"{number}{f' of {replicas} replicas' if first else ''} {verb}"


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
