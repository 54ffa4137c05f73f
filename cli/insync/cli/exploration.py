"""What exploring a model shows on a terminal: the state, how its properties stand, the steps from it, the reasons."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from insync.cli.show.figures import count, plural
from insync.explorer import Exploration
from insync.explorer.exploring.conditions import WORDS, ConditionNames
from insync.explorer.exploring.steps import OfferedStep, Standing, WhyNot
from insync.explorer.traces.grid import Paint, Tone
from insync.model import Model
from insync.model.language.presentation import cell_text, checked_grid, checked_marks, own_columns

__all__ = ["ExplorationText"]

_CHANGED = "*"
_MOST_GUARDS = 3
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class ExplorationText:
    """Writes what is known of an exploration.

    Attributes:
        exploration: what is explored.
        paint: what colours text.
        width: how many characters a line may have.
    """

    exploration: Exploration
    paint: Paint
    width: int

    # -------------------------------------------------------------------------------------------------- where one is

    def here(self) -> str:
        """The state that is looked at, how its properties stand, and the steps that can be taken."""
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
        """The cells of the trace grid, one a line; a mark shows which of them the last step has changed."""
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
        """What the last step takes, where the model says it."""
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
        """What there is to say of a step besides its label."""
        if step.refused is not None:
            return self.paint(f"  (refused: {step.refused})", Tone.REFUSED)
        if step.after == self.exploration.here.codes:
            return self.paint("  (changes nothing)", Tone.NUMBER)
        visited = self.exploration.visited
        known = [state.number for state in visited.after(visited.here.number) if state.action == step.number]
        return self.paint(f"  (visited: state {known[0]})", Tone.NUMBER) if known else ""

    # ------------------------------------------------------------------------------------------------------- answers

    def why(self, reasons: Sequence[WhyNot]) -> str:
        """Why some actions are not enabled: of few of them the whole guard, of many the first condition that fails."""
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
        """Which part of a condition is to blame, and for which members, with the values that it reads."""
        parts = [f"{variable} = {label}" for variable, label in why.bindings.items()]
        where = [f"for {', '.join(parts)}"] if parts else []
        culprit = [f"of which: {why.culprit}"] if why.culprit else []
        written = None if why.first is None else why.guard[why.first].written
        place = [] if written is None else [f"written as {written.text} ({written.place})"]
        values = [f"with {', '.join(f'{path} = {value}' for path, value in why.values.items())}"] if why.values else []
        return [line for said in [*where, *culprit, *values, *place] for line in self._wrapped(said, " " * 9, " " * 11)]

    def properties(self) -> str:
        """How every property stands."""
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
        """Every field of the state."""
        cells = own_columns(self.exploration.model.state, self.exploration.step.state)
        names = max(map(len, cells), default=0)
        return "\n".join(
            line
            for name, cell in cells.items()
            for line in self._wrapped(cell_text(cell) or "-", f"  {name:<{names}}  ", " " * (names + 4))
        )

    def tree(self) -> str:
        """All that was visited, each state below the one that a step led from; a mark shows where one is."""
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
        """What a condition can speak of."""
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
        """What is said first."""
        starts = self.exploration.starts
        if starts == 1:
            return ""
        many = "too many to be numbered" if starts is None else f"{count(starts)}, `start N` goes to one"
        return f"There are several initial states: {many}.\n"

    def _wrapped(self, text: str, first: str, rest: str) -> list[str]:
        return textwrap.wrap(
            text,
            self.width,
            initial_indent=first,
            subsequent_indent=rest,
            break_on_hyphens=False,
            break_long_words=False,
        ) or [first.rstrip()]


def _grid(model: Model, codes: tuple[int, ...]) -> Mapping[str, str]:
    return {name: cell_text(cell) for name, cell in checked_grid(model, model.decode(codes)).items()}
