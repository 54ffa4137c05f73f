"""Stepping through a model with the evaluator: what is enabled, where a step leads, and the moves of a walk.

Whatever takes steps in plain Python takes them here: searches, replayed and shortened traces, tests of users.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from insync.model import Model, ReadableState
from insync.model.domains.sorts import Index, Parameter
from insync.model.errors import DomainError, GuardError, InternalError, UserError
from insync.model.evaluator import Codes, Evaluator, evaluate
from insync.model.expressions.graph import Node
from insync.model.given_names import given_list
from insync.properties.explain import explain
from insync.properties.invariants import Invariant, StepInvariant, sentence_of
from insync.properties.registry import default_names, judge

__all__ = [
    "Claim",
    "Move",
    "ParameterValue",
    "PropertyLike",
    "Refused",
    "Stepper",
    "Walk",
    "asked_names",
    "claims_of",
    "confirmed",
    "moves_through",
    "remembered",
]


Move = tuple[int | None, Codes]
"""The number of an action (None for the start) and the state after it."""

ParameterValue = str | bool | int
"""A parameter as a reader of traces knows it: a member's label, a number, an enumeration's name, true or false."""

_REMEMBERED = 20_000

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def readable_parameter(value: Parameter) -> ParameterValue:
    """Return what a parameter's value is called; truth values and numbers stay what they are."""
    if isinstance(value, Enum):
        return value.name
    return str(value) if isinstance(value, Index) else value


class Refused(Exception):
    """A step that is enabled and would assign what its field cannot hold: the failure of type_ok.

    Attributes:
        number: of the action.
        message: what it would assign.
    """

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number, self.message = number, message


class Stepper:
    """The states and steps of a model, remembered, so that many walks share them.

    Args:
        model: the model.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.actions = model.program.actions
        self._evaluator = Evaluator(model.program)
        self._enabled: OrderedDict[Codes, Mapping[str, list[int]]] = OrderedDict()
        self._outcomes: OrderedDict[tuple[Codes, int], Codes | Refused | None] = OrderedDict()
        self._holds: OrderedDict[tuple[str, Codes], bool] = OrderedDict()

    @cached_property
    def _values(self) -> list[Mapping[str, ParameterValue]]:
        return [{name: readable_parameter(value) for name, value in action.parameters} for action in self.actions]

    def values(self, number: int) -> Mapping[str, ParameterValue]:
        """Return the parameters of the action with this number."""
        return self._values[number]

    def enabled(self, codes: Codes) -> Mapping[str, list[int]]:
        """Return the numbers of the enabled actions by name, in order."""
        return remembered(self._enabled, codes, lambda: self._by_name(codes))

    def attempt(self, codes: Codes, number: int) -> Codes | Refused | None:
        """Return the state after an action, or what refuses the step; None where the action is not enabled."""
        return remembered(self._outcomes, (codes, number), lambda: self._outcome(codes, number))

    def outcomes(self, codes: Codes) -> Iterator[tuple[int, Codes | Refused]]:
        """Yield the number of each enabled action with the state after it, or with what refuses the step, in order."""
        for number in sorted(number for numbers in self.enabled(codes).values() for number in numbers):
            outcome = self.attempt(codes, number)
            assert outcome is not None
            yield number, outcome

    def step(self, codes: Codes, number: int) -> Codes:
        """Return the state after an action.

        Raises:
            GuardError: the action is not enabled.
            Refused: the step assigns what its field cannot hold.
        """
        outcome = self.attempt(codes, number)
        if outcome is None:
            message = f"{self.actions[number]} is not enabled in this state."
            raise GuardError(message)
        if isinstance(outcome, Refused):
            raise Refused(outcome.number, outcome.message)
        return outcome

    def holds(self, claim: Claim, codes: Codes) -> bool:
        """Return whether a claim, which no other has the name of, holds in a state; it is asked once per state."""
        return remembered(self._holds, (claim.name, codes), lambda: claim.holds(codes))

    def _by_name(self, codes: Codes) -> Mapping[str, list[int]]:
        return self._named(self._evaluator.enabled(codes))

    def _named(self, numbers: Iterable[int]) -> Mapping[str, list[int]]:
        names: dict[str, list[int]] = {}
        for number in numbers:
            names.setdefault(self.actions[number].name, []).append(number)
        return names

    def _outcome(self, codes: Codes, number: int) -> Codes | Refused | None:
        try:
            return self._evaluator.step(number, codes)
        except GuardError:
            return None
        except DomainError as error:
            return Refused(number, str(error.args[0]))


def remembered(memory: OrderedDict[K, T], key: K, find: Callable[[], T]) -> T:
    """Return what is remembered under a key, found anew if need be; the oldest is forgotten."""
    try:
        return memory[key]
    except KeyError:
        found = memory[key] = find()
    if len(memory) > _REMEMBERED:
        memory.popitem(last=False)
    return found


class Walk:
    """A sequence of steps from an initial state.

    Args:
        stepper: the model's states.
        start: the initial state; None is the first.

    Attributes:
        codes: the state that the walk is in.
        moves: the numbers of the actions so far and the state after each; the first is (None, initial state).
    """

    def __init__(self, stepper: Stepper, start: Codes | None = None) -> None:
        self.stepper = stepper
        self.codes: Codes = stepper.model.program.initials[0] if start is None else start
        self.moves: list[Move] = [(None, self.codes)]

    @property
    def enabled(self) -> Mapping[str, list[int]]:
        """The numbers of the actions that are enabled here, by name."""
        return self.stepper.enabled(self.codes)

    @property
    def taken(self) -> list[int]:
        """The numbers of the actions so far."""
        return [number for number, _ in self.moves if number is not None]

    def number_of(self, action: str, parameters: Mapping[str, ParameterValue]) -> int:
        """Return the number of the enabled action with these parameters.

        Raises:
            GuardError: it is not enabled here.
        """
        for number in self.enabled.get(action, ()):
            if self.stepper.values(number) == parameters:
                return number
        given = ", ".join(f"{name}={value}" for name, value in parameters.items())
        message = f"{action}({given}) is not enabled after {len(self.moves) - 1} steps of this walk."
        raise GuardError(message)

    def step(self, number: int) -> None:
        """Take an action; a step that cannot be taken leaves the walk where it is.

        Raises:
            GuardError: the action is not enabled.
            Refused: the step assigns what its field cannot hold.
        """
        self.codes = self.stepper.step(self.codes, number)
        self.moves.append((number, self.codes))


def moves_through(
    model: Model,
    states: Sequence[Codes],
    representative: Callable[[Codes], Codes] = lambda codes: codes,
    start: Codes | None = None,
) -> list[Move]:
    """Return the moves through states that an engine found: of several actions that lead on, the one of least number.

    Args:
        model: the model that was searched.
        states: an initial state first.
        representative: gives the state that stands for a state; the moves lead through states that the given ones
            stand for.
        start: the state that comes first, where the search began in another one than an initial state.

    Raises:
        InternalError: the first is not an initial state, or not `start`, or the evaluator has no such step.
    """
    stepper = Stepper(model)
    _require_first(model, states[0], start)
    walk = Walk(stepper, states[0])
    for before, after in pairwise(states):
        outcomes = stepper.outcomes(walk.codes)
        leading = (n for n, next_ in outcomes if not isinstance(next_, Refused) and representative(next_) == after)
        number = next(leading, None)
        if number is None:
            message = f"The machine code steps from {before} to {after}; the evaluator knows no such step."
            raise InternalError(message)
        walk.step(number)
    return walk.moves


def confirmed(model: Model, moves: Sequence[Move]) -> list[Move]:
    """Return moves that an engine found, having taken each of them.

    Args:
        model: the model that was searched.
        moves: (None, an initial state) first.

    Raises:
        InternalError: the first state is not an initial one, or the evaluator's step leads elsewhere.
    """
    evaluator = Evaluator(model.program)
    _require_first(model, moves[0][1])
    for (_, before), (number, after) in pairwise(moves):
        if number is None or not evaluator.leads(before, number, after):
            action = "no action" if number is None else model.program.actions[number]
            message = f"The machine code takes {action} from {before} to {after}; the evaluator takes no such step."
            raise InternalError(message)
    return list(moves)


def _require_first(model: Model, codes: Codes, start: Codes | None = None) -> None:
    if tuple(codes) != start and (start is not None or tuple(codes) not in model.program.initials):
        what = "an initial state" if start is None else "where the search began"
        message = f"The search traced a state back to {codes}, which is not {what}."
        raise InternalError(message)


# What is to be examined: a model under bounds, and the claims that are made about its states.
#
# A claim is a property of the model by its name, or a plain Python function of the readable state. The evaluator
# checks both; machine code and z3 know the first kind alone.


ReadableProperty = Callable[[ReadableState], bool]
"""A property in plain Python: whether a readable state is as it must be. Its docstring says what it means."""

PropertyLike = str | ReadableProperty
"""A property of the model by its name, or a readable one."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that must hold in every reachable state of one model.

    Attributes:
        model: the model.
        name: the property's name, or the function's.
        sentence: what it means.
        symbolic: the invariant and its condition; None for a plain function.
        readable: the function; None for a property.
    """

    model: Model
    name: str
    sentence: str
    symbolic: tuple[Invariant, Node] | None
    readable: ReadableProperty | None

    @property
    def of_steps(self) -> StepInvariant | None:
        """The invariant of steps that it is, if it is one; of a state it then claims something about its steps."""
        found = None if self.symbolic is None else self.symbolic[0]
        return found if isinstance(found, StepInvariant) else None

    def holds(self, codes: tuple[int, ...]) -> bool:
        """Return whether it holds in the state with these codes.

        Raises:
            UserError: the function returns something else than true or false.
        """
        if self.of_steps is not None:
            return self.of_steps.bad_step(self.model, codes) is None
        if self.symbolic is not None:
            return bool(evaluate(self.symbolic[1], codes))
        assert self.readable is not None
        answer: object = self.readable(self.model.decode(codes))
        if not isinstance(answer, bool):
            message = (
                f"The property {self.name} returns {answer!r} ({type(answer).__name__}); a function of the readable "
                f"state returns True where the state is as it must be, and False where it is not."
            )
            raise UserError(message)
        return answer

    def reason(self, codes: tuple[int, ...]) -> str:
        """Say why it does not hold in the state with these codes."""
        if self.symbolic is not None:
            return explain(self.model, self.symbolic[0], codes) or ""
        said = f": {self.sentence}" if self.sentence else "; its docstring would say here what it means."
        return f"{self.name} is false in the last state{said}"


def claims_of(model: Model, properties: Sequence[PropertyLike] | None = None) -> list[Claim]:
    """Return what is claimed of a model by properties, in the order given; None names `default_names`.

    type_ok is left out: it is about steps, and everything that takes steps checks it.

    Raises:
        UserError: an unknown name, something that is neither name nor function, or two of one name.
    """
    wanted = default_names(model) if properties is None else given_list("properties", properties)
    claims = [claim for given in wanted for claim in _claims(model, given)]
    unique: dict[str, Claim] = {}
    for claim in claims:
        other = unique.setdefault(claim.name, claim)
        if other.readable is not claim.readable:
            message = f"{model.name}: two different properties are named {claim.name!r}; rename one."
            raise UserError(message)
    return list(unique.values())


def asked_names(model: Model, properties: Sequence[PropertyLike] | None) -> list[str]:
    """Return the name of each property that is asked for, type_ok as well; `claims_of` has accepted them."""
    wanted = default_names(model) if properties is None else properties
    return [given if isinstance(given, str) else getattr(given, "__name__", "<lambda>") for given in wanted]


def _claims(model: Model, given: object) -> list[Claim]:
    if isinstance(given, str):
        judged = judge(model, [given])
        pairs = zip(judged.invariants, judged.nodes, strict=True)
        return [Claim(model, found.name, found.sentence, (found, node), None) for found, node in pairs]
    if not callable(given):
        message = (
            f"{model.name}: {given!r} is not a property; give the name of one, or a function of the readable state."
        )
        raise UserError(message)
    name = getattr(given, "__name__", "<lambda>")
    if not name.isidentifier():
        message = (
            f"{model.name}: the property {given!r} has no name to be reported by; write it with `def name(state)`."
        )
        raise UserError(message)
    return [Claim(model, name, sentence_of(given), None, given)]
