"""What can be said of a model's states in few words: the conditions that candidates for lemmas are made of.

An atom is a text in the language of typed conditions, on the members that some variables stand for. Atoms compare what
lies at two places of a state, or a place with a variable, a member of an enumeration, none, or a number that the model
compares such places with; and they are what the author wrote in guards and properties.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum as PythonEnum
from itertools import count
from math import prod

from insync.explorer.exploring.conditions import ConditionNames
from insync.explorer.mining.source_conditions import WrittenCondition, written_conditions
from insync.model import Model
from insync.model.domains import composite as d
from insync.model.domains.layout import cell_domains
from insync.model.domains.sorts import Index, Parameter, Range, Subset, members_of, number_of_members
from insync.model.expressions.graph import Node, Op, reachable
from insync.properties.invariants import kept_for
from insync.properties.registry import default_names, judge

__all__ = ["MOST_ATOMS", "Binding", "Prefix", "atoms_of", "prefixes_of"]


Binding = dict[str, Parameter]
"""The member that each variable stands for."""

MOST_ATOMS = 120
"""How many conditions of one choice of variables are made into candidates; a model with more has a long state."""

_MOST_MEMBERS = 16
_MOST_BINDINGS = 128
_FEW_PLACES = 2


@dataclass(frozen=True, slots=True)
class MemberVariable:
    """What a variable is called, and what it ranges over, with the name that conditions have for that."""

    name: str
    kind: type
    kind_name: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """The variables that a candidate is said of, for all whose members it must hold."""

    variables: tuple[MemberVariable, ...]

    def bindings(self, model: Model) -> list[Binding]:
        """Return every choice of members."""
        members = [members_of(variable.kind, model.b) for variable in self.variables]
        names = [variable.name for variable in self.variables]
        return [dict(zip(names, values, strict=True)) for values in itertools.product(*members)]

    def said_of_all(self, body: str) -> str:
        """Return the condition that another one holds for all members."""
        if not self.variables:
            return body
        kinds = ", ".join(variable.kind_name for variable in self.variables)
        return f"for_all({kinds}, lambda {', '.join(variable.name for variable in self.variables)}: {body})"

    def renamings(self) -> list[dict[str, str]]:
        """Return the ways to exchange variables of one kind, but for that which exchanges none."""
        names = [variable.name for variable in self.variables]
        kinds = [variable.kind for variable in self.variables]
        orders = itertools.permutations(range(len(names)))
        alike = [order for order in orders if [kinds[at] for at in order] == kinds]
        return [dict(zip(names, [names[at] for at in order], strict=True)) for order in alike[1:]]


def prefixes_of(model: Model) -> list[Prefix]:
    """Return what candidates of a model may range over: nothing, one variable, or two."""
    names = ConditionNames(model)
    lengths = {domain.over for domain in _domains(model.state) if isinstance(domain, d.Array)}
    kinds: list[tuple[str, type]] = []
    for name, kind in names.kinds.items():
        if issubclass(kind, PythonEnum) or kind is bool or kind in [other for _, other in kinds]:
            continue
        size = number_of_members(kind, model.b)
        places = issubclass(kind, Range) and size in lengths and members_of(kind, model.b)[0] == 0
        if (name in names.used or places) and 2 <= size <= _MOST_MEMBERS:
            kinds.append((name, kind))
    taken = set(names.known())
    found = [Prefix(())]
    for most in (1, 2):
        for chosen in itertools.combinations_with_replacement(kinds, most):
            if prod(number_of_members(kind, model.b) for _, kind in chosen) <= _MOST_BINDINGS:
                found.append(Prefix(_variables(chosen, taken)))
    return found + [Prefix(_variables(chosen, taken)) for chosen in _about_elements(model, names, kinds)]


def _about_elements(
    model: Model, names: ConditionNames, kinds: Sequence[tuple[str, type]]
) -> Iterator[list[tuple[str, type]]]:
    """Yield what there is in two elements of a collection of records that differ in one field: two votes of a voter."""
    for domain in _domains(model.state):
        of = getattr(domain, "of", None)
        if not isinstance(domain, d.BitSet | d.ListedSet) or not isinstance(of, d.Record):
            continue
        fields = [
            next((one for one in kinds if _domain_of(one[1], model).shape() == field.shape()), None)
            for field in of.present.values()
        ]
        whole = [one for one in fields if one is not None]
        for twice in dict.fromkeys(whole) if len(whole) == len(fields) and len(fields) > 1 else ():
            chosen = sorted([*whole, twice], key=kinds.index)
            if len(chosen) > 2 and prod(number_of_members(kind, model.b) for _, kind in chosen) <= _MOST_BINDINGS:
                yield chosen


def _variables(chosen: Sequence[tuple[str, type]], taken: set[str]) -> tuple[MemberVariable, ...]:
    """Return a variable of each kind, named after it, and after nothing that conditions have a name for."""
    found: list[MemberVariable] = []
    for kind_name, kind in chosen:
        own = kind_name.lower()
        used = {*taken, *(one.name for one in found)}
        names = (f"{word}{own}{'_' * more}" for more in count() for word in ("", "a_", "other_", "another_"))
        found.append(MemberVariable(next(name for name in names if name not in used), kind, kind_name))
    return tuple(found)


def atoms_of(model: Model, prefix: Prefix) -> list[str]:
    """Return the conditions on the members of some variables, each once, the author's own first."""
    said = _Phrases(model, prefix)
    return list(dict.fromkeys(itertools.chain(said.written(), said.of_variables(), said.of_places(), said.of_pairs())))


@dataclass(frozen=True, slots=True)
class _Operand:
    """A place in a state, or the member that a variable stands for: how it is written, and what can be there."""

    text: str
    domain: d.Domain


class _Phrases:
    """What can be said of the members of some variables."""

    def __init__(self, model: Model, prefix: Prefix) -> None:
        self.model, self.prefix, self.compared = model, prefix, compared(model)
        self.names = ConditionNames(model)
        self.kind_names = {kind: name for name, kind in reversed(self.names.kinds.items())}
        every = [_Operand(text, domain) for text, domain in self._within(model.state, "")]
        self.places = every if len(prefix.variables) <= 2 else [place for place in every if _holds_records(place)]
        self.own = [_Operand(variable.name, _domain_of(variable.kind, model)) for variable in prefix.variables]

    def written(self) -> Iterator[str]:
        """Yield what the author wrote of such members in guards and properties."""
        for condition in written_conditions(self.model):
            yield from _with_variables(condition, self.prefix.variables)

    def of_variables(self) -> Iterator[str]:
        for one, other in itertools.combinations(self.own, 2):
            yield from self._two(one, other)

    def of_places(self) -> Iterator[str]:
        """Yield what can be said of each place by itself, or of it and a variable."""
        for place in self.places:
            yield from self._one(place)
            for own in self.own:
                yield from self._two(place, own)

    def of_pairs(self) -> Iterator[str]:
        for one, other in itertools.combinations(self.places, 2):
            yield from self._two(one, other)

    def _within(self, domain: d.Domain, path: str) -> Iterator[tuple[str, d.Domain]]:
        """Yield the places of a value, with the variables as indexes of its arrays."""
        if isinstance(domain, d.Record):
            for name, field in domain.present.items():
                yield from self._within(field, f"{path}.{name}" if path else name)
        elif isinstance(domain, d.Option):
            yield path, domain
            yield from self._within(domain.of, f"{path}.value")
        elif isinstance(domain, d.Array):
            for index in self._indexes(domain):
                yield from self._within(domain.of, f"{path}[{index}]")
        else:
            yield path, domain
            if isinstance(domain, d.ListedSet | d.Seq | d.Bag):
                yield f"{path}.length", d.Int(0, domain.most)

    def _indexes(self, domain: d.Array) -> list[str]:
        over, length = domain.over, len(domain.labels)
        if isinstance(over, int):
            fitting = [one for one in self.prefix.variables if _numbers(one.kind, self.model) == range(length)]
            return [one.name for one in fitting] or ([*map(str, range(length))] if length <= _FEW_PLACES else [])
        if isinstance(over, type) and issubclass(over, PythonEnum):
            return [self._member(over, one) for one in over]
        return [one.name for one in self.prefix.variables if one.kind is over]

    def _one(self, place: _Operand) -> Iterator[str]:
        text, domain = place.text, place.domain
        if isinstance(domain, d.OptionalScalar):
            yield f"{text} == NONE"
            domain = domain.of
        if isinstance(domain, d.Boolean):
            yield text if domain is place.domain else f"{text} == true"
        elif isinstance(domain, d.Enum):
            yield from (f"{text} == {self._member(domain.kind, one)}" for one in domain.kind)
        elif isinstance(domain, d.Option):
            yield f"{text}.is_none()"
        elif isinstance(domain, d.Set | d.BitSet | d.ListedSet | d.Seq | d.Bag):
            yield f"{text}.is_empty()"
            yield from self._elements(text, domain)
        elif isinstance(domain, d.Int) and domain is place.domain:
            for number in self.compared.numbers(domain):
                signs = ("==",) if number in (domain.lo, domain.hi) else ("==", "<=", ">=")
                yield from (f"{text} {sign} {number}" for sign in signs)

    def _elements(self, text: str, domain: d.Domain) -> Iterator[str]:
        """Yield that a record of what the variables and other places are is in a collection."""
        of = getattr(domain, "of", None)
        if not isinstance(of, d.Record):
            return
        fitting = [
            [other.text for other in (*self.own, *self.places) if other.domain.shape() == field.shape()][:4]
            for field in of.present.values()
        ]
        for chosen in itertools.islice(itertools.product(*fitting), 36):
            fields = ", ".join(f"{name}={value}" for name, value in zip(of.present, chosen, strict=True))
            yield f"{text}.contains({fields})"

    def _two(self, one: _Operand, other: _Operand) -> Iterator[str]:
        a, b = one.domain, other.domain
        sorts = _sort_of(a), _sort_of(b)
        whose, theirs = _members_of_set(a), _members_of_set(b)
        if whose is not None and theirs is whose:
            yield from (f"{one.text}.is_subset({other.text})", f"{other.text}.is_subset({one.text})")
        elif whose is not None and sorts[1] is whose:
            yield f"{one.text}.contains({other.text})"
        elif theirs is not None and sorts[0] is theirs:
            yield f"{other.text}.contains({one.text})"
        elif isinstance(a, d.Set | d.BitSet | d.ListedSet | d.Seq | d.Bag):
            if a.of.shape() == b.shape():
                yield f"{one.text}.contains({other.text})"
        elif None not in sorts and sorts[0] is sorts[1]:
            yield f"{one.text} == {other.text}"
            if self.compared.ordered(sorts[0]):
                left, right = (f"{p.text}.or_else(-1)" if _may_be_none(p) else p.text for p in (one, other))
                yield from (f"{left} <= {right}", f"{right} <= {left}")
        elif isinstance(a, d.Int) and isinstance(b, d.Int):
            if a.lo == b.lo and abs(a.hi - b.hi) <= 1:
                yield from (f"{one.text} {sign} {other.text}" for sign in ("==", "<=", ">="))
        elif isinstance(a, d.Enum) and a.shape() == b.shape():
            yield f"{one.text} == {other.text}"

    def _member(self, kind: type[PythonEnum], member: PythonEnum) -> str:
        """Return how a member of an enumeration is written."""
        return f"{self.kind_names.get(kind, kind.__name__)}.{member.name}"


def _with_variables(condition: WrittenCondition, variables: Sequence[MemberVariable]) -> Iterator[str]:
    """Yield what an author wrote of parameters, said of variables that range over the same."""
    fitting = [[one.name for one in variables if one.kind is kind] for kind in condition.parameters.values()]
    for chosen in itertools.product(*fitting):
        if len(set(chosen)) == len(chosen):
            yield condition.said_of(dict(zip(condition.parameters, chosen, strict=True)))


def _domain_of(kind: type, model: Model) -> d.Domain:
    if issubclass(kind, Index):
        return d.Member(kind, model.b)
    numbers = _numbers(kind, model)
    assert numbers is not None, "variables range over sorts and ranges"
    return d.Int(numbers[0], numbers[-1])


def _numbers(kind: type, model: Model) -> range | None:
    return kind.numbers(model.b) if issubclass(kind, Range) else None


def _sort_of(domain: d.Domain) -> type[Index] | None:
    """Return the sort whose members, or none, are at a place."""
    of = domain.of if isinstance(domain, d.OptionalScalar) else domain
    return of.sort if isinstance(of, d.Member) and not issubclass(of.sort, Subset) else None


def _members_of_set(domain: d.Domain) -> type[Index] | None:
    """Return the sort of the members of the sets that are at a place; those of a set of sets are none."""
    if isinstance(domain, d.Member) and issubclass(domain.sort, Subset):
        return domain.sort.of
    return _sort_of(domain.of) if isinstance(domain, d.Set) else None


def _may_be_none(place: _Operand) -> bool:
    return isinstance(place.domain, d.OptionalScalar)


def _holds_records(place: _Operand) -> bool:
    return isinstance(place.domain, d.BitSet | d.ListedSet) and isinstance(place.domain.of, d.Record)


def _domains(domain: d.Domain) -> Iterator[d.Domain]:
    """Yield a domain and all within it."""
    yield domain
    inner: Mapping[str, d.Domain] = getattr(domain, "fields", {})
    for one in (*inner.values(), getattr(domain, "of", None)):
        if isinstance(one, d.Domain):
            yield from _domains(one)


# What a model compares: the numbers that places of its states are compared with, and the sorts whose order counts.


_MOST = 6
_ORDERS = (Op.LT, Op.LE, Op.MIN, Op.MAX)


@dataclass(frozen=True, slots=True)
class Compared:
    """What the guards, updates and properties of a model compare.

    Attributes:
        by_shape: for each domain of numbers, by its shape, those that its values are compared with.
        sorts: the sorts whose members are compared as to which is less.
    """

    by_shape: dict[tuple[object, ...], set[int]]
    sorts: frozenset[type]

    def numbers(self, domain: d.Int) -> list[int]:
        """Return the numbers of a domain to compare its values with: its least and greatest, and the model's own."""
        mine = self.by_shape.get(domain.shape(), set())
        return sorted({domain.lo, domain.hi, *sorted(n for n in mine if domain.lo < n < domain.hi)[:_MOST]})

    def ordered(self, sort: type | None) -> bool:
        """Return whether the model compares members of a sort as to which is less."""
        return sort in self.sorts


def compared(model: Model) -> Compared:
    """Return what a model's guards, updates and properties compare."""
    return kept_for(model, Compared, lambda: _compared(model))


def _compared(model: Model) -> Compared:
    program = model.program
    roots = [node for action in program.actions for node in action.guard]
    roots += [node for action in program.actions for _, node in action.updates]
    domains = list(cell_domains(model.state))
    by_shape: dict[tuple[object, ...], set[int]] = {}
    sorts: set[type] = set()
    for node in reachable([*roots, *judge(model, default_names(model)).nodes]):
        if node.op not in (*_ORDERS, Op.EQ):
            continue
        for one, other in (node.args, node.args[::-1]):
            for cell, more in _cells(one):
                domain = domains[cell]
                of = domain.of if isinstance(domain, d.OptionalScalar) else domain
                if isinstance(domain, d.Int) and other.op is Op.CONST:
                    by_shape.setdefault(domain.shape(), set()).add(other.lo - more + domain.lo)
                elif isinstance(of, d.Member) and node.op in _ORDERS:
                    sorts.add(of.sort)
    return Compared(by_shape, frozenset(sorts))


def _cells(node: Node) -> list[tuple[int, int]]:
    """Return the cells whose code, with a number added to it, is the value of a node."""
    more = 0
    if node.op is Op.ADD and node.args[1].op is Op.CONST:
        node, more = node.args[0], node.args[1].lo
    chosen = node.args[1:] if node.op is Op.SELECT else (node,)
    return [(int(str(one.arg)), more) for one in chosen if one.op is Op.CELL]
