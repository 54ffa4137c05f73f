"""The names in records of what Kafka did, which stay as they were written when the model's names change.

Readers of a record translate its names to those of today. The digest of a trace is made of the first names, so that it
stays when names change. The digest of a trace on record is made of the names in the record; some of them have been
merged or removed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from insync.conformance.correspondence.facts import Fact
from insync.kafka.cluster.former_names import FORMER_FIELDS, FORMER_NAMES, FORMER_STEPS

__all__ = ["first_action", "first_bounds", "first_facts", "present_bounds", "present_fact", "present_steps"]

Bounds = Mapping[str, int | str]
Steps = Iterable[tuple[str, Mapping[str, str]]]

_FIRST = {now: first for first, now in FORMER_NAMES.items() if now}
_FIRST_ACTIONS = {now: first for first, now in FORMER_STEPS.items()}
_FIRST_FACTS = {**FORMER_FIELDS, "leo": "end"}
_PRESENT_FACTS = {first: now for now, first in _FIRST_FACTS.items()}


def present_bounds(recorded: Bounds) -> dict[str, int | str]:
    """Return settings and budgets on record by the names of today; of several that are one now, the sum."""
    present: dict[str, int | str] = {}
    for name, value in recorded.items():
        now = FORMER_NAMES.get(name, name)
        if now:
            present[now] = value if isinstance(value, str) else value + int(present.get(now, 0))
    return present


def first_bounds(bounds: Bounds) -> dict[str, int | str]:
    """Return settings and budgets by the names that the first records have."""
    return {_FIRST.get(name, name): value for name, value in bounds.items()}


def present_steps(recorded: Steps) -> tuple[tuple[str, Mapping[str, str]], ...]:
    """Return steps on record by the names of today."""
    return tuple((FORMER_STEPS.get(action, action), parameters) for action, parameters in recorded)


def first_action(action: str | None) -> str | None:
    """Return the name that the first records have of an action."""
    return None if action is None else _FIRST_ACTIONS.get(action, action)


def present_fact(recorded: str) -> str:
    """Return the name of a fact on record, such as `b1.term`, as it is today."""
    return _by(_PRESENT_FACTS, recorded)


def first_facts(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """Return facts by the names that the first records have."""
    return {_by(_FIRST_FACTS, name): fact for name, fact in facts.items()}


def _by(names: Mapping[str, str], path: str) -> str:
    return ".".join(names.get(part, part) for part in path.split("."))
