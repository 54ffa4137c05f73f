"""Whether a model treats the members of its symmetric sorts alike, so that a search may visit one state for many.

For the swap of the first two members and for the cycle of all, which make every permutation: each action must do in
the permuted state what the action with permuted parameters does, the initial state must stay as it is, and so must
each property. Expressions are compared by their form first; what that does not show, z3 is asked about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from insync.model import Model
from insync.model.actions import action_specs
from insync.model.errors import ModelError, UserError
from insync.model.graph import Graph, Node, Op
from insync.model.program import BoundAction
from insync.model.renaming import NormalForms, NotRenamed, Renaming, cells_present, permuted_cells, permuted_code
from insync.model.simplify import combine, substituted
from insync.model.sorts import Index, Parameter, Subset
from insync.model.symmetry import Kind, Permutation, Symmetry, permuted_value
from insync.properties.class_names import names_within

__all__ = ["LARGEST_GROUP", "UNUSED", "Alike", "symmetry_for"]

LARGEST_GROUP = 2**62
"""How many permutations there can be: orbits are counted in 64 bits."""

_MOST_TRIED = math.factorial(7)
"""How many orders of members that are related to each other are tried for one state."""

_MOST_INITIALS = 2_000
"""Of how many initial states the permutations are looked for in Python."""

_SECONDS = 10.0
"""For one question to z3."""


@dataclass(frozen=True, slots=True)
class Alike:
    """What a search makes of the sorts that are declared symmetric.

    Attributes:
        symmetry: what it uses; None is none.
        notes: why it uses none, though there is one; a sentence each.
    """

    symmetry: Symmetry | None = None
    notes: tuple[str, ...] = ()


UNUSED = Alike()


def symmetry_for(model: Model, conditions: Mapping[str, Node], go_on: Callable[[], None] = lambda: None) -> Alike:
    """Return the symmetry that a search of a model may use.

    Args:
        model: the model.
        conditions: what is checked in each state, by name.
        go_on: called again and again; what it raises ends the examination.

    Raises:
        UserError: the members of a symmetric sort are not treated alike, or it could not be shown that they are.
    """
    symmetry = model.program.symmetry
    if symmetry is None:
        return UNUSED
    names = " and ".join(sort.__name__ for sort in symmetry.sorts)
    verb = "has" if len(symmetry.sorts) == 1 else "have"
    tried = math.prod(math.factorial(symmetry.sizes[sort]) for sort in symmetry.relational)
    if symmetry.order > LARGEST_GROUP or tried > _MOST_TRIED:
        note = f"{names} {verb} too many members for a search to use that they are alike; every state is visited."
        return Alike(None, (note,))
    if any(kind.height > 2 for family in symmetry.families for kind in (*family.places, family.value) if kind):
        return Alike(None, (f"The state has sets of sets of sets of {names}; every state is visited.",))
    if any(family.guards for family in symmetry.families) or symmetry.arranged:
        return Alike(None, (f"The state has collections of members of {names}; every state is visited.",))
    _Examination(model, symmetry).run(conditions, go_on)
    return Alike(symmetry)


class _Examination:
    """The members of a model's symmetric sorts, permuted in all that is asked of them."""

    def __init__(self, model: Model, symmetry: Symmetry) -> None:
        self.model, self.program, self.symmetry = model, model.program, symmetry
        self.forms = NormalForms()
        self._actions = {(action.name, action.parameters): action for action in self.program.actions}

    def run(self, conditions: Mapping[str, Node], go_on: Callable[[], None]) -> None:
        """Examine all parts under all permutations that make the others."""
        for permutation in self.symmetry.generators():
            one = _Permuted(self, permutation)
            one.examine_initial()
            one.examine_within()
            for action in self.program.actions:
                go_on()
                one.examine_action(action)
            for name, node in conditions.items():
                one.examine_property(name, node)

    def action(self, name: str, parameters: tuple[tuple[str, Parameter], ...]) -> BoundAction:
        """Return a bound action; one that can never be enabled is not in the program."""
        never = BoundAction(name, parameters, "", (self.program.graph.false,), (), ())
        return self._actions.get((name, parameters), never)


class _Permuted:
    """The model under one permutation."""

    def __init__(self, examination: _Examination, permutation: Permutation) -> None:
        self._of, self._permutation = examination, permutation
        self._symmetry, self._program = examination.symmetry, examination.program
        self._graph = self._program.graph
        self._why = f"for z3 had no answer in {_SECONDS:.0f} s"
        self._renamings: dict[frozenset[int], Renaming] = {}

    # ------------------------------------------------------------------------------------------------------ the parts

    def examine_initial(self) -> None:
        """Examine some of the initial states; that all of them are permutations of one another, the search counts."""
        initials = self._program.initials
        for codes in islice(initials, _MOST_INITIALS):
            moved = self._symmetry.image(codes, self._permutation)
            if moved in initials:
                continue
            pairs = zip(self._program.schema.cells, codes, moved, strict=True)
            differing = next(cell for cell, code, other in pairs if code != other)
            known = "" if len(initials) == 1 else ", in a state that is not an initial one,"
            message = (
                f"{self._head}, but {self._of.model.name} begins with a member singled out: {differing.path} is "
                f"another{known} with {self._swapped}. Let all members begin alike, or {self._give_up}."
            )
            raise ModelError(message)

    def examine_within(self) -> None:
        same = self._same_conditions(self._program.within, self._program.within, ())
        if not same:
            names = " and ".join(names_within(self._of.model))
            message = (
                f"{self._head}, but {self._unlike(same, f'{names}, which the search is within,')} with "
                f"{self._swapped}. Say it of all members alike, or search with symmetry=False (--no-symmetry)."
            )
            raise UserError(message)

    def examine_property(self, name: str, node: Node) -> None:
        same = self._same_conditions([node], [node], ())
        if not same:
            message = (
                f"{self._head}, but {self._unlike(same, f'the property {name}')} with {self._swapped}. Say it of all "
                f"members alike, or check it with symmetry=False (--no-symmetry)."
            )
            raise UserError(message)

    def examine_action(self, action: BoundAction) -> None:
        other = self._of.action(action.name, self._parameters(action))
        checks, others = ([check.node for check in one.checks] for one in (action, other))
        self._demand(self._same_conditions(action.guard, other.guard, ()), action, other, "the guard")
        self._demand(self._same_conditions(checks, others, action.guard), action, other, "what the fields can hold")
        for cell, same in self._updates(action, other):
            self._demand(same, action, other, f"what is assigned to {self._program.schema.cells[cell].path}")

    def _demand(self, same: bool | None, action: BoundAction, other: BoundAction, part: str) -> None:
        if not same:
            place = action_specs(type(self._of.model))[action.name].place
            compared = f" and of {other}" if str(other) != str(action) else ""
            message = (
                f"{place}: {self._head}, but {self._unlike(same, f'{part} of {action}{compared}')} with "
                f"{self._swapped}. Treat all members alike, or {self._give_up}."
            )
            raise ModelError(message)

    # ------------------------------------------------------------------------------------------------------ comparing

    def _same_conditions(self, given: Sequence[Node], others: Sequence[Node], where: Sequence[Node]) -> bool | None:
        """Return whether some conditions hold together exactly where the others do in the permuted state."""
        parts = _parts(self._graph, given)
        renaming = self._renaming([*where, *parts])
        theirs = {self._of.forms.of(node): node for node in _parts(self._graph, others)}
        matched: dict[Node, int] = {}
        for node in parts:
            with suppress(NotRenamed):
                form = self._of.forms.of(renaming.of(node))
                if form in theirs:
                    matched[node] = form
        ours = [node for node in parts if node not in matched]
        left = [node for form, node in theirs.items() if form not in matched.values()]
        if not ours and not left:
            return True
        if any(cells_present([node]) for node in ours):  # what is matched may build on it
            return self._same_value(_all(self._graph, given), _all(self._graph, others), where)
        return self._same_value(_all(self._graph, ours), _all(self._graph, left), [*where, *matched])

    def _updates(self, action: BoundAction, other: BoundAction) -> Iterator[tuple[int, bool | None]]:
        """Yield each cell that an action assigns, and whether the other assigns the same to the permuted one."""
        ours, theirs = dict(action.updates), dict(other.updates)
        where = [*action.guard, *(check.node for check in action.checks)]
        renaming = self._renaming(action.guard)
        for cell in range(len(self._graph.cell_sizes)):
            to = renaming.place(cell)
            if cell not in ours and to not in theirs:
                continue
            new, there = ours.get(cell, self._graph.cell(cell)), theirs.get(to, self._graph.cell(to))
            with suppress(NotRenamed):
                if self._of.forms.of(renaming.of(new, cell)) == self._of.forms.of(there):
                    continue
            kind = renaming.kind(cell)
            moved = new if kind is None else permuted_code(new, kind, self._symmetry, self._permutation)
            yield cell, self._same_value(moved, there, where)

    def _same_value(self, here: Node, there: Node, where: Sequence[Node]) -> bool | None:
        """Ask z3 whether a node has the value that another has in the permuted state; None if that is not known."""
        try:
            from insync.proofs.sameness import same_value  # needs z3, which most models do not
        except UserError:
            self._why = "for z3 is not installed (pip install 'insync[prove]')"
            return None
        (moved,) = substituted(there.graph, [there], self._cells)
        return same_value(self._program, here, moved, where, _SECONDS)

    def _renaming(self, where: Sequence[Node]) -> Renaming:
        present = cells_present(where)
        if present not in self._renamings:
            self._renamings[present] = Renaming(self._graph, self._symmetry, self._permutation, present)
        return self._renamings[present]

    @cached_property
    def _cells(self) -> list[Node]:
        return permuted_cells(self._graph, self._symmetry, self._permutation)

    def _parameters(self, action: BoundAction) -> tuple[tuple[str, Parameter], ...]:
        return tuple((name, self._permuted(value)) for name, value in action.parameters)

    def _permuted(self, value: Parameter) -> Parameter:
        sort, height = type(value), 0
        while issubclass(sort, Subset):
            sort, height = sort.of, height + 1
        if not isinstance(value, Index) or sort not in self._symmetry.sorts:
            return value
        kind = Kind(self._symmetry.sorts.index(sort), height)
        return type(value)(permuted_value(kind, value, self._permutation))

    # ---------------------------------------------------------------------------------------------------------- words

    @property
    def _sort(self) -> type[Index]:
        pairs = zip(self._symmetry.sorts, self._permutation, strict=True)
        return next(sort for sort, members in pairs if members != tuple(range(len(members))))

    @property
    def _head(self) -> str:
        return f"the sort {self._sort.__name__} is declared symmetric"

    @property
    def _swapped(self) -> str:
        """What the permutation does, in words."""
        sort = self._sort
        members = self._permutation[self._symmetry.sorts.index(sort)]
        moved = [sort.show(member) for member, to in enumerate(members) if member != to]
        first, *others, last = moved
        if not others:
            return f"{first} and {last} swapped"
        return f"{', '.join([first, *others])} and {last} each in the place of the next"

    @property
    def _give_up(self) -> str:
        return f"take symmetric=True off {self._sort.__name__}"

    def _unlike(self, same: bool | None, part: str) -> str:
        if same is None:
            return f"it could not be shown that {part} is the same, {self._why},"
        return f"{part} is not the same"


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
