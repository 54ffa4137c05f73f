"""The state that is looked at, and the step that led there, drawn as reports draw them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from insync.explorer.exploring.session import Exploration, VisitedState
from insync.explorer.pictures.picture import PictureStep, in_xml, lifelines_of, picture_of_state
from insync.explorer.pictures.step import epochs_of, state_table, strip_svg
from insync.explorer.stepping.stepper import remembered
from insync.explorer.traces.counterexample import trace_step
from insync.explorer.traces.state_diff import legend_of
from insync.explorer.traces.trace import TraceStep
from insync.model import Demand, Model

__all__ = ["StateDrawing"]

_MOST_BEFORE = 40
"""How many steps before the last one may matter to how that is drawn."""

_MOST_DEMANDING = 300
"""States on the way of which it is said what they take: that is asked of all of them again for each step."""

_MOST_PICTURES = 20_000
_MOST_LINES = 6


class StateDrawing:
    """Draws the states of a model.

    Args:
        model: the model.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._lifelines = lifelines_of(model)
        self._steps: OrderedDict[VisitedState, TraceStep] = OrderedDict()
        self._pictures: OrderedDict[VisitedState, PictureStep] = OrderedDict()
        self._epochs: list[PictureStep] = []

    def html(self, exploration: Exploration) -> str:
        """Return the drawing of the state that an exploration looks at, as a piece of HTML."""
        path = exploration.visited.path[-_MOST_BEFORE:]
        drawn = self._picture(path)
        parts = []
        if len(path) > 1:
            heads = "".join(f"<span>{in_xml(name)}</span>" for name in self._lifelines)
            strip = strip_svg(drawn, self._picture(path[:-1]).down, self._lifelines)
            height = min(_MOST_LINES, max(1, len(drawn.drawn)))
            parts.append(f'<div class="heads">{heads}</div><div class="lane h{height}">{strip}</div>')
        table = state_table(drawn, "here", epochs=self._known_epochs(drawn), caption="The state")
        parts.append(f'<div class="state">{table}{self._demands(exploration)}</div>')
        whole = picture_of_state(self.model, [self._step(path[-1])])
        rows = [
            f"<dt>{in_xml(mark)}</dt><dd>{in_xml(meaning)}</dd>"
            for mark, meaning in legend_of(self.model, [*whole.cells, *drawn.cells])
            if mark != "|"
        ]
        if any(cell.log for cell in drawn.cells):
            rows.append("<dt>HW</dt><dd>the high watermark; what is committed has a full frame and a shade</dd>")
        if len(path) > 1 and any(cell.changed or cell.mark for cell in drawn.cells):
            rows.append("<dt>●</dt><dd>changed by this step</dd>")
        return "".join(parts) + (f'<dl class="legend">{"".join(rows)}</dl>' if rows else "")

    def _demands(self, exploration: Exploration) -> str:
        """Return what must happen for the way here to come about, as the model says it: that of the last step first."""
        path = exploration.visited.path
        if len(path) > _MOST_DEMANDING:
            return ""
        found = exploration.model.demands([self._step(state) for state in path])
        now, before = ([demand for demand in found if (demand.step == len(path) - 1) is last] for last in (True, False))
        parts = [f'<p class="takes">Takes: {_said(demand)}.</p>' for demand in now]
        if before:
            rows = "".join(f"<li>step {demand.step}: {_said(demand)}</li>" for demand in before)
            parts.append(
                f"<details><summary>What the way here took before: {len(before)}</summary><ul>{rows}</ul></details>"
            )
        return "".join(parts)

    def _picture(self, path: Sequence[VisitedState]) -> PictureStep:
        """Return the picture of the last state of a path; what runs there is known from the pictures before."""
        known = self._pictures.get(path[-1])
        if known is not None:
            return known
        first = next((at for at in range(len(path) - 1, -1, -1) if path[at] in self._pictures), -1)
        down = frozenset() if first < 0 else self._pictures[path[first]].down
        drawn: PictureStep | None = None
        for at in range(first + 1, len(path)):
            steps = [self._step(state) for state in path[: at + 1]]
            drawn = self._pictures[path[at]] = picture_of_state(self.model, steps, down=down)
            down = drawn.down
        while len(self._pictures) > _MOST_PICTURES:
            self._pictures.popitem(last=False)
        assert drawn is not None
        return drawn

    def _step(self, state: VisitedState) -> TraceStep:
        return remembered(self._steps, state, lambda: trace_step(self.model, (state.action, state.codes)))

    def _known_epochs(self, drawn: PictureStep) -> tuple[str, ...]:
        """Return all epochs that were drawn so far, so that each keeps its colour."""
        known = epochs_of(self._epochs)
        if not set(epochs_of([drawn])) <= set(known):
            self._epochs.append(drawn)
            known = epochs_of(self._epochs)
        return known


def _said(demand: Demand) -> str:
    return f"{in_xml(demand.text)} ({demand.hardness.value})"
