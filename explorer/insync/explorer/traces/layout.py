"""Where the columns of a text grid stand, so that no word, no log and no bar of a high watermark is torn.

The column of the steps gives way first, then the widest of the others, down to the longest item in it. Columns that do
not fit beside one another even so go below, in a grid of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["GAP", "LABEL_NARROWEST", "groups_of_columns", "widths_of", "wrap_items"]

GAP = "  "
LABEL_NARROWEST = 20
"""The column of the steps is not made narrower."""

_FIRST = 2
"""The columns before those of the state: the number and the step."""


def groups_of_columns(rows: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """Return which columns of the state, numbered from 2, stand beside one another, in the order of the columns.

    Args:
        rows: all cells as text, the heading first.
        width: how many characters a line may have.
    """
    columns = list(zip(*rows, strict=True))
    floors = [_floor(column, width) for column in columns]
    taken = 1 + floors[0] + len(GAP) + min(_longest(columns[1]), LABEL_NARROWEST)
    groups: list[list[int]] = [[]]
    room = width - taken
    for number in range(_FIRST, len(columns)):
        needed = len(GAP) + floors[number]
        if needed > room and groups[-1]:
            groups.append([])
            room = width - 1 - floors[0]
        groups[-1].append(number)
        room -= needed
    return groups


def widths_of(columns: Sequence[Sequence[str]], width: int, *, labels: bool) -> list[int]:
    """Return the width of each column of a grid.

    Args:
        columns: the cells of each column, that of the numbers first.
        width: how many characters a line may have.
        labels: whether the second column has the steps, which give way before anything else.
    """
    widths = [_longest(column) for column in columns]
    floors = [_floor(column, width) for column in columns]
    over = sum(widths) + len(GAP) * (len(widths) - 1) + 1 - width
    if labels:
        floors[1] = min(widths[1], LABEL_NARROWEST)
        given = max(0, min(over, widths[1] - floors[1]))
        widths[1] -= given
        over -= given
    while over > 0:
        candidates = [number for number, size in enumerate(widths) if size > floors[number]]
        if not candidates:
            break
        widths[max(candidates, key=lambda number: widths[number])] -= 1
        over -= 1
    return widths


def wrap_items(cell: str, size: int) -> list[str]:
    """Return the lines of a cell: broken between items, and within one only if it does not fit a line by itself."""
    lines = [""]
    for item in _items(cell, size):
        if lines[-1] and len(lines[-1]) + 1 + len(item) > size:
            lines.append(item)
        else:
            lines[-1] = f"{lines[-1]} {item}".strip()
    return lines if len(cell) > size else [cell]


def _items(cell: str, size: int) -> list[str]:
    """Return what is not to be torn: words, and what stands in brackets, if that fits."""
    items: list[str] = []
    depth = 0
    for word in cell.split():
        inside = depth > 0 and len(items[-1]) + 1 + len(word) <= size
        if inside or (items and word.startswith("|")):  # the bar stays beside a record
            items[-1] += f" {word}"
        else:
            items.append(word)
        depth += word.count("[") - word.count("]")
    return items


def _floor(cells: Sequence[str], width: int) -> int:
    """Return the length of the longest item; one that takes up most of a line may be broken."""
    most = max(1, width - LABEL_NARROWEST - 2 * len(GAP) - 4)
    return max((len(item) for cell in cells for item in _items(cell, most)), default=0)


def _longest(cells: Sequence[str]) -> int:
    return max(len(cell) for cell in cells)
