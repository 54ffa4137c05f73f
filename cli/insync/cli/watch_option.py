"""`--watch`: a command about a model that is run again whenever the model's file is saved."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.options.first_look import first_look
from insync.cli.options.groups import Decorator
from insync.cli.options.model import ModelCommand
from insync.cli.options.overwritten import file_of_reference, outputs_of, refuse_same
from insync.cli.rerun import rerun_when_saved

__all__ = ["WatchedCommand", "watch_option"]

_OPTION = "--watch"
_WATCHED = "insync.watched"


class WatchedCommand(ModelCommand):
    """A command that has `--watch`.

    With it the rest of the line is not looked at here: a mistake in it, or in the model, is told by each run, and the
    file may be saved again.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if _OPTION not in args or ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        look = first_look(self, args)
        if look.help:
            return super().parse_args(ctx, args)
        path, colon, _ = (look.model or "").rpartition(":")
        if not colon or not path.endswith(".py"):
            given = "no model is named" if look.model is None else f"{look.model} has none of yours"
            message = f"{_OPTION} waits for a file to be saved, and {given}. Name path/to/file.py:ModelName."
            raise click.UsageError(message, ctx)
        refuse_same(outputs_of(self, look.values), file_of_reference(look.model or ""), ctx)
        ctx.meta[_WATCHED] = (Path(path), [argument for argument in args if argument != _OPTION])
        return []

    def invoke(self, ctx: click.Context) -> object:
        if _WATCHED not in ctx.meta:
            return super().invoke(ctx)
        file, arguments = ctx.meta[_WATCHED]
        return rerun_when_saved(file, [*ctx.command_path.split()[1:], *arguments])


def watch_option() -> Decorator:
    """Return a decorator that gives a `WatchedCommand` its option."""
    option: Decorator = click.option(
        _OPTION,
        is_flag=True,
        expose_value=False,
        help="Run again whenever the model's file, or what it imports from its folder, is saved; until Ctrl-C.",
    )
    return option
