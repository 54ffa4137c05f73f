"""Which steps need not be asked about, as other members take the same ones.

Two members of a sort are swapped in a state. If the conditions hold in the swapped state wherever they hold, and an
action does there what another one did, only swapped, then it keeps the conditions if the other does. The sort need not
be declared symmetric, and an action that tells members apart is asked about for each of them. Forms are compared first;
z3 is asked about what they do not show. `unbounded.likeness` does the same where bounds are open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from insync.model import Model
from insync.model.errors import ModelError
from insync.model.graph import Node
from insync.model.presence import Presence
from insync.model.program import BoundAction
from insync.model.renaming import NormalForms
from insync.model.sorts import Index, Parameter, Subset
from insync.model.symmetry import Kind, Permutation, Symmetry, permuted_value, symmetry_of
from insync.proofs.equivariance import PermutedParts

__all__ = ["spared_steps"]

_SECONDS = 1.0
"""For z3 to show of one condition that it holds where members are swapped."""


def spared_steps(
    model: Model,
    good: Sequence[Node],
    numbers: Sequence[int],
    of_step: Callable[[int], Sequence[Node]],
    shows: Callable[[Node], bool],
) -> frozenset[int]:
    """Return which of some bound actions need not be asked about: of those alike, all but the first.

    Args:
        model: the model.
        good: the conditions, on states.
        numbers: those of the bound actions.
        of_step: what is asked besides of the bound action with a number, as conditions on the state before.
        shows: whether a condition holds in all good states.
    """
    actions = model.program.actions
    by_parameters = {(actions[number].name, actions[number].parameters): number for number in numbers}
    classes, left = _Classes(numbers), []
    for swap in (swap for sort in _sorts(model.program.actions) for swap in _swaps_of(model, sort, good)):
        for number in numbers:
            other = by_parameters.get((actions[number].name, swap.parameters(actions[number])), number)
            if classes.are_joined(number, other) or not swap.same(of_step(number), of_step(other)):
                continue
            likeness = swap.likeness(actions[number], actions[other])
            if likeness is model.program.graph.true:
                classes.join(number, other)
            else:
                left.append((number, other, likeness))
    for number, other, likeness in left:
        if not classes.are_joined(number, other) and shows(likeness):
            classes.join(number, other)
    return classes.not_first


class _Classes:
    """Numbers in classes, of which each begins alone in its own."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._first = {number: number for number in numbers}

    def are_joined(self, one: int, other: int) -> bool:
        """Return whether two numbers are in one class."""
        return self._first[one] == self._first[other]

    def join(self, one: int, other: int) -> None:
        """Make one class of those of two numbers."""
        kept, gone = sorted((self._first[one], self._first[other]))
        self._first = {number: kept if first == gone else first for number, first in self._first.items()}

    @property
    def not_first(self) -> frozenset[int]:
        """The numbers that are not the least of their class."""
        return frozenset(number for number, first in self._first.items() if number != first)


def _sorts(actions: Sequence[BoundAction]) -> list[type[Index]]:
    """Return the sorts of which the parameters of actions are members, or sets of members."""
    named = [_sort_of(value) for action in actions for _, value in action.parameters]
    return list(dict.fromkeys(sort for sort, _ in filter(None, named)))


def _sort_of(value: Parameter) -> tuple[type[Index], int] | None:
    """Return the sort whose member a value is, and of how many sets within each other; None if it is no member."""
    sort, height = type(value), 0
    while issubclass(sort, Subset):
        sort, height = sort.of, height + 1
    return (sort, height) if issubclass(sort, Index) else None


def _swaps_of(model: Model, sort: type[Index], good: Sequence[Node]) -> list[_Exchange]:
    """Return the swaps of neighbours in a sort, if each of them keeps the conditions: they make all permutations."""
    try:
        symmetry = symmetry_of(model.state, model.b, {sort})
    except ModelError:  # it is used where nothing is known of permutations
        return []
    if symmetry is None or symmetry.arranged:  # elements that are kept in order do not stay where they stood
        return []
    forms, presence = NormalForms(), Presence(symmetry, model.program.graph.cell_sizes)
    swaps = [_Exchange(model, symmetry, swapped, forms, presence) for swapped in _neighbours(symmetry)]
    return swaps if all(swap.same([node], [node]) for swap in swaps for node in good) else []


def _neighbours(symmetry: Symmetry) -> Iterator[Permutation]:
    (size,) = symmetry.sizes
    for first in range(size - 1):
        yield (tuple({first: first + 1, first + 1: first}.get(number, number) for number in range(size)),)


class _Exchange:
    """Two neighbours of a sort in each other's place."""

    def __init__(
        self, model: Model, symmetry: Symmetry, permutation: Permutation, forms: NormalForms, presence: Presence
    ) -> None:
        (self._sort,) = symmetry.sorts
        self._permutation = permutation
        self._parts = PermutedParts(model, symmetry, permutation, forms, presence, seconds=_SECONDS)
        self.likeness = self._parts.likeness

    def parameters(self, action: BoundAction) -> tuple[tuple[str, Parameter], ...]:
        """Return the parameters of an action, swapped."""
        return tuple((name, self._swapped(value)) for name, value in action.parameters)

    def _swapped(self, value: Parameter) -> Parameter:
        sort, height = _sort_of(value) or (None, 0)
        if sort is not self._sort or not isinstance(value, int):
            return value
        return type(value)(permuted_value(Kind(0, height), value, self._permutation))

    def same(self, conditions: Sequence[Node], others: Sequence[Node]) -> bool:
        """Return whether it is shown that conditions hold exactly where the others do after the swap."""
        return bool(self._parts.same_conditions(conditions, others, ()))
