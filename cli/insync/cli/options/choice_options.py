"""The options for what a model lets its user choose: its settings, by what they are called, and its bounds."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import click

from insync.cli.options.groups import Decorator, gathered, option
from insync.cli.options.values import Named, Whole
from insync.cli.show.choices import Choice, choices, default_of
from insync.model import Model, Setting

__all__ = ["choice_options", "each_choice", "option_names"]


def option_names(model: type[Model], taken: Collection[str] = ()) -> dict[str, str]:
    """Return the option of each choice of a model: `--log-size`, or `--bound-depth` when `--depth` is taken.

    Args:
        model: the model.
        taken: the options that the command has itself.
    """
    plain = {name: "--" + name.replace("_", "-") for name in choices(model)}
    used = {*taken, *plain.values()}
    names = dict(plain)
    for name in plain:
        if plain[name] in taken:
            while names[name] in used:
                names[name] = f"--bound-{names[name][2:]}"
            used.add(names[name])
    return names


def choice_options(model: type[Model], taken: Collection[str], chosen: dict[str, int | str]) -> list[click.Parameter]:
    """Return an option for each choice of a model, with its default.

    Args:
        model: the model.
        taken: the options that the command has itself.
        chosen: where the values go.
    """
    names = option_names(model, taken)

    def remember(name: str) -> Callable[[click.Context, click.Parameter, int | str], None]:
        return lambda ctx, param, value: chosen.update({name: value})

    return [
        click.Option(
            [names[name], f"bound_{name}"],
            **_described(choice),
            default=default_of(choice),
            show_default=True,
            expose_value=False,
            callback=remember(name),
        )
        for name, choice in choices(model).items()
    ]


def each_choice(model: type[Model], *left_out: str) -> Decorator:
    """Return a decorator that gives a command an option for every choice of a model but some.

    The command gets what was given of them as `given`, by name.
    """
    names, options = option_names(model), {}
    for name, choice in choices(model).items():
        if name not in left_out:
            described = {**_described(choice), "help": f"{choice.doc} [default: {default_of(choice)}]"}
            options[name] = option(names[name], **described)
    return gathered("given", _given, **options)


def _given(**values: int | str | None) -> dict[str, int | str]:
    return {name: value for name, value in values.items() if value is not None}


def _described(choice: Choice) -> dict[str, Any]:
    if isinstance(choice, Setting):
        return {
            "type": Named(choice.names, choice.advice),
            "metavar": "|".join(choice.names),
            "help": choice.doc or None,
        }
    return {
        "type": Whole(choice.lowest, choice.highest),
        "metavar": f"{choice.lowest}..{choice.highest}",
        "help": choice.doc or None,
    }
