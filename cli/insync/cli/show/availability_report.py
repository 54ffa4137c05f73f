"""How many brokers must fail before writes stop: as sentences, as a table, and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from insync.cli.show.figures import plural
from insync.kafka_questions.ask import Given
from insync.kafka_questions.disturbances import STOPS, FewestFailures

__all__ = [
    "AVAILABILITY_HEAD",
    "availability_json",
    "describe_availability",
    "describe_availability_row",
    "stops_in_words",
]

AVAILABILITY_HEAD = (
    "\nHow many brokers must fail before writes stop?\n\n"
    "                                acks=all is refused     no leader\n"
    "  min.insync.replicas  unclean  down   fenced  slow     down   fenced  slow     down beside slow"
)
"""The head of a table with rows of `describe_availability_row`."""


def describe_availability(found: Sequence[FewestFailures], width: int) -> str:
    """Return sentences on when writes stop, one for each way."""
    lines = ["", "When do writes stop?"]
    for said in stops_in_words(found):
        lines += textwrap.wrap(said, width, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines)


def stops_in_words(found: Sequence[FewestFailures]) -> list[str]:
    """Return a sentence for each of `STOPS`."""
    return [_when(words, {one.by: one for one in found if one.name == name}) for name, words in STOPS.items()]


def _when(words: str, by: dict[str, FewestFailures]) -> str:
    if by["down"].failures == 0:
        return f"{words} though no broker has failed"
    said = []
    for name, noun, state in (("down", "broker", "down"), ("fenced", "broker", "fenced"), ("slow", "follower", "slow")):
        if (number := by[name].failures) is not None:
            said.append(f"{plural(number, noun)} {'is' if number == 1 else 'are'} {state}")
    beside, alone = by["down_beside_slow"].failures, by["down"].failures
    if beside and (alone is None or beside < alone):
        said.append(f"{plural(beside, 'broker')} {'is' if beside == 1 else 'are'} down and the others were slow before")
    unknown = [one.by for one in by.values() if one.failures is None and one.more_than < 0]
    if not said:
        return f"when {words} is unknown" if unknown else f"{words} in no such way"
    listed = f"{', '.join(said[:-1])}, or {said[-1]}" if len(said) > 1 else said[0]
    return f"{words} when {listed}{'; not all was searched' if unknown else ''}"


def describe_availability_row(settings: Given, found: Sequence[FewestFailures]) -> str:
    """Return the row of the table for a min.insync.replicas, with or without unclean election."""
    numbers = {(one.name, one.by): _number(one) for one in found}
    refused, leaderless = STOPS
    kinds = ("down", "fenced", "slow")
    one, two = (
        "  ".join(f"{numbers[name, by]:<{width}}" for by, width in zip(kinds, (5, 6, 7), strict=True))
        for name in (refused, leaderless)
    )
    last = numbers[leaderless, "down_beside_slow"]
    return f"  {settings['min_insync']:<19}  {settings['unclean']:<7}  {one}  {two.rstrip():<23} {last}".rstrip()


def _number(one: FewestFailures) -> str:
    if one.failures is None:
        return "never" if one.more_than >= 0 else "unknown"
    return str(one.failures)


def availability_json(found: Sequence[FewestFailures]) -> list[dict[str, object]]:
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
