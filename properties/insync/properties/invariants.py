"""Invariants of states and of steps: conditions with a name, a sentence, and a reason where they fail.

The phrases of a reason keep what they are about, so that pictures of the last state point at it (`said`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, TypeVar
from weakref import WeakKeyDictionary

from insync.model import Condition, Model, ReadableState
from insync.model.define import DEADLOCK_FREE, TYPE_OK
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import combine
from insync.model.given_names import given_names
from insync.model.language.declarations import invariant_specs, marked_specs, place_of_function
from insync.model.tracing.predicates import StepInvariantSpec, step_condition, trace_step_predicate
from insync.runtime.errors import DomainError

if TYPE_CHECKING:
    from insync.model.evaluator import Codes

__all__ = [
    "DEADLOCK_FREE",
    "TYPE_OK",
    "TYPE_OK_SENTENCE",
    "Because",
    "Failure",
    "Invariant",
    "PairPredicate",
    "Phrase",
    "Predicate",
    "Sentence",
    "StepInvariant",
    "deadlock_free",
    "headline_of",
    "invariant_beside",
    "kept_for",
    "names_within",
    "offset_in",
    "own_invariant",
    "own_step_invariant",
    "place_of_names",
    "pointed",
    "said",
    "sentence_of",
    "step_invariant_beside",
]


M = TypeVar("M", bound=Model)
T = TypeVar("T")

Predicate = Callable[Concatenate[M, Any, ...], Condition]
"""A condition as it is written: a function of a model, its state and parameters; it must hold for all their values."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of an invariant in a state, with the condition to blame.

    Attributes:
        state: the readable state.
        bindings: the name of the member at each quantified variable where the invariant fails first, outermost first.
        conjunct: the condition to blame, in the model's words; empty if it is too long to be read.
        must_hold: whether that condition should have held; if False, it is to blame because it holds.
        fields: the value of each field that the condition reads, by the field's path.
        before: for a property of steps the readable state before the step; `state` is then the one after it.
        property: the name of the invariant.
        sentence: why it fails, a `Sentence`, from `because=` or in general terms. `because=` receives the failure
            without it.
    """

    state: ReadableState
    bindings: Mapping[str, str]
    conjunct: str
    must_hold: bool
    fields: Mapping[str, object]
    before: ReadableState | None = None
    property: str = ""
    sentence: str = ""


Because = Callable[[Failure], str]
"""Returns a sentence on why an invariant fails, for readers who know the protocol and not the model.

Pictures point at what `said` names in it; in another text at the values of the bindings and at the paths of the fields.
"""


@dataclass(frozen=True, slots=True)
class Invariant:
    """A condition that must hold in every reachable state. A lemma is one too: it makes others provable.

    Attributes:
        name: the name on the command line.
        sentence: its meaning in words.
        node: returns its node in a model's graph.
        because: returns a sentence on why it fails; None for the generic sentence.
        place: its `file:line`; empty for an invariant that every model has.
    """

    name: str
    sentence: str
    node: Callable[[Model], Node]
    because: Because | None = None
    place: str = ""

    def as_written(self, model: Model) -> Node:
        """Return the node of the condition as its author wrote it."""
        return self.node(model)

    def of(self, model: Model) -> Invariant:
        """Return the invariant for one model, which is traced; a refinement depends on the initial states."""
        return self


_KEPT: WeakKeyDictionary[Model, dict[object, Any]] = WeakKeyDictionary()
"""The traced properties of each model: at large bounds tracing takes a second."""


def kept_for(model: Model, name: object, make: Callable[[], T]) -> T:
    """Return the value that is kept for a model under a name; the first call makes it."""
    known = _KEPT.setdefault(model, {})
    if name not in known:
        known[name] = make()
    found: T = known[name]
    return found


def _traced(model: Model, written: object, predicate: Callable[..., Condition], parameters: Mapping[str, type]) -> Node:
    """Return the node of a condition in a model's graph."""
    return kept_for(model, written, lambda: model.trace_predicate(predicate, parameters))


def invariant_beside(
    kind: type[M], predicate: Predicate[M], parameters: Mapping[str, type], because: Because | None
) -> Invariant:
    """Return the invariant of a function beside the model's class, under the function's name.

    Args:
        kind: the model class.
        predicate: a function of model, state and parameters.
        parameters: the type of each parameter: it must hold for all their values.
        because: returns a sentence on why it fails; None for the generic sentence.
    """

    def node(model: Model) -> Node:
        assert isinstance(model, kind), f"{predicate.__name__} is declared of {kind.__name__}, not of {model.name}"
        return _traced(model, predicate, MethodType(predicate, model), parameters)

    return Invariant(predicate.__name__, sentence_of(predicate), node, because, place_of_function(predicate))


def own_invariant(kind: type[Model], name: str) -> Invariant:
    """Return the invariant of a marked method of the model."""
    written = getattr(kind, name)
    parameters = invariant_specs(kind)[name].parameters
    return Invariant(
        name,
        sentence_of(written),
        lambda model: _traced(model, written, getattr(model, name), parameters),
        place=place_of_function(written),
    )


def sentence_of(function: Callable[..., object]) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


# ------------------------------------------------------------------------------------------------------ step invariants
#
# A step invariant is a condition on the states before and after a step, which every step that changes the state must
# meet. As a condition on one state it is that no step from there breaks it, so engines that check conditions on states
# check it as well. The condition on two states is the definition: the evaluator confirms violations by it.


PairPredicate = Callable[Concatenate[M, Any, Any, ...], Condition]
"""A condition on a step as it is written: a function of a model, the states before and after, and parameters."""


@dataclass(frozen=True, slots=True)
class StepInvariant(Invariant):
    """A condition that every step from a reachable state must meet, if it changes the state.

    Attributes:
        pair: the condition on two states, in a graph of its own; see `insync.model.tracing.predicates`.
        by_action: for each bound action of a model the condition on the state before that its step meets `pair`.
        is_refinement: whether it is the claim that the model refines another one.
    """

    is_refinement: ClassVar[bool] = False
    pair: Callable[[Model], Node] = field(kw_only=True)
    by_action: Callable[[Model], tuple[Node, ...]] = field(kw_only=True)

    def as_written(self, model: Model) -> Node:
        return self.pair(model)

    def met(self, model: Model, before: Codes, after: Codes) -> bool:
        """Return whether a step from one state to another meets the condition."""
        from insync.model.evaluator import evaluate  # what lists or traces properties evaluates nothing

        return before == after or bool(evaluate(self.pair(model), (*before, *after)))

    def bad_step(self, model: Model, codes: Sequence[int]) -> tuple[int, Codes] | None:
        """Return the least action whose step from a state breaks the condition, and the state after; None if none does.

        The evaluator takes the step of every enabled action.
        """
        from insync.model.evaluator import Evaluator

        evaluator, before = Evaluator(model.program), tuple(codes)
        for number in evaluator.enabled(before):
            try:
                after = evaluator.step(number, before)
            except DomainError:  # not a step, but a violation of type_ok
                continue
            if not self.met(model, before, after):
                return number, after
        return None


def step_invariant_beside(
    kind: type[M], predicate: PairPredicate[M], parameters: Mapping[str, type], because: Because | None
) -> StepInvariant:
    """Return the step invariant of a function beside the model's class, under the function's name.

    Args:
        kind: the model class.
        predicate: a function of model, state before, state after and parameters.
        parameters: the type of each parameter: it must hold for all their values.
        because: returns a sentence on why a step breaks it; None for the generic sentence.
    """

    def bound(model: Model) -> Callable[..., Condition]:
        assert isinstance(model, kind), f"{predicate.__name__} is declared of {kind.__name__}, not of {model.name}"
        return MethodType(predicate, model)

    return _made(predicate.__name__, predicate, bound, parameters, because)


def own_step_invariant(kind: type[Model], name: str) -> StepInvariant:
    """Return the step invariant of a marked method of the model."""
    parameters = marked_specs(kind, StepInvariantSpec)[name].parameters
    return _made(name, getattr(kind, name), lambda model: getattr(model, name), parameters, None)


def _made(
    name: str,
    function: Callable[..., object],
    bound: Callable[[Model], Callable[..., Condition]],
    parameters: Mapping[str, type],
    because: Because | None,
) -> StepInvariant:
    def pair(model: Model) -> Node:
        return kept_for(model, (function, "pair"), lambda: trace_step_predicate(model, bound(model), parameters))

    def by_action(model: Model) -> tuple[Node, ...]:
        def made() -> tuple[Node, ...]:
            return tuple(step_condition(model.program, pair(model), action) for action in model.program.actions)

        return kept_for(model, (function, "by action"), made)

    def node(model: Model) -> Node:
        return combine(model.program.graph, Op.AND, list(by_action(model)))

    place = place_of_function(function)
    return StepInvariant(name, sentence_of(function), node, because, place, pair=pair, by_action=by_action)


# -------------------------------------------------------------------------------------------- properties of every model


TYPE_OK_SENTENCE = "Every step assigns values that their fields can hold, at places that their arrays have."


def _some_action_is_enabled(model: Model) -> Node:
    def made() -> Node:
        graph = model.program.graph
        guards = [combine(graph, Op.AND, list(action.guard)) for action in model.program.actions]
        return combine(graph, Op.OR, [model.program.outside, *guards])

    return kept_for(model, DEADLOCK_FREE, made)


deadlock_free = Invariant(
    DEADLOCK_FREE,
    "Some action is enabled. Bounds stop most models at some point, so look at where they stop.",
    _some_action_is_enabled,
    lambda _: "No action is enabled in this state: nothing happens any more.",
)


# -------------------------------------------------------------------------------- properties that a model's class names


def headline_of(model: Model) -> tuple[str, ...] | None:
    """Return the model's headline, the properties that are checked when none is named; None if it has no headline."""
    return None if model.headline is None else tuple(model.headline)


def names_within(model: Model, given: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the names of the invariants that a model is confined to, each once.

    Args:
        model: the model.
        given: the names that the user gives; None is the model's confinement, or the attribute `within` of its class.

    Raises:
        UserError: `given` is not a list of names.
    """
    if given is not None:
        return tuple(dict.fromkeys(given_names("within", given)))
    if model._confinement is not None:
        return model._confinement.names
    return tuple(dict.fromkeys(model.within))


def place_of_names(kind: type[Model], attribute: str) -> str:
    """Return file, line and name of the class that sets an attribute, with a colon and a space."""
    base = next(base for base in kind.__mro__ if attribute in vars(base))
    try:
        _, line = inspect.getsourcelines(base)
        place = f"{inspect.getsourcefile(base)}:{line}: "
    except (OSError, TypeError):  # a class that is defined in a console has no source
        place = ""
    return f"{place}class {base.__name__}: "


# ----------------------------------------------------------------------------------------------------------- sentences


@dataclass(frozen=True, slots=True)
class Phrase:
    """A piece of a sentence.

    Attributes:
        text: the text.
        about: the names of the members and records, and the paths of the fields, that it is about; often none.
        offset: the place in the logs of these members; None if it is about all of each.
    """

    text: str
    about: tuple[str, ...] = ()
    offset: int | None = None


class Sentence(str):
    """A text that keeps its phrases. Whatever makes another text of it, such as an f-string, gives a plain `str`."""

    phrases: tuple[Phrase, ...]

    def __new__(cls, phrases: Iterable[Phrase]) -> Sentence:
        parts = tuple(phrase for phrase in phrases if phrase.text)
        made = super().__new__(cls, "".join(phrase.text for phrase in parts))
        made.phrases = parts
        return made

    def __getnewargs__(self) -> tuple[tuple[Phrase, ...]]:  # type: ignore[override]  # for copies and pickles
        return (self.phrases,)


def said(template: str, /, **parts: object) -> Sentence:
    """Return a sentence with a value for each name in braces: `said("{broker} has no record", broker="b1")`.

    Pictures of the last state point at what a `str` names: a member, a record, or a field by its path. A list of names
    stands with commas between them, a `Sentence` keeps what it is about, and any other value is text. A brace that is
    written twice stands for itself, as in `str.format`.
    """
    return Sentence(_filled(template, parts))


def _filled(template: str, parts: Mapping[str, object]) -> Iterator[Phrase]:
    for piece in re.split(r"(\{\{|\}\}|\{\w+\})", template):
        if not piece.startswith("{") or piece == "{{":
            yield Phrase(piece[:1] if piece in ("{{", "}}") else piece)
            continue
        value = parts[piece[1:-1]]
        for at, one in enumerate(value if isinstance(value, list | tuple) else [value]):
            yield Phrase(", " if at else "")
            yield from one.phrases if isinstance(one, Sentence) else [Phrase(str(one), _named(one))]


def _named(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else ()


def offset_in(offset: int, *logs: str) -> Sentence:
    """Return the phrase "offset 0", which is about this place in the logs of these members."""
    return Sentence([Phrase(f"offset {offset}", logs, offset)])


def pointed(text: str, names: Iterable[str]) -> Sentence:
    """Return a text as a sentence that is about each of these names wherever it stands in the text."""
    longest = sorted((re.escape(name) for name in names if name.strip() and not name.isdigit()), key=len, reverse=True)
    if not longest:
        return Sentence([Phrase(text)])
    pieces = re.split(rf"(?<![\w.@])({'|'.join(longest)})(?![\w@])", text)
    return Sentence(Phrase(piece, (piece,) if at % 2 else ()) for at, piece in enumerate(pieces))
