"""Equivariance: whether parts of a model treat permuted members alike, shown by normal forms or else by z3.

A function is equivariant if permuting its argument permutes its result. Expressions are compared on a permuted state
whose bags and sets are not sorted again. Only the expressions that sort them depend on that order; their results are
compared as multisets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property

from insync.model import Model
from insync.model.domains.layout import well_formed
from insync.model.domains.sorts import Index, Parameter, Subset
from insync.model.expressions.graph import Graph, Node, Op, reachable
from insync.model.expressions.simplify import apply, as_number, combine, substituted
from insync.model.symmetry.gathering import Gathering, element_of, placed
from insync.model.symmetry.group import Arranged, Kind, Permutation, Symmetry, permuted_value, symmetry_of
from insync.model.symmetry.presence import Known, Presence
from insync.model.symmetry.renaming import (
    NormalForms,
    NotRenamed,
    Renaming,
    cells_present,
    permuted_cells,
    permuted_code,
)
from insync.model.tracing.program import BoundAction
from insync.runtime.errors import ModelError, UserError

__all__ = [
    "PermutedParts",
    "spared_steps",
]


_SECONDS = 10.0
"""The time for one question to z3, unless the caller gives another."""


class PermutedParts:
    """Compares the parts of a model with those under one permutation of its members.

    Args:
        model: the model.
        symmetry: the symmetry of its states.
        permutation: the permutation of its members.
        forms: the normal forms of expressions.
        presence: shows that cells are present.
        seconds: the time for one question to z3.

    Attributes:
        why: the reason why the last comparison had no answer.
    """

    def __init__(
        self,
        model: Model,
        symmetry: Symmetry,
        permutation: Permutation,
        forms: NormalForms,
        presence: Presence,
        seconds: float = _SECONDS,
    ) -> None:
        self._model, self._program, self._graph = model, model.program, model.program.graph
        self._symmetry, self._permutation, self._forms, self._presence = symmetry, permutation, forms, presence
        self._seconds = seconds
        self.why = f"for z3 had no answer in {seconds:.0f} s"
        self._renamings: dict[frozenset[int], Renaming] = {}

    def same_conditions(self, given: Sequence[Node], others: Sequence[Node], where: Sequence[Node]) -> bool | None:
        """Return whether conditions hold together in a state exactly where others do in the permuted state.

        Args:
            given: the conditions.
            others: the other conditions.
            where: conditions that hold in the states that are compared.

        Returns:
            None if it is not known.
        """
        given, others, where = (list(map(self._presence.trimmed, nodes)) for nodes in (given, others, where))
        matched, ours, left = self._matched(given, others, where)
        if not ours and not left:
            return True
        if any(cells_present([node]) for node in ours):  # matched conditions may depend on that presence
            return self._same_value(_all(self._graph, given), _all(self._graph, others), where)
        return self._same_value(_all(self._graph, ours), _all(self._graph, left), [*where, *matched])

    def updates(self, action: BoundAction, other: BoundAction) -> Iterator[tuple[int, bool | None]]:
        """Yield each assigned cell whose comparison needs z3, with whether another action assigns the permuted code.

        Cells that the normal forms show to be alike are left out.
        """
        checks = [check.node for check in action.checks]
        where = [self._presence.trimmed(node) for node in (*action.guard, *checks)]
        for cell, here, there in self._updates_unlike_in_form(action, other, where):
            yield cell, self._same_value(here, there, where)

    def likeness(self, action: BoundAction, other: BoundAction) -> Node:
        """Return the condition that the other action's step in the permuted state is the permuted step of an action.

        Parts that the normal forms show are left out; if they show all, the condition is true. The symmetry must have
        no sorted containers.
        """
        checks, its_checks = ([self._presence.trimmed(check.node) for check in one.checks] for one in (action, other))
        guard, its_guard = (list(map(self._presence.trimmed, one.guard)) for one in (action, other))
        pairs = [self._unlike_in_form(guard, its_guard, ()), self._unlike_in_form(checks, its_checks, guard)]
        updates = [(here, there) for _, here, there in self._updates_unlike_in_form(action, other, [*guard, *checks])]
        enabled, fits, updated = (self._equal(pair) for pair in (*pairs, updates))
        taken = _implied(_all(self._graph, checks), updated)
        return _all(self._graph, [enabled, _implied(_all(self._graph, guard), _all(self._graph, [fits, taken]))])

    def _equal(self, pairs: Sequence[tuple[Node, Node]]) -> Node:
        """Return the condition that the first of each pair has the value that the second has in the permuted state."""
        moved = substituted(self._graph, [there for _, there in pairs], self._cells)
        equal = [apply(Op.EQ, as_number(here), as_number(there)) for (here, _), there in zip(pairs, moved, strict=True)]
        return _all(self._graph, equal)

    # -------------------------------------------------------------------------------------------------------- by form

    def _matched(
        self, given: Sequence[Node], others: Sequence[Node], where: Sequence[Node]
    ) -> tuple[list[Node], list[Node], list[Node]]:
        """Return the conditions that are equal in form to one of the others, and those that are left on both sides."""
        parts = _parts(self._graph, given)
        renaming, known = self._renaming([*where, *parts]), self._presence.told([*where, *parts])
        theirs = {self._forms.of(node): node for node in _parts(self._graph, others)}
        matched: dict[Node, int] = {}
        for node in parts:
            with suppress(NotRenamed):
                form = self._forms.of(renaming.of(node))
                if form in theirs and self._presence.reads_what_is_there(node, known):
                    matched[node] = form
        ours = [node for node in parts if node not in matched]
        left = [node for form, node in theirs.items() if form not in matched.values()]
        return list(matched), ours, left

    def _unlike_in_form(
        self, given: Sequence[Node], others: Sequence[Node], where: Sequence[Node]
    ) -> list[tuple[Node, Node]]:
        """Return the conjunctions of some conditions and of the others as a pair; none if they are equal in form."""
        _, ours, left = self._matched(given, others, where)
        return [(_all(self._graph, given), _all(self._graph, others))] if ours or left else []

    def _updates_unlike_in_form(
        self, action: BoundAction, other: BoundAction, where: Sequence[Node]
    ) -> Iterator[tuple[int, Node, Node]]:
        """Yield each cell whose new codes differ in form, with the permuted code and the code of the other action."""
        ours, theirs = dict(action.updates), dict(other.updates)
        renaming, known = self._renaming(action.guard), self._presence.told(where)
        alike = self._collections(ours, theirs, renaming, known)
        for cell in range(len(self._graph.cell_sizes)):
            to, found = renaming.place(cell), self._presence.guard(cell)
            asked = [cell] if found is None else [cell, found[0]]  # a new guard may make an unchanged cell present
            if cell in alike or not any(one in ours or renaming.place(one) in theirs for one in asked):
                continue
            new = self._presence.trimmed(ours.get(cell, self._graph.cell(cell)))
            there = self._presence.trimmed(theirs.get(to, self._graph.cell(to)))
            kind, guard = renaming.kind(cell), None
            if found is not None:
                guard = self._presence.trimmed(ours.get(found[0], self._graph.cell(found[0])))
            above = 0 if found is None else found[1]
            with suppress(NotRenamed):
                made = placed(new, guard, above, kind, renaming)
                told = guard is None or self._presence.code_is_there(new, guard, above, known)
                told = told and (guard is not None or self._presence.reads_what_is_there(new, known))
                if told and self._forms.of(made) == self._forms.of(there):
                    continue
            yield cell, permuted_code(new, kind, self._symmetry, self._permutation, guard, above), there

    # ----------------------------------------------------------------------------------------------------- containers

    def _collections(
        self, ours: dict[int, Node], theirs: dict[int, Node], renaming: Renaming, known: Known
    ) -> set[int]:
        """Return the cells of sorted containers that have the same elements after both actions, as multisets."""
        found: set[int] = set()
        here = Gathering(self._forms, self._presence, renaming)
        there = Gathering(self._forms, self._presence, None)
        for group in self._symmetry.arranged:
            if not self._symmetry.in_order.isdisjoint(group.lengths):
                continue  # it is inside an element of another container
            for instance in range(len(group.lengths)):
                cells = _cells(group, instance)
                targets = _cells(group, group.lengths.index(renaming.place(group.lengths[instance])))
                if ours.keys().isdisjoint(cells) and theirs.keys().isdisjoint(targets):
                    continue
                with suppress(NotRenamed):
                    element = element_of(group, instance, self._symmetry, self._presence, renaming)
                    new = [ours.get(cell, self._graph.cell(cell)) for cell in cells]
                    other = [theirs.get(cell, self._graph.cell(cell)) for cell in targets]
                    if here.form(element, new, known) == there.form(element.settled(), other, {}):
                        found.update(cells)
        return found

    # ------------------------------------------------------------------------------------------------------------- z3

    def _same_value(self, here: Node, there: Node, where: Sequence[Node]) -> bool | None:
        """Return z3's answer whether a node has the value of another in the permuted state; None if it is not known."""
        if not self._graph.orders.isdisjoint(reachable([here, there])):
            self.why = "for it depends on the order in which the elements of a Bag or a SetOf are kept"
            return None
        try:
            from insync.proofs.sameness import same_value  # imports z3, which most models do not need
        except UserError:
            self.why = "for z3 is not installed (pip install 'insync[prove]')"
            return None
        (moved,) = substituted(there.graph, [there], self._cells)
        return same_value(self._program, here, moved, [*where, *self._well_formed], self._seconds)

    @cached_property
    def _cells(self) -> list[Node]:
        return permuted_cells(self._graph, self._symmetry, self._permutation)

    @cached_property
    def _well_formed(self) -> list[Node]:
        """The conditions that every state's codes are well-formed; none if all cells are always present."""
        if not any(family.guards for family in self._symmetry.families):
            return []
        cells = [self._graph.cell(number) for number in range(len(self._graph.cell_sizes))]
        return list(well_formed(self._model.state, cells))

    def _renaming(self, where: Sequence[Node]) -> Renaming:
        present = cells_present(where)
        if present not in self._renamings:
            self._renamings[present] = Renaming(
                self._graph, self._symmetry, self._permutation, present, self._presence.outside
            )
        return self._renamings[present]


def _cells(group: Arranged, instance: int) -> list[int]:
    """Return the cells of a container: the length, then those of its elements."""
    return [group.lengths[instance], *(cell for row in group.rows[instance] for cell in row)]


def _implied(condition: Node, other: Node) -> Node:
    graph = condition.graph
    return combine(graph, Op.OR, [apply(Op.NOT, condition), other])


def _all(graph: Graph, nodes: Sequence[Node]) -> Node:
    return combine(graph, Op.AND, list(nodes))


def _parts(graph: Graph, nodes: Sequence[Node]) -> list[Node]:
    """Return the conjuncts of some conditions; quantifiers are taken apart as well."""
    whole, found = [_all(graph, nodes)], []
    while whole:
        node = whole.pop()
        if node.op is Op.AND:
            whole += node.args
        elif node is not graph.true:
            found.append(node)
    return list(dict.fromkeys(found))


# ---------------------------------------------------------------------------------------- obligations that others cover
#
# Two members of a sort are swapped in a state. Assume that the conditions hold in the swapped state wherever they hold,
# and that one action's step there is another action's step with the members swapped. Then the one preserves the
# conditions if the other does. The sort need not be declared symmetric: an action that tells members apart keeps its
# own obligation. Normal forms are compared first, then z3 is used. `unbounded.induction` does the same for open bounds.


_SECONDS_FOR_A_CONDITION = 1.0
"""The time for z3 to show that one condition holds where members are swapped."""


def spared_steps(
    model: Model,
    good: Sequence[Node],
    numbers: Sequence[int],
    of_step: Callable[[int], Sequence[Node]],
    shows: Callable[[Node], bool],
) -> frozenset[int]:
    """Return the bound actions whose obligations others cover: of each class of alike actions, all but the first.

    Args:
        model: the model.
        good: the conditions on states.
        numbers: the numbers of the bound actions.
        of_step: returns the step invariants for the action with a number, as conditions on the state before.
        shows: returns whether a condition is shown to hold in all good states.
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
    """Equivalence classes of numbers; each number begins in a class of its own."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._first = {number: number for number in numbers}

    def are_joined(self, one: int, other: int) -> bool:
        """Return whether two numbers are in one class."""
        return self._first[one] == self._first[other]

    def join(self, one: int, other: int) -> None:
        """Join the classes of two numbers."""
        kept, gone = sorted((self._first[one], self._first[other]))
        self._first = {number: kept if first == gone else first for number, first in self._first.items()}

    @property
    def not_first(self) -> frozenset[int]:
        """The numbers that are not the least of their class."""
        return frozenset(number for number, first in self._first.items() if number != first)


def _sorts(actions: Sequence[BoundAction]) -> list[type[Index]]:
    """Return the sorts whose members, or sets of members, are parameters of actions."""
    named = [_sort_of(value) for action in actions for _, value in action.parameters]
    return list(dict.fromkeys(sort for sort, _ in filter(None, named)))


def _sort_of(value: Parameter) -> tuple[type[Index], int] | None:
    """Return the sort of a value and its height: 0 for a member, 1 for a set of members, ...; None for other values."""
    sort, height = type(value), 0
    while issubclass(sort, Subset):
        sort, height = sort.of, height + 1
    return (sort, height) if issubclass(sort, Index) else None


def _swaps_of(model: Model, sort: type[Index], good: Sequence[Node]) -> list[_Exchange]:
    """Return the swaps of neighbours in a sort, if all of them keep the conditions; they generate all permutations."""
    try:
        symmetry = symmetry_of(model.state, model.b, {sort})
    except ModelError:  # the state uses the sort where permutations are not defined
        return []
    if symmetry is None or symmetry.arranged:  # sorted elements change their places
        return []
    forms, presence = NormalForms(), Presence(symmetry, model.program.graph.cell_sizes)
    swaps = [_Exchange(model, symmetry, swapped, forms, presence) for swapped in _neighbours(symmetry)]
    return swaps if all(swap.same([node], [node]) for swap in swaps for node in good) else []


def _neighbours(symmetry: Symmetry) -> Iterator[Permutation]:
    (size,) = symmetry.sizes
    for first in range(size - 1):
        yield (tuple({first: first + 1, first + 1: first}.get(number, number) for number in range(size)),)


class _Exchange:
    """The swap of two neighbours of a sort."""

    def __init__(
        self, model: Model, symmetry: Symmetry, permutation: Permutation, forms: NormalForms, presence: Presence
    ) -> None:
        (self._sort,) = symmetry.sorts
        self._permutation = permutation
        self._parts = PermutedParts(model, symmetry, permutation, forms, presence, seconds=_SECONDS_FOR_A_CONDITION)
        self.likeness = self._parts.likeness

    def parameters(self, action: BoundAction) -> tuple[tuple[str, Parameter], ...]:
        """Return the parameters of an action with the members swapped."""
        return tuple((name, self._swapped(value)) for name, value in action.parameters)

    def _swapped(self, value: Parameter) -> Parameter:
        sort, height = _sort_of(value) or (None, 0)
        if sort is not self._sort or not isinstance(value, int):
            return value
        return type(value)(permuted_value(Kind(0, height), value, self._permutation))

    def same(self, conditions: Sequence[Node], others: Sequence[Node]) -> bool:
        """Return whether conditions are shown to hold exactly where the others do after the swap."""
        return bool(self._parts.same_conditions(conditions, others, ()))
