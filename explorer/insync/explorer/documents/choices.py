"""The choices of a model: its settings, by name, and its bounds."""

from __future__ import annotations

from insync.model import Bound, Model, Setting

__all__ = ["Choice", "choices", "default_of", "range_of"]

Choice = Bound | Setting


def choices(model: type[Model]) -> dict[str, Choice]:
    """Return the settings and then the bounds of a model, by name, in the order of reports."""
    return {**model.settings, **model.bounds}


def default_of(choice: Choice) -> int | str:
    """Return the default of a bound, or the name of that of a setting."""
    return str(choice.default.value) if isinstance(choice, Setting) else choice.default


def range_of(choice: Choice) -> str:
    """Return the values of a choice in words: `1 to 5`, or the names of a setting."""
    return ", ".join(choice.names) if isinstance(choice, Setting) else f"{choice.lowest} to {choice.highest}"
