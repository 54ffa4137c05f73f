"""What a page asks for, and what it is answered: each tab of a browser has an exploration of its own."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from insync.explorer.explore import NoViolation, explore, refuse_trace_of_another
from insync.explorer.exploring.conditions import ConditionError
from insync.explorer.exploring.session import LONGEST_WALK, Exploration
from insync.explorer.exploring_page.as_seen import model_as_seen, seen, why_as_seen
from insync.explorer.exploring_page.drawn_state import StateDrawing
from insync.explorer.exploring_page.page_command import PageCommand
from insync.explorer.limits import Limits
from insync.explorer.progress import Progress
from insync.explorer.traces.trace_file import parse_trace, trace_text
from insync.model.errors import UserError, closest

__all__ = ["Tabs"]

_MOST_TABS = 50
_MOST_STATES = 100_000_000
_MOST_SECONDS = 3600
_PATIENCE = 2.0
_LONG = frozenset({"find", "violation", "load", "walk", "at", "open"})


@dataclass(slots=True)  # not frozen: what a tab looks at changes
class _Tab:
    name: str
    exploration: Exploration
    drawing: StateDrawing
    walks: int = 0


@dataclass(slots=True)  # not frozen: a search tells how far it is
class _Search:
    stop: threading.Event = field(default_factory=threading.Event)
    progress: Progress | None = None

    def told(self, progress: Progress) -> None:
        """Remember how far it is."""
        self.progress = progress


class Tabs:
    """Answers what pages ask.

    One command is executed at a time, as all explorations share the graph of their model. A search is told to stop, and
    asked how far it is, while it is at work.

    Args:
        first: makes the exploration with which a tab begins.
        seconds: how long a search may take, unless the page says otherwise.
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
        """Return the answer to what a page asks; a mistake is answered by a sentence, under `error`."""
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
        """Return whether what a page asks may take longer than a click should."""
        return isinstance(asked, Mapping) and asked.get("command") in _LONG

    def close(self) -> None:
        """Let a search that is at work come to its end."""
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
        """Return a tab that is there, where it is at the address that is asked for; else a new one at that address."""
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
            message = "This tab is not known any more. Load the page again: it begins at the state of its address."
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
        """Yield a search that can be stopped, and asked how far it is, for as long as the block lasts."""
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
    """Return what is said of a command that the page shows the outcome of: nothing."""
    return ""
