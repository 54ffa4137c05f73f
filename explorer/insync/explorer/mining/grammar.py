"""The grammar of candidates for lemmas: prefixes of quantified variables, and the atoms over them.

An atom is a text in the language of typed conditions over the variables of a prefix. The first atoms are the author's
conditions in guards and properties. Others compare two places of a state, or a place with a variable, a member of an
enumeration, none, or a number that the model compares such places with.
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
from insync.model.domains.sorts import Index, Parameter, Range, Subset, members_of, number_of_members
from insync.model.expressions.graph import Node, Op, reachable
from insync.properties.invariants import kept_for
from insync.properties.registry import default_names, judge

__all__ = ["MOST_ATOMS", "Binding", "Prefix", "atoms_of", "prefixes_of"]


Binding = dict[str, Parameter]
"""The member of each variable."""

MOST_ATOMS = 120
"""The most atoms of one prefix; only a model with a long state has more."""

_MOST_MEMBERS = 16
_MOST_BINDINGS = 128
_FEW_PLACES = 2


@dataclass(frozen=True, slots=True)
class MemberVariable:
    """A variable: its name, its range, and the name of this range in conditions."""

    name: str
    kind: type
    kind_name: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """The universally quantified variables of a candidate."""

    variables: tuple[MemberVariable, ...]

    def bindings(self, model: Model) -> list[Binding]:
        """Return every choice of members."""
        members = [members_of(variable.kind, model.b) for variable in self.variables]
        names = [variable.name for variable in self.variables]
        return [dict(zip(names, values, strict=True)) for values in itertools.product(*members)]

    def said_of_all(self, body: str) -> str:
        """Return the condition that `body` holds for all members of the variables."""
        if not self.variables:
            return body
        kinds = ", ".join(variable.kind_name for variable in self.variables)
        return f"for_all({kinds}, lambda {', '.join(variable.name for variable in self.variables)}: {body})"

    def renamings(self) -> list[dict[str, str]]:
        """Return the permutations of variables of one kind, without the identity."""
        names = [variable.name for variable in self.variables]
        kinds = [variable.kind for variable in self.variables]
        orders = itertools.permutations(range(len(names)))
        alike = [order for order in orders if [kinds[at] for at in order] == kinds]
        return [dict(zip(names, [names[at] for at in order], strict=True)) for order in alike[1:]]


def prefixes_of(model: Model) -> list[Prefix]:
    """Return the prefixes of a model's candidates: without a variable, with one or two, and for pairs of elements."""
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
    """Yield the kinds in two elements of a collection of records that differ in one field, as two votes of a voter."""
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
    """Return a variable of each kind, named after the kind, with a name that conditions do not use yet."""
    found: list[MemberVariable] = []
    for kind_name, kind in chosen:
        own = kind_name.lower()
        used = {*taken, *(one.name for one in found)}
        names = (f"{word}{own}{'_' * more}" for more in count() for word in ("", "a_", "other_", "another_"))
        found.append(MemberVariable(next(name for name in names if name not in used), kind, kind_name))
    return tuple(found)


def atoms_of(model: Model, prefix: Prefix) -> list[str]:
    """Return the atoms over the variables of a prefix, each once, the author's own conditions first."""
    said = _Phrases(model, prefix)
    return list(dict.fromkeys(itertools.chain(said.written(), said.of_variables(), said.of_places(), said.of_pairs())))


@dataclass(frozen=True, slots=True)
class _Operand:
    """A place in a state, or a variable: its text and its domain."""

    text: str
    domain: d.Domain


class _Phrases:
    """The atoms over the variables of a prefix."""

    def __init__(self, model: Model, prefix: Prefix) -> None:
        self.model, self.prefix, self.compared = model, prefix, compared(model)
        self.names = ConditionNames(model)
        self.kind_names = {kind: name for name, kind in reversed(self.names.kinds.items())}
        every = [_Operand(text, domain) for text, domain in self._within(model.state, "")]
        self.places = every if len(prefix.variables) <= 2 else [place for place in every if _holds_records(place)]
        self.own = [_Operand(variable.name, _domain_of(variable.kind, model)) for variable in prefix.variables]

    def written(self) -> Iterator[str]:
        """Yield the author's conditions in guards and properties, over these variables."""
        for condition in written_conditions(self.model):
            yield from _with_variables(condition, self.prefix.variables)

    def of_variables(self) -> Iterator[str]:
        for one, other in itertools.combinations(self.own, 2):
            yield from self._two(one, other)

    def of_places(self) -> Iterator[str]:
        """Yield the atoms of a single place, or of a place and a variable."""
        for place in self.places:
            yield from self._one(place)
            for own in self.own:
                yield from self._two(place, own)

    def of_pairs(self) -> Iterator[str]:
        for one, other in itertools.combinations(self.places, 2):
            yield from self._two(one, other)

    def _within(self, domain: d.Domain, path: str) -> Iterator[tuple[str, d.Domain]]:
        """Yield the places of a value with their domains; variables are the indexes of its arrays."""
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
        """Yield that a collection contains a record made of variables and other places."""
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
        """Return the text of a member of an enumeration."""
        return f"{self.kind_names.get(kind, kind.__name__)}.{member.name}"


def _with_variables(condition: WrittenCondition, variables: Sequence[MemberVariable]) -> Iterator[str]:
    """Yield a condition from the source with variables of the same range in place of its parameters."""
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
    """Return the sort of the members at a place, which may be optional; None if there are no members."""
    of = domain.of if isinstance(domain, d.OptionalScalar) else domain
    return of.sort if isinstance(of, d.Member) and not issubclass(of.sort, Subset) else None


def _members_of_set(domain: d.Domain) -> type[Index] | None:
    """Return the sort of the members of the sets at a place; None for sets of sets and other values."""
    if isinstance(domain, d.Member) and issubclass(domain.sort, Subset):
        return domain.sort.of
    return _sort_of(domain.of) if isinstance(domain, d.Set) else None


def _may_be_none(place: _Operand) -> bool:
    return isinstance(place.domain, d.OptionalScalar)


def _holds_records(place: _Operand) -> bool:
    return isinstance(place.domain, d.BitSet | d.ListedSet) and isinstance(place.domain.of, d.Record)


def _domains(domain: d.Domain) -> Iterator[d.Domain]:
    """Yield a domain and all domains within it."""
    yield domain
    inner: Mapping[str, d.Domain] = getattr(domain, "fields", {})
    for one in (*inner.values(), getattr(domain, "of", None)):
        if isinstance(one, d.Domain):
            yield from _domains(one)


# ------------------------------------------------------------------------------------------- comparisons of the model


_MOST = 6
_ORDERS = (Op.LT, Op.LE, Op.MIN, Op.MAX)


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparisons in the guards, updates and properties of a model.

    Attributes:
        by_shape: the numbers that values of each domain of numbers are compared with, by the domain's shape.
        sorts: the sorts whose members are compared by their order.
    """

    by_shape: dict[tuple[object, ...], set[int]]
    sorts: frozenset[type]

    def numbers(self, domain: d.Int) -> list[int]:
        """Return the numbers to compare values of a domain with: its least and greatest, and those of the model."""
        mine = self.by_shape.get(domain.shape(), set())
        return sorted({domain.lo, domain.hi, *sorted(n for n in mine if domain.lo < n < domain.hi)[:_MOST]})

    def ordered(self, sort: type | None) -> bool:
        """Return whether the model compares members of a sort by their order."""
        return sort in self.sorts


def compared(model: Model) -> Compared:
    """Return the comparisons in a model's guards, updates and properties."""
    return kept_for(model, Compared, lambda: _compared(model))


def _compared(model: Model) -> Compared:
    program = model.program
    roots = [node for action in program.actions for node in action.guard]
    roots += [node for action in program.actions for _, node in action.updates]
    domains = [leaf.domain for leaf in model.state.leaves()]
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
    """Return the cells whose code plus an offset may be the value of a node, with the offset."""
    more = 0
    if node.op is Op.ADD and node.args[1].op is Op.CONST:
        node, more = node.args[0], node.args[1].lo
    chosen = node.args[1:] if node.op is Op.SELECT else (node,)
    return [(one.cell, more) for one in chosen if one.op is Op.CELL]
