"""Domains: the finite types of a state's fields, and how each lies in cells.

A cell holds a code, a whole number from 0. A scalar domain takes one cell; an option of a
scalar takes one cell whose code 0 is none; an option of a record takes a cell for its presence and
the record's cells, all 0 when it is absent, so that equal values always have equal codes. `bind`
fixes the sizes that depend on the bounds of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum as PythonEnum
from typing import Any, ClassVar, NoReturn

from insync.model.bounds import BoundValues
from insync.model.errors import ModelError, UserError, user_frame
from insync.model.graph import LARGEST_SET
from insync.model.sorts import Index
from insync.model.values import Bool

__all__ = [
    "Array",
    "Domain",
    "DomainLike",
    "Enum",
    "Int",
    "Option",
    "Readable",
    "ReadableState",
    "Record",
    "Scalar",
    "Set",
    "State",
    "as_domain",
]

Readable = Any
"""A value in plain Python: labels of members, None, names of an enumeration, lists, dicts, ints and bools."""

ReadableState = dict[str, Readable]
"""A state in plain Python: the value of each top-level field."""

DomainLike = Any
"""A domain, a sort (an `Index` class), a Python enumeration class, or `Bool`."""


class Domain:
    """The type of a field. After `bind`, `width` is how many cells a value takes."""

    width: int

    def bind(self, bounds: BoundValues) -> Domain:
        """Return this domain with every size known under the bounds."""
        raise NotImplementedError

    def cells(self, path: str) -> Iterator[tuple[str, int]]:
        """Yield the path and the number of codes of each cell, in order."""
        raise NotImplementedError

    def decode(self, codes: Sequence[int], at: int) -> Readable:
        """Return the readable value whose cells begin at a place of the codes."""
        raise NotImplementedError

    def encode(self, value: Readable, path: str) -> list[int]:
        """Return the codes of a readable value.

        Raises:
            UserError: the value is not in the domain; the message names the path.
        """
        raise NotImplementedError

    def _reject(self, value: Readable, path: str, expected: str) -> NoReturn:
        message = f"{path or 'state'}: {value!r} is not a value of this field; expected {expected}."
        raise UserError(message)


def as_domain(given: DomainLike) -> Domain:
    """Return the domain that was meant: a sort, an enumeration class and `Bool` stand for one."""
    if isinstance(given, Domain):
        return given
    if isinstance(given, type) and issubclass(given, Index):
        return Member(given)
    if isinstance(given, type) and issubclass(given, PythonEnum):
        return Enum(given)
    if given is Bool or given is bool:
        return Boolean()
    message = f"{user_frame()}: {given!r} is not a domain; use Bool, Int, Enum, a sort, Option, Set, Record or Array."
    raise ModelError(message)


class Scalar(Domain):
    """A domain of one cell, with `size` codes."""

    width = 1
    size: int

    def readable(self, code: int) -> Readable:
        """Return the readable value of a code."""
        raise NotImplementedError

    def code(self, value: Readable) -> int | None:
        """Return the code of a readable value, None when it has none."""
        raise NotImplementedError

    def expected(self) -> str:
        """Say in words which values there are."""
        shown = [str(self.readable(c)) for c in range(min(self.size, 9))]
        return "one of " + ", ".join(shown) + (", ..." if self.size > len(shown) else "")

    def bind(self, bounds: BoundValues) -> Scalar:
        return self

    def cells(self, path: str) -> Iterator[tuple[str, int]]:
        yield path, self.size

    def decode(self, codes: Sequence[int], at: int) -> Readable:
        return self.readable(codes[at])

    def encode(self, value: Readable, path: str) -> list[int]:
        code = self.code(value)
        return [code] if code is not None else self._reject(value, path, self.expected())


class Boolean(Scalar):
    """False or true."""

    size = 2

    def readable(self, code: int) -> bool:
        return bool(code)

    def code(self, value: Readable) -> int | None:
        return int(value) if isinstance(value, bool) else None


class Int(Scalar):
    """The whole numbers from lo to hi."""

    def __init__(self, lo: int, hi: int) -> None:
        if lo > hi:
            message = f"{user_frame()}: Int({lo}, {hi}) has no value; the first number must not be above the second."
            raise ModelError(message)
        if hi - lo >= 1 << LARGEST_SET:
            message = (
                f"{user_frame()}: Int({lo}, {hi}) has more than 2^{LARGEST_SET} values, too many for a field; "
                f"use smaller bounds."
            )
            raise ModelError(message)
        self.lo, self.hi, self.size = lo, hi, hi - lo + 1

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

    def readable(self, code: int) -> str:
        return self.names[code]

    def code(self, value: Readable) -> int | None:
        return self.names.index(value) if value in self.names else None


class Member(Scalar):
    """The members of a sort."""

    def __init__(self, sort: type[Index], bounds: BoundValues | None = None) -> None:
        self.sort = sort
        if bounds is not None:
            self.size = sort.size(bounds)

    def bind(self, bounds: BoundValues) -> Scalar:
        if self.sort.size(bounds) < 1:
            message = f"The sort {self.sort.__name__} has no member under {dict(bounds)}; its size must be at least 1."
            raise ModelError(message)
        return Member(self.sort, bounds)

    def readable(self, code: int) -> str:
        return self.sort.show(code)

    def code(self, value: Readable) -> int | None:
        return next((c for c in range(self.size) if self.sort.show(c) == value), None)


class Set(Scalar):
    """The sets of members of a sort (or of another scalar domain), as a bit mask."""

    def __init__(self, of: DomainLike) -> None:
        self.of = as_domain(of)

    def bind(self, bounds: BoundValues) -> Scalar:
        bound = Set(self.of.bind(bounds))
        if not isinstance(bound.of, Scalar) or bound.of.size > LARGEST_SET:
            what = f"has {bound.of.size} members" if isinstance(bound.of, Scalar) else "is not of one cell"
            message = (
                f"Set({_name(self.of)}) under {dict(bounds)}: its element domain {what}; a set can range over at most "
                f"{LARGEST_SET} members. Use smaller bounds."
            )
            raise ModelError(message)
        bound.size = 1 << bound.of.size
        return bound

    def _element(self) -> Scalar:
        assert isinstance(self.of, Scalar)
        return self.of

    def readable(self, code: int) -> list[Readable]:
        return [self._element().readable(i) for i in range(self._element().size) if code >> i & 1]

    def code(self, value: Readable) -> int | None:
        if not isinstance(value, list):
            return None
        codes = [self._element().code(member) for member in value]
        return sum({1 << c for c in codes if c is not None}) if None not in codes else None

    def expected(self) -> str:
        return f"a list of members, each {self._element().expected()}"


class Option(Domain):
    """A value or none."""

    def __init__(self, of: DomainLike) -> None:
        self.of = as_domain(of)

    def bind(self, bounds: BoundValues) -> Domain:
        inner = self.of.bind(bounds)
        if isinstance(inner, Scalar):
            return OptionalScalar(inner)
        if isinstance(inner, Record):
            bound = Option(inner)
            bound.width = 1 + inner.width
            return bound
        message = f"Option({_name(inner)}): only a domain of one cell or a record can be optional."
        raise ModelError(message)

    def cells(self, path: str) -> Iterator[tuple[str, int]]:
        yield path, 2
        yield from self.of.cells(path)

    def decode(self, codes: Sequence[int], at: int) -> Readable:
        return self.of.decode(codes, at + 1) if codes[at] else None

    def encode(self, value: Readable, path: str) -> list[int]:
        return [0] * self.width if value is None else [1, *self.of.encode(value, path)]


class OptionalScalar(Scalar):
    """A scalar or none, in one cell: code 0 is none, 1 + code is the value."""

    def __init__(self, of: Scalar) -> None:
        self.of, self.size = of, of.size + 1

    def readable(self, code: int) -> Readable:
        return None if code == 0 else self.of.readable(code - 1)

    def code(self, value: Readable) -> int | None:
        if value is None:
            return 0
        inner = self.of.code(value)
        return None if inner is None else inner + 1

    def expected(self) -> str:
        return f"null or {self.of.expected()}"


class Record(Domain):
    """Named fields."""

    opener: ClassVar[str] = "."

    def __init__(self, **fields: DomainLike) -> None:
        for name in fields:
            if name.startswith("_"):
                message = (
                    f"{user_frame()}: the field name {name!r} begins with an underscore; such names are not for fields."
                )
                raise ModelError(message)
        self.fields = {name: as_domain(domain) for name, domain in fields.items()}
        self.offsets: dict[str, int] = {}

    def bind(self, bounds: BoundValues) -> Record:
        bound = type(self)(**{name: domain.bind(bounds) for name, domain in self.fields.items()})
        at = 0
        for name, domain in bound.fields.items():
            bound.offsets[name] = at
            at += domain.width
        bound.width = at
        return bound

    def cells(self, path: str) -> Iterator[tuple[str, int]]:
        for name, domain in self.fields.items():
            yield from domain.cells(f"{path}{self.opener}{name}" if path else name)

    def decode(self, codes: Sequence[int], at: int) -> dict[str, Readable]:
        return {name: domain.decode(codes, at + self.offsets[name]) for name, domain in self.fields.items()}

    def encode(self, value: Readable, path: str) -> list[int]:
        if not isinstance(value, dict) or set(value) != set(self.fields):
            self._reject(value, path, f"an object with the fields {', '.join(self.fields)}")
        codes: list[int] = []
        for name, domain in self.fields.items():
            codes += domain.encode(value[name], f"{path}{self.opener}{name}" if path else name)
        return codes


class State(Record):
    """The fields of a model's state."""


class Array(Domain):
    """One value for each member of a sort, or for each of a number of places."""

    def __init__(self, over: type[Index] | int, of: DomainLike) -> None:
        self.over, self.of = over, as_domain(of)
        self.labels: list[str] = []

    def bind(self, bounds: BoundValues) -> Array:
        bound = Array(self.over, self.of.bind(bounds))
        if isinstance(self.over, int):
            bound.labels = [str(i) for i in range(self.over)]
        else:
            bound.labels = [self.over.show(i) for i in range(self.over.size(bounds))]
        bound.width = len(bound.labels) * bound.of.width
        return bound

    def cells(self, path: str) -> Iterator[tuple[str, int]]:
        for label in self.labels:
            yield from self.of.cells(f"{path}[{label}]")

    def decode(self, codes: Sequence[int], at: int) -> Readable:
        values = [self.of.decode(codes, at + i * self.of.width) for i in range(len(self.labels))]
        return values if isinstance(self.over, int) else dict(zip(self.labels, values, strict=True))

    def encode(self, value: Readable, path: str) -> list[int]:
        if isinstance(self.over, int):
            if not isinstance(value, list) or len(value) != len(self.labels):
                self._reject(value, path, f"a list of {len(self.labels)} values")
            values = value
        else:
            if not isinstance(value, dict) or set(value) != set(self.labels):
                self._reject(value, path, f"an object with the members {', '.join(self.labels)}")
            values = [value[label] for label in self.labels]
        codes: list[int] = []
        for label, one in zip(self.labels, values, strict=True):
            codes += self.of.encode(one, f"{path}[{label}]")
        return codes


def _name(domain: Domain) -> str:
    return domain.sort.__name__ if isinstance(domain, Member) else type(domain).__name__
