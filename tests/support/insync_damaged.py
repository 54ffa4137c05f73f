"""Documents of JSON in which one value is of a kind that does not belong there, or is missing."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

__all__ = ["damaged"]

_ODD: tuple[object, ...] = (None, True, False, -1, 0, 3.5, 10**6, "", "x", [], [7], ["x"], {}, {"x": 1}, {"x": None})
_GONE = object()


def damaged(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each place of a document, as its last key, with the document that has something else there."""
    for path in _places(document, ()):
        for odd in (*_ODD, _GONE):
            changed = copy.deepcopy(document)
            inside: Any = changed
            for step in path[:-1]:
                inside = inside[step]
            if odd is _GONE:
                del inside[path[-1]]
            else:
                inside[path[-1]] = odd
            yield str(path[-1]), changed


def _places(value: object, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from _places(one, (*path, key))
