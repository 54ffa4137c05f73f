"""An exploration: a current state in a tree of visited states, with undo, and addresses by which states are found."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from insync.explorer.exploring.addresses import address_of, moves_at
from insync.explorer.exploring.conditions import read_condition
from insync.explorer.exploring.steps import (
    OfferedStep,
    Reached,
    Standing,
    WhyNot,
    WrittenGuards,
    holds_after,
    offered_steps,
    reach,
    standings,
    why_not,
    written_guards,
)
from insync.explorer.exploring.visited import Visited, VisitedState
from insync.explorer.progress import Reporter
from insync.explorer.stepping.stepper import Move, Refused, Stepper
from insync.explorer.traces.trace import EXPLORED, Trace, TraceStep, refusal_trace, trace_of, trace_step
from insync.explorer.traces.trace_file import write_trace
from insync.model import Demand, Model
from insync.model.evaluator import Codes
from insync.properties.invariants import TYPE_OK
from insync.properties.registry import judge, run_properties_of, select
from insync.runtime.errors import UserError, closest
from insync.runtime.watch import Limits

__all__ = ["FIND_LIMITS", "LONGEST_WALK", "Exploration", "TakenWalk"]


LONGEST_WALK = 10_000
FIND_LIMITS = Limits(states=5_000_000, seconds=30)


@dataclass(frozen=True, slots=True)
class TakenWalk:
    """The result of a random walk.

    Attributes:
        steps: the number of steps taken.
        ended: why the walk ended early, in words; empty if it took all steps.
    """

    steps: int
    ended: str


class Exploration:
    """A model, explored by hand: a current state, and the tree of visited states.

    Args:
        model: the model.
        watched: the names of the properties whose violation stops a random walk and names a trace; None is the
            model's default.
        start: an initial state; None is the first.

    Raises:
        UserError: an unknown property, or no initial state was found.
    """

    def __init__(self, model: Model, watched: Sequence[str] | None = None, start: Codes | None = None) -> None:
        self.model, self.stepper = model, Stepper(model)
        self.watched = [name for name in select(model, watched) if name != TYPE_OK]
        first = model.program.initials.example if start is None else start
        if first is None:
            message = f"{model.name} has too many initial states to try, and none was found soon. Require less of them."
            raise UserError(message)
        self.visited = Visited(first)

    def again(self) -> Exploration:
        """Return a new exploration at this state, with the same path to it."""
        made = Exploration(self.model, self.watched, self.moves[0][1])
        made.stepper, made.written = self.stepper, self.written
        made.follow(self.moves)
        made.visited.forget_changes()
        return made

    # --------------------------------------------------------------------------------------------- the current state

    @property
    def here(self) -> VisitedState:
        """The current state."""
        return self.visited.here

    @property
    def moves(self) -> list[Move]:
        """The path here: (None, an initial state), then the number of each action with the state after it."""
        return self.visited.moves

    @property
    def address(self) -> str:
        """The address of this state: a short text for `go_to_address`, in any exploration of the model."""
        return address_of(self.model, self.moves)

    @property
    def steps(self) -> list[OfferedStep]:
        """Every bound action with its outcome here, the enabled ones first."""
        return offered_steps(self.stepper, self.here.codes)

    @property
    def standings(self) -> list[Standing]:
        """The status of each property of states and of steps here, the watched ones first."""
        return standings(self.model, self.stepper, self.moves, self.watched)

    @property
    def not_shown(self) -> list[str]:
        """The properties of runs, which no single state or step decides."""
        return list(run_properties_of(self.model))

    @property
    def step(self) -> TraceStep:
        """The step that led here, with the readable state."""
        return trace_step(self.model, (self.here.action, self.here.codes))

    @property
    def demands(self) -> list[Demand]:
        """The events that the path here requires, in the order of the steps."""
        return self.model.demands([trace_step(self.model, move) for move in self.moves])

    @property
    def starts(self) -> int | None:
        """The number of initial states; None if unknown."""
        initials = self.model.program.initials
        return len(initials) if initials.enumerated else None

    @cached_property
    def written(self) -> WrittenGuards:
        """The guards as written in the model's source, found on first use."""
        return written_guards(self.model)

    def why_not(self, number: int) -> WhyNot:
        """Return why an action is disabled here."""
        return why_not(self.model, self.here.codes, self._action(number), self.written)

    def actions_called(self, name: str) -> list[int]:
        """Return the numbers of the bound actions that a text names.

        The text is the name of an action, with or without its parameters, or a part of a label.

        Raises:
            UserError: the text names no action.
        """
        wanted = name.strip()
        every = list(enumerate(self.stepper.actions))
        numbers = [number for number, action in every if wanted in (action.name, str(action), action.label)]
        if wanted and not numbers and wanted not in self.model.program.action_names:
            numbers = [number for number, action in every if wanted.casefold() in action.label.casefold()]
        if numbers:
            return numbers
        if wanted in self.model.program.impossible:
            message = (
                f"{wanted} is never enabled under these bounds and settings, whatever the state. Name another action, "
                "or explore with other bounds."
            )
            raise UserError(message)
        message = f"{self.model.name} has no action {wanted!r}. {closest(wanted, self.model.program.action_names)}"
        raise UserError(message)

    # ------------------------------------------------------------------------------------------------------ navigation

    def take(self, number: int) -> VisitedState:
        """Take the action with this number.

        Raises:
            UserError: there is no such action, or it is disabled or refused here; the message has the reason.
        """
        outcome = self.stepper.attempt(self.here.codes, self._action(number))
        if outcome is None:
            raise UserError(self.why_not(number).reason)
        if isinstance(outcome, Refused):
            message = f"{self.stepper.actions[number].label}: this step is refused, {TYPE_OK} fails here: {outcome}"
            raise UserError(message)
        self.visited.step([(number, outcome)])
        return self.here

    def back(self, steps: int = 1) -> int:
        """Go back by `steps` steps, at most to the initial state; return the number of steps taken back."""
        return self.visited.back(_at_least_one(steps))

    def forward(self, steps: int = 1) -> int:
        """Go forward by `steps` steps along the last visit; return how many were possible."""
        return self.visited.forward(_at_least_one(steps))

    def undo(self) -> bool:
        """Undo the last command; return whether there was one."""
        return self.visited.undo()

    def go(self, number: int) -> VisitedState:
        """Go to a visited state by its number in the tree.

        Raises:
            UserError: there is none with this number.
        """
        if not 0 <= number < len(self.visited.states):
            message = f"No state of the number {number} was visited; there are 0 to {len(self.visited.states) - 1}."
            raise UserError(message)
        self.visited.go(number)
        return self.here

    def start(self, number: int) -> VisitedState:
        """Go to an initial state by its number, from 0.

        Raises:
            UserError: there is none with this number, or there are too many to be numbered.
        """
        initials = self.model.program.initials
        if not initials.enumerated or not 0 <= number < len(initials):
            known = "they are too many to be numbered"
            if initials.enumerated:
                known = f"there are 0 to {len(initials) - 1}" if len(initials) > 1 else "there is one, 0"
            message = f"{self.model.name} has no initial state {number}; {known}."
            raise UserError(message)
        self.visited.start(initials[number])
        return self.here

    def follow(self, moves: Sequence[Move]) -> VisitedState:
        """Follow moves; the first is (None, an initial state)."""
        self.visited.start(moves[0][1])
        if len(moves) > 1:
            self.visited.step(moves[1:])
        return self.here

    def go_to_address(self, address: str) -> VisitedState:
        """Go to the state with an address.

        Raises:
            UserError: the text is no address, or belongs to another model.
        """
        return self.follow(moves_at(self.model, self.stepper, address))

    def walk(self, steps: int, seed: int = 0) -> TakenWalk:
        """Take random steps, each uniform over the enabled ones, until a watched property fails that held before.

        Args:
            steps: the most steps, from 1 to `LONGEST_WALK`.
            seed: the seed of the random numbers.

        Raises:
            UserError: `steps` is out of range.
        """
        if not 1 <= steps <= LONGEST_WALK:
            message = f"A walk of {steps} steps is not possible; take 1 to {LONGEST_WALK}."
            raise UserError(message)
        chosen = random.Random(seed)
        moves, before = self.moves[-1:], self._failing(self.moves)
        ended = ""
        while len(moves) <= steps and not ended:
            possible = list(self.stepper.outcomes(moves[-1][1]))
            refused = [outcome for _, outcome in possible if isinstance(outcome, Refused)]
            if not possible or refused:
                ended = (
                    f"{TYPE_OK} fails: {str(refused[0]).removesuffix('.')}" if refused else "no action is enabled here"
                )
                break
            number, after = chosen.choice(possible)
            assert not isinstance(after, Refused)
            moves.append((number, after))
            failing = self._failing(moves[-2:])
            ended = ", ".join(f"{name} fails" for name in failing if name not in before)
            before = failing
        if len(moves) > 1:
            self.visited.step(moves[1:])
        return TakenWalk(len(moves) - 1, ended)

    def find(
        self,
        condition: str,
        limits: Limits = FIND_LIMITS,
        stop: threading.Event | None = None,
        reporter: Reporter | None = None,
    ) -> Reached:
        """Search from here for the nearest state in which a typed condition holds, and go there if one is found.

        Args:
            condition: the condition in the language of models, such as `isr.contains(b1) and not strong_isr`.
            limits: the limits of the search.
            stop: stops the search when it is set.
            reporter: receives the progress.

        Raises:
            ConditionError: the condition cannot be read.
        """
        found = reach(self.model, self.here.codes, read_condition(self.model, condition), limits, stop, reporter)
        if found.moves:
            self.visited.step(found.moves)
        return found

    # ---------------------------------------------------------------------------------------------------- the trace

    @property
    def trace(self) -> Trace:
        """The path here as a trace of the first watched property that fails here, or of an exploration if none does."""
        failing = [one for one in self.standings if one.watched and one.holds is False]
        if failing and failing[0].name == TYPE_OK:
            return refusal_trace(self.model, self.moves)
        if failing:
            return trace_of(self.model, failing[0].name, self.moves, failing[0].failure or failing[0].reason)
        made = trace_of(self.model, EXPLORED, self.moves, "These steps were explored by hand.")
        return replace(made, reason=self._said(made.length - 1))

    def save(self, path: Path) -> Trace:
        """Write the path here to a trace file, and return the trace.

        Raises:
            UserError: the file cannot be written.
        """
        trace = self.trace
        write_trace(path, trace)
        return trace

    def _said(self, steps: int) -> str:
        watched = ", ".join(self.watched)
        held = f"; {watched} hold{'s' if len(self.watched) == 1 else ''} at the end" if watched else ""
        return f"Explored by hand, {steps} step{'s' if steps != 1 else ''}{held}."

    def _failing(self, moves: Sequence[Move]) -> list[str]:
        judged = judge(self.model, self.watched)
        return [found.name for found in judged.invariants if not holds_after(self.model, found, moves)]

    def _action(self, number: int) -> int:
        if not 0 <= number < len(self.stepper.actions):
            known = f"0 to {len(self.stepper.actions) - 1}"
            message = f"{self.model.name} has no action of the number {number}; they are {known}."
            raise UserError(message)
        return number


def _at_least_one(steps: int) -> int:
    if steps < 1:
        message = f"{steps} is not a number of steps; give a whole number of at least 1."
        raise UserError(message)
    return steps
