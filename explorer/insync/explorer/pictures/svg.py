"""A picture as one SVG, for documents and slides: the sequence diagram beside a grid of the cells that change.

The style follows the reader's colour scheme, light or dark. No information depends on colour alone.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from insync.explorer.pictures.picture import Picture, PictureStep, in_xml
from insync.explorer.pictures.step import epochs_of, resource, strip_height, strip_svg
from insync.explorer.traces.state_diff import CellChange, LogDrawing, ShownCell

__all__ = ["svg"]

_CHARACTER = 7.3
_BOX_PADDING = 10
_LINE = 17
_GAP = 18
_MARGIN = 16
_LABELS = _MARGIN + 26
_LIFELINE = 92
_COLOURS = 6
_TEXT_WIDTH = 30
"""The length, in characters, after which the text of a cell is wrapped."""


def svg(drawn: Picture) -> str:
    """Return a picture as the text of an SVG file."""
    return _Sheet(drawn).text()


class _Sheet:
    """The layout: columns from left to right, steps from the top down."""

    def __init__(self, drawn: Picture) -> None:
        self.drawn, self.epochs = drawn, epochs_of(drawn.steps)
        longest = max(len(_label(step)) for step in drawn.steps)
        self.strip_left = _LABELS + longest * _CHARACTER + _GAP
        self.strip_width = len(drawn.lifelines) * _LIFELINE
        left = self.strip_left + self.strip_width + _GAP
        self.lefts: list[float] = []
        for at, name in enumerate(drawn.columns):
            cells = [step.cells[at] for step in drawn.steps]
            self.lefts.append(left)
            left += max([len(name) * _CHARACTER, *map(_cell_width, cells)]) + _GAP
        self.width = max(left, 700.0)
        self.parts: list[str] = []

    def text(self) -> str:
        """Return the text of the whole SVG."""
        top = self._head()
        first_row = top
        for at, step in enumerate(self.drawn.steps):
            if self.drawn.loop is not None and step.number == self.drawn.loop + 1:
                first_row = top
            top = self._row(step, self.drawn.steps[at - 1].down if at else frozenset(), top)
        if self.drawn.loop is not None:
            top = self._loop(first_row, top)
        top = self._foot(top)
        size = f'width="{self.width:.0f}" height="{top:.0f}" viewBox="0 0 {self.width:.0f} {top:.0f}"'
        title = f"{self.drawn.question} {self.drawn.verdict}"
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
                f"<title>{in_xml(title)}</title>",
                f"<style>{resource('picture.css')}</style>",
                '<rect class="page" width="100%" height="100%"/>',
                *self.parts,
                "</svg>",
                "",
            ]
        )

    def _say(self, x: float, y: float, text: str, kind: str = "") -> None:
        named = f' class="{kind}"' if kind else ""
        self.parts.append(f'<text{named} x="{x:.1f}" y="{y:.1f}">{in_xml(text)}</text>')

    def _head(self) -> float:
        self._say(_MARGIN, 28, self.drawn.question, "title")
        self._say(_MARGIN, 48, self.drawn.verdict, f"verdict {self.drawn.outcome.value}")
        top = 50.0
        for line in self._wrapped("".join(phrase.text for phrase in self.drawn.reason)):
            top += _LINE
            self._say(_MARGIN, top, line)
        top += 30
        self._say(_LABELS, top, "step", "head")
        for at, name in enumerate(self.drawn.lifelines):
            x = self.strip_left + (at + 0.5) * _LIFELINE
            short = name if len(name) * _CHARACTER < _LIFELINE else f"{name[: int(_LIFELINE / _CHARACTER) - 1]}…"
            self.parts.append(
                f'<text class="head" x="{x:.1f}" y="{top:.1f}" text-anchor="middle">{in_xml(short)}</text>'
            )
        for name, left in zip(self.drawn.columns, self.lefts, strict=True):
            self._say(left, top, name, "head")
        self._rule(top + 7)
        return top + 8

    def _rule(self, y: float) -> None:
        self.parts.append(
            f'<line class="rule" x1="{_MARGIN}" x2="{self.width - _MARGIN:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )

    def _row(self, step: PictureStep, down: frozenset[str], top: float) -> float:
        lines = max(len(_cell_lines(cell)) for cell in step.cells) if step.cells else 1
        height = max(strip_height(step), lines * _LINE + 14)
        middle = top + height / 2 + 4
        self._say(_MARGIN, middle, "!" if step.refused else str(step.number), "soft")
        self._say(_LABELS, middle, _label(step), "soft" if step.refused else "verdict" if step.harm else "")
        place = f'x="{self.strip_left:.1f}" y="{top:.1f}" width="{self.strip_width}" height="{height}"'
        self.parts.append(strip_svg(step, down, self.drawn.lifelines, place=place))
        for cell, left in zip(step.cells, self.lefts, strict=True):
            if cell.changed or cell.mark:
                self._cell(cell, left, middle)
        self._rule(top + height)
        return top + height

    def _cell(self, cell: ShownCell, left: float, middle: float) -> None:
        if cell.log is not None:
            self._log(cell, cell.log, left, middle)
            return
        lines = _cell_lines(cell)
        for number, line in enumerate(lines):
            self._say(left, middle + (number - (len(lines) - 1) / 2) * _LINE, line)

    def _log(self, cell: ShownCell, log: LogDrawing, left: float, middle: float) -> None:
        x = left
        if log.before.text:
            self._say(x, middle, log.before.text)
            x += (len(log.before.text) + 1) * _CHARACTER
        for at, box in enumerate(log.boxes):
            if at == log.watermark:
                x = self._watermark(x, middle)
            text = f"{box.record}@{box.epoch}" if box.epoch else box.record
            width = len(text) * _CHARACTER + _BOX_PADDING
            colour = f" c{self.epochs.index(box.epoch) % _COLOURS}" if box.committed and box.epoch else ""
            kind = f"box {'committed ' if box.committed else ''}{box.change.value}{colour}"
            place = f'x="{x:.1f}" y="{middle - 15:.1f}" width="{width:.1f}" height="22" rx="2"'
            self.parts.append(f'<rect class="{kind}" {place}/>')
            self._say(x + _BOX_PADDING / 2, middle, text, "gone" if box.change is CellChange.GONE else "")
            x += width + 3
        if log.watermark >= len(log.boxes):
            x = self._watermark(x, middle)
        rest = f"{log.after.text} {cell.mark}".strip()
        if rest:
            self._say(x + 4, middle, rest)

    def _watermark(self, x: float, middle: float) -> float:
        at = x + 2
        self.parts.append(
            f'<line class="watermark" x1="{at:.1f}" x2="{at:.1f}" y1="{middle - 18:.1f}" y2="{middle + 10:.1f}"/>'
        )
        return x + 7

    def _loop(self, first: float, top: float) -> float:
        """Draw the arrow of the loop along the left edge, with a sentence below."""
        if self.drawn.loop == self.drawn.steps[-1].number:
            self._say(_MARGIN, top + 20, "↻ It stays like this for ever.")
            return top + 28
        x, bottom = _MARGIN - 5, top + 15
        self.parts.append(
            f'<path class="round" d="M{x + 12} {bottom:.1f}H{x}V{first + 2:.1f}H{x + 8}m-5 -4l5 4l-5 4"/>'
        )
        where = f"the state after step {self.drawn.loop}" if self.drawn.loop else "the start"
        self._say(_MARGIN + 12, top + 20, f"Back to {where}, and so on for ever.")
        return top + 28

    def _foot(self, top: float) -> float:
        legend = "; ".join(f"{mark} {meaning}" for mark, meaning in self.drawn.legend)
        settings = ", ".join(f"{name} {value}" for name, value in self.drawn.settings.items())
        about = f"{self.drawn.model}: {settings}" if settings else self.drawn.model
        top += 10
        for line in [line for text in (legend, about, self.drawn.command) for line in self._wrapped(text)]:
            top += _LINE
            self._say(_MARGIN, top, line, "soft")
        return top + 14

    def _wrapped(self, text: str) -> Sequence[str]:
        return textwrap.wrap(text, int((self.width - 2 * _MARGIN) / _CHARACTER))


def _label(step: PictureStep) -> str:
    return f"{step.label} (refused)" if step.refused else step.label


def _cell_lines(cell: ShownCell) -> list[str]:
    shown = f"{cell.shown} {cell.mark}".strip()
    return [shown] if cell.log is not None else textwrap.wrap(shown, _TEXT_WIDTH, break_long_words=False) or [""]


def _cell_width(cell: ShownCell) -> float:
    if cell.log is None or not cell.shown:
        return max(map(len, _cell_lines(cell))) * _CHARACTER
    texts = [cell.log.before.text, cell.log.after.text, cell.mark, *(f"{b.record}@{b.epoch}" for b in cell.log.boxes)]
    return sum(len(text) + 1 for text in texts) * _CHARACTER + len(cell.log.boxes) * (_BOX_PADDING + 3) + 14
