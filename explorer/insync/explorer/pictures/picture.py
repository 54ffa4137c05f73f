"""The description of a picture of a trace, independent of a renderer, and escaping for renderers.

HTML, SVG, Mermaid and Markdown are rendered from it. The model defines the lifelines, the messages and marks of a step,
and the columns (`lifelines`, `step_drawing`, `grid`, `step_marks`, `legend`).
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from insync.explorer.traces.grid import chosen_bounds
from insync.explorer.traces.state_diff import CellChange, ShownCell, legend_of, other_level, state_cells
from insync.explorer.traces.trace import AGREEMENT, DIFFERENCE, EXPLORED, Trace, TraceStep
from insync.explorer.traces.trace_file import replay_command
from insync.model import Demand, Drawn, Mark, MarkKind, Model
from insync.model.domains.domain import plain
from insync.model.language.presentation import checked_drawing, checked_grid, checked_lifelines, checked_marks
from insync.properties.invariants import TYPE_OK, TYPE_OK_SENTENCE, Invariant, Phrase, Sentence
from insync.properties.registry import invariants_of, lemmas_of, run_properties_of
from insync.properties.temporal import RunKind, RunProperty
from insync.runtime.errors import UserError
from insync.runtime.text import plural, visible

__all__ = [
    "Outcome",
    "Picture",
    "PictureStep",
    "attribute",
    "file_for",
    "in_markdown",
    "in_markdown_code",
    "in_mermaid",
    "in_xml",
    "induction_picture",
    "lifelines_of",
    "picture",
    "picture_of_state",
]


@dataclass(frozen=True, slots=True)
class PictureStep:
    """A step in a picture and the state after it.

    Attributes:
        number: its place in the trace; 0 is the initial state.
        label: its label in words.
        drawn: arrows between lifelines and marks on them, from the top down.
        cells: the state after it, a cell for each column.
        down: the lifelines that are down after it.
        demands: the events that the step requires.
        refused: whether the step assigns outside a domain, so that no state follows; `cells` then show the state
            before.
        harm: what makes the failure certain from here on, in a few words; empty for other steps.
    """

    number: int
    label: str
    drawn: tuple[Drawn, ...]
    cells: tuple[ShownCell, ...]
    down: frozenset[str] = frozenset()
    demands: tuple[Demand, ...] = ()
    refused: bool = False
    harm: str = ""


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
class Reference:
    """A piece of a sentence, and the places that it refers to, if any."""

    text: str
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition at fault in the last state, and the value of each field that it reads."""

    text: str
    must_hold: bool
    values: tuple[tuple[Reference, str], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A trace as a picture, before rendering.

    Attributes:
        model: the name of the model.
        property: the name of the property.
        question: the question that the trace answers.
        sentence: the sentence of the property; empty if it has none.
        verdict: the answer, in a sentence.
        outcome: whether the answer is good or bad.
        lifelines: the participants, from left to right.
        columns: the columns of the grid; a column of a lifeline has its name.
        steps: the steps; the initial state is the first.
        loop: the number of the step to whose state the last one returns; None for a finite trace.
        reason: why the last state fails.
        condition: the condition at fault, unless the reason contains it.
        legend: the marks that occur, with their meanings.
        settings: the bounds and settings that were chosen.
        all_settings: all bounds and settings.
        command: the command that replays the trace.
        file: the name of the trace file in the command.
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
    reason: tuple[Reference, ...]
    condition: Condition | None
    legend: tuple[tuple[str, str], ...]
    settings: Mapping[str, int | str]
    all_settings: Mapping[str, int | str]
    command: str
    file: str

    @builtins.property
    def failing(self) -> PictureStep:
        """The last step with a state, which the reason refers to."""
        return [step for step in self.steps if not step.refused][-1]


def picture(trace: Trace, model: Model, *, file: Path | None = None) -> Picture:
    """Return the picture of a trace.

    Args:
        trace: an executed trace, with labels, states and reason.
        model: its model, under the bounds of the trace.
        file: the trace file, for the replay command; None is the default name.
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
        reason=references(trace.reason, cells),
        condition=_condition(trace, cells),
        legend=legend_of(model, [cell for step in steps for cell in step.cells]),
        settings=dict(chosen_bounds(trace.bounds, model)),
        all_settings=dict(trace.bounds),
        command=replay_command(trace, name),
        file=name.name,
    )


def file_for(trace: Trace, model: Model) -> Path:
    """Return the default name of a trace file."""
    return Path(f"{_file_name(model.name)}-{_file_name(trace.property)}.json")


def picture_of_state(model: Model, steps: Sequence[TraceStep], *, down: Iterable[str] = ()) -> PictureStep:
    """Return the picture of the last of some steps and the state after it.

    Args:
        model: the model.
        steps: the steps so far; the initial state is the first.
        down: the lifelines that were down before the last step.
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
    """Return the lifelines of a model; if it declares none, its own name."""
    return checked_lifelines(model) or (model.name,)


def _steps(trace: Trace, model: Model) -> list[PictureStep]:
    others = other_level(trace, model)
    grids = [{**checked_grid(model, step.state), **other} for step, other in zip(trace.steps, others, strict=True)]
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
    """Return the lifelines that are down after a step."""
    down = set(before)
    for one in drawn:
        if isinstance(one, Mark) and one.kind is MarkKind.DOWN:
            down.add(one.lifeline)
        elif isinstance(one, Mark) and one.kind is MarkKind.UP:
            down.discard(one.lifeline)
    return frozenset(down)


# What a sentence is about, in the last state.


def references(text: str, cells: Sequence[ShownCell]) -> tuple[Reference, ...]:
    """Return the phrases of a text with the places that each is about; a plain `str` is about none."""
    phrases = text.phrases if isinstance(text, Sentence) else (Phrase(text),)
    columns = {cell.column: cell for cell in cells}
    return tuple(_reference(phrase, columns) for phrase in phrases)


def _reference(phrase: Phrase, columns: Mapping[str, ShownCell]) -> Reference:
    places: Iterable[Place] = (place for name in phrase.about for place in _places(name, columns))
    if phrase.offset is not None:
        places = (Place(p.column, phrase.offset) for p in places if p.box is None and columns[p.column].log is not None)
    return Reference(phrase.text, tuple(dict.fromkeys(places)))


def _places(name: str, columns: Mapping[str, ShownCell]) -> Iterable[Place]:
    """Return the places of a name: a column, else a record in the logs, else the path of a field."""
    if name in columns:
        return [Place(name)]
    logs = [(column, cell.log) for column, cell in columns.items() if cell.log is not None]
    present = [
        Place(column, at)
        for column, log in logs
        for at, box in enumerate(log.boxes)
        if box.record == name and box.change is not CellChange.GONE
    ]
    return present or _place_of_path(name, columns)


def _place_of_path(path: str, columns: Mapping[str, ShownCell]) -> Iterable[Place]:
    """Yield the place of a field such as `doing[w1]`: in its own column, or that of its member or its root field."""
    path = re.sub(r"^(before|after)\.", "", path)
    root = re.split(r"[\[.{]", path)[0]
    indexes = re.findall(r"\[([^\]]*)\]", path)
    last = re.findall(r"\w+|$", path)[-1]
    for name in (f"{root}[{indexes[0]}]" if indexes else "", *indexes[:1], root):
        if name in columns:
            cell = columns[name]
            pieces = [piece.name for piece in cell.pieces]
            piece = next((part for part in (path.replace(f"[{name}]", ""), root, last) if part in pieces), "")
            in_log = cell.log is not None and len(indexes) > 1 and indexes[1].isdigit() and ".log[" in path
            yield Place(name, int(indexes[1]) if in_log else None, piece)
            return


def _condition(trace: Trace, cells: Sequence[ShownCell]) -> Condition | None:
    """Return the condition at fault at the end of a trace; None if there is none, or the reason contains it."""
    failing = trace.failure
    if failing is None or not failing.conjunct or failing.conjunct in trace.reason:
        return None
    columns = {cell.column: cell for cell in cells}
    values = [(_reference(Phrase(path, (path,)), columns), plain(value)) for path, value in failing.fields.items()]
    return Condition(failing.conjunct, failing.must_hold, tuple(values))


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)[:80] or "trace"


# Question and verdict in words.


class Outcome(Enum):
    """Whether the answer is good or bad; it decides the colour."""

    GOOD = "good"
    BAD = "bad"


def outcome(trace: Trace) -> Outcome:
    """Return GOOD for a witness and for steps explored by hand, else BAD."""
    return Outcome.GOOD if trace.witness or trace.property == EXPLORED else Outcome.BAD


def question(trace: Trace, model: Model) -> str:
    """Return the question that a trace answers."""
    name = trace.property
    if name == AGREEMENT:
        return f"Do {model.name} and the system take the same steps?"
    if name == DIFFERENCE:
        return f"Which steps does {model.name} take that the other model does not?"
    if name == EXPLORED:
        return f"Where do these steps of {model.name} lead?"
    if name == TYPE_OK:
        return f"Does every step of {model.name} keep to the domains of the fields?"
    run = _property_of(model, name)
    if not isinstance(run, RunProperty):
        return f"Does {name} hold in every state of {model.name}?"
    if run.kind is RunKind.SOMETIMES:
        return f"Is there a state of {model.name} with {name}?"
    return f"Does every fair run of {model.name} fulfil {name}?"


def verdict(trace: Trace) -> str:
    """Return the answer to that question, in a sentence."""
    steps = trace.length - 1
    count = f"after {steps} step{'s' if steps > 1 else ''}" if steps else "in the initial state"
    if trace.witness:
        return f"Yes: it is reached {count}."
    if trace.property == EXPLORED:
        return f"They were explored by hand; this is the state {count}."
    if trace.property == DIFFERENCE:
        return f"Step {steps}; up to there both take the same." if steps else "They do not begin in the same state."
    if trace.property == AGREEMENT:
        return f"No: they part {count}."
    if trace.loop is not None:
        if trace.loop == trace.length - 1:
            return f"No: {count} a run stays as it is for ever."
        return f"No: a run goes round for ever, from step {trace.loop} to step {steps} and back."
    if trace.refused is not None:
        return f"No: a step from the state {count} does not." if steps else "No: the first step does not."
    return f"No: it fails {count}."


def sentence_of_property(trace: Trace, model: Model) -> str:
    """Return the sentence of a trace's property; empty if it has none."""
    if trace.property == TYPE_OK:
        return TYPE_OK_SENTENCE
    return str(getattr(_property_of(model, trace.property), "sentence", ""))


def _property_of(model: Model, name: str) -> Invariant | RunProperty | None:
    """Return the property with a name; modules of lemmas and of properties of runs are loaded only if need be."""
    of_kinds: tuple[Callable[[Model], Mapping[str, Invariant | RunProperty]], ...]
    of_kinds = (invariants_of, run_properties_of, lemmas_of)
    for properties_of in of_kinds:
        with suppress(UserError):  # a model that has changed may refuse its own
            if (found := properties_of(model).get(name)) is not None:
                return found
    return None


# Counterexamples to induction.


def induction_picture(trace: Trace, model: Model, step: str, failing: Sequence[str], command: str) -> Picture:
    """Return the picture of a counterexample to induction.

    Args:
        trace: the states; the first one need not be initial.
        model: the model.
        step: the name of the last step, such as that of its action.
        failing: the names of the properties that the step breaks.
        command: the command that finds the counterexample again; there is no replay.
    """
    good = plural(trace.length - 1 if trace.refused is None else trace.length, "good state")
    names = " and ".join(failing)
    return replace(
        picture(trace, model),
        question=f"Does every step of {model.name} from a good state keep {names}?",
        verdict=f"No: {step} breaks it after {good}. Whether such a state is ever reached is not known.",
        command=command,
        file="",
    )


# Escaping: no text of a trace is ever taken for markup.


_ILLEGAL = re.compile("[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Characters that XML forbids, beside control characters."""

_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>|~&$!]|(?<!\w)[@#](?=\w)|://|\bwww\.|^\s*\d+[.)](?=\s|$)|^[-+=#]")
"""Markdown syntax, and what GitHub and GitLab turn into links or mentions."""

_UNSEEN = "&#8203;"
"""A zero-width space, which separates its neighbours."""

_ENTITIES = {
    "<": "&lt;",
    ">": "&gt;",
    "&": "&amp;",
    "@": f"@{_UNSEEN}",
    "#": f"\\#{_UNSEEN}",
    "://": f":{_UNSEEN}//",
    "www.": f"www{_UNSEEN}.",
}

_IN_MERMAID = re.compile(r"[^\w \-.,()+@/=!?*'\[\]|:\u0080-\uffff]|\bend\b")
"""Characters and words with a meaning in a Mermaid message."""


def in_xml(text: str) -> str:
    """Escape a text for use between tags of HTML or SVG."""
    clean = _clean(text)
    return clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def attribute(text: str) -> str:
    """Escape and quote a text as the value of an attribute of HTML or SVG."""
    value = in_xml(" ".join(re.split(r"[\n\r\t]", text))).replace('"', "&quot;").replace("'", "&#39;")
    return f'"{value}"'


def in_mermaid(text: str) -> str:
    """Escape a text for a message or a note of Mermaid; special characters become numeric entities."""
    one_line = " ".join(_clean(text).split())
    return _IN_MERMAID.sub(lambda found: f"#{ord(found[0][0])};{found[0][1:]}", one_line) or "#8203;"


def in_markdown(text: str) -> str:
    """Escape a text for a paragraph or a table cell of Markdown."""
    one_line = " ".join(_clean(text).split())
    return _MARKDOWN.sub(_escaped, one_line)


def in_markdown_code(text: str, *, cell: bool = False) -> str:
    """Return a text as inline code of Markdown. In a table cell (`cell`) bars are escaped too."""
    one_line = " ".join(_clean(text).split())
    if not one_line:
        return ""
    fence = "`" * (max((len(run) for run in re.findall("`+", one_line)), default=0) + 1)
    padded = f" {one_line} " if one_line[0] == "`" or one_line[-1] == "`" else one_line
    code = f"{fence}{padded}{fence}"
    return code.replace("|", r"\|") if cell else code


def _escaped(found: re.Match[str]) -> str:
    mark = found[0]
    if mark[-1] in ".)" and mark != "www.":
        return f"{mark[:-1]}\\{mark[-1]}"
    return _ENTITIES.get(mark, f"\\{mark}")


def _clean(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", visible(text))
