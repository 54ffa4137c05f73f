"""The commands of the page and their answers as JSON; each tab of a browser has an exploration of its own."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from insync.explorer.explore import NoViolation, explore, refuse_trace_of_another
from insync.explorer.exploring.conditions import WORDS, ConditionError, ConditionNames
from insync.explorer.exploring.session import LONGEST_WALK, Exploration
from insync.explorer.exploring.steps import OfferedStep, WhyNot
from insync.explorer.exploring.visited import VisitedState
from insync.explorer.pictures.picture import PictureStep, in_xml, lifelines_of, picture_of_state
from insync.explorer.pictures.step import epochs_of, state_table, strip_svg
from insync.explorer.progress import Progress
from insync.explorer.stepping.stepper import remembered
from insync.explorer.traces.state_diff import legend_of
from insync.explorer.traces.trace import TraceStep, trace_step
from insync.explorer.traces.trace_file import parse_trace, trace_text
from insync.model import Demand, Model
from insync.properties.invariants import TYPE_OK
from insync.properties.registry import invariants_of
from insync.runtime.errors import UserError, closest
from insync.runtime.watch import Limits

__all__ = ["StateDrawing", "Tabs"]


_MOST_TABS = 50
_MOST_STATES = 100_000_000
_MOST_SECONDS = 3600
_PATIENCE = 2.0
_LONG = frozenset({"find", "violation", "load", "walk", "at", "open"})


@dataclass(slots=True)  # not frozen: counts its walks
class _Tab:
    name: str
    exploration: Exploration
    drawing: StateDrawing
    walks: int = 0


@dataclass(slots=True)  # not frozen: has the latest progress
class _Search:
    stop: threading.Event = field(default_factory=threading.Event)
    progress: Progress | None = None

    def told(self, progress: Progress) -> None:
        """Store the progress."""
        self.progress = progress


class Tabs:
    """Executes the commands of pages.

    One command runs at a time, as all explorations share the graph of their model; only `stop` and `progress` run
    beside a search.

    Args:
        first: makes the initial exploration of a tab.
        seconds: the default time limit of a search.
    """

    def __init__(self, first: Callable[[], Exploration], seconds: int = 30) -> None:
        self._first, self._seconds = first, seconds
        self._tabs: OrderedDict[str, _Tab] = OrderedDict()
        self._lock = threading.Lock()
        self._search: _Search | None = None
        self._answers: dict[str, Callable[[_Tab, PageCommand], str]] = {
            "take": lambda tab, asked: _silent(tab.exploration.take(asked.whole("number", "the number of a step"))),
            "back": self._back,
            "forward": self._forward,
            "undo": lambda tab, asked: "" if tab.exploration.undo() else "Nothing to undo.",
            "go": lambda tab, asked: _silent(tab.exploration.go(asked.whole("number", "the number of a state"))),
            "start": lambda tab, asked: _silent(
                tab.exploration.start(asked.whole("number", "the number of an initial state"))
            ),
            "at": lambda tab, asked: _silent(tab.exploration.go_to_address(asked.text("address"))),
            "walk": self._walk,
            "find": self._find,
            "violation": self._violation,
            "load": self._load,
        }

    def answer(self, asked: object) -> dict[str, Any]:
        """Execute a command, and return its answer; for a mistake, the sentence under `error`."""
        try:
            given = PageCommand.of(asked)
            command = given.text("command")
            if command == "stop":
                return self._stop()
            if command == "progress":
                return self._progress()
            return self._alone(given, command)
        except ConditionError as error:
            return {"error": error.args[0], "at": error.at, "length": error.length}
        except UserError as error:
            return {"error": error.args[0]}

    def takes_long(self, asked: object) -> bool:
        """Return whether a command may take long."""
        return isinstance(asked, Mapping) and asked.get("command") in _LONG

    def close(self) -> None:
        """Stop a running search."""
        self._stop()

    def _alone(self, asked: PageCommand, command: str) -> dict[str, Any]:
        if not self._lock.acquire(timeout=_PATIENCE if self._search is None else 0):
            message = "A search is at work, here or in another tab. Stop it, or wait for its end."
            raise UserError(message)
        try:
            if command == "open":
                return self._open(asked)
            tab = self._tab(asked)
            if command == "why":
                return self._why(tab, asked)
            if command == "save":
                trace = tab.exploration.trace
                name = f"{tab.exploration.model.name}-{trace.property}.json"
                return {"file": name, "content": trace_text(trace), "message": f"{trace.reason} Saved as {name}."}
            if command not in self._answers:
                message = f"There is no command {command!r}. {closest(command, self._answers)}"
                raise UserError(message)
            said = self._answers[command](tab, asked)
            return {
                "message": said,
                **seen(tab.exploration, tab.drawing, asked.whole("known", "a number of states", 0)),
            }
        finally:
            self._lock.release()

    def _open(self, asked: PageCommand) -> dict[str, Any]:
        """Return the requested tab if it is at the requested address, else a new tab at that address."""
        address = asked.text("address", "")
        tab = self._tabs.get(asked.text("tab", ""))
        said = ""
        if tab is None or (address and tab.exploration.address != address):
            made = self._first()
            tab = _Tab(secrets.token_urlsafe(9), made, StateDrawing(made.model))
            if address:
                try:
                    tab.exploration.go_to_address(address)
                    tab.exploration.visited.forget_changes()
                except UserError as error:
                    said = error.args[0]
            self._tabs[tab.name] = tab
            if len(self._tabs) > _MOST_TABS:
                self._tabs.popitem(last=False)
        self._tabs.move_to_end(tab.name)
        told = {
            "tab": tab.name,
            "seconds": self._seconds,
            "model": model_as_seen(tab.exploration.model),
            **seen(tab.exploration, tab.drawing),
        }
        return {**told, "error": said} if said else told

    def _tab(self, asked: PageCommand) -> _Tab:
        tab = self._tabs.get(asked.text("tab"))
        if tab is None:
            message = (
                "The server no longer has the states of this tab. Load the page again: it begins at the state of its "
                "address."
            )
            raise UserError(message)
        self._tabs.move_to_end(tab.name)
        return tab

    def _back(self, tab: _Tab, asked: PageCommand) -> str:
        return "" if tab.exploration.back(asked.whole("steps", "a number of steps", 1)) else "This is the start."

    def _forward(self, tab: _Tab, asked: PageCommand) -> str:
        went = tab.exploration.forward(asked.whole("steps", "a number of steps", 1))
        return "" if went else "Nothing was visited after this state; take a step."

    def _walk(self, tab: _Tab, asked: PageCommand) -> str:
        steps = asked.whole("steps", "a number of steps", least=1, most=LONGEST_WALK)
        seed = asked.whole("seed", "a seed", tab.walks)
        tab.walks += 1
        walked = tab.exploration.walk(steps, seed)
        return f"Walked {walked.steps} of {steps} steps, seed {seed}{': ' if walked.ended else ''}{walked.ended}."

    def _find(self, tab: _Tab, asked: PageCommand) -> str:
        condition = asked.text("condition")
        limits = Limits(
            states=asked.whole("states", "a number of states", 5_000_000, least=1, most=_MOST_STATES),
            seconds=asked.whole("seconds", "a number of seconds", self._seconds, most=_MOST_SECONDS),
        )
        with self._searching() as search:
            return tab.exploration.find(condition, limits, search.stop, search.told).in_words

    def _violation(self, tab: _Tab, asked: PageCommand) -> str:
        name = asked.text("name")
        limits = Limits(seconds=asked.whole("seconds", "a number of seconds", self._seconds, most=_MOST_SECONDS))
        try:
            with self._searching() as search:
                model, stop = tab.exploration.model, search.stop
                found = explore(model, violation=name, limits=limits, reporter=search.told, stop=stop)
        except NoViolation as none:
            return str(none.args[0])
        tab.exploration.follow(found.moves)
        return f"The shortest way to a violation of {name} has {len(found.moves) - 1} steps."

    def _load(self, tab: _Tab, asked: PageCommand) -> str:
        name = asked.text("name", "the file")[:100]
        trace = parse_trace(name, asked.text("content"))
        refuse_trace_of_another(trace, type(tab.exploration.model), name)
        found = explore(tab.exploration.model, trace=trace)
        tab.exploration.follow(found.moves)
        return f"The trace has {len(found.moves) - 1} steps; this is its end."

    def _why(self, tab: _Tab, asked: PageCommand) -> dict[str, Any]:
        exploration = tab.exploration
        if asked.has("number"):
            numbers = [asked.whole("number", "the number of a step")]
        else:
            numbers = [step.number for step in exploration.steps if not step.enabled]
        reasons = why_as_seen([exploration.why_not(number) for number in numbers])
        return {"reasons": reasons, "of": exploration.address}

    # ------------------------------------------------------------------------------------------------------ searches

    @contextmanager
    def _searching(self) -> Iterator[_Search]:
        """Yield a search that `stop` and `progress` refer to until the block ends."""
        self._search = _Search()
        try:
            yield self._search
        finally:
            self._search = None

    def _stop(self) -> dict[str, Any]:
        search = self._search
        if search is None:
            return {"message": "No search is at work."}
        search.stop.set()
        return {"message": "Stopping."}

    def _progress(self) -> dict[str, Any]:
        search = self._search
        found = None if search is None else search.progress
        if search is None:
            return {"searching": False}
        states, level = (0, 0) if found is None else (found.distinct_states, found.level)
        return {"searching": True, "states": states, "level": level}


def _silent(_: object) -> str:
    """Return the empty message, for a command whose outcome the page shows."""
    return ""


# Answers as JSON.


_MOST_VISITED = 2_000
"""The most states of a tree that is sent to the page; of a larger one nothing is sent."""


def model_as_seen(model: Model) -> dict[str, Any]:
    """Return the facts about a model that the page receives once."""
    names = ConditionNames(model)
    return {
        "name": model.name,
        "settings": [[name, str(value)] for name, value in model.identity.items()],
        "fields": list(names.fields),
        "members": list(names.members),
        "kinds": names.used,
        "words": ["and", "or", "not", "in", *WORDS, "NONE"],
        "properties": list(names.invariants),
        "violable": [*invariants_of(model), TYPE_OK],
    }


def seen(exploration: Exploration, drawing: StateDrawing, known: int = 0) -> dict[str, Any]:
    """Return the facts about the current state that the page shows.

    Args:
        exploration: the exploration.
        drawing: draws its states.
        known: the number of states of the tree that the page has already.
    """
    here, visited = exploration.here, exploration.visited
    states = visited.states
    begin = min(known, len(states))
    tree = [[one.before, _label(exploration, one.action)] for one in states[begin:]]
    return {
        "number": here.number,
        "depth": here.depth,
        "label": exploration.step.label,
        "address": exploration.address,
        "state": drawing.html(exploration),
        "steps": _steps(exploration),
        "properties": [
            {
                "name": one.name,
                "says": one.sentence,
                "watched": one.watched,
                "ofSteps": one.of_steps,
                "holds": one.holds,
                "reason": one.reason,
            }
            for one in exploration.standings
        ],
        "notShown": exploration.not_shown,
        "path": [one.number for one in visited.path] if len(states) <= _MOST_VISITED else None,
        "tree": {"from": begin, "states": tree, "total": len(states)} if len(states) <= _MOST_VISITED else None,
        "ahead": visited.ahead is not None,
        "undo": visited.can_undo,
        "starts": exploration.starts,
    }


def _steps(exploration: Exploration) -> list[dict[str, Any]]:
    taken = {one.action: one.number for one in exploration.visited.after(exploration.here.number)}
    return [_step(exploration, step, taken.get(step.number)) for step in exploration.steps]


def _step(exploration: Exploration, step: OfferedStep, visited: int | None) -> dict[str, Any]:
    told: dict[str, Any] = {"number": step.number, "label": step.label, "enabled": step.enabled}
    if step.refused is not None:
        told["refused"] = step.refused
    elif step.enabled and step.after == exploration.here.codes:
        told["same"] = True
    if visited is not None:
        told["visited"] = visited
    return told


def why_as_seen(reasons: Sequence[WhyNot]) -> list[dict[str, Any]]:
    """Return the reasons why steps are disabled, as JSON values."""
    return [
        {
            "number": why.number,
            "reason": why.reason.removeprefix(f"{why.label}: "),
            "guard": [
                [part.text, part.holds, f"{part.written.text}   {part.written.place}" if part.written else ""]
                for part in why.guard
            ],
            "first": why.first,
            "bindings": [f"{name} = {label}" for name, label in why.bindings.items()],
            "culprit": why.culprit,
            "values": [[path, value] for path, value in why.values.items()],
        }
        for why in reasons
    ]


def _label(exploration: Exploration, action: int | None) -> str:
    return "start" if action is None else exploration.stepper.actions[action].label


# The current state and the step that led there, drawn as in reports.


_MOST_BEFORE = 40
"""The number of earlier steps that the drawing of a step may depend on."""

_MOST_DEMANDING = 300
"""The longest path whose demands are shown: they are computed again for all its states after each step."""

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
        """Return the drawing of the current state as HTML."""
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
        """Return the events that the path here requires, as HTML; those of the last step first."""
        path = exploration.visited.path
        if len(path) > _MOST_DEMANDING:
            return ""
        found = exploration.model.demands([self._step(state) for state in path])
        now, before = ([demand for demand in found if (demand.step == len(path) - 1) is last] for last in (True, False))
        parts = [f'<p class="takes">Takes: {_said(demand)}.</p>' for demand in now]
        if before:
            rows = "".join(f"<li>step {demand.step}: {_said(demand)}</li>" for demand in before)
            parts.append(f"<details><summary>What earlier steps took: {len(before)}</summary><ul>{rows}</ul></details>")
        return "".join(parts)

    def _picture(self, path: Sequence[VisitedState]) -> PictureStep:
        """Return the picture of the last state of a path; earlier pictures give the lifelines that are down there."""
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
        """Return all epochs drawn so far, so that each keeps its colour."""
        known = epochs_of(self._epochs)
        if not set(epochs_of([drawn])) <= set(known):
            self._epochs.append(drawn)
            known = epochs_of(self._epochs)
        return known


def _said(demand: Demand) -> str:
    return f"{in_xml(demand.text)} ({demand.hardness.value})"


# Commands, read from JSON.


_LARGEST = 2**53
"""The greatest whole number that a browser represents exactly."""


@dataclass(frozen=True, slots=True)
class PageCommand:
    """A command with its arguments."""

    entries: Mapping[str, object]

    @classmethod
    def of(cls, parsed: object) -> PageCommand:
        """Return the command in parsed JSON.

        Raises:
            UserError: it is no object.
        """
        if not isinstance(parsed, Mapping):
            message = "A command is an object, such as {'command': 'back'}."
            raise UserError(message)
        return cls(parsed)

    def has(self, name: str) -> bool:
        """Return whether an argument is present and not null."""
        return self.entries.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """Return an argument that is a text.

        Raises:
            UserError: it is something else, or it is missing and there is no default.
        """
        value = self.entries.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            message = f"{name}={value!r:.60} is not a text; give one."
            raise UserError(message)
        return value

    def whole(self, name: str, what: str, default: int | None = None, least: int = 0, most: int = _LARGEST) -> int:
        """Return an argument that is a whole number or a text of digits.

        Args:
            name: the name of the argument.
            what: a description of the number, for the message.
            default: the value if it is missing.
            least: the least accepted value.
            most: the greatest accepted value.

        Raises:
            UserError: it is something else, or it is missing and there is no default.
        """
        value = self.entries.get(name)
        if default is not None and (value is None or value == ""):
            return default
        if isinstance(value, str) and value.strip().isdecimal() and len(value) <= 16:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            message = f"{str(value)[:40]!r} is not {what}; give a whole number from {least:,} to {most:,}."
            raise UserError(message)
        return value
