"""The one description of a picture of a trace: what is drawn and said, and nothing of how.

Text, HTML, SVG, Mermaid and Markdown are rendered from it. Between whom messages are drawn, what a step is there and
what stands in the columns is said by the model (`lifelines`, `step_drawing`, `grid`, `step_marks`, `legend`).
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from insync.explorer.pictures.pointing import Phrase, phrases
from insync.explorer.pictures.words import Outcome, outcome, question, sentence_of_property, verdict
from insync.explorer.traces.grid import chosen_bounds
from insync.explorer.traces.state_diff import ShownCell, legend_of, state_cells
from insync.explorer.traces.trace import AGREEMENT, Trace, TraceStep
from insync.explorer.traces.trace_file import replay_command
from insync.model import Demand, Drawn, Mark, MarkKind, Model
from insync.model.domains.domain import plain
from insync.model.errors import UserError
from insync.model.language.presentation import checked_drawing, checked_grid, checked_lifelines, checked_marks
from insync.properties.explain import failure, failure_of_step
from insync.properties.invariants import TYPE_OK, Failure, StepInvariant
from insync.properties.registry import judge, run_properties_of

__all__ = ["Condition", "Picture", "PictureStep", "file_for", "lifelines_of", "picture", "picture_of_state"]


@dataclass(frozen=True, slots=True)
class PictureStep:
    """A step in a picture and the state after it.

    Attributes:
        number: its place in the trace; 0 is the initial state.
        label: it in words.
        drawn: arrows between lifelines and marks on them, from the top down.
        cells: the state after it, a cell for each column.
        down: the lifelines that do not run after it.
        demands: what must happen for it to come about.
        refused: whether it is the step that assigns outside a domain, so that no state follows; `cells` are then those
            of the state before.
    """

    number: int
    label: str
    drawn: tuple[Drawn, ...]
    cells: tuple[ShownCell, ...]
    down: frozenset[str] = frozenset()
    demands: tuple[Demand, ...] = ()
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition that does not hold in the last state, and the value of each field that it reads."""

    text: str
    must_hold: bool
    values: tuple[tuple[Phrase, str], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A trace as a picture that is yet to be rendered.

    Attributes:
        model: the name of the model.
        property: the name of the property.
        question: what was asked.
        sentence: what the property says; empty where nobody wrote it down.
        verdict: what came of it, in a sentence.
        outcome: whether that is good or bad.
        lifelines: between whom messages go, from left to right.
        columns: the columns of the grid; those that are lifelines too have the same name.
        steps: the initial state first.
        loop: the number of the step to whose state the last one leads back, in a run that never ends.
        reason: why the last state fails, in pieces that point at what they talk of.
        condition: the condition that fails, where the reason does not say it already.
        legend: the marks that occur, and what they mean.
        settings: the bounds and settings that are worth telling.
        all_settings: all of them.
        command: what replays the trace.
        file: the name of the file that the command names.
    """

    model: str
    property: str
    question: str
    sentence: str
    verdict: str
    outcome: Outcome
    lifelines: tuple[str, ...]
    columns: tuple[str, ...]
    steps: tuple[PictureStep, ...]
    loop: int | None
    reason: tuple[Phrase, ...]
    condition: Condition | None
    legend: tuple[tuple[str, str], ...]
    settings: Mapping[str, int | str]
    all_settings: Mapping[str, int | str]
    command: str
    file: str

    @builtins.property
    def failing(self) -> PictureStep:
        """The last step that has a state: the reason talks of its cells."""
        return [step for step in self.steps if not step.refused][-1]


def picture(trace: Trace, model: Model, *, file: Path | None = None) -> Picture:
    """Return the picture of a trace.

    Args:
        trace: the trace, as it was executed: with labels, states and the reason.
        model: its model, under the bounds of the trace.
        file: where the trace was written, for the command that replays it.
    """
    lifelines = lifelines_of(model)
    steps = _steps(trace, model)
    cells = steps[-1].cells
    name = file or file_for(trace, model)
    return Picture(
        model=trace.model,
        property=trace.property,
        question=question(trace, model),
        sentence=sentence_of_property(trace, model),
        verdict=verdict(trace),
        outcome=outcome(trace),
        lifelines=lifelines,
        columns=tuple(cell.column for cell in cells),
        steps=tuple(steps),
        loop=trace.loop,
        reason=phrases(trace.reason, cells),
        condition=_condition(trace, model, cells),
        legend=legend_of(model, [cell for step in steps for cell in step.cells]),
        settings=dict(chosen_bounds(trace.bounds, model)),
        all_settings=dict(trace.bounds),
        command=replay_command(trace, name),
        file=name.name,
    )


def file_for(trace: Trace, model: Model) -> Path:
    """Return how the file of a trace that is in none is called."""
    return Path(f"{_file_name(model.name)}-{_file_name(trace.property)}.json")


def picture_of_state(model: Model, steps: Sequence[TraceStep], *, down: Iterable[str] = ()) -> PictureStep:
    """Return how the last of some steps and the state after it are drawn, for who shows states one by one.

    Args:
        model: the model.
        steps: the initial state first.
        down: the lifelines that did not run before the step.
    """
    number, step = len(steps) - 1, steps[-1]
    now = checked_grid(model, step.state)
    if number == 0:
        return PictureStep(0, step.label, (), state_cells(now, None, now, {}))
    before = steps[-2].state
    old = checked_grid(model, before)
    names = dict.fromkeys([*old, *now])
    drawn = checked_drawing(model, steps, steps[-1].label)
    cells = state_cells(names, old, now, checked_marks(model, before, step.state))
    return PictureStep(number, step.label, drawn, cells, _down(down, drawn))


def lifelines_of(model: Model) -> tuple[str, ...]:
    """Return between whom messages are drawn; the model as a whole where it has nobody."""
    return checked_lifelines(model) or (model.name,)


def _steps(trace: Trace, model: Model) -> list[PictureStep]:
    grids = [checked_grid(model, step.state) for step in trace.steps]
    names = tuple(dict.fromkeys(name for grid in grids for name in grid))
    steps: list[PictureStep] = []
    for number, step in enumerate(trace.steps):
        before = trace.steps[number - 1].state if number else None
        drawn: tuple[Drawn, ...] = ()
        marks: Mapping[str, str] = {}
        if before is not None:
            drawn = checked_drawing(model, trace.steps[: number + 1], step.label)
            marks = checked_marks(model, before, step.state)
        cells = state_cells(names, grids[number - 1] if number else None, grids[number], marks)
        demands = tuple(demand for demand in trace.demands if demand.step == number)
        down = _down(steps[-1].down if steps else (), drawn)
        steps.append(PictureStep(number, step.label, drawn, cells, down, demands))
    if trace.refused is not None:
        last = state_cells(names, grids[-1], grids[-1], {})
        drawn = (Mark("", "refused", MarkKind.CUT),)
        steps.append(PictureStep(trace.length, trace.refused.label, drawn, last, steps[-1].down, refused=True))
    return steps


def _down(before: Iterable[str], drawn: Iterable[Drawn]) -> frozenset[str]:
    """Return which lifelines do not run after what is drawn."""
    down = set(before)
    for one in drawn:
        if isinstance(one, Mark) and one.kind is MarkKind.DOWN:
            down.add(one.lifeline)
        elif isinstance(one, Mark) and one.kind is MarkKind.UP:
            down.discard(one.lifeline)
    return frozenset(down)


def _condition(trace: Trace, model: Model, cells: Sequence[ShownCell]) -> Condition | None:
    """Return the condition that fails at the end of a trace; None where there is none, or the reason says it."""
    failing = _failure(trace, model)
    if failing is None or not failing.conjunct or failing.conjunct in trace.reason:
        return None
    values = []
    for path, value in failing.fields.items():
        places = [place for phrase in phrases(path, cells) for place in phrase.places]
        values.append((Phrase(path, tuple(dict.fromkeys(places))), plain(value)))
    return Condition(failing.conjunct, failing.must_hold, tuple(values))


def _failure(trace: Trace, model: Model) -> Failure | None:
    if trace.property in (TYPE_OK, AGREEMENT) or trace.property in run_properties_of(model):
        return None
    try:
        (found,) = judge(model, [trace.property]).invariants
        states = [model.encode(dict(step.state)) for step in trace.steps[-2:]]
    except UserError:
        return None
    if isinstance(found, StepInvariant):
        return failure_of_step(model, found, states[0], states[1]) if len(states) == 2 else None
    return failure(model, found, states[-1])


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)[:80] or "trace"
