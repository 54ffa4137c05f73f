"""Bounds: the sizes that make a model finite, with a default and a range each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from insync.model.errors import ModelError, UserError, closest, user_frame

__all__ = ["Bound", "BoundValues", "Bounds", "Choice", "Chosen", "written"]


@dataclass(frozen=True, slots=True)
class Bound:
    """One size of a model.

    Args:
        default: the value when the user gives none.
        lowest: the least value allowed.
        highest: the greatest value allowed.
        doc: what it counts, for the command line's help.
        names: what its values are called, from `lowest` on, where they are not numbers to the user (see `Choice`).
    """

    default: int
    lowest: int
    highest: int
    doc: str = ""
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for number in (self.default, self.lowest, self.highest):
            if isinstance(number, bool) or not isinstance(number, int):
                message = f"{user_frame()}: Bound(default, lowest, highest, doc) takes whole numbers, not {number!r}."
                raise ModelError(message)
        if not self.lowest <= self.default <= self.highest:
            message = (
                f"{user_frame()}: Bound: the default {self.default} is outside {self.lowest}..{self.highest}; "
                f"write Bound(default, lowest, highest, doc)."
            )
            raise ModelError(message)

    def show(self, value: int) -> str:
        """Return what a value is called."""
        return self.names[value - self.lowest] if self.names else str(value)

    def allowed(self) -> str:
        """Say which values there are."""
        return f"one of {', '.join(self.names)}" if self.names else f"from {self.lowest} to {self.highest}"


class Choice(Bound):
    """A setting that has named values, such as a release; within the model it is the place of the name, from 0.

    Args:
        default: the name of the default.
        names: every name.
        doc: what it decides, for the command line's help.
    """

    __slots__ = ()

    def __init__(self, default: str, names: Sequence[str], doc: str = "") -> None:
        if default not in names:
            message = f"{user_frame()}: Choice: the default {default!r} is not among {', '.join(names)}."
            raise ModelError(message)
        super().__init__(names.index(default), 0, len(names) - 1, doc, tuple(names))


class Chosen(int):
    """The value of a `Choice`: a number to the model, which shows its name to people."""

    name: str

    def __new__(cls, value: int, name: str) -> Chosen:
        """Make the number and give it its name."""
        made = super().__new__(cls, value)
        made.name = name
        return made

    def __reduce__(self) -> tuple[type[Chosen], tuple[int, str]]:
        return Chosen, (int(self), self.name)

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)


def written(bounds: Mapping[str, int | str]) -> dict[str, int | str]:
    """Return bounds as files hold them: numbers, and the names of choices; `Bounds.values_for` takes both back."""
    return {name: value.name if isinstance(value, Chosen) else value for name, value in bounds.items()}


class BoundValues(Mapping[str, int]):
    """The chosen value of each bound: a mapping whose entries are attributes as well."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, int]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> int:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> int:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            message = f"{user_frame()}: the model has no bound {name!r}. {closest(name, self._values)}"
            raise ModelError(message) from None

    def __repr__(self) -> str:
        return f"BoundValues({self._values})"

    def __reduce__(self) -> tuple[type[BoundValues], tuple[dict[str, int]]]:
        return BoundValues, (self._values,)


class Bounds(Mapping[str, Bound]):
    """The bounds that a model declares, by name, in the order in which they are shown."""

    __slots__ = ("_bounds",)

    def __init__(self, **bounds: Bound) -> None:
        for name, bound in bounds.items():
            if name.startswith("_") or hasattr(Mapping, name):
                message = (
                    f"{user_frame()}: a bound cannot be named {name!r}, for b.{name} means something else; rename it."
                )
                raise ModelError(message)
            if not isinstance(bound, Bound):
                message = f"{user_frame()}: the bound {name}={bound!r} must be Bound(default, lowest, highest, doc)."
                raise ModelError(message)
        self._bounds = bounds

    def __getitem__(self, name: str) -> Bound:
        return self._bounds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._bounds)

    def __len__(self) -> int:
        return len(self._bounds)

    def values_for(self, model: str, given: Mapping[str, object]) -> BoundValues:
        """Return a value for every bound: the given one where there is one, else the default.

        Raises:
            UserError: a name that is no bound of the model, a value of the wrong type or out of range.
        """
        values = {name: _named(bound, bound.default) for name, bound in self._bounds.items()}
        for name, value in given.items():
            if name not in self._bounds:
                message = f"{model} has no bound {name!r}. {closest(name, self._bounds)}"
                raise UserError(message)
            values[name] = _named(self._bounds[name], _number(model, name, self._bounds[name], value))
        return BoundValues(values)


def _named(bound: Bound, value: int) -> int:
    return Chosen(value, bound.show(value)) if bound.names else value


def _number(model: str, name: str, bound: Bound, value: object) -> int:
    if isinstance(value, str) and bound.names:
        if value in bound.names:
            return bound.lowest + bound.names.index(value)
        message = f"{model}: {name}={value!r} is unknown. {closest(value, bound.names)}"
        raise UserError(message)
    if isinstance(value, bool) or not isinstance(value, int):
        kind = type(value).__name__
        message = f"{model}: the bound {name}={value!r} is of type {kind}; it must be a whole number {bound.allowed()}."
        raise UserError(message)
    if not bound.lowest <= value <= bound.highest:
        message = f"{model}: the bound {name}={value} is out of range; it must be {bound.allowed()}."
        raise UserError(message)
    return value
