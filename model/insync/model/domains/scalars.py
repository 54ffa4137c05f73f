"""Domains of one cell: numbers, conditions, enumerations, members of sorts, sets, and optional values of these.

A cell holds a code, a whole number from 0. `lift` turns a code into the symbolic value that an author handles, and
`lower` turns an assigned value into a code. `bind` fixes the sizes that depend on the bounds of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum as PythonEnum
from enum import Flag
from typing import Any

from insync.model.domains.bounds import BoundTerm, BoundValues, is_whole, value_of
from insync.model.domains.domain import Domain, DomainLike, Leaf, Readable, Step
from insync.model.domains.sorts import Index, Range
from insync.model.domains.symbolic import for_member
from insync.model.domains.values import (
    Bool,
    EnumValue,
    Nothing,
    Num,
    OptionValue,
    SetValue,
    condition,
    mask,
    number,
    of_graph,
)
from insync.model.expressions.graph import LARGEST_SET, Node, Op
from insync.model.expressions.simplify import apply
from insync.model.expressions.store import Environment
from insync.runtime.errors import ModelError, shown, user_frame

__all__ = [
    "Boolean",
    "Domain",
    "DomainLike",
    "Enum",
    "Int",
    "Member",
    "OptionalScalar",
    "Readable",
    "Scalar",
    "Set",
    "as_domain",
    "name_of",
]


def as_domain(given: DomainLike) -> Domain:
    """Return a domain as it is, and the domain of a sort, a range, an enumeration class or `Bool`."""
    if isinstance(given, Domain):
        return given
    if isinstance(given, type) and issubclass(given, Index):
        return Member(given)
    if isinstance(given, type) and issubclass(given, Range) and given is not Range:
        found = Int(given.lo, given.hi)
        found.range_name = given.__name__
        return found
    if isinstance(given, type) and issubclass(given, PythonEnum):
        return Enum(given)
    if given is Bool or given is bool:
        return Boolean()
    if isinstance(given, type) and issubclass(given, Domain):
        message = f"{user_frame()}: {given.__name__} needs its arguments in parentheses to be a domain."
        raise ModelError(message)
    message = (
        f"{user_frame()}: {shown(given)} is not a domain; use Bool, Int, Enum, a sort, a range, Option, Set, Record, "
        f"Array, Seq, Bag or SetOf."
    )
    raise ModelError(message)


class Scalar(Domain):
    """A domain of one cell.

    Attributes:
        size: the number of codes.
        first: the number that code 0 stands for; None where the values are not numbers.
        sort: the sort whose members are the values, if there is one.
    """

    width = 1
    size: int
    first: int | None = None
    sort: type[Index] | None = None

    def lift(self, code: Node) -> Any:
        """Return the symbolic value that a code stands for."""
        raise NotImplementedError

    def lower(self, env: Environment, value: object, path: str) -> Node:
        """Return the code of an assigned value; the caller checks that the code is below `size`.

        Args:
            env: the store that records the conditions under which the value fits.
            value: the value.
            path: the field that it is assigned to, for messages.

        Raises:
            ModelError: the value is of another type.
        """
        raise NotImplementedError

    def readable(self, code: int) -> Readable:
        """Return the readable value of a code."""
        raise NotImplementedError

    def code(self, value: Readable) -> int | None:
        """Return the code of a readable value; None for a value that is not in the domain."""
        raise NotImplementedError

    def expected(self) -> str:
        """Return a description of the values, for messages."""
        if not self.size and self.sort is not None:
            return f"a member of {self.sort.__name__}, which has none"
        shown = [str(self.readable(c)) for c in range(min(self.size, 9))]
        return "one of " + ", ".join(shown) + (", ..." if self.size > len(shown) else "")

    def bind(self, bounds: BoundValues) -> Scalar:
        return self

    def number_of_values(self) -> int:
        return self.size

    def values(self) -> Iterator[tuple[int, ...]]:
        return ((code,) for code in range(self.size))

    def leaves(self, steps: tuple[Step, ...] = ()) -> Iterator[Leaf]:
        yield Leaf(steps, self)

    def decode(self, codes: Sequence[int], at: int) -> Readable:
        return self.readable(codes[at])

    def decode_after(self, codes: Sequence[int], at: int, former: Sequence[int], value: Readable) -> Readable:
        return value if codes[at] == former[at] else self.readable(codes[at])

    def encode(self, value: Readable, path: str) -> list[int]:
        code = self.code(value)
        return [code] if code is not None else self._reject(value, path, self.expected())


class Boolean(Scalar):
    """False or true."""

    size = 2

    def lift(self, code: Node) -> Bool:
        return Bool(apply(Op.EQ, code, code.graph.const(1)))

    def lower(self, env: Environment, value: object, path: str) -> Node:
        graph = env.graph
        if isinstance(value, int | str) and not isinstance(value, bool):
            message = f"{user_frame()}: {value!r} cannot be the value of {path}; write True, False or a condition."
            raise ModelError(message)
        return apply(Op.ITE, condition(graph, value, path), graph.const(1), graph.const(0))

    def shape(self) -> tuple[object, ...]:
        return (bool,)

    def readable(self, code: int) -> bool:
        return bool(code)

    def code(self, value: Readable) -> int | None:
        return int(value) if isinstance(value, bool) else None


class Int(Scalar):
    """The whole numbers from `lo` to `hi`; each of the two is a number or a term over bounds."""

    lo: int
    hi: int
    range_name = ""
    """The name of the range that has these numbers, if there is one."""

    def __init__(self, lo: int | BoundTerm, hi: int | BoundTerm, *, place: str | None = None) -> None:
        place = self.place = place or user_frame()
        self.ends = lo, hi
        for end in self.ends:
            if not isinstance(end, BoundTerm) and not is_whole(end):
                message = f"{place}: Int({lo!r}, {hi!r}) needs two whole numbers; {shown(end)} is not one."
                raise ModelError(message)
        if isinstance(lo, BoundTerm) or isinstance(hi, BoundTerm):
            return  # `bind` makes the domain whose ends are known
        if lo > hi:
            message = f"{place}: Int({lo}, {hi}) has no value; the first number must not be above the second."
            raise ModelError(message)
        if hi - lo >= 1 << LARGEST_SET:
            message = (
                f"{place}: Int({lo}, {hi}) has more than 2^{LARGEST_SET} values, too many for a field; "
                f"use smaller bounds."
            )
            raise ModelError(message)
        self.lo, self.hi, self.size = lo, hi, hi - lo + 1
        self.first = lo

    def bind(self, bounds: BoundValues) -> Int:
        lo, hi = (value_of(end, bounds) for end in self.ends)
        if lo > hi:
            what = self.range_name or f"Int({self.ends[0]!r}, {self.ends[1]!r})"
            message = (
                f"{self.place}: {what} goes from {lo} to {hi} under {dict(bounds)}, so it has no value. A field or a "
                f"choice needs one: give a larger bound, or leave it out where there is none."
            )
            raise ModelError(message)
        return Int(lo, hi, place=self.place)

    def lift(self, code: Node) -> Num:
        return Num(apply(Op.ADD, code, code.graph.const(self.lo)))

    def lower(self, env: Environment, value: object, path: str) -> Node:
        return apply(Op.ADD, number(env.graph, value, field=path), env.graph.const(-self.lo))

    def shape(self) -> tuple[object, ...]:
        return (int, self.lo, self.hi)

    def readable(self, code: int) -> int:
        return self.lo + code

    def code(self, value: Readable) -> int | None:
        good = isinstance(value, int) and not isinstance(value, bool) and self.lo <= value <= self.hi
        return value - self.lo if good else None

    def expected(self) -> str:
        return f"a whole number from {self.lo} to {self.hi}"


class Enum(Scalar):
    """The members of a Python enumeration, in order of definition."""

    def __init__(self, kind: type[PythonEnum]) -> None:
        self.kind, self.names = kind, [member.name for member in kind]
        self.size = len(self.names)
        if issubclass(kind, Flag):
            message = (
                f"{user_frame()}: {kind.__name__} is an enum.Flag, whose members combine; a field holds one member. "
                f"Declare it as an enum.Enum, or a Bool for each flag, or Array({kind.__name__}, Bool)."
            )
            raise ModelError(message)
        if not self.names:
            message = f"{user_frame()}: the enumeration {kind.__name__} has no member; a field needs one."
            raise ModelError(message)

    def lift(self, code: Node) -> EnumValue:
        return EnumValue(code, self.kind)

    def lower(self, env: Environment, value: object, path: str) -> Node:
        if isinstance(value, EnumValue) and value.kind is self.kind:
            return of_graph(env.graph, value)
        if isinstance(value, self.kind):
            return env.graph.const(self.names.index(value.name))
        message = (
            f"{user_frame()}: {shown(value)} cannot be the value of {path}; expected a member of {self.kind.__name__}. "
            f"{for_member(self.kind, value)}"
        )
        raise ModelError(message)

    def shape(self) -> tuple[object, ...]:
        return (self.kind,)

    def readable(self, code: int) -> str:
        return self.names[code]

    def code(self, value: Readable) -> int | None:
        return self.names.index(value) if value in self.names else None


class Member(Scalar):
    """The members of a sort."""

    first = 0
    sort: type[Index]

    def __init__(self, sort: type[Index], bounds: BoundValues | None = None) -> None:
        self.sort, self.place = sort, user_frame()
        if bounds is not None:
            self.size = value_of(sort.size(bounds), bounds)

    def bind(self, bounds: BoundValues) -> Scalar:
        size = value_of(self.sort.size(bounds), bounds)
        if not 0 <= size <= 1 << LARGEST_SET:
            message = (
                f"{self.place}: the sort {self.sort.__name__} has {size} members under {dict(bounds)}; "
                f"a sort has none or more, and at most 2^{LARGEST_SET}."
            )
            raise ModelError(message)
        bound = Member(self.sort, bounds)
        bound.place = self.place
        return bound

    def without_members(self) -> Scalar | None:
        return self if self.size == 0 else None

    def lift(self, code: Node) -> Num:
        return Num(code, self.sort)

    def lower(self, env: Environment, value: object, path: str) -> Node:
        return number(env.graph, value, self.sort, path)

    def shape(self) -> tuple[object, ...]:
        return (self.sort, self.size)

    def readable(self, code: int) -> str:
        return self.sort.show(code)

    def code(self, value: Readable) -> int | None:
        return next((c for c in range(self.size) if self.sort.show(c) == value), None)


class Set(Scalar):
    """The sets of members of a sort, or of the whole numbers Int(0, n), as a bit mask."""

    of: Member | Int

    def __init__(self, of: DomainLike) -> None:
        element = as_domain(of)
        self.place = user_frame()
        if not isinstance(element, Member) and not (isinstance(element, Int) and element.ends[0] == 0):
            message = (
                f"{self.place}: Set({name_of(element)}): the elements of a set are the members of a sort "
                f"or Int(0, n). For sets of sets, declare `class Sets(Subset, of=Sort)` and write Set(Sets)."
            )
            raise ModelError(message)
        self.of = element

    def bind(self, bounds: BoundValues) -> Scalar:
        bound = Set(self.of.bind(bounds))
        if bound.of.size > LARGEST_SET:
            message = (
                f"{self.place}: Set({name_of(self.of)}) ranges over {bound.of.size} members under {dict(bounds)}; "
                f"a set can range over at most {LARGEST_SET}. Use smaller bounds."
            )
            raise ModelError(message)
        bound.size = 1 << bound.of.size
        return bound

    def lift(self, code: Node) -> SetValue:
        return SetValue(code, self.elements(), self.of.sort)

    def lower(self, env: Environment, value: object, path: str) -> Node:
        return mask(env.graph, value, self.of.sort, path)

    def shape(self) -> tuple[object, ...]:
        return (set, *self.of.shape())

    def elements(self) -> tuple[int, ...]:
        """Return the possible members of the set."""
        return tuple(range(self.of.size) if isinstance(self.of, Int) else map(self.of.sort, range(self.of.size)))

    def readable(self, code: int) -> list[Readable]:
        return [self.of.readable(i) for i in range(self.of.size) if code >> i & 1]

    def code(self, value: Readable) -> int | None:
        if not isinstance(value, list):
            return None
        codes = [self.of.code(member) for member in value]
        return sum({1 << c for c in codes if c is not None}) if None not in codes else None

    def expected(self) -> str:
        return f"a list of members, each {self.of.expected()}"


class OptionalScalar(Scalar):
    """A scalar or none, in one cell: code 0 is none, 1 + code is the value."""

    def __init__(self, of: Scalar) -> None:
        self.of, self.size = of, of.size + 1

    def lift(self, code: Node) -> OptionValue:
        return OptionValue(self, code)

    def lower(self, env: Environment, value: object, path: str) -> Node:
        graph = env.graph
        if isinstance(value, Nothing) or value is None:
            return graph.const(0)
        if isinstance(value, OptionValue) and value._domain.shape() == self.shape():
            return of_graph(graph, value)
        inner = self.of.lower(env, value, path)
        # A code of -1 would become the code of none; the caller checks that the code is not too large.
        env.expect(apply(Op.LE, graph.const(0), inner), f"the value assigned to {path} is not {self.expected()}.")
        return apply(Op.ADD, inner, graph.const(1))

    def shape(self) -> tuple[object, ...]:
        return (None, *self.of.shape())

    def readable(self, code: int) -> Readable:
        return None if code == 0 else self.of.readable(code - 1)

    def code(self, value: Readable) -> int | None:
        if value is None:
            return 0
        inner = self.of.code(value)
        return None if inner is None else inner + 1

    def expected(self) -> str:
        return f"NONE or {self.of.expected()}"

    def encode(self, value: Readable, path: str) -> list[int]:
        code = self.code(value)
        return [code] if code is not None else self._reject(value, path, f"null or {self.of.expected()}")


def name_of(domain: Domain) -> str:
    """Return the name by which an author declares the domain."""
    if isinstance(domain, Member):
        return domain.sort.__name__
    return str(getattr(domain, "called", type(domain).__name__))
