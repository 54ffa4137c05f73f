"""One step of a sequence diagram as SVG, and one state as an HTML table.

Horizontal coordinates are percentages, so that the drawing of a step, its strip, fills its container. Texts are set in
a monospaced font, so their widths are known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from insync.explorer.pictures.picture import PictureStep, Place, attribute, in_xml
from insync.explorer.traces.state_diff import Box, CellChange, LogDrawing, Piece, ShownCell
from insync.model import Arrow, Drawn, Mark, MarkKind

__all__ = [
    "SYMBOLS",
    "epochs_of",
    "place_id",
    "resource",
    "shared_lifelines",
    "state_table",
    "strip_height",
    "strip_svg",
]


SYMBOLS = {
    MarkKind.NOTE: "",
    MarkKind.DOWN: "✕ ",
    MarkKind.UP: "↑ ",
    MarkKind.LEADS: "★ ",
    MarkKind.FENCED: "⊘ ",
    MarkKind.CUT: "! ",
}
"""The symbol before each kind of mark, for readers who do not see colours."""

_LINE = 30
"""The height of one arrow or mark, in pixels."""

_CHARACTER = 6.7
_LONGEST = 24


def strip_height(step: PictureStep) -> int:
    """Return the least height of the strip of a step, in pixels."""
    return _LINE * max(1, len(step.drawn)) + 8


def shared_lifelines(
    steps: Sequence[PictureStep], lifelines: Sequence[str], prefix: str
) -> tuple[str, Mapping[frozenset[str], str]]:
    """Draw once the lifelines that many strips share: those of steps in which no lifeline goes down or up.

    Args:
        steps: the steps to draw.
        lifelines: the lifelines, from left to right.
        prefix: the prefix of the ids in the result.

    Returns:
        An invisible `svg` element with the drawings, and the id of each by the set of lifelines that are down.
    """
    ids = {down: f"{prefix}-{at}" for at, down in enumerate(dict.fromkeys(step.down for step in steps))}
    drawn = [
        f'<g id="{name}">{"".join(_whole_lifeline(at, one, lifelines, down) for at, one in enumerate(lifelines))}</g>'
        for down, name in ids.items()
    ]
    return f'<svg class="unseen" aria-hidden="true"><defs>{"".join(drawn)}</defs></svg>', ids


def _whole_lifeline(at: int, name: str, lifelines: Sequence[str], down: frozenset[str]) -> str:
    return _lifeline(_across(at, len(lifelines)), "0%", "100%", down=name in down)


def strip_svg(
    step: PictureStep,
    down: frozenset[str],
    lifelines: Sequence[str],
    *,
    place: str = 'width="100%" height="100%"',
    shared: Mapping[frozenset[str], str] | None = None,
) -> str:
    """Return the strip of a step as an `svg` element.

    Args:
        step: the step.
        down: the lifelines that were down before it.
        lifelines: the lifelines, from left to right.
        place: the attributes of position and size.
        shared: the ids of shared lifelines; see `shared_lifelines`.
    """
    total = max(1, len(step.drawn))
    parts = []
    drawn_already = (shared or {}).get(down) if down == step.down else None
    if drawn_already is not None:
        parts.append(f'<use href="#{drawn_already}"/>')
    for at, name in enumerate(lifelines if drawn_already is None else ()):
        x = _across(at, len(lifelines))
        turn = next((n for n, one in enumerate(step.drawn) if _turns(one, name)), None)
        middle = "100%" if turn is None else _downwards(turn, total)
        parts.append(_lifeline(x, "0%", middle, down=name in down))
        if turn is not None:
            parts.append(_lifeline(x, middle, "100%", down=name in step.down))
    for number, one in enumerate(step.drawn):
        y = _downwards(number, total)
        parts.append(_arrow(one, y, lifelines) if isinstance(one, Arrow) else _mark(one, y, lifelines))
    said = in_words(step.drawn) or step.label
    return f'<svg class="strip" {place} role="img" aria-label={attribute(said)}>{"".join(parts)}</svg>'


def in_words(drawn: Sequence[Drawn]) -> str:
    """Return arrows and marks as a text: "b3 to b1: fetch; b1 to b3: r0@2"."""
    return "; ".join(
        f"{one.sender} to {one.receiver}: {one.text}{' (lost)' if one.lost else ''}"
        if isinstance(one, Arrow)
        else f"{one.lifeline or 'all'}: {one.text}"
        for one in drawn
    )


def _across(at: int, total: int) -> float:
    return round(100 * (at + 0.5) / total, 2)


def _downwards(number: int, total: int) -> str:
    return f"{round(100 * (number + 0.66) / total, 1)}%"


def _turns(one: Drawn, name: str) -> bool:
    return isinstance(one, Mark) and one.lifeline == name and one.kind in (MarkKind.DOWN, MarkKind.UP)


def _lifeline(x: float, top: str, bottom: str, *, down: bool) -> str:
    kind = "life down" if down else "life"
    return f'<line class="{kind}" x1="{x}%" x2="{x}%" y1="{top}" y2="{bottom}"/>'


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _arrow(one: Arrow, y: str, lifelines: Sequence[str]) -> str:
    start, end = lifelines.index(one.sender), lifelines.index(one.receiver)
    x1, x2 = _across(start, len(lifelines)), _across(end, len(lifelines))
    kind = f"arrow{' reply' if one.reply else ''}{' lost' if one.lost else ''}"
    if start == end:
        return _mark(Mark(one.sender, one.text), y, lifelines)
    tip = x1 + (x2 - x1) * 0.6 if one.lost else x2
    head = "M-5 -5L5 5M-5 5L5 -5" if one.lost else "M0 0L-9 -4.5L-9 4.5Z" if end > start else "M0 0L9 -4.5L9 4.5Z"
    middle = round((x1 + tip) / 2, 2)
    return (
        f'<line class="{kind}" x1="{x1}%" y1="{y}" x2="{tip}%" y2="{y}"/>'
        f'<svg x="{tip}%" y="{y}" overflow="visible"><path class="head {kind}" d="{head}"/></svg>'
        f'<text class="said" x="{middle}%" y="{y}" dy="-5">{in_xml(_short(one.text))}</text>'
    )


def _mark(one: Mark, y: str, lifelines: Sequence[str]) -> str:
    text = _short(SYMBOLS[one.kind] + one.text)
    width = round(len(text) * _CHARACTER + 14, 1)
    if one.lifeline in lifelines:
        at = lifelines.index(one.lifeline)
        x = f"{_across(at, len(lifelines))}%"
        left = -width / 2
        if width > 100 and len(lifelines) > 1:  # keep it from sticking out at the sides
            left = -34.0 if at == 0 else 34 - width if at == len(lifelines) - 1 else left
    else:
        x, left = "50%", -width / 2
    box = f'<rect class="mark {one.kind.value}" x="{round(left, 1)}" y="-11" width="{width}" height="20" rx="4"/>'
    said = f'<text class="said {one.kind.value}" x="{round(left + width / 2, 1)}" y="3">{in_xml(text)}</text>'
    return f'<svg x="{x}" y="{y}" overflow="visible">{box}{said}</svg>'


# A state as an HTML table: logs as boxes, with the high watermark as a bar between them.


_COLOURS = 6
_WITH_HYPHEN = re.compile(r"(?<!\S)\S{0,8}-\S{1,8}(?!\S)")
"""A short word such as -b2, which browsers would break after the hyphen."""


def place_id(prefix: str, columns: Sequence[str], place: Place) -> str:
    """Return the id of a place in a state table: that of the cell, or of the box in its log."""
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
        prefix: the prefix of the ids of cells, unique on the page; empty for no ids.
        epochs: the epochs with a colour, in the order of the colours.
        pointed: the places to emphasize.
        caption: the caption; empty for the number of the step.
        only_changed: whether to leave out rows that the step did not change; each row then has its index as `data-at`.
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
    """Return the epochs of all records in order; the place of each decides its colour."""
    found = {box.epoch for step in steps for cell in step.cells if cell.log for box in cell.log.boxes if box.epoch}
    key: Callable[[str], tuple[int, str]] = lambda epoch: (int(epoch) if epoch.isdigit() else 0, epoch)  # noqa: E731
    return tuple(sorted(found, key=key))


# Style sheets and the script.


@cache
def resource(name: str) -> str:
    """Return the text of a file of `pictures/static`."""
    return files("insync.explorer").joinpath("pictures", "static", name).read_text(encoding="utf-8").strip()
