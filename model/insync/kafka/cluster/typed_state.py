"""The fields of the cluster's state, by what they are: numbers, offsets, epochs, sets of brokers and the like.

`insync.kafka.typed_state` says how a class declares a state.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

from insync.kafka.cluster.features import When, always
from insync.kafka.cluster.indices import LeaderEpoch, RecordNumber
from insync.kafka.replica import Replica
from insync.kafka.typed_state import Field, Fields, Of, Places, record_of
from insync.model import (
    Array,
    Bool,
    BoundValues,
    Condition,
    EnumValue,
    Index,
    Int,
    Num,
    Option,
    OptionValue,
    Set,
    SetValue,
)

__all__ = [
    "brokers",
    "epoch",
    "flag",
    "number",
    "numbers",
    "offset",
    "one_of",
    "optional",
    "optional_numbers",
    "part",
    "parts",
    "record_numbers",
]

R = TypeVar("R")


def number(says: str, of: Of, on: When = always) -> Field[Num, Num | int]:
    """Declare a number."""
    return Field(says, lambda b, _: of(b), on)


def offset(says: str, on: When = always) -> Field[Num, Num | int]:
    """Declare an offset of a log, or an end of one, which is exclusive."""
    return number(says, lambda b: Int(0, b.records), on)


def epoch(says: str, on: When = always) -> Field[Num, Num | int]:
    """Declare a leader epoch."""
    return number(says, lambda _: LeaderEpoch, on)


def flag(says: str, on: When = always) -> Field[Bool, Condition]:
    """Declare what holds or does not."""
    return Field(says, lambda *_: Bool, on)


def one_of(kind: type[Enum], says: str, on: When = always) -> Field[EnumValue, EnumValue | Enum]:
    """Declare which member of an enumeration holds."""
    return Field(says, lambda *_: kind, on)


def brokers(says: str, on: When = always) -> Field[SetValue, SetValue | set[Any]]:
    """Declare a set of brokers."""
    return Field(says, lambda *_: Set(Replica), on)


def record_numbers(says: str, on: When = always) -> Field[SetValue, SetValue | set[Any]]:
    """Declare a set of records."""
    return Field(says, lambda *_: Set(RecordNumber), on)


def optional(says: str, of: Of, on: When = always) -> Field[OptionValue, OptionValue | Num | int | None]:
    """Declare a number that there may be."""
    return Field(says, lambda b, _: Option(of(b)), on)


def numbers(
    says: str, over: Callable[[BoundValues], type[Index] | int], of: Of, on: When = always
) -> Field[Places[Num, Num | int], object]:
    """Declare a number for each place of an array."""
    return Field(says, lambda b, _: Array(over(b), of(b)), on)


def optional_numbers(
    says: str, over: Callable[[BoundValues], type[Index] | int], of: Of, on: When = always
) -> Field[Places[OptionValue, OptionValue | Num | int | None], object]:
    """Declare a number that there may be, for each place of an array."""
    return Field(says, lambda b, _: Array(over(b), Option(of(b))), on)


def part(says: str, kind: type[R], on: When = always) -> Field[R, R | Fields]:
    """Declare a record, whose fields are those of a class."""
    return Field(says, lambda b, features: record_of(kind, b, features), on, kind)


def parts(
    says: str, over: Callable[[BoundValues], type[Index] | int], kind: type[R], on: When = always
) -> Field[Places[R, R | Fields], object]:
    """Declare a record for each place of an array."""
    return Field(says, lambda b, features: Array(over(b), record_of(kind, b, features)), on, kind)
