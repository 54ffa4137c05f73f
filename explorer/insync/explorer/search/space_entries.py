"""What is known of a searched space without its states, as plain values for the manifest of a run directory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from insync.explorer.manifest_entries import as_dict, as_list, as_numbers, require
from insync.explorer.search.explored import Hit, Space

__all__ = ["SpaceShape", "space_entries", "space_of"]


def space_entries(space: Space) -> dict[str, Any]:
    """Return what is known of a space; neither its states nor what ended the search are part of it."""
    return {
        "levels": space.levels,
        "visited": space.visited,
        "steps": space.steps,
        "expanded": space.expanded,
        "violations": {str(number): _hit(hit) for number, hit in space.violations.items()},
        "refused": None if space.refused is None else _hit(space.refused),
        "stepless": space.stepless,
        "outside": space.outside,
    }


@dataclass(frozen=True, slots=True)
class SpaceShape:
    """How many there are of what a space has numbers of: actions, conditions, and 64-bit words of a state."""

    actions: int
    conditions: int
    words: int

    def fits(self, space: Space) -> bool:
        """Return whether a space can be of what has this shape."""
        hits = [*space.violations.values(), *([] if space.refused is None else [space.refused])]
        return (
            len(space.steps) == self.actions
            and all(number < self.conditions for number in space.violations)
            and all(len(hit.least) == self.words for hit in hits)
        )


def space_of(found: object) -> Space:
    """Return the space that `space_entries` described, without any state.

    Raises:
        Damaged: they are none that `space_entries` returns.
    """
    entries = as_dict(found)
    levels, visited = (as_numbers(entries.get(name), least=1) for name in ("levels", "visited"))
    require(len(levels) == len(visited) and all(map(int.__ge__, levels, visited)))
    steps, expanded = as_numbers(entries.get("steps")), entries.get("expanded")
    stepless, outside = (as_numbers(entries.get(name)) for name in ("stepless", "outside"))
    require(type(expanded) is int and expanded == len(stepless) <= len(levels) == len(outside))
    require(all(map(int.__le__, stepless, levels)) and all(map(int.__le__, outside, levels)))
    violations = {}
    for name, entry in as_dict(entries.get("violations")).items():
        require(name.isdecimal() and name.isascii() and len(name) < 9)
        violations[int(name)] = _read_hit(entry, levels)
    first = entries.get("refused", [])
    refused = None if first is None else _read_hit(first, levels)
    return Space([], steps, levels, violations, refused, None, len(stepless), stepless, visited, outside)


def _hit(hit: Hit) -> list[Any]:
    return [hit.level, hit.count, hit.least]


def _read_hit(found: object, levels: Sequence[int]) -> Hit:
    entry = as_list(found)
    require(len(entry) == 3)
    level, count = as_numbers(entry[:2], least=1)
    least = as_numbers(entry[2])
    require(level <= len(levels) and all(word < 1 << 64 for word in least))
    return Hit(level, count, tuple(least))
