"""The steps of a model by the evaluator, walks of such steps, and claims about states.

All steps in plain Python are taken here: those of searches, of replayed and shortened traces, and of users' tests. What
another engine found is confirmed here, step by step.
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
from insync.model.evaluator import Codes, Evaluator, evaluate
from insync.model.expressions.graph import Node
from insync.model.given_names import given_list
from insync.properties.explain import explain
from insync.properties.invariants import Failure, Invariant, StepInvariant, sentence_of
from insync.properties.registry import default_names, judge
from insync.runtime.errors import DomainError, GuardError, InternalError, UserError

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
    "require_steps",
]


Move = tuple[int | None, Codes]
"""The number of an action (None for the start) and the state after it."""

ParameterValue = str | bool | int
"""A readable parameter: a member's label, a number, an enumeration's name, true or false."""

_REMEMBERED = 20_000

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def readable_parameter(value: Parameter) -> ParameterValue:
    """Return the readable value of a parameter; truth values and numbers stay as they are."""
    if isinstance(value, Enum):
        return value.name
    return str(value) if isinstance(value, Index) else value


class Refused(Exception):
    """An enabled step that would assign a value outside a field's domain: a violation of type_ok.

    Attributes:
        number: of the bound action.
        message: the field and the value, in words.
    """

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number, self.message = number, message


class Stepper:
    """The states and steps of a model, cached, so that many walks share them.

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
        """Return the readable parameters of the bound action with this number."""
        return self._values[number]

    def enabled(self, codes: Codes) -> Mapping[str, list[int]]:
        """Return the numbers of the enabled bound actions, in order, by the action's name."""
        return remembered(self._enabled, codes, lambda: self._by_name(codes))

    def attempt(self, codes: Codes, number: int) -> Codes | Refused | None:
        """Return the state after an action, or the refusal of the step; None if the action is not enabled."""
        return remembered(self._outcomes, (codes, number), lambda: self._outcome(codes, number))

    def outcomes(self, codes: Codes) -> Iterator[tuple[int, Codes | Refused]]:
        """Yield the number of each enabled action, in order, with the state after it or the refusal of the step."""
        for number in sorted(number for numbers in self.enabled(codes).values() for number in numbers):
            outcome = self.attempt(codes, number)
            assert outcome is not None
            yield number, outcome

    def step(self, codes: Codes, number: int) -> Codes:
        """Return the state after an action.

        Raises:
            GuardError: the action is not enabled.
            Refused: the step would assign a value outside a field's domain.
        """
        outcome = self.attempt(codes, number)
        if outcome is None:
            message = f"{self.actions[number]} is not enabled in this state."
            raise GuardError(message)
        if isinstance(outcome, Refused):
            raise Refused(outcome.number, outcome.message)
        return outcome

    def holds(self, claim: Claim, codes: Codes) -> bool:
        """Return whether a claim holds in a state; answers are cached by the claim's name, which must be unique."""
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


def require_steps(model: Model, enabled: bool) -> None:
    """Raise UserError unless an action is enabled in an initial state of a model."""
    if not enabled:
        where = "the initial state" if len(model.program.initials) == 1 else "any initial state"
        message = (
            f"{model.name}: no action is enabled in {where} under {model.identity}, so there is nothing to "
            f"run. Look at the guards of its actions, or choose larger bounds."
        )
        raise UserError(message)


def remembered(memory: OrderedDict[K, T], key: K, find: Callable[[], T]) -> T:
    """Return the cached value of a key, or find and cache it; the oldest of `_REMEMBERED` values is dropped."""
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
        stepper: the steps of the model.
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
            GuardError: the action is not enabled here.
        """
        for number in self.enabled.get(action, ()):
            if self.stepper.values(number) == parameters:
                return number
        given = ", ".join(f"{name}={value}" for name, value in parameters.items())
        message = f"{action}({given}) is not enabled after {len(self.moves) - 1} steps of this walk."
        raise GuardError(message)

    def step(self, number: int) -> None:
        """Take an action; if that raises, the walk stays in its state.

        Raises:
            GuardError: the action is not enabled.
            Refused: the step would assign a value outside a field's domain.
        """
        self.codes = self.stepper.step(self.codes, number)
        self.moves.append((number, self.codes))


def moves_through(
    model: Model,
    states: Sequence[Codes],
    representative: Callable[[Codes], Codes] = lambda codes: codes,
    start: Codes | None = None,
) -> list[Move]:
    """Return the moves through states that an engine found, each by the least bound action that leads on.

    Args:
        model: the searched model.
        states: the states, an initial one first.
        representative: returns the representative of a state; if `states` are representatives, the moves lead through
            states of their orbits.
        start: the first state, if the search did not begin in an initial one.

    Raises:
        InternalError: the first state is not an initial one, or not `start`, or the evaluator has no such step.
    """
    stepper = Stepper(model)
    _require_first(model, states[0], start)
    walk = Walk(stepper, states[0])
    for before, after in pairwise(states):
        outcomes = stepper.outcomes(walk.codes)
        leading = (n for n, next_ in outcomes if not isinstance(next_, Refused) and representative(next_) == after)
        number = next(leading, None)
        if number is None:
            message = f"The machine code steps from {before} to {after}; the evaluator has no such step."
            raise InternalError(message)
        walk.step(number)
    return walk.moves


def confirmed(model: Model, moves: Sequence[Move]) -> list[Move]:
    """Return moves that an engine found, after the evaluator has taken each of them.

    Args:
        model: the searched model.
        moves: the moves, (None, an initial state) first.

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


# ------------------------------------------------------------------------------------------------------------- claims
#
# A claim is a property of the model, by its name, or a plain Python function of the readable state. Only the evaluator
# checks functions.


ReadableProperty = Callable[[ReadableState], bool]
"""A property in plain Python: whether a readable state is as it must be. Its docstring is its sentence."""

PropertyLike = str | ReadableProperty
"""A property of the model by its name, or a function of the readable state."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that must hold in every reachable state of one model.

    Attributes:
        model: the model.
        name: of the property or function.
        sentence: the claim in words.
        symbolic: the invariant and its condition; None for a function.
        readable: the function; None for a property.
    """

    model: Model
    name: str
    sentence: str
    symbolic: tuple[Invariant, Node] | None
    readable: ReadableProperty | None

    @property
    def of_steps(self) -> StepInvariant | None:
        """The step invariant of the claim, which is then about the steps of a state; None for other claims."""
        found = None if self.symbolic is None else self.symbolic[0]
        return found if isinstance(found, StepInvariant) else None

    def holds(self, codes: tuple[int, ...]) -> bool:
        """Return whether the claim holds in the state with these codes.

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

    def reason(self, codes: tuple[int, ...]) -> str | Failure:
        """Return why the claim fails in the state with these codes."""
        if self.symbolic is not None:
            return explain(self.model, self.symbolic[0], codes) or ""
        said = f": {self.sentence}" if self.sentence else "; its docstring would say here what it means."
        return f"{self.name} is false in the last state{said}"


def claims_of(model: Model, properties: Sequence[PropertyLike] | None = None) -> list[Claim]:
    """Return the claims of properties, in the order given; None is `default_names`.

    type_ok is left out, as it is about steps, and all code that takes steps checks it.

    Raises:
        UserError: an unknown name, an argument that is neither name nor function, or two properties with one name.
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
    """Return the names of properties that `claims_of` has accepted, type_ok included."""
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
