"""What a model lets its user choose: its settings, by what they are called, and its bounds."""

from __future__ import annotations

from insync.model import Bound, Model, Setting

__all__ = ["Choice", "choices", "default_of", "range_of"]

Choice = Bound | Setting


def choices(model: type[Model]) -> dict[str, Choice]:
    """Return the settings and the bounds of a model, by name, in the order in which they are shown."""
    return {**model.settings, **model.bounds}


def default_of(choice: Choice) -> int | str:
    """Return the default of a bound, or how that of a setting is written."""
    return str(choice.default.value) if isinstance(choice, Setting) else choice.default


def range_of(choice: Choice) -> str:
    """Return what can be chosen, in words: `1 to 5`, or the names of a setting."""
    return ", ".join(choice.names) if isinstance(choice, Setting) else f"{choice.lowest} to {choice.highest}"
