"""The bounds and settings of a model as options: their names, types and defaults, presets, and former names."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import click
from click.core import ParameterSource

from insync.cli.completion import MODEL_KEY
from insync.cli.options.values import Decorator, Named, Whole, gathered, option
from insync.cli.terminal import emit_error
from insync.model import Model, Setting
from insync.model.define import former_names_in_words
from insync.model.domains.bounds import Choice, choices, default_of

__all__ = [
    "CHOSEN_KEY",
    "by_present_names",
    "choice_options",
    "command_about",
    "each_choice",
    "option_names",
    "preset_option",
    "take_preset",
]


CHOSEN_KEY = "insync.chosen"
_PRESET = "insync.preset"
_WIDEST = 60  # characters of the names of a setting in the help


def option_names(model: type[Model], taken: Collection[str] = ()) -> dict[str, str]:
    """Return the option of each bound and setting of a model: `--log-size`, or `--bound-depth` if `--depth` is taken.

    Args:
        model: the model.
        taken: the names of the command's own options.
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


def by_present_names(model: type[Model], arguments: list[str], taken: Collection[str] = ()) -> list[str]:
    """Return the arguments of a command with the options of a model by the names of today, and warn of former ones.

    Args:
        model: the model.
        arguments: what is given to the command.
        taken: the names of the command's own options.
    """
    names = option_names(model, taken)
    now = {
        f"--{name.replace('_', '-')}": names[to] if to else ""
        for name, to in model.former_names.items()
        if name not in names
    }
    former: dict[str, str] = {}
    present: list[str] = []
    left = iter(arguments)
    for argument in left:
        if argument == "--":
            present += [argument, *left]
            break
        option, equals, value = argument.partition("=")
        if option in now and option not in taken:
            former[option] = option = now[option]
            if not option:
                if not equals:
                    next(left, None)  # its value
                continue
        present.append(f"{option}{equals}{value}")
    if former:
        emit_error(f"warning: {former_names_in_words(former)}")
    return present


def command_about(model: type[Model]) -> type[click.Command]:
    """Return the class of a command with options of one model; see `each_choice`. It accepts their former names."""

    class Command(click.Command):
        def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
            if not ctx.resilient_parsing:
                own = {name for param in self.params for name in param.opts} - {*option_names(model).values()}
                args = by_present_names(model, args, own)
            return super().parse_args(ctx, args)

    return Command


def choice_options(model: type[Model], taken: Collection[str], chosen: dict[str, int | str]) -> list[click.Parameter]:
    """Return an option for each bound and setting of a model, with its default.

    Args:
        model: the model.
        taken: the names of the command's own options.
        chosen: receives the values.
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


def preset_option(model: type[Model], ctx: click.Context) -> list[click.Parameter]:
    """Return the option that names a preset of a model; none if it has no presets."""
    if not model.presets:
        return []

    def remember(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
        ctx.meta[_PRESET] = value

    said = "Values that go together; what is given beside a preset wins [default: those of each option]."
    names = click.Choice(list(model.presets))
    return [click.Option(["--preset"], type=names, help=said, expose_value=False, callback=remember)]


def take_preset(ctx: click.Context) -> None:
    """Give the values of the preset to the bounds and settings that the command line does not name."""
    preset = ctx.meta.get(_PRESET)
    if preset is not None:
        for name, value in ctx.meta[MODEL_KEY].presets[preset].items():
            if ctx.get_parameter_source(f"bound_{name}") is not ParameterSource.COMMANDLINE:
                ctx.meta[CHOSEN_KEY][name] = value


def each_choice(model: type[Model], *left_out: str) -> Decorator:
    """Return a decorator that adds an option for every bound and setting of a model but those left out.

    The command receives those that the user gave as `given`, by name.
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
        names = "|".join(choice.names)
        return {
            "type": Named(choice.names, choice.advice, choice.member),
            "metavar": names if len(names) <= _WIDEST else f"{choice.names[0]}|...|{choice.names[-1]}",
            "help": choice.doc or None,
        }
    return {
        "type": Whole(choice.lowest, choice.highest),
        "metavar": f"{choice.lowest}..{choice.highest}",
        "help": choice.doc or None,
    }
