"""One step of a sequence diagram as SVG: lifelines, and what goes on between them, from the top down.

Places across are percentages, so that a strip is as wide as what it stands in; the texts are in a font of which every
character is as wide as another, so that their widths are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from insync.explorer.pictures.picture import PictureStep, attribute, in_xml
from insync.model import Arrow, Drawn, Mark, MarkKind

__all__ = ["SYMBOLS", "in_words", "shared_lifelines", "strip_height", "strip_svg"]

SYMBOLS = {
    MarkKind.NOTE: "",
    MarkKind.DOWN: "✕ ",
    MarkKind.UP: "↑ ",
    MarkKind.LEADS: "★ ",
    MarkKind.FENCED: "⊘ ",
    MarkKind.CUT: "! ",
}
"""What stands before a mark, so that its kind is seen without colours."""

_LINE = 30
"""Pixels between one thing that is drawn and the next."""

_CHARACTER = 6.7
_LONGEST = 24


def strip_height(step: PictureStep) -> int:
    """Return how many pixels high the strip of a step is at least."""
    return _LINE * max(1, len(step.drawn)) + 8


def shared_lifelines(
    steps: Sequence[PictureStep], lifelines: Sequence[str], prefix: str
) -> tuple[str, Mapping[frozenset[str], str]]:
    """Return the lifelines of strips in which none of them turns, to be drawn once and used in many.

    Args:
        steps: those that are drawn.
        lifelines: from left to right.
        prefix: begins the ids of what is returned.

    Returns:
        An `svg` element that shows nothing, and for what does not run the id of its drawing in it.
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
        down: the lifelines that did not run before it.
        lifelines: from left to right.
        place: the attributes that say where it stands and how large it is.
        shared: the ids of lifelines that are drawn already; see `shared_lifelines`.
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
    """Return what is drawn as a text: "b3 to b1: fetch; b1 to b3: r0@2"."""
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
        if width > 100 and len(lifelines) > 1:  # it would stick out at the sides
            left = -34.0 if at == 0 else 34 - width if at == len(lifelines) - 1 else left
    else:
        x, left = "50%", -width / 2
    box = f'<rect class="mark {one.kind.value}" x="{round(left, 1)}" y="-11" width="{width}" height="20" rx="4"/>'
    said = f'<text class="said {one.kind.value}" x="{round(left + width / 2, 1)}" y="3">{in_xml(text)}</text>'
    return f'<svg x="{x}" y="{y}" overflow="visible">{box}{said}</svg>'
