"""The state, declared by classes: each attribute is a field, with its domain, its sentence and what it depends on.

Type checkers and editors read the fields and their types from such a class. It is never instantiated: at run time its
place is taken by the state of the language, whose fields `layout` makes of the class. The attributes are in the order
of the cells, and that order decides which of several least states a trace shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, Protocol, Self, TypeVar, overload

from insync.model import Absent, Bool, BoundValues, Num, Record

__all__ = ["Field", "Fields", "Maybe", "Of", "Places", "fields_of", "layout", "record_of"]

G = TypeVar("G")
P = TypeVar("P")
Read = TypeVar("Read", covariant=True)
Given = TypeVar("Given", contravariant=True)

Of = Callable[[BoundValues], Any]
"""Returns the domain of a field under bounds; a class of indexes is one."""

Fields = Mapping[str, object]
"""What `record` makes: the value of a record."""


class Places(Protocol[Read, Given]):
    """An array of the state: read as one type, assigned as another."""

    def __getitem__(self, index: Num | int, /) -> Read: ...
    def __setitem__(self, index: Num | int, value: Given, /) -> None: ...
    def __iter__(self) -> Iterator[Read]: ...
    def __len__(self) -> int: ...


class Maybe(Protocol[Read]):
    """A record of the state that there may be."""

    def is_some(self) -> Bool: ...
    def is_none(self) -> Bool: ...
    @property
    def value(self) -> Read: ...


class Field(Generic[G, P]):
    """A field: what it reads as, and what may be assigned to it.

    Args:
        says: what the field is, in words.
        of: returns its domain by the bounds and by what is in force.
        on: what it depends on, of what is in force; the state has it only where that holds.
        kind: the class whose fields its records have; None if it has none.
    """

    def __init__(
        self,
        says: str,
        of: Callable[[BoundValues, Any], Any],
        on: Callable[[Any], bool],
        kind: type | None = None,
    ) -> None:
        self.says, self.of, self.on, self.kind = says, of, on, kind
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, owner: None, kind: type, /) -> Self: ...
    @overload
    def __get__(self, owner: object, kind: type, /) -> G: ...
    def __get__(self, owner: object, kind: type, /) -> Any:
        assert owner is None, "a class of fields is never instantiated"
        return self

    def __set__(self, owner: object, value: P) -> None:
        """Say to type checkers what may be assigned."""


def fields_of(kind: type) -> dict[str, Field[Any, Any]]:
    """Return the fields that a class declares, in their order."""
    return {name: one for name, one in vars(kind).items() if isinstance(one, Field)}


def layout(kind: type, b: BoundValues, features: Any) -> dict[str, Any]:
    """Return the domain of each field of a class: absent where what it depends on does not hold."""
    return {name: Absent.unless(one.on(features), one.of(b, features)) for name, one in fields_of(kind).items()}


def record_of(kind: type, b: BoundValues, features: Any) -> Record:
    """Return the domain of records whose fields are those of a class."""
    return Record(**layout(kind, b, features))
