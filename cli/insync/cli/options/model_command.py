"""Commands about a model, whose bounds become options of the command: the model is found first, then its options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from insync.model import Model

__all__ = ["ModelCommand", "chosen_bounds", "chosen_model"]

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
        if model is None:
            return params
        from insync.cli.options.choices import choice_options

        taken = {name for param in self.params for name in param.opts}
        return [*params, *choice_options(model, taken, ctx.meta[_BOUNDS])]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, the bounds in a section of their own, and what the model says of itself."""
        own = {param.name for param in super().get_params(ctx)}
        bounds: list[tuple[str, str]] = []
        options: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                (options if param.name in own else bounds).append(record)
        with formatter.section("Options"):
            formatter.write_dl(options)
        from insync.cli.options.models import describe_all

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
        from insync.cli.options.models import describe_properties

        with formatter.section(f"Properties of {model.name} (* checked by default)"):
            describe_properties(model, formatter)


def chosen_model(ctx: click.Context) -> type[Model]:
    """Return the class of the model that the command line names."""
    model: type[Model] = ctx.meta[_MODEL]
    return model


def chosen_bounds(ctx: click.Context) -> dict[str, int | str]:
    """Return what was chosen for every setting and bound of the model."""
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
