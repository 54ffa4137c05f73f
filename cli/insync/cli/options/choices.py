"""The options for what a model lets its user choose: its settings, by what they are called, and its bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from insync.cli.options.values import Named, Whole
from insync.model import Bound, Model, Setting

__all__ = ["Choice", "choice_options", "choices", "default_of", "each_choice", "option_name", "range_of"]

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


def option_name(choice: str, taken: set[str]) -> str:
    """Return the option for a choice: `--log-size`, or `--bound-depth` when the command has a `--depth` itself."""
    name = "--" + choice.replace("_", "-")
    return f"--bound-{name[2:]}" if name in taken else name


def choice_options(model: type[Model], taken: set[str], chosen: dict[str, int | str]) -> list[click.Parameter]:
    """Return an option for each choice of a model, with its default.

    Args:
        model: the model.
        taken: the options that the command has itself.
        chosen: where the values go.
    """

    def remember(name: str) -> Callable[[click.Context, click.Parameter, int | str], None]:
        return lambda ctx, param, value: chosen.update({name: value})

    return [
        click.Option(
            [option_name(name, taken), f"bound_{name}"],
            **_described(choice),
            default=default_of(choice),
            show_default=True,
            expose_value=False,
            callback=remember(name),
        )
        for name, choice in choices(model).items()
    ]


def each_choice(model: type[Model], *left_out: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a command an option for every choice of a model but some; unused, it is None."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for name, choice in reversed(choices(model).items()):
            if name not in left_out:
                described = _described(choice)
                described["help"] = f"{choice.doc} [default: {default_of(choice)}]"
                command = click.option(option_name(name, set()), name, **described)(command)
        return command

    return add


def _described(choice: Choice) -> dict[str, Any]:
    if isinstance(choice, Setting):
        return {"type": Named(choice.names), "metavar": "|".join(choice.names), "help": choice.doc or None}
    return {
        "type": Whole(choice.lowest, choice.highest),
        "metavar": f"{choice.lowest}..{choice.highest}",
        "help": choice.doc or None,
    }
