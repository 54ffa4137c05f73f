"""Exploring by typed commands, on a terminal or through a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from insync.cli.exploration import ExplorationText
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.progress import search_progress
from insync.cli.show.pages import write_page
from insync.cli.show.trace_files import replay_hint, traces_written
from insync.cli.terminal import emit, typed
from insync.explorer import Exploration
from insync.explorer.exploring.session import FIND_LIMITS, LONGEST_WALK
from insync.explorer.limits import Limits
from insync.explorer.traces.grid import render_grid
from insync.model.errors import UserError, closest

__all__ = ["Prompt"]

_PROMPT = "> "

_HELP = """\
  N              take step N of the list
  back [N]       go back one step, or N
  forward [N]    go on again to where you were
  undo           take back what the last command did
  why [NAME]     why steps are not enabled: all, or those of an action, "fetch", or one step, "b2 fetches from b1"
  walk N [SEED]  take N random steps; stops where a property begins to fail
  find COND      go to the nearest state from here in which a condition holds: find broker[b1].leo == 2
  names          what a condition can speak of
  props          how every property stands
  state          every field of this state
  trace          how you got here, as a grid
  tree           all that was visited;  go N  goes to one of these states
  start N        go to initial state N, where there are several
  address        the address of this state;  at ADDRESS  goes to one
  save FILE      write how you got here to a trace file, or to a page if FILE ends in .html
  help, quit     `b`, `f`, `u`, `w`, `h` and `q` are short for back, forward, undo, why, help and quit"""


class Prompt:
    """Reads commands and answers them until there are no more.

    Args:
        exploration: what is explored.
        text: writes what is known of it.
        limits: of the searches for a condition.
        quiet: whether searches show no progress.
    """

    def __init__(
        self, exploration: Exploration, text: ExplorationText, limits: Limits = FIND_LIMITS, quiet: bool = False
    ) -> None:
        self.exploration, self.text = exploration, text
        self._limits, self._quiet = limits, quiet
        self._walks = 0
        self._answers: dict[str, Callable[[str], str]] = {
            "back": self._back,
            "forward": self._forward,
            "undo": self._undo,
            "why": self._why,
            "walk": self._walk,
            "find": self._find,
            "names": lambda rest: self._alone("names", rest, self.text.names),
            "props": lambda rest: self._alone("props", rest, self.text.properties),
            "state": lambda rest: self._alone("state", rest, self.text.state),
            "trace": lambda rest: self._alone("trace", rest, self._grid),
            "tree": lambda rest: self._alone("tree", rest, self.text.tree),
            "go": self._go,
            "start": self._start,
            "address": lambda rest: self._alone("address", rest, lambda: self.exploration.address),
            "at": self._at,
            "save": self._save,
            "help": lambda rest: _HELP,
            "quit": lambda rest: self._alone("quit", rest, str),
            "exit": lambda rest: self._alone("exit", rest, str),
        }
        self._short = {"b": "back", "f": "forward", "u": "undo", "w": "why", "h": "help", "?": "help", "q": "quit"}

    def run(self) -> None:
        """Answer commands until `quit` or the end of the input; Ctrl-C at the prompt raises KeyboardInterrupt."""
        emit(f"{self.text.begins()}{self.text.here()}\n\nType a number to take a step, `help` for what else there is.")
        for line in _lines():
            word, _, rest = line.strip().partition(" ")
            if self._short.get(word, word) in ("quit", "exit") and not rest:
                return
            if word:
                emit(self._answer(word, rest.strip()))

    def _answer(self, word: str, rest: str) -> str:
        """Return what a command comes to: a mistake is answered by a sentence."""
        try:
            if word.isdecimal():
                return self._take(word, rest)
            full = self._short.get(word, word)
            if full not in self._answers:
                message = f"There is no command {word!r}. {closest(word, self._answers)}"
                raise UserError(message)
            return self._answers[full](rest)
        except UserError as error:
            return f"Error: {error.args[0]}"
        except KeyboardInterrupt:
            return "Stopped; you are where you were."

    def _take(self, word: str, rest: str) -> str:
        enabled = [step for step in self.exploration.steps if step.enabled]
        place = _number(word, "step")
        if rest or not 1 <= place <= len(enabled):
            known = f"give 1 to {len(enabled)}" if enabled else "none is enabled; `back` leads out of here"
            message = f"There is no step {f'{word} {rest}'.strip()} here; {known}."
            raise UserError(message)
        self.exploration.take(enabled[place - 1].number)
        return self.text.here()

    def _back(self, rest: str) -> str:
        if not self.exploration.back(_number(rest or "1", "number of steps, at least 1")):
            return "This is the start; there is no step to go back by."
        return self.text.here()

    def _forward(self, rest: str) -> str:
        if not self.exploration.forward(_number(rest or "1", "number of steps, at least 1")):
            return "Nothing was visited after this state; take a step."
        return self.text.here()

    def _undo(self, rest: str) -> str:
        return self._alone("undo", rest, lambda: self.text.here() if self.exploration.undo() else "Nothing to undo.")

    def _why(self, rest: str) -> str:
        enabled = {step.number for step in self.exploration.steps if step.enabled}
        every = range(len(self.exploration.stepper.actions))
        named = self.exploration.actions_called(rest) if rest else [one for one in every if one not in enabled]
        return self.text.why([self.exploration.why_not(number) for number in named])

    def _walk(self, rest: str) -> str:
        words = rest.split()
        if not 1 <= len(words) <= 2:
            message = "`walk` needs the number of steps, and may have a seed: walk 20, walk 20 7."
            raise UserError(message)
        steps = _number(words[0], f"number of steps, 1 to {LONGEST_WALK}")
        seed = _number(words[1], "seed") if len(words) > 1 else self._walks
        self._walks += 1
        walked = self.exploration.walk(steps, seed)
        ended = f": {walked.ended}" if walked.ended else ""
        return f"Walked {walked.steps} of {steps} steps, seed {seed}{ended}.\n{self.text.here()}"

    def _find(self, rest: str) -> str:
        with stop_on_interrupt() as stop, search_progress(self._quiet) as reporter:
            found = self.exploration.find(rest, self._limits, stop, reporter)
        return f"{found.in_words}\n{self.text.here()}" if found.moves else found.in_words

    def _grid(self) -> str:
        exploration = self.exploration
        return render_grid(exploration.trace, exploration.model.grid, width=self.text.width, paint=self.text.paint)

    def _go(self, rest: str) -> str:
        self.exploration.go(_number(rest, "number of a state; `tree` shows them"))
        return self.text.here()

    def _start(self, rest: str) -> str:
        self.exploration.start(_number(rest, "number of an initial state"))
        return self.text.here()

    def _at(self, rest: str) -> str:
        self.exploration.go_to_address(rest)
        return self.text.here()

    def _save(self, rest: str) -> str:
        if not rest:
            message = "`save` needs the name of a file: save out.json, or save out.html for a page."
            raise UserError(message)
        if "\0" in rest:
            message = "No file can have that name; give another one."
            raise UserError(message)
        file, trace = Path(rest), self.exploration.trace
        if file.suffix == ".html":
            write_page(file, [(trace, self.exploration.model, None)])
            return f"{trace.reason}\nPage: {file}"
        with traces_written(file, [trace], self.exploration.model):
            return f"{trace.reason}\n{replay_hint(trace, file)}"

    def _alone(self, word: str, rest: str, answer: Callable[[], str]) -> str:
        if rest:
            message = f"`{word}` stands alone; leave {rest!r} out."
            raise UserError(message)
        return answer()


def _number(text: str, what: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        wrong = "out of range" if text.removeprefix("-").isdecimal() else "not a whole number"
        message = f"{text!r} is {wrong}; give the {what}." if text else f"Give the {what}."
        raise UserError(message)
    return int(text)


def _lines() -> Iterator[str]:
    """Yield the lines that are typed; each that comes from a pipe is shown, so that the output reads as a session."""
    if sys.stdin is None:
        return
    if not sys.stdin.isatty():
        with suppress(AttributeError):  # what stands in for standard input may have no encoding to change
            sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
        for line in sys.stdin:
            emit(f"\n{_PROMPT}{line.rstrip()}")
            yield line
        return
    import readline  # noqa: F401 -- lets `typed` edit lines and go back to earlier ones

    while True:
        try:
            yield typed("\n" + _PROMPT)
        except EOFError:
            emit("")
            return
