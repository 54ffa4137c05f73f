"""Hypothesis strategies for states: those that random walks reach, and all that the domains allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from hypothesis import strategies as st

from insync.explorer.stepping.stepper import Refused, Stepper
from insync.explorer.task import ModelLike, model_of
from insync.model import Model, ReadableState
from insync.model.domains.composite import (
    DOMAINS,
    SCALARS,
    Absent,
    Array,
    Bag,
    BitSet,
    Domain,
    ListedSet,
    Option,
    Record,
    Scalar,
    Seq,
    State,
)
from insync.model.evaluator import Codes
from insync.properties.registry import confined
from insync.runtime.errors import UserError

__all__ = ["initial_states", "reachable_states", "typed_states"]


def reachable_states(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    max_steps: int = 50,
    within: Sequence[str] | None = None,
) -> st.SearchStrategy[ReadableState]:
    """Return a strategy for readable states that a random walk from an initial state reaches.

    It shrinks to short walks. A walk ends early if no action is enabled.

    Args:
        model: a model class or instance, or a model's name.
        bounds: its bounds; those left out have their defaults.
        max_steps: the longest walk, in steps.
        within: names of invariants; a walk ends in a state in which one fails. None is the default of the class.

    Raises:
        UserError: an unknown model, bound or invariant, or max_steps below 0.
    """
    if isinstance(max_steps, bool) or not isinstance(max_steps, int):
        message = f"max_steps={max_steps!r} must be a whole number; a walk of 0 steps is the initial state."
        raise UserError(message)
    if max_steps < 0:
        message = f"max_steps={max_steps} must be at least 0; a walk of 0 steps is the initial state."
        raise UserError(message)
    stepper = Stepper(confined(model_of(model, bounds), within))
    return _walks(stepper, max_steps).map(stepper.model.decode)


def initial_states(model: Model) -> st.SearchStrategy[Codes]:
    """Return a strategy for the codes of an initial state; it shrinks to the first."""
    initials = model.program.initials
    return st.integers(0, len(initials) - 1).map(initials.__getitem__)


@st.composite
def _walks(draw: st.DrawFn, stepper: Stepper, max_steps: int) -> Codes:
    codes = draw(initial_states(stepper.model))
    total = len(stepper.actions)
    for _ in range(draw(st.integers(0, max_steps))):
        following = {number: after for number, after in stepper.outcomes(codes) if not isinstance(after, Refused)}
        if not following:
            break
        # The number of an action, not an index among the enabled ones: Hypothesis shrinks by leaving out earlier
        # steps, and the number keeps its meaning then.
        wanted = draw(st.integers(0, total - 1))
        codes = following[min(following, key=lambda number: (number - wanted) % total)]
    return codes


def typed_states(
    model: ModelLike, *, bounds: Mapping[str, int | str] | None = None
) -> st.SearchStrategy[ReadableState]:
    """Return a strategy for readable states that the model's domains allow, reachable or not.

    Args:
        model: a model class or instance, or a model's name.
        bounds: its bounds; those left out have their defaults.

    Raises:
        UserError: an unknown model or bound.
    """
    return _values(model_of(model, bounds).state)


def _values(domain: Domain) -> st.SearchStrategy[Any]:
    return _STRATEGIES[type(domain)](domain)


def _record(domain: Record) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({name: _values(field) for name, field in domain.present.items()})


def _array(domain: Array) -> st.SearchStrategy[Any]:
    elements = st.tuples(*[_values(domain.of)] * len(domain.labels))
    return elements.map(list if isinstance(domain.over, int) else partial(_labelled, domain.labels))


def _scalar(domain: Scalar) -> st.SearchStrategy[Any]:
    return st.integers(0, domain.size - 1).map(domain.readable)


def _listed(domain: Seq | Bag | ListedSet) -> st.SearchStrategy[Any]:
    return st.lists(_values(domain.of), max_size=domain.most).map(domain.canonical)


def _bits(domain: BitSet) -> st.SearchStrategy[Any]:
    numbers = st.sets(st.integers(0, domain.width - 1))
    return numbers.map(lambda chosen: [domain.of.decode(domain.members[number], 0) for number in sorted(chosen)])


_STRATEGIES: dict[type[Domain], Callable[[Any], st.SearchStrategy[Any]]] = {
    **dict.fromkeys(SCALARS, _scalar),
    Option: lambda domain: st.none() | _values(domain.of),
    Record: _record,
    State: _record,
    Array: _array,
    Seq: _listed,
    Bag: _listed,
    ListedSet: _listed,
    BitSet: _bits,
}
assert set(_STRATEGIES) == DOMAINS - {Absent}, "an absent field is not in a readable state"


def _labelled(labels: list[str], values: tuple[object, ...]) -> dict[str, object]:
    return dict(zip(labels, values, strict=True))
