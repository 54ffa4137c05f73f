"""Bounds: the sizes that make a model finite, with a default and a range each, and the values chosen for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from insync.model.errors import ModelError, UserError, closest, shown, user_frame

__all__ = ["Bound", "BoundValues", "Bounds", "SettingValues"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bound:
    """One size of a model.

    Args:
        default: the value when the user gives none.
        lowest: the least value allowed.
        highest: the greatest value allowed.
        doc: what it counts, for the command line's help.
    """

    default: int
    lowest: int
    highest: int
    doc: str = ""

    def __post_init__(self) -> None:
        for number in (self.default, self.lowest, self.highest):
            if isinstance(number, bool) or not isinstance(number, int):
                message = (
                    f"{user_frame()}: Bound(default, lowest, highest, doc) takes whole numbers, not {shown(number)}."
                )
                raise ModelError(message)
        if not self.lowest <= self.default <= self.highest:
            message = (
                f"{user_frame()}: Bound: the default {self.default} is outside {self.lowest}..{self.highest}; "
                f"write Bound(default, lowest, highest, doc)."
            )
            raise ModelError(message)

    def chosen(self, model: str, name: str, given: object) -> int:
        """Return a given value of this bound.

        Args:
            model: the name of the model, for messages.
            name: the name of the bound.
            given: the value.

        Raises:
            UserError: it is not a whole number in the range.
        """
        allowed = f"from {self.lowest} to {self.highest}"
        if isinstance(given, bool) or not isinstance(given, int):
            message = (
                f"{model}: the bound {name}={shown(given)} is of type {type(given).__name__}; "
                f"it must be a whole number {allowed}."
            )
            raise UserError(message)
        if not self.lowest <= given <= self.highest:
            message = f"{model}: the bound {name}={given} is out of range; it must be {allowed}."
            raise UserError(message)
        return given


class SettingValues(Mapping[str, Enum]):
    """The chosen member of each setting's enumeration: a mapping whose entries are attributes as well."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Enum]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Enum:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        return _entry(self._values, name, "setting")

    def __repr__(self) -> str:
        return f"SettingValues({self._values})"

    def __reduce__(self) -> tuple[type[SettingValues], tuple[dict[str, Enum]]]:
        return SettingValues, (self._values,)


class BoundValues(Mapping[str, int]):
    """The chosen value of each bound: a mapping whose entries are attributes as well.

    Attributes:
        settings: what is chosen for the settings.
    """

    __slots__ = ("_values", "settings")

    def __init__(self, values: Mapping[str, int], settings: SettingValues | None = None) -> None:
        self._values = dict(values)
        self.settings = SettingValues({}) if settings is None else settings

    def __getitem__(self, name: str) -> int:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> int:
        return _entry(self._values, name, "bound")

    def __repr__(self) -> str:
        return f"BoundValues({self._values}, {self.settings})"

    def __reduce__(self) -> tuple[type[BoundValues], tuple[dict[str, int], SettingValues]]:
        return BoundValues, (self._values, self.settings)


def _entry(values: Mapping[str, T], name: str, what: str) -> T:
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return values[name]
    except KeyError:
        message = f"{user_frame()}: the model has no {what} {name!r}. {closest(name, values)}"
        raise ModelError(message) from None


class Bounds(Mapping[str, Bound]):
    """The bounds that a model declares, by name, in the order in which they are shown."""

    __slots__ = ("_bounds",)

    def __init__(self, **bounds: Bound) -> None:
        for name, bound in bounds.items():
            refuse_name(name, "bound")
            if not isinstance(bound, Bound):
                message = (
                    f"{user_frame()}: the bound {name}={shown(bound)} must be Bound(default, lowest, highest, doc)."
                )
                raise ModelError(message)
        self._bounds = bounds

    def __getitem__(self, name: str) -> Bound:
        return self._bounds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._bounds)

    def __len__(self) -> int:
        return len(self._bounds)


def refuse_name(name: str, what: str) -> None:
    """Raise ModelError for the name of a bound or setting that could not be read as an attribute of the chosen ones."""
    if name.startswith("_") or hasattr(BoundValues, name):
        message = f"{user_frame()}: a {what} cannot be named {name!r}, for b.{name} means something else; rename it."
        raise ModelError(message)
