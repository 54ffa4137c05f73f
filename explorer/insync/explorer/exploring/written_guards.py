"""Where the conditions of guards stand in a model's source, and how they are written there."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from insync.explorer.coverage.source_page import argument_text
from insync.model import Model
from insync.model.expressions.graph import Node
from insync.model.expressions.store import conjuncts
from insync.model.tracing.anatomy import anatomies

__all__ = ["WrittenGuards", "WrittenPart", "written_guards"]


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A condition of a guard as its author wrote it.

    Attributes:
        text: the argument of `require`.
        place: the name of the file, and the line.
    """

    text: str
    place: str


WrittenGuards = Sequence[Mapping[Node, WrittenPart]]
"""For each bound action of a program the conditions of its guard."""


def written_guards(model: Model) -> WrittenGuards:
    """Return how the guards of a model are written; it is traced again for that."""
    found: list[dict[Node, WrittenPart]] = []
    for anatomy in anatomies(model):
        if anatomy.bound is None:
            continue
        parts: dict[Node, WrittenPart] = {}
        for required in anatomy.required:
            place = f"{os.path.basename(required.spot.file)}:{required.spot.line}"
            part = WrittenPart(argument_text(required.spot, required.place), place)
            for node in conjuncts(required.condition):
                parts.setdefault(node, part)
        found.append(parts)
    return found
