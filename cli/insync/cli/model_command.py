"""Commands about a model, whose bounds become options of the command: the model is found first, then its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from insync.cli.values import Named, Whole

if TYPE_CHECKING:
    from insync.model import Model

__all__ = ["ModelCommand", "bound_options", "chosen_bounds", "chosen_model", "option_name"]

_MODEL = "insync.model"
_BOUNDS = "insync.bounds"


class ModelCommand(click.Command):
    """A command whose first argument is MODEL: `check kip320 --log-size 3` knows `--log-size` from kip320."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the model among the arguments, so that `get_params` knows its bounds, and parse them all."""
        spec = find_argument(self, args)
        if spec is not None:
            from insync.model.catalogue import find_model

            ctx.meta[_MODEL] = find_model(spec)
        elif not ({"--help", "-h"} & set(args) or any(map(_may_name_model, args))):
            raise click.MissingParameter(ctx=ctx, param=self.params[0])
        ctx.meta[_BOUNDS] = {}
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters of the command and the bounds of the model."""
        params = super().get_params(ctx)
        model = ctx.meta.get(_MODEL)
        return [*params, *bound_options(model, self)] if model is not None else params

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, the bounds in a section of their own, and what the model says of itself."""
        bounds: list[tuple[str, str]] = []
        options: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                (bounds if isinstance(param, _BoundOption) else options).append(record)
        with formatter.section("Options"):
            formatter.write_dl(options)
        from insync.cli.models import describe_all

        model = ctx.meta.get(_MODEL)
        if model is None:
            with formatter.section("Models, each with its bounds as options (default, lowest to highest)"):
                describe_all(formatter)
            return
        with formatter.section(f"Bounds of {model.name}"):
            formatter.write_dl(bounds)
        self.format_properties(model, formatter)

    def format_properties(self, model: type[Model], formatter: click.HelpFormatter) -> None:
        """Write the properties that the command is about."""
        from insync.cli.models import describe_properties

        with formatter.section(f"Properties of {model.name} (* checked by default)"):
            describe_properties(model, formatter)


class _BoundOption(click.Option):
    """A bound of the model; its value goes to `chosen_bounds`."""


def bound_options(model: type[Model], command: click.Command) -> list[click.Parameter]:
    """Return an option for each bound, named so that it takes no name from the command."""
    taken = {name for param in command.params for name in param.opts}
    options: list[click.Parameter] = []
    for name, bound in model.declared.items():
        options.append(
            _BoundOption(
                [option_name(name, taken), f"bound_{name}"],
                type=Named(bound.names) if bound.names else Whole(bound.lowest, bound.highest),
                default=bound.names[bound.default] if bound.names else bound.default,
                metavar="|".join(bound.names) if bound.names else f"{bound.lowest}..{bound.highest}",
                show_default=True,
                help=bound.doc or None,
                expose_value=False,
                callback=_remember(name),
            )
        )
    return options


def option_name(bound: str, taken: set[str]) -> str:
    """Return the option for a bound: `--log-size`, or `--bound-depth` when the command has a `--depth` itself."""
    name = "--" + bound.replace("_", "-")
    return f"--bound-{name[2:]}" if name in taken else name


def _remember(name: str) -> Callable[[click.Context, click.Parameter, int | str], None]:
    def remember(ctx: click.Context, param: click.Parameter, value: int | str) -> None:
        ctx.meta[_BOUNDS][name] = value

    return remember


def chosen_model(ctx: click.Context) -> type[Model]:
    """Return the class of the model that the command line names."""
    model: type[Model] = ctx.meta[_MODEL]
    return model


def chosen_bounds(ctx: click.Context) -> dict[str, int | str]:
    """Return the value of every bound of the model, the name of one that has names."""
    bounds: dict[str, int | str] = ctx.meta[_BOUNDS]
    return bounds


def _may_name_model(argument: str) -> bool:
    """Whether this is a model after an option that is unknown: then the option is the mistake to speak of."""
    from insync.model.catalogue import BUILT_IN

    return argument in BUILT_IN or ".py:" in argument


def find_argument(command: click.Command, args: Sequence[str]) -> str | None:
    """Return the first argument that is neither an option nor the value of one.

    The options of bounds are not known yet: an unknown option without `=` is taken to have a value.
    """
    flags = {"--help", "-h"}
    for param in command.params:
        if isinstance(param, click.Option) and param.is_flag:
            flags.update(param.opts)
    position = 0
    while position < len(args):
        argument = args[position]
        if argument == "--":
            return args[position + 1] if position + 1 < len(args) else None
        if not argument.startswith("-") or argument == "-":
            return argument
        position += 1 if argument in flags or "=" in argument else 2
    return None
