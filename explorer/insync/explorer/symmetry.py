"""Symmetry reduction: whether a model treats the members of its symmetric sorts alike (scalarsets: Ip & Dill 1996).

Two permutations generate all: the swap of the first two members, and the cycle of all members. For each of the two, an
action must do in the permuted state what the action with permuted parameters does, and the initial states and the
properties must stay the same. Expressions are compared by their form, and by z3 if that is not enough. What was shown
once is kept on disk.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from insync.machine.kernels import conditions_key, program_key, sources_digest
from insync.model import Model
from insync.model.domains import composite as d
from insync.model.domains.sorts import Index, Parameter, Subset, number_of_members
from insync.model.expressions.graph import Node, Op, reachable
from insync.model.expressions.intervals import always_holds
from insync.model.expressions.simplify import apply
from insync.model.language.declarations import (
    action_specs,
    initial_specs,
    invariant_specs,
    marked_specs,
    place_of_function,
)
from insync.model.symmetry.group import Families, Kind, Permutation, Symmetry, permuted_value
from insync.model.symmetry.presence import Presence
from insync.model.symmetry.renaming import NormalForms
from insync.model.tracing.predicates import StepInvariantSpec
from insync.model.tracing.program import BoundAction
from insync.proofs.equivariance import PermutedParts
from insync.properties.invariants import names_within
from insync.runtime.cache import load_object, save_object
from insync.runtime.errors import ModelError, UserError
from insync.runtime.watch import Watch

__all__ = ["UsedSymmetry", "examination_key", "keep_shown", "symmetry_for", "was_shown"]


LARGEST_GROUP = 2**62
"""The most permutations, as states of an orbit are counted in 64 bits."""

_MOST_TRIED = math.factorial(7)
"""The most orders of related members that are tried for one state."""

_MOST_INITIALS = 2_000
"""The most initial states that are permuted in Python."""


@dataclass(frozen=True, slots=True)
class UsedSymmetry:
    """The symmetry that a search uses.

    Attributes:
        symmetry: of the search; None if it uses none.
        notes: why it uses none though a sort is declared symmetric; a sentence each.
    """

    symmetry: Symmetry | None = None
    notes: tuple[str, ...] = ()


def symmetry_for(model: Model, conditions: Mapping[str, Node], watch: Watch | None = None) -> UsedSymmetry:
    """Return the symmetry that a search of a model may use.

    Args:
        model: the model.
        conditions: the conditions that are checked in each state, by name.
        watch: raises Stopped when the examination must stop; None is no limit.

    Raises:
        UserError: the members of a symmetric sort are not treated alike, or it could not be shown that they are.
    """
    symmetry = model.program.symmetry
    if symmetry is None:
        return UsedSymmetry()
    names = " and ".join(sort.__name__ for sort in symmetry.sorts)
    verb = "has" if len(symmetry.sorts) == 1 else "have"
    tried = math.prod(math.factorial(symmetry.sizes[sort]) for sort in symmetry.relational)
    if symmetry.order > LARGEST_GROUP or tried > _MOST_TRIED:
        note = f"{names} {verb} too many members for a search with symmetry; every state is visited."
        return UsedSymmetry(None, (note,))
    if any(kind.height > 2 for family in symmetry.families for kind in (*family.places, family.value) if kind):
        return UsedSymmetry(None, (f"The state has sets of sets of sets of {names}; every state is visited.",))
    key = examination_key(model, symmetry, conditions)
    if not was_shown(key):
        _Examination(model, symmetry).run(conditions, watch or Watch())
        keep_shown(key)
    return UsedSymmetry(symmetry)


def _place_of_beginning(model: Model) -> str:
    """Return the place of the initial states in the source, or that of the fields if these determine them."""
    marked = [spec.place for spec in initial_specs(type(model)).values()]
    plain = model.initial if type(model).initial is not Model.initial else model.declare
    return marked[0] if marked else place_of_function(plain)


class _Examination:
    """The check of all parts of a model under permutations of the members of its symmetric sorts."""

    def __init__(self, model: Model, symmetry: Symmetry) -> None:
        self.model, self.program, self.symmetry = model, model.program, symmetry
        self.forms = NormalForms()
        self.presence = Presence(symmetry, self.program.graph.cell_sizes)
        self._actions = {(action.name, action.parameters): action for action in self.program.actions}

    def run(self, conditions: Mapping[str, Node], watch: Watch) -> None:
        """Examine all parts under the permutations that generate all."""
        self._examine_places()
        for permutation in self.symmetry.generators():
            one = _Permuted(self, permutation)
            one.examine_initial()
            one.examine_within()
            for action in self.program.actions:
                watch.check()
                one.examine_action(action)
            for name, node in conditions.items():
                one.examine_property(name, node)

    def _examine_places(self) -> None:
        """Refuse reading an element of a bag or a set by its place, as the order of elements depends on the members."""
        for place, domain in self.program.graph.by_place.items():
            assert isinstance(domain, d.Bag | d.ListedSet)
            families = Families(self.model.b)
            if any(part.sorts for part in families.of(domain.of, "")):
                sort = next(iter(families.sorts))
                message = (
                    f"{place}: the sort {sort.__name__} is declared symmetric, but an element of {d.described(domain)} "
                    f"is chosen by its place, and members decide which place that is. Choose it by parameters of the "
                    f"action and contains(...), or use exists, for_all or count, or "
                    f"take symmetric=True off {sort.__name__}."
                )
                raise ModelError(message)

    def action(self, name: str, parameters: tuple[tuple[str, Parameter], ...]) -> BoundAction:
        """Return a bound action; one that is not in the program can never be enabled."""
        never = BoundAction(name, parameters, "", (self.program.graph.false,), (), ())
        return self._actions.get((name, parameters), never)


class _Permuted:
    """The model under one permutation."""

    def __init__(self, examination: _Examination, permutation: Permutation) -> None:
        self._of, self._permutation = examination, permutation
        self._symmetry, self._program = examination.symmetry, examination.program
        self._parts = PermutedParts(
            examination.model, examination.symmetry, permutation, examination.forms, examination.presence
        )

    # ------------------------------------------------------------------------------------------------------ the parts

    def examine_initial(self) -> None:
        """Examine the first initial states; the search counts whether all are closed under permutations."""
        initials = self._program.initials
        for codes in islice(initials, _MOST_INITIALS):
            moved = self._symmetry.image(codes, self._permutation)
            if moved in initials:
                continue
            pairs = zip(self._program.schema.cells, codes, moved, strict=True)
            differing = next(cell for cell, code, other in pairs if code != other)
            known = "" if len(initials) == 1 else ", in a state that is not an initial one,"
            message = (
                f"{_place_of_beginning(self._of.model)}: {self._head}, but {self._of.model.name} begins with a member "
                f"singled out: {differing.path} is another{known} with {self._swapped}. Let all members begin alike, "
                f"or {self._give_up}."
            )
            raise ModelError(message)

    def examine_within(self) -> None:
        same = self._parts.same_conditions(self._program.within, self._program.within, ())
        if not same:
            names = " and ".join(names_within(self._of.model))
            message = (
                f"{self._head}, but {self._unlike(same, f'{names}, which the search is within,')} with "
                f"{self._swapped}. Say it of all members alike, or search with symmetry=False (--no-symmetry)."
            )
            raise UserError(message)

    def examine_property(self, name: str, node: Node) -> None:
        same = self._parts.same_conditions([node], [node], ())
        if not same:
            kind = type(self._of.model)
            own = {**invariant_specs(kind), **marked_specs(kind, StepInvariantSpec)}
            place = f"{own[name].place}: " if name in own else ""
            message = (
                f"{place}{self._head}, but {self._unlike(same, f'the property {name}')} with {self._swapped}. Say it "
                f"of all members alike, or check it with symmetry=False (--no-symmetry)."
            )
            raise UserError(message)

    def examine_action(self, action: BoundAction) -> None:
        other = self._of.action(action.name, self._parameters(action))
        checks, others = ([check.node for check in one.checks] for one in (action, other))
        same_guard = self._parts.same_conditions(action.guard, other.guard, ())
        self._demand(same_guard, action, other, "the guard")
        same_checks = self._parts.same_conditions(checks, others, action.guard)
        self._demand(same_checks, action, other, "what the fields can hold")
        for cell, same in self._parts.updates(action, other):
            self._demand(same, action, other, f"what is assigned to {self._program.schema.cells[cell].path}")

    def _demand(self, same: bool | None, action: BoundAction, other: BoundAction, part: str) -> None:
        if not same:
            place = action_specs(type(self._of.model))[action.name].place
            compared = f" and of {other}" if str(other) != str(action) else ""
            message = (
                f"{place}: {self._head}, but {self._unlike(same, f'{part} of {action}{compared}')} with "
                f"{self._swapped}. {self._cause(action)}Treat all members alike, or {self._give_up}."
            )
            raise ModelError(message)

    def _cause(self, action: BoundAction) -> str:
        """Return the sentence about an option whose value is read though it may be none; empty if there is none."""
        graph, sort = self._program.graph, self._sort
        size = number_of_members(sort, self._of.model.b) + 1
        for option in _values_read([*action.guard, *(node for _, node in action.updates)]):
            is_none = apply(Op.EQ, option, graph.const(0))
            if option.hi + 1 == size and not always_holds(action.guard, apply(Op.NOT, is_none)):
                path = self._program.schema.cells[option.cell].path
                return (
                    f"`.value` of {path} reads as {sort.show(0)} where it is none, which may be the cause: require "
                    f"is_some() of it. "
                )
        return ""

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
            return f"it could not be shown that {part} is the same, {self._parts.why},"
        return f"{part} is not the same"


def _values_read(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the cells of options whose value is read, which is the first of its domain where there is none."""
    for node in reachable(nodes):
        lower = node.args[0] if node.op is Op.MAX else node
        if lower.op is Op.ADD and lower.args[0].op is Op.CELL and lower.args[1].op is Op.CONST and lower.lo == -1:
            yield lower.args[0]


# -------------------------------------------------------------------------------------------------- the cache on disk
#
# The key covers all that was examined: actions with their parameters, initial states, conditions, the permutations, and
# the sources of the code that examines. Refusals are not cached, as their messages name the model's own sorts.


_SHOWN = b"shown"
_JUDGES = ("insync.model", "insync.proofs", "insync.explorer.symmetry")


def examination_key(model: Model, symmetry: Symmetry, conditions: Mapping[str, Node]) -> str:
    """Return the key of the examination of a model with these conditions."""
    program = model.program
    bound = [
        (action.name, [(name, _named(type(value)), repr(value)) for name, value in action.parameters])
        for action in program.actions
    ]
    sorts = [_named(sort) for sort in symmetry.sorts]
    digest = hashlib.sha256(sources_digest(*_JUDGES))
    for part in (
        program_key("alike", program, symmetry),
        conditions_key("alike", program.schema, conditions.values()),
        repr((bound, sorts)),
    ):
        digest.update(part.encode())
    digest.update(program.initials.rows)
    return f"alike-{digest.hexdigest()[:40]}"


def was_shown(key: str) -> bool:
    """Return whether the examination with this key has succeeded before."""
    return load_object(key) == _SHOWN


def keep_shown(key: str) -> None:
    """Keep that the examination has succeeded, if the folder can be written."""
    save_object(key, _SHOWN)


def _named(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
