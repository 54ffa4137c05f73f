"""The prompt of `insync explore`: typed commands, on a terminal or through a pipe, and the text of their answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from insync.cli.options.output import traces_written
from insync.cli.progress import search_progress, stop_on_interrupt
from insync.cli.terminal import emit, typed
from insync.explorer import Exploration
from insync.explorer.documents.text import count, plural, wrapped
from insync.explorer.exploring.conditions import WORDS, ConditionNames
from insync.explorer.exploring.session import FIND_LIMITS, LONGEST_WALK
from insync.explorer.exploring.steps import OfferedStep, Standing, WhyNot
from insync.explorer.traces.grid import Paint, Tone, render_grid
from insync.explorer.traces.trace_file import replay_hint
from insync.model import Model
from insync.model.language.presentation import cell_text, checked_grid, checked_marks, own_columns
from insync.runtime.errors import UserError, closest
from insync.runtime.watch import Limits

__all__ = [
    "ExplorationText",
    "Prompt",
]


_PROMPT = "> "

_HELP = """\
  N              take step N of the list
  back [N]       go back one step, or N
  forward [N]    go on again to where you were
  undo           take back what the last command did
  why [NAME]     why steps are not enabled: all, or those of an action, "fetch", or one step, "b2 fetches from b1"
  walk N [SEED]  take N random steps; stops where a property begins to fail
  find COND      go to the nearest state from here in which a condition holds: find broker[b1].leo == 2
  names          the names that a condition can have
  props          how every property stands
  state          every field of this state
  trace          how you got here, as a grid
  tree           all that was visited;  go N  goes to one of these states
  start N        go to initial state N, where there are several
  address        the address of this state;  at ADDRESS  goes to one
  save FILE      write how you got here to a trace file, or to a page if FILE ends in .html
  help, quit     `b`, `f`, `u`, `w`, `h` and `q` are short for back, forward, undo, why, help and quit"""


class Prompt:
    """Reads commands and prints their answers until the input ends.

    Args:
        exploration: the exploration.
        text: formats the state of the exploration.
        limits: the limits of searches for a condition.
        quiet: whether to hide the progress of searches.
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
        """Execute commands until `quit` or the end of the input; Ctrl-C at the prompt raises KeyboardInterrupt."""
        emit(f"{self.text.begins()}{self.text.here()}\n\nType a number to take a step, `help` for what else there is.")
        for line in _lines():
            word, _, rest = line.strip().partition(" ")
            if self._short.get(word, word) in ("quit", "exit") and not rest:
                return
            if word:
                emit(self._answer(word, rest.strip()))

    def _answer(self, word: str, rest: str) -> str:
        """Execute a command, and return its answer; for a mistake, a sentence."""
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
            message = "`walk` needs the number of steps, and may have a seed: write walk 20, or walk 20 7."
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
            message = "`save` needs the name of a file: write save out.json, or save out.html for a page."
            raise UserError(message)
        if "\0" in rest:
            message = "No file can have that name; give another one."
            raise UserError(message)
        file, trace = Path(rest), self.exploration.trace
        if file.suffix == ".html":
            from insync.explorer.pictures.page import write_page

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
    """Yield the typed lines. Lines from a pipe are printed, so that the output reads like a session."""
    if sys.stdin is None:
        return
    if not sys.stdin.isatty():
        with suppress(AttributeError):  # a substitute for standard input may lack this method
            sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
        for line in sys.stdin:
            emit(f"\n{_PROMPT}{line.rstrip()}")
            yield line
        return
    import readline  # noqa: F401 -- gives `typed` line editing and a history

    while True:
        try:
            yield typed("\n" + _PROMPT)
        except EOFError:
            emit("")
            return


# The texts.


_CHANGED = "*"
_MOST_GUARDS = 3
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class ExplorationText:
    """Formats the state of an exploration.

    Attributes:
        exploration: the exploration.
        paint: the function that colours texts.
        width: the greatest length of a line, in characters.
    """

    exploration: Exploration
    paint: Paint
    width: int

    # --------------------------------------------------------------------------------------------- the current state

    def here(self) -> str:
        """Return the current state, the status of its properties, and the enabled steps."""
        return "\n".join(
            [self._place(), *self._demand_lines(), *self._cells(), *self._standing_lines(), *self._step_lines()]
        )

    def _place(self) -> str:
        here = self.exploration.here
        number = self.paint(f"state {here.number}", Tone.HEADING)
        if here.action is None:
            return f"{number}, {self.exploration.step.label}"
        label = self.paint(self.exploration.step.label, Tone.LABEL)
        return f"{number}, {plural(here.depth, 'step')} from the start: {label}"

    def _cells(self) -> list[str]:
        """Return the cells of the trace grid, one a line, with a mark for those that the last step has changed."""
        model, path = self.exploration.model, self.exploration.visited.path
        before = _grid(model, path[-2].codes) if len(path) > 1 else None
        cells = _grid(model, path[-1].codes)
        marks = {} if before is None else checked_marks(model, *(model.decode(state.codes) for state in path[-2:]))
        names = max(map(len, cells), default=0)
        lines = []
        for name, text in cells.items():
            changed = _CHANGED if before is not None and before.get(name) != text else " "
            said = f"{text or '-'} {marks.get(name, '')}".rstrip()
            lines += self._wrapped(said, f" {changed} {name:<{names}}  ", " " * (names + 5))
        return lines

    def _demand_lines(self) -> list[str]:
        """Return the events that the last step requires, if the model declares them."""
        takes = [one for one in self.exploration.demands if one.step == self.exploration.here.depth]
        return [
            line for one in takes for line in self._wrapped(f"takes: {one.text} ({one.hardness.value})", "", _INDENT)
        ]

    def _standing_lines(self) -> list[str]:
        standings = self.exploration.standings
        watched = [one for one in standings if one.watched]
        failing = [one for one in watched if one.holds is False]
        lines = [line for one in failing for line in self._failing(one)]
        if not failing:
            names = ", ".join(one.name for one in watched if one.holds)
            lines += self._wrapped(self.paint("holds: ", Tone.GOOD) + names, "", _INDENT)
        others = [one.name for one in standings if not one.watched and one.holds is False]
        if others:
            lines += self._wrapped(f"{', '.join(others)}: not watched, and not so here", "", _INDENT)
        return lines

    def _failing(self, one: Standing) -> list[str]:
        what = "the last step broke it" if one.of_steps else "fails"
        head = self.paint(f"{one.name} {what}", Tone.BAD)
        return [head, *self._wrapped(one.reason, "  ", "  ")]

    def _step_lines(self) -> list[str]:
        steps = self.exploration.steps
        enabled = [step for step in steps if step.enabled]
        digits = len(str(len(enabled)))
        lines = [self.paint("Steps:", Tone.HEADING) if enabled else self.paint("No step is enabled.", Tone.OPEN)]
        for place, step in enumerate(enabled, start=1):
            number = self.paint(f"{place:>{digits}}", Tone.NUMBER)
            lines += self._wrapped(f"{step.label}{self._noted(step)}", f"  {number}  ", " " * (digits + 4))
        if len(enabled) < len(steps):
            rest = plural(len(steps) - len(enabled), "step")
            are = "is" if len(steps) - len(enabled) == 1 else "are"
            lines.append(self.paint(f"  {rest} {are} not enabled: `why` says why not.", Tone.NUMBER))
        return lines

    def _noted(self, step: OfferedStep) -> str:
        """Return the note after the label of a step: refused, without effect, or visited."""
        if step.refused is not None:
            return self.paint(f"  (refused: {step.refused})", Tone.REFUSED)
        if step.after == self.exploration.here.codes:
            return self.paint("  (changes nothing)", Tone.NUMBER)
        visited = self.exploration.visited
        known = [state.number for state in visited.after(visited.here.number) if state.action == step.number]
        return self.paint(f"  (visited: state {known[0]})", Tone.NUMBER) if known else ""

    # ------------------------------------------------------------------------------------------------------- answers

    def why(self, reasons: Sequence[WhyNot]) -> str:
        """Return why actions are disabled: for few of them the whole guard, for many the first condition that fails."""
        lines: list[str] = []
        for why in reasons:
            lines += self._guard(why) if len(reasons) <= _MOST_GUARDS else self._wrapped(why.reason, "", _INDENT)
        return "\n".join(lines) or "Every step is enabled here."

    def _guard(self, why: WhyNot) -> list[str]:
        enabled = "is enabled" if why.first is None else "is not enabled"
        tone = Tone.GOOD if why.first is None else Tone.BAD
        lines = [f"{self.paint(why.label, Tone.LABEL)}: {self.paint(enabled, tone)}"]
        for place, part in enumerate(why.guard):
            mark = "holds  " if part.holds else "FAILS  "
            lines += self._wrapped(part.text, f"  {mark}", " " * 9)
            if place == why.first:
                lines += self._culprit(why)
        return lines or [f"{why.label} has no guard."]

    def _culprit(self, why: WhyNot) -> list[str]:
        """Return the part of a condition that fails, the members for which it does, and the values that it reads."""
        parts = [f"{variable} = {label}" for variable, label in why.bindings.items()]
        where = [f"for {', '.join(parts)}"] if parts else []
        culprit = [f"the part that is false: {why.culprit}"] if why.culprit else []
        written = None if why.first is None else why.guard[why.first].written
        place = [] if written is None else [f"written as {written.text} ({written.place})"]
        values = [f"with {', '.join(f'{path} = {value}' for path, value in why.values.items())}"] if why.values else []
        return [line for said in [*where, *culprit, *values, *place] for line in self._wrapped(said, " " * 9, " " * 11)]

    def properties(self) -> str:
        """Return the status of every property."""
        lines = []
        for one in self.exploration.standings:
            word = "?    " if one.holds is None else "holds" if one.holds else "FAILS"
            tone = Tone.NUMBER if one.holds is None else Tone.GOOD if one.holds else Tone.BAD
            watched = " (watched)" if one.watched else ""
            lines.append(f"  {self.paint(word, tone)}  {one.name}{watched}")
            said = "there was no step yet" if one.holds is None else one.reason
            lines += self._wrapped(said, " " * 9, " " * 9) if said else []
        runs = self.exploration.not_shown
        if runs:
            decides = "`insync liveness` with this model and these bounds decides them."
            said = f"Not shown, as they are about whole runs: {', '.join(runs)}. {decides}"
            lines += self._wrapped(said, "  ", "  ")
        return "\n".join(lines)

    def state(self) -> str:
        """Return every field of the state."""
        cells = own_columns(self.exploration.model.state, self.exploration.step.state)
        names = max(map(len, cells), default=0)
        return "\n".join(
            line
            for name, cell in cells.items()
            for line in self._wrapped(cell_text(cell) or "-", f"  {name:<{names}}  ", " " * (names + 4))
        )

    def tree(self) -> str:
        """Return the tree of visited states, with a mark for the current one."""
        visited = self.exploration.visited
        lines: list[str] = []
        below = [(state.number, 0) for state in reversed(visited.states) if state.before is None]
        while below:
            number, depth = below.pop()
            state = visited.states[number]
            mark = "*" if state is visited.here else " "
            label = "start" if state.action is None else self.exploration.stepper.actions[state.action].label
            lines.append(f"{mark} {'  ' * depth}{number}  {label}")
            after = visited.after(number)
            below += [(one.number, depth + (len(after) > 1)) for one in reversed(after)]
        return "\n".join(lines)

    def names(self) -> str:
        """Return the names that a condition can use."""
        exploration = self.exploration
        known = ConditionNames(exploration.model)
        groups = {
            "Fields": list(known.fields),
            "Members": list(known.members),
            "Kinds, for exists, for_all and count": known.used,
            "Properties": list(known.invariants),
            "Words": ["and", "or", "not", "in", *WORDS, "NONE"],
        }
        lines = [self._wrapped(f"{title}: {', '.join(names)}", "", _INDENT) for title, names in groups.items() if names]
        return "\n".join(line for wrapped in lines for line in wrapped)

    def begins(self) -> str:
        """Return the first line, about several initial states; empty if there is one."""
        starts = self.exploration.starts
        if starts == 1:
            return ""
        many = "too many to be numbered" if starts is None else f"{count(starts)}, `start N` goes to one"
        return f"There are several initial states: {many}.\n"

    def _wrapped(self, text: str, first: str, rest: str) -> list[str]:
        return wrapped(text, self.width, first, rest) or [first.rstrip()]


def _grid(model: Model, codes: tuple[int, ...]) -> Mapping[str, str]:
    return {name: cell_text(cell) for name, cell in checked_grid(model, model.decode(codes)).items()}
