"""The references in a sentence: the columns of a picture that it names, and the boxes of their logs.

Reasons that a model writes, such as "b3 has no record at offset 0", and the generated ones with fields, such as
"doing[w1] == waiting", are matched against the names of columns and records, and against offsets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from insync.explorer.traces.state_diff import CellChange, ShownCell

__all__ = ["Phrase", "Place", "phrases"]


@dataclass(frozen=True, slots=True)
class Place:
    """A part of the last state of a picture.

    Attributes:
        column: the name of the column.
        box: the offset in its log, which may be empty there. None is the whole cell.
        piece: the name of the part, if the cell has parts.
    """

    column: str
    box: int | None = None
    piece: str = ""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A piece of a sentence, and the places that it refers to, if any."""

    text: str
    places: tuple[Place, ...] = ()


_PATH = r"[A-Za-z_]\w*(?:\[[^\]\s]*\]|\.[A-Za-z_]\w*|\{[^}\s]*\})+"
_OFFSET = r"offset \d+"


def phrases(text: str, cells: Sequence[ShownCell]) -> tuple[Phrase, ...]:
    """Split a sentence into phrases with the cells that each refers to. Joined they are the sentence again."""
    columns = {cell.column: cell for cell in cells}
    records = sorted({box.record for cell in cells if cell.log for box in cell.log.boxes}, key=len, reverse=True)
    names = [re.escape(name) for name in sorted([*columns, *records], key=len, reverse=True) if name.strip()]
    words = rf"(?<![\w.@])(?:{'|'.join(names)})(?![\w@])" if names else r"(?!)"
    found: list[Phrase] = []
    named: list[str] = []
    last = 0
    for match in re.finditer(rf"{_OFFSET}|{words}|{_PATH}", text):
        places = tuple(dict.fromkeys(_places(match[0], columns, named)))
        if not places:
            continue
        named += [place.column for place in places if place.column not in named]
        if match.start() > last:
            found.append(Phrase(text[last : match.start()]))
        found.append(Phrase(match[0], places))
        last = match.end()
    if last < len(text):
        found.append(Phrase(text[last:]))
    return tuple(found)


def _places(word: str, columns: dict[str, ShownCell], named: Sequence[str]) -> Iterator[Place]:
    """Yield the places of a word: a column, a record in any log, an offset in logs named before, or a field's path."""
    if word in columns:
        yield Place(word)
    elif re.fullmatch(_OFFSET, word):
        number = int(word.rpartition(" ")[2])
        yield from (Place(name, number) for name in named if columns[name].log is not None)
    elif re.fullmatch(_PATH, word):
        yield from _place_of_path(word, columns)
    else:
        for name, cell in columns.items():
            boxes = cell.log.boxes if cell.log is not None else ()
            present = [at for at, box in enumerate(boxes) if box.record == word and box.change is not CellChange.GONE]
            yield from (Place(name, at) for at in present)


def _place_of_path(path: str, columns: dict[str, ShownCell]) -> Iterator[Place]:
    """Yield the place of a field such as `doing[w1]`: in its own column, or that of its member or its root field."""
    path = re.sub(r"^(before|after)\.", "", path)
    root = re.split(r"[\[.{]", path)[0]
    indexes = re.findall(r"\[([^\]]*)\]", path)
    last = re.findall(r"[\w]+", path)[-1]
    for name in (f"{root}[{indexes[0]}]" if indexes else "", *indexes[:1], root):
        if name in columns:
            cell = columns[name]
            pieces = [piece.name for piece in cell.pieces]
            piece = next((part for part in (path.replace(f"[{name}]", ""), root, last) if part in pieces), "")
            in_log = cell.log is not None and len(indexes) > 1 and indexes[1].isdigit() and ".log[" in path
            yield Place(name, int(indexes[1]) if in_log else None, piece)
            return
