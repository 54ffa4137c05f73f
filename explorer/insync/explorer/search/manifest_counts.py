"""The counts and violations of a search as entries of the manifest of a run directory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from insync.explorer.manifest_entries import as_dict, as_list, as_numbers, require
from insync.explorer.search.explored import Explored, Hit

__all__ = ["SpaceShape", "space_entries", "space_of"]


def space_entries(space: Explored) -> dict[str, Any]:
    """Return the counts and violations of a space as plain values for the manifest of a run directory."""
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
    """The numbers of bound actions, of conditions, and of 64-bit words of a state."""

    actions: int
    conditions: int
    words: int

    def fits(self, space: Explored) -> bool:
        """Return whether a space read from a manifest can have this shape."""
        hits = [*space.violations.values(), *([] if space.refused is None else [space.refused])]
        return (
            len(space.steps) == self.actions
            and all(number < self.conditions for number in space.violations)
            and all(len(hit.least) == self.words for hit in hits)
        )


def space_of(found: object) -> Explored:
    """Return the space that `space_entries` described, without its states.

    Raises:
        Damaged: the entries are none that `space_entries` returns.
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
    return Explored(steps, levels, violations, refused, None, stepless, visited, outside)


def _hit(hit: Hit) -> list[Any]:
    return [hit.level, hit.count, hit.least]


def _read_hit(found: object, levels: Sequence[int]) -> Hit:
    entry = as_list(found)
    require(len(entry) == 3)
    level, count = as_numbers(entry[:2], least=1)
    least = as_numbers(entry[2])
    require(level <= len(levels) and all(word < 1 << 64 for word in least))
    return Hit(level, count, tuple(least))
