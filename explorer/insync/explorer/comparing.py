"""Whether parts of a model say the same of permuted members: by their form first, and else by z3.

The permuted state that expressions are compared on has the elements of bags and sets where they stood: in another
order, which only those expressions tell apart that keep the order. What these make is compared as what it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property

from insync.model import Model
from insync.model.errors import UserError
from insync.model.gathering import Gathering, element_of, placed
from insync.model.graph import Graph, Node, Op, reachable
from insync.model.presence import Known, Presence
from insync.model.program import BoundAction
from insync.model.renaming import (
    NormalForms,
    NotRenamed,
    Renaming,
    cells_present,
    permuted_cells,
    permuted_code,
)
from insync.model.simplify import combine, substituted
from insync.model.symmetry import Arranged, Permutation, Symmetry
from insync.model.well_formed import well_formed

__all__ = ["PermutedParts"]

_SECONDS = 10.0
"""For one question to z3."""


class PermutedParts:
    """The parts of a model, under one permutation of its members.

    Args:
        model: the model.
        symmetry: of its states.
        permutation: of its members.
        forms: numbers of expressions.
        presence: of cells.

    Attributes:
        why: why there was no answer, when there was none last.
    """

    def __init__(
        self, model: Model, symmetry: Symmetry, permutation: Permutation, forms: NormalForms, presence: Presence
    ) -> None:
        self._model, self._program, self._graph = model, model.program, model.program.graph
        self._symmetry, self._permutation, self._forms, self._presence = symmetry, permutation, forms, presence
        self.why = f"for z3 had no answer in {_SECONDS:.0f} s"
        self._renamings: dict[frozenset[int], Renaming] = {}

    def same_conditions(self, given: Sequence[Node], others: Sequence[Node], where: Sequence[Node]) -> bool | None:
        """Return whether some conditions hold together exactly where the others do in the permuted state.

        Args:
            given: the conditions.
            others: the others.
            where: what holds in the states that are compared.
        """
        given, others, where = (list(map(self._presence.trimmed, nodes)) for nodes in (given, others, where))
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
        if not ours and not left:
            return True
        if any(cells_present([node]) for node in ours):  # what is matched may build on it
            return self._same_value(_all(self._graph, given), _all(self._graph, others), where)
        return self._same_value(_all(self._graph, ours), _all(self._graph, left), [*where, *matched])

    def updates(self, action: BoundAction, other: BoundAction) -> Iterator[tuple[int, bool | None]]:
        """Yield each cell that an action assigns, and whether the other assigns the same to the permuted one."""
        ours, theirs = dict(action.updates), dict(other.updates)
        checks = [check.node for check in action.checks]
        where = [self._presence.trimmed(node) for node in (*action.guard, *checks)]
        renaming, known = self._renaming(action.guard), self._presence.told(where)
        alike = self._collections(ours, theirs, renaming, known)
        for cell in range(len(self._graph.cell_sizes)):
            to, found = renaming.place(cell), self._presence.guard(cell)
            asked = [cell] if found is None else [cell, found[0]]  # what was not there may be there now, as it is
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
            moved = permuted_code(new, kind, self._symmetry, self._permutation, guard, above)
            yield cell, self._same_value(moved, there, where)

    # ---------------------------------------------------------------------------------------------------- collections

    def _collections(
        self, ours: dict[int, Node], theirs: dict[int, Node], renaming: Renaming, known: Known
    ) -> set[int]:
        """Return the cells of collections that have the same elements afterwards, in whatever order."""
        found: set[int] = set()
        here = Gathering(self._forms, self._presence, renaming)
        there = Gathering(self._forms, self._presence, None)
        for group in self._symmetry.arranged:
            if not self._symmetry.in_order.isdisjoint(group.lengths):
                continue  # it is part of an element
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
        """Ask z3 whether a node has the value that another has in the permuted state; None if that is not known."""
        if not self._graph.orders.isdisjoint(reachable([here, there])):
            self.why = "for it depends on the order in which the elements of a Bag or a SetOf are kept"
            return None
        try:
            from insync.proofs.sameness import same_value  # needs z3, which most models do not
        except UserError:
            self.why = "for z3 is not installed (pip install 'insync[prove]')"
            return None
        (moved,) = substituted(there.graph, [there], self._cells)
        return same_value(self._program, here, moved, [*where, *self._well_formed], _SECONDS)

    @cached_property
    def _cells(self) -> list[Node]:
        return permuted_cells(self._graph, self._symmetry, self._permutation)

    @cached_property
    def _well_formed(self) -> list[Node]:
        """What holds of the cells of every state; only where some are not always there does it matter."""
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
    """Return the cells of a collection: the length, then those of its elements."""
    return [group.lengths[instance], *(cell for row in group.rows[instance] for cell in row)]


def _all(graph: Graph, nodes: Sequence[Node]) -> Node:
    return combine(graph, Op.AND, list(nodes))


def _parts(graph: Graph, nodes: Sequence[Node]) -> list[Node]:
    """Return the conditions that make some conditions, for all members one by one."""
    whole, found = [_all(graph, nodes)], []
    while whole:
        node = whole.pop()
        if node.op is Op.AND:
            whole += node.args
        elif node is not graph.true:
            found.append(node)
    return list(dict.fromkeys(found))
