"""Bounds and settings: the sizes that make a model finite, its other choices, and the values chosen for both.

A bound is a whole number with a default and a range. A setting, such as a release, is a member of a Python enumeration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, NoReturn, Protocol, TypeGuard, TypeVar

from insync.runtime.errors import ModelError, UserError, closest, shown, user_frame

__all__ = [
    "LEAST_OPEN",
    "Bound",
    "BoundTerm",
    "BoundValues",
    "Bounds",
    "Choice",
    "Setting",
    "Settings",
    "Switch",
    "bound",
    "choices",
    "choose",
    "default_of",
    "is_open",
    "is_whole",
    "range_of",
    "value_of",
]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bound:
    """One size of a model.

    Args:
        default: the value that holds when the user gives none.
        lowest: the least allowed value.
        highest: the greatest allowed value.
        doc: a description for the command line's help.
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
        """Check a given value of this bound and return it.

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
        settings: the chosen value of each setting.
    """

    __slots__ = ("_kinds", "_values", "settings")

    def __init__(self, values: Mapping[str, int], settings: SettingValues | None = None) -> None:
        self._values = dict(values)
        self._kinds: dict[type, Any] = {}  # the members of sorts and the like, which tracing reads again and again
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
    """Raise ModelError for the name of a bound or setting that cannot be an attribute of `BoundValues`."""
    if name.startswith("_") or hasattr(BoundValues, name):
        message = f"{user_frame()}: a {what} cannot be named {name!r}, for b.{name} means something else; rename it."
        raise ModelError(message)


# ---------------------------------------------------------------------------------------------------- terms over bounds
#
# Python runs the class body of a sort before a model has bounds, so the body names a bound in place of its value.


class BoundTerm:
    """A whole number that depends on the bounds; it can be added, subtracted, multiplied, and divided by `//`.

    Args:
        text: the term as it is written.
        value: a function from the bounds to the number.
    """

    __slots__ = ("_text", "_value")
    cure: ClassVar[str] = "It is for declaring sorts, ranges and Int; in the methods of a model write self.b.name."

    def __init__(self, text: str, value: Callable[[BoundValues], int]) -> None:
        self._text, self._value = text, value

    def value(self, bounds: BoundValues) -> int:
        """Return the number under these bounds."""
        return self._value(bounds)

    def __repr__(self) -> str:
        return self._text

    def _joined(self, sign: str, how: Callable[[int, int], int], a: object, b: object) -> BoundTerm:
        for part in (a, b):
            if not isinstance(part, BoundTerm) and not is_whole(part):
                message = (
                    f"{user_frame()}: {self!r} is calculated with whole numbers; give one in place of {shown(part)}."
                )
                raise ModelError(message)
        first, second = (f"({part!r})" if " " in repr(part) else repr(part) for part in (a, b))
        return BoundTerm(f"{first} {sign} {second}", lambda bounds: how(value_of(a, bounds), value_of(b, bounds)))

    def __add__(self, other: BoundTerm | int) -> BoundTerm:
        return self._joined("+", int.__add__, self, other)

    def __radd__(self, other: int) -> BoundTerm:
        return self._joined("+", int.__add__, other, self)

    def __sub__(self, other: BoundTerm | int) -> BoundTerm:
        return self._joined("-", int.__sub__, self, other)

    def __rsub__(self, other: int) -> BoundTerm:
        return self._joined("-", int.__sub__, other, self)

    def __mul__(self, other: BoundTerm | int) -> BoundTerm:
        return self._joined("*", int.__mul__, self, other)

    def __rmul__(self, other: int) -> BoundTerm:
        return self._joined("*", int.__mul__, other, self)

    def __floordiv__(self, other: int) -> BoundTerm:
        if not is_whole(other) or other < 1:
            message = f"{user_frame()}: {self!r} can be divided by a whole number from 1, not by {shown(other)}."
            raise ModelError(message)
        return self._joined("//", int.__floordiv__, self, other)

    def __bool__(self, *_: object) -> NoReturn:
        message = (
            f"{user_frame()}: {self!r} has no value before the bounds are chosen, so Python cannot decide with it; "
            f"use self.b, which has the chosen bounds in the methods of a model."
        )
        raise ModelError(message)

    __index__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__


def bound(name: str) -> BoundTerm:
    """Return a term for the value of a bound, to declare a sort, a range or an `Int` with.

    >>> class Worker(Index):
    ...     size = bound("workers")

    Args:
        name: the name of the bound.

    Raises:
        ModelError: it is not a name; or, when a model is traced, it has no such bound.
    """
    place = user_frame()
    if not isinstance(name, str):
        message = f"{place}: bound({shown(name)}): a bound is given by its name, as in bound('workers')."
        raise ModelError(message)

    def value(bounds: BoundValues) -> int:
        if name not in bounds:
            message = f"{place}: bound({name!r}): the model has no bound {name!r}. {closest(name, bounds)}"
            raise ModelError(message)
        return value_of(bounds[name], bounds)

    return BoundTerm(f"bound({name!r})", value)


LEAST_OPEN = 2**50 - 2**40
"""A size above this number depends on an open bound, one without a value; see `open_bounds`."""


def is_open(size: int) -> bool:
    """Return whether a size depends on an open bound."""
    return size > LEAST_OPEN


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def value_of(number: Any, bounds: BoundValues) -> int:
    """Return the value under bounds of a number or a term."""
    return number.value(bounds) if isinstance(number, BoundTerm) else int(number)


# ------------------------------------------------------------------------------------------------------------- settings


class Switch(Enum):
    """A setting that is on or off; in Python it is true or false."""

    OFF = "off"
    ON = "on"

    def __bool__(self) -> bool:
        return self is Switch.ON


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a model.

    Args:
        default: the member of an enumeration that holds when the user gives none. The values of the members must be
            strings: people write them on the command line and in files.
        doc: a description for the command line's help.
        unknown: a function that returns the advice about an unknown value; by default the advice is the nearest name.
        also: a function that returns the member that another spelling stands for; None for what stands for none.
    """

    default: Enum
    doc: str = ""
    unknown: Callable[[str], str] | None = None
    also: Callable[[str], Enum | None] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.default, Enum):
            message = (
                f"{user_frame()}: Setting({self.default!r}): the default must be a member of an enumeration, such as "
                f"Switch.OFF."
            )
            raise ModelError(message)
        for member in type(self.default):
            if not isinstance(member.value, str):
                message = (
                    f"{user_frame()}: Setting({self.default}): the value of {member} is {member.value!r}; it must be a "
                    f"string, which is how people write the setting."
                )
                raise ModelError(message)

    @property
    def names(self) -> tuple[str, ...]:
        """The string that each member is written as."""
        return tuple(member.value for member in type(self.default))

    def advice(self, given: str) -> str:
        """Return the advice about an unknown value."""
        return closest(given, self.names) if self.unknown is None else self.unknown(given)

    def member(self, given: str) -> Enum | None:
        """Return the member that is written so; None if none is."""
        if given in self.names:
            return type(self.default)(given)
        return None if self.also is None else self.also(given)

    def chosen(self, model: str, name: str, given: object) -> Enum:
        """Return the member that a given value is or names.

        Args:
            model: the name of the model, for messages.
            name: the name of the setting.
            given: a member of the enumeration, or its string.

        Raises:
            UserError: it is neither.
        """
        kind = type(self.default)
        if isinstance(given, kind):
            return given
        if isinstance(given, str):
            if (member := self.member(given)) is not None:
                return member
            message = f"{model}: {name}={given!r} is unknown. {self.advice(given)}"
            raise UserError(message)
        message = (
            f"{model}: the setting {name}={given!r} is of type {type(given).__name__}; it must be a member of "
            f"{kind.__name__}, or one of {', '.join(self.names)}."
        )
        raise UserError(message)


class Settings(Mapping[str, Setting]):
    """The settings that a model declares, by name, in the order in which they are shown.

    Args:
        settings: a `Setting` for each name, or the default alone.
    """

    __slots__ = ("_settings",)

    def __init__(self, **settings: Setting | Enum) -> None:
        for name in settings:
            refuse_name(name, "setting")
        self._settings = {
            name: given if isinstance(given, Setting) else Setting(given) for name, given in settings.items()
        }

    def __getitem__(self, name: str) -> Setting:
        return self._settings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)


def choose(model: str, settings: Settings, bounds: Bounds, given: Mapping[str, object]) -> BoundValues:
    """Return a value for every setting and bound: the given one where there is one, else the default.

    Raises:
        UserError: a name that the model does not have, a value of the wrong type or out of range.
    """
    for name in given:
        if name not in bounds and name not in settings:
            what = "bound or setting" if settings else "bound"
            message = f"{model} has no {what} {name!r}. {closest(name, [*settings, *bounds])}"
            raise UserError(message)
    chosen = {
        name: setting.chosen(model, name, given[name]) if name in given else setting.default
        for name, setting in settings.items()
    }
    sizes = {
        name: bound.chosen(model, name, given[name]) if name in given else bound.default
        for name, bound in bounds.items()
    }
    return BoundValues(sizes, SettingValues(chosen))


# The choices of a model: its settings and its bounds.


Choice = Bound | Setting


class _HasChoices(Protocol):
    bounds: ClassVar[Bounds]
    settings: ClassVar[Settings]


def choices(model: type[_HasChoices]) -> dict[str, Choice]:
    """Return the settings and then the bounds of a model, by name, in the order of reports."""
    return {**model.settings, **model.bounds}


def default_of(choice: Choice) -> int | str:
    """Return the default of a bound, or the name of that of a setting."""
    return str(choice.default.value) if isinstance(choice, Setting) else choice.default


def range_of(choice: Choice) -> str:
    """Return the values of a choice in words: `1 to 5`, or the names of a setting."""
    return ", ".join(choice.names) if isinstance(choice, Setting) else f"{choice.lowest} to {choice.highest}"
