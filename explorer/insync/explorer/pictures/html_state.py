"""A state as a table of HTML: logs as boxes under one another, the high watermark between them, what has changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from insync.explorer.pictures.picture import PictureStep, attribute, in_xml
from insync.explorer.pictures.pointing import Place
from insync.explorer.traces.state_diff import Box, CellChange, LogDrawing, Piece, ShownCell

__all__ = ["epochs_of", "place_id", "state_table"]

_COLOURS = 6
_WITH_HYPHEN = re.compile(r"(?<!\S)\S{0,8}-\S{1,8}(?!\S)")
"""A short word such as -b2, which browsers would break behind the hyphen."""


def place_id(prefix: str, columns: Sequence[str], place: Place) -> str:
    """Return the id of what a place is in a table of a state: a cell, a box of its log, or a part."""
    cell = f"{prefix}-{list(columns).index(place.column)}"
    return cell if place.box is None else f"{cell}-{place.box}"


def state_table(
    step: PictureStep,
    prefix: str,
    *,
    epochs: Sequence[str] = (),
    pointed: Collection[Place] = (),
    caption: str = "",
    only_changed: bool = False,
) -> str:
    """Return the table of the state after a step.

    Args:
        step: the step.
        prefix: begins the id of each cell, which no other table may share; without one they have none.
        epochs: those that have a colour, in the order of the colours.
        pointed: what is to be pointed at.
        caption: what stands above it; by default which state it is.
        only_changed: whether rows that the step has not changed are left out; each row then says which one it is.
    """
    said = caption or (f"State after step {step.number}" if step.number else "State at the start")
    rows = [
        _row(
            cell,
            f"{prefix}-{at}" if prefix else "",
            epochs,
            pointed,
            number=step.number,
            at=at if only_changed else None,
        )
        for at, cell in enumerate(step.cells)
        if cell.changed or cell.mark or not only_changed
    ]
    return f"<table><caption>{in_xml(said)}</caption>{''.join(rows)}</table>"


def _row(
    cell: ShownCell, name: str, epochs: Sequence[str], pointed: Collection[Place], *, number: int, at: int | None
) -> str:
    whole = " pointed" if any(place.column == cell.column and place.box is None for place in pointed) else ""
    head = f'<th scope="row"><span class="name{whole}">{in_xml(cell.column)}</span></th>'
    beside = f' <span class="mark-beside">{in_xml(cell.mark)}</span>' if cell.mark else ""
    if cell.log is None:
        inner = f'<td colspan="3" class="text">{_pieces(cell.pieces)}{beside}</td>'
    else:
        boxes = {place.box for place in pointed if place.column == cell.column and place.box is not None}
        inner = (
            f'<td class="role">{_piece(cell.log.before)}</td>'
            f'<td class="logs"><span class="log">{_log(cell.log, name, epochs, boxes)}</span></td>'
            f'<td class="after">{_piece(cell.log.after)}{beside}</td>'
        )
    changed = "changed" if number > 0 and (cell.changed or cell.mark) else "same"
    place = "" if at is None else f' data-at="{at}"'
    return f'<tr class="{changed}"{_id(name)}{place}>{head}{inner}</tr>'


def _id(name: str) -> str:
    return f" id={attribute(name)}" if name else ""


def _pieces(pieces: Sequence[Piece]) -> str:
    if len(pieces) == 1 and not pieces[0].name:
        return _piece(pieces[0])
    if not pieces:
        return '<span class="soft">{}</span>'
    return f'<ul class="pieces">{"".join(f"<li>{_piece(piece)}</li>" for piece in pieces)}</ul>'


def _piece(piece: Piece) -> str:
    if not piece.text and not piece.name:
        return ""
    text = f"{piece.name}={piece.text}" if piece.name else piece.text
    kind = "piece" if piece.change is CellChange.SAME else f"piece {piece.change.value}"
    return f'<span class="{kind}">{_WITH_HYPHEN.sub(_whole, in_xml(text))}</span>'


def _whole(word: re.Match[str]) -> str:
    return f'<span class="whole">{word[0]}</span>'


def _log(log: LogDrawing, name: str, epochs: Sequence[str], pointed: Collection[int | None]) -> str:
    parts: list[str] = []
    bar = f'<span class="watermark{" moved" if log.moved else ""}"><span class="unseen">high watermark</span></span>'
    present = [box for box in log.boxes if box.change is not CellChange.GONE]
    ends = max([len(log.boxes), log.watermark, *(at + 1 for at in pointed if at is not None)])
    for at in range(ends):
        if at == log.watermark:
            parts.append(bar)
        box = log.boxes[at] if at < len(log.boxes) else None
        if box is None and at not in pointed and at >= log.watermark:
            continue
        parts.append(_box(box, f"{name}-{at}" if name else "", epochs, pointed=at in pointed))
    if log.watermark >= ends:
        parts.append(bar)
    if not present and not pointed and not log.boxes:
        parts.append('<span class="soft">empty</span>')
    return "".join(parts)


def _box(box: Box | None, name: str, epochs: Sequence[str], *, pointed: bool) -> str:
    ring = " pointed" if pointed else ""
    if box is None:
        return f'<span class="box missing{ring}"{_id(name)}>none</span>'
    colour = f" e{epochs.index(box.epoch) % _COLOURS}" if box.epoch in epochs else ""
    kinds = f"box{' committed' if box.committed else ''}{colour} {box.change.value}{ring}"
    epoch = f'<span class="epoch">@{in_xml(box.epoch)}</span>' if box.epoch else ""
    return f'<span class="{kinds}"{_id(name)}>{in_xml(box.record)}{epoch}</span>'


def epochs_of(steps: Iterable[PictureStep]) -> tuple[str, ...]:
    """Return the epochs of all records, in order, for one colour each."""
    found = {box.epoch for step in steps for cell in step.cells if cell.log for box in cell.log.boxes if box.epoch}
    key: Callable[[str], tuple[int, str]] = lambda epoch: (int(epoch) if epoch.isdigit() else 0, epoch)  # noqa: E731
    return tuple(sorted(found, key=key))
