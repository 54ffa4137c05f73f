"""What is known of a searched space without its states, as plain values for the manifest of a run directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from insync.explorer.breadth_first.space import Hit, Space

__all__ = ["space_entries", "space_of"]


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


def space_of(entries: Mapping[str, Any]) -> Space:
    """Return the space that `space_entries` described, without any state."""
    violations = {int(number): _read_hit(hit) for number, hit in entries["violations"].items()}
    refused = entries["refused"] and _read_hit(entries["refused"])
    counts = (entries[name] for name in ("expanded", "stepless", "visited", "outside"))
    return Space([], entries["steps"], entries["levels"], violations, refused, None, *counts)


def _hit(hit: Hit) -> list[Any]:
    return [hit.level, hit.count, hit.least]


def _read_hit(entry: Sequence[Any]) -> Hit:
    return Hit(entry[0], entry[1], tuple(entry[2]))
