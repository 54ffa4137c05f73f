"""An exploration: a current state in a tree of visited states, with undo, and addresses by which states are found."""

from __future__ import annotations

import hashlib
import random
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

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
from insync.explorer.progress import Reporter
from insync.explorer.stepping.stepper import Move, Refused, Stepper
from insync.explorer.traces.trace import EXPLORED, Trace, TraceStep, refusal_trace, trace_of, trace_step
from insync.explorer.traces.trace_file import write_trace
from insync.model import Demand, Model
from insync.model.evaluator import Codes
from insync.properties.invariants import TYPE_OK, kept_for, names_within
from insync.properties.registry import judge, run_properties_of, select
from insync.runtime.errors import GuardError, UserError, closest
from insync.runtime.watch import Limits

__all__ = ["FIND_LIMITS", "LONGEST_WALK", "Exploration", "TakenWalk", "VisitedState"]


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


# The tree of visited states.


@dataclass(frozen=True, slots=True, eq=False)  # a place in a tree is equal to itself alone
class VisitedState:
    """A state in the tree.

    Attributes:
        number: its place in the order of first visits, from 0.
        before: the number of its parent; None for an initial state.
        action: the number of the action that led here from the parent.
        codes: the state.
        depth: its distance from its initial state, in steps.
    """

    number: int
    before: int | None
    action: int | None
    codes: Codes
    depth: int


class Visited:
    """The tree of visited states, with a current state and undo.

    The same step from the same node leads to the same node. A change consists of all steps of one command and is undone
    as a whole; nodes that it added are removed.

    Args:
        start: an initial state.
    """

    def __init__(self, start: Codes) -> None:
        self.states = [VisitedState(0, None, None, start, 0)]
        self._here = 0
        self._after: dict[int, dict[int, int]] = {}  # the children of a node, by the number of the action
        self._later: dict[int, int] = {}  # the child of a node that was visited last
        self._changes: list[tuple[int, int]] = []

    @property
    def here(self) -> VisitedState:
        """The current state."""
        return self.states[self._here]

    @property
    def ahead(self) -> VisitedState | None:
        """The child of the current state that was visited last, if any."""
        later = self._later.get(self._here)
        return None if later is None else self.states[later]

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""
        return bool(self._changes)

    @property
    def path(self) -> list[VisitedState]:
        """The states from an initial one to the current one."""
        return self.path_to(self._here)

    @property
    def moves(self) -> list[Move]:
        """The path as moves."""
        return [(state.action, state.codes) for state in self.path]

    def path_to(self, number: int) -> list[VisitedState]:
        """Return the states from an initial one to the one with a number."""
        path = [self.states[number]]
        while (before := path[-1].before) is not None:
            path.append(self.states[before])
        return path[::-1]

    def after(self, number: int) -> list[VisitedState]:
        """Return the children of a state, in the order of first visits."""
        return [self.states[after] for after in self._after.get(number, {}).values()]

    def step(self, moves: Sequence[Move]) -> None:
        """Take steps from here, as one change.

        Args:
            moves: the number of each action with the state after it.
        """
        self._begin_change()
        for action, codes in moves:
            assert action is not None
            after = self._after.setdefault(self._here, {})
            if action not in after:
                after[action] = len(self.states)
                self.states.append(VisitedState(after[action], self._here, action, codes, self.here.depth + 1))
            self._look_at(after[action])

    def start(self, codes: Codes) -> None:
        """Go to an initial state."""
        self._begin_change()
        known = next((state for state in self.states if state.before is None and state.codes == codes), None)
        if known is None:
            known = VisitedState(len(self.states), None, None, codes, 0)
            self.states.append(known)
        self._look_at(known.number)

    def go(self, number: int) -> None:
        """Go to a state in the tree."""
        self._begin_change()
        for state in self.path_to(number):
            self._look_at(state.number)

    def back(self, steps: int) -> int:
        """Go back by `steps` steps, at most to the initial state; return the number of steps taken back."""
        path = self.path
        possible = min(steps, len(path) - 1)
        if possible:
            self._begin_change()
            self._here = path[-1 - possible].number
        return possible

    def forward(self, steps: int) -> int:
        """Go forward by `steps` steps, each to the child that was visited last; return how many were possible."""
        ahead = [self._here]
        while len(ahead) <= steps and (later := self._later.get(ahead[-1])) is not None:
            ahead.append(later)
        if len(ahead) > 1:
            self._begin_change()
            self._here = ahead[-1]
        return len(ahead) - 1

    def undo(self) -> bool:
        """Undo the last change; return whether there was one."""
        if not self._changes:
            return False
        self._here, size = self._changes.pop()
        del self.states[size:]
        self._later = {before: after for before, after in self._later.items() if after < size}
        for after in self._after.values():
            for action in [action for action, number in after.items() if number >= size]:
                del after[action]
        return True

    def forget_changes(self) -> None:
        """Make all changes so far permanent."""
        self._changes.clear()

    def _begin_change(self) -> None:
        self._changes.append((self._here, len(self.states)))

    def _look_at(self, number: int) -> None:
        self._here = number
        before = self.here.before
        if before is not None:
            self._later[before] = number


# Addresses of states.
#
# An address has four parts, joined by dashes: a digest of the model under its bounds and settings, the initial state,
# the numbers of the actions, and a digest of the state that they lead to. By the digests an address of another model
# is refused, and one whose steps lead elsewhere since the model was changed.


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_BASE = len(_DIGITS)
_SHAPE = re.compile(r"([0-9a-f]{8})-([0-9a-z]+)-([0-9a-z]*)-([0-9a-f]{4})")
_LONGEST = 60
_HEX = "z"  # the prefix of an initial state in hexadecimal words, if there are too many to be numbered


def model_mark(model: Model) -> str:
    """Return the first part of addresses: a digest of the model under its bounds and settings."""

    def made() -> str:
        cells = [(cell.path, cell.size) for cell in model.program.schema.cells]
        actions = [str(action) for action in model.program.actions]
        return _digest((model.name, sorted(model.identity.items()), names_within(model), cells, actions))[:8]

    return kept_for(model, "mark of its addresses", made)


def address_of(model: Model, moves: Sequence[Move]) -> str:
    """Return the address of the state that moves lead to; the first is (None, an initial state)."""
    width = _width(model)
    steps = "".join(_written(number, width) for number, _ in moves[1:] if number is not None)
    return "-".join([model_mark(model), _initial(model, moves[0][1]), steps, _state_mark(model, moves[-1][1])])


def moves_at(model: Model, stepper: Stepper, address: str) -> list[Move]:
    """Return the moves that lead to the state with an address.

    Raises:
        UserError: the text is no address, or belongs to another model, or its steps are disabled or lead elsewhere.
    """
    text = address.strip()
    parts = _SHAPE.fullmatch(text)
    if parts is None:
        shown = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
        message = f"{shown!r} is not the address of a state; give one that begins with {model_mark(model)}-."
        raise UserError(message)
    if parts[1] != (mark := model_mark(model)):
        message = (
            f"The address {parts[1]}-... is of another model, or of {model.name} under other bounds or settings; those "
            f"of this one begin with {mark}-. Explore that model, or {model.name} as it was then."
        )
        raise UserError(message)
    moves = _followed(model, stepper, _first_state(model, parts[2]), _numbers(model, parts[3]))
    if _state_mark(model, moves[-1][1]) != parts[4]:
        message = (
            f"The steps of this address lead to another state of {model.name} than it was made for: the text was "
            f"changed, or the model was. Go there by its steps."
        )
        raise UserError(message)
    return moves


def _followed(model: Model, stepper: Stepper, start: Codes, numbers: Sequence[int]) -> list[Move]:
    moves: list[Move] = [(None, start)]
    for place, number in enumerate(numbers, start=1):
        label = model.program.actions[number].label
        try:
            moves.append((number, stepper.step(moves[-1][1], number)))
        except (GuardError, Refused):
            message = (
                f"Step {place} of this address, {label!r}, cannot be taken in {model.name}: the text was changed, or "
                f"the model was. Go there by its steps."
            )
            raise UserError(message) from None
    return moves


def _numbers(model: Model, text: str) -> list[int]:
    width, known = _width(model), len(model.program.actions)
    numbers = [int(text[at : at + width], _BASE) for at in range(0, len(text), width)]
    if len(text) % width or any(number >= known for number in numbers):
        message = (
            f"The steps of this address are none of {model.name}: the text is cut off or was changed. Copy it again."
        )
        raise UserError(message)
    return numbers


def _initial(model: Model, codes: Codes) -> str:
    initials = model.program.initials
    place = initials.place_of(codes) if initials.enumerated else None
    if place is not None:
        return _written(place, 1)
    return _HEX + "".join(f"{word:016x}" for word in model.program.schema.pack(codes))


def _first_state(model: Model, text: str) -> Codes:
    """Return the initial state in the second part of an address."""
    initials, schema = model.program.initials, model.program.schema
    if initials.enumerated:
        if (place := int(text, _BASE)) < len(initials):
            return initials[place]
    elif re.fullmatch(f"{_HEX}[0-9a-f]{{{16 * schema.words}}}", text):
        words = [int(text[at : at + 16], 16) for at in range(1, len(text), 16)]
        codes = schema.unpack(words)
        if codes in initials:
            return codes
    message = (
        f"This address begins in none of the initial states of {model.name}: the text is cut off or was changed. Copy "
        "it again."
    )
    raise UserError(message)


def _width(model: Model) -> int:
    """Return the number of characters for the number of an action."""
    return len(_written(max(0, len(model.program.actions) - 1), 1))


def _written(number: int, width: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, _BASE)
        text = _DIGITS[digit] + text
    return text.rjust(width, "0")


def _state_mark(model: Model, codes: Codes) -> str:
    return _digest(model.program.schema.pack(codes))[:4]


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()
