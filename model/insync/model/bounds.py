"""Bounds: the sizes that make a model finite, with a default and a range each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from insync.model.errors import ModelError, UserError, closest

__all__ = ["Bound", "BoundValues", "Bounds"]


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
        if not self.lowest <= self.default <= self.highest:
            message = f"Bound: the default {self.default} is outside {self.lowest}..{self.highest}."
            raise ModelError(message)


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
            message = f"The model has no bound {name!r}. {closest(name, self._values)}"
            raise ModelError(message) from None

    def __repr__(self) -> str:
        return f"BoundValues({self._values})"

    def __reduce__(self) -> tuple[type[BoundValues], tuple[dict[str, int]]]:
        return BoundValues, (self._values,)


class Bounds(Mapping[str, Bound]):
    """The bounds that a model declares, by name, in the order in which they are shown."""

    __slots__ = ("_bounds",)

    def __init__(self, **bounds: Bound) -> None:
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
        values = {name: bound.default for name, bound in self._bounds.items()}
        for name, value in given.items():
            if name not in self._bounds:
                message = f"{model} has no bound {name!r}. {closest(name, self._bounds)}"
                raise UserError(message)
            bound = self._bounds[name]
            if isinstance(value, bool) or not isinstance(value, int):
                message = (
                    f"{model}: the bound {name}={value!r} is of type {type(value).__name__}; it must be a whole number "
                    f"from {bound.lowest} to {bound.highest}."
                )
                raise UserError(message)
            if not bound.lowest <= value <= bound.highest:
                allowed = f"from {bound.lowest} to {bound.highest}"
                message = f"{model}: the bound {name}={value} is out of range; it must be {allowed}."
                raise UserError(message)
            values[name] = value
        return BoundValues(values)
