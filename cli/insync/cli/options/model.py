"""Commands about a model, whose bounds become options of the command: the model is found first, then its options."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

from insync.cli.completion import MODEL_KEY, complete_models, complete_properties
from insync.cli.options.choice_options import choice_options, option_names
from insync.cli.options.first_look import first_look
from insync.cli.options.groups import Decorator
from insync.cli.options.overwritten import refuse_overwriting
from insync.cli.show.choices import choices, default_of, range_of
from insync.cli.show.models import model_properties
from insync.cli.terminal import EPILOG, printable
from insync.explorer.limits import Limits, Watch
from insync.machine.interruptible import GivenUp
from insync.model import Bound, Model
from insync.model.catalogue import BUILT_IN, find_model
from insync.model.errors import UserError
from insync.model.language.presentation import checked_grid
from insync.model.tracing.tracer import traced
from insync.properties.registry import confined, select

__all__ = ["ChosenModel", "ModelCommand", "model_command", "names_of_within", "property_option", "within_option"]

_CHOSEN = "insync.chosen"
_NONE = "none"
_ARGUMENT = "model"


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """The model that the command line names.

    Attributes:
        kind: its class.
        chosen: the value of each of its settings and bounds.
    """

    kind: type[Model]
    chosen: dict[str, int | str]

    def build(self, within: Sequence[str] = (), *, patience: float | None = None) -> Model:
        """Return the model under its bounds, traced, so that a mistake in it is found here.

        Args:
            within: the names that `--within` gives.
            patience: the seconds after which tracing is left to a command that has limits for it; None is no end.

        Raises:
            UserError: the model cannot be traced, with file and line in the message, or not be confined.
        """
        model = confined(self.kind(**self.chosen), names_of_within(within))
        try:
            example = traced(model, Watch(Limits(seconds=patience), None).go_on).initials.example
        except GivenUp:
            return model
        if example is not None:
            checked_grid(model, model.decode(example))
        return model

    def select(self, model: Model, names: Sequence[str]) -> list[str]:
        """Return the names of the properties to check: the model's headline ones, or those named, or none.

        Raises:
            UserError: a name that is none of the model's, or `none` beside other names.
        """
        if _NONE not in names:
            return list(select(model, names or None))
        others = [name for name in names if name != _NONE]
        if others:
            message = (
                f"--property none checks nothing, and --property {others[0]} is there as well. Leave one of them out."
            )
            raise UserError(message)
        return []


def names_of_within(given: Sequence[str]) -> list[str] | None:
    """Return the invariants that `--within` names; None where it is not given, for what the class says.

    Raises:
        UserError: `none` beside other names.
    """
    others = [name for name in given if name != _NONE]
    if others and len(others) < len(given):
        message = f"--within none takes all steps, and --within {others[0]} is there as well. Leave one of them out."
        raise UserError(message)
    return others if given else None


def within_option() -> Decorator:
    """Return a decorator that gives a command `--within`, which it gets as `within`."""
    option: Decorator = click.option(
        "--within",
        multiple=True,
        metavar="NAME",
        shell_complete=complete_properties,
        help="Take no step from states in which this invariant fails, which are still checked; may be repeated; `none` "
        "takes all steps [default: `within` of the model's class].",
    )
    return option


def property_option(sentence: str) -> Decorator:
    """Return a decorator that gives a command `--property`, which it gets as `properties`."""
    option: Decorator = click.option(
        "--property",
        "properties",
        multiple=True,
        metavar="NAME",
        help=sentence,
        shell_complete=complete_properties,
    )
    return option


class ModelCommand(click.Command):
    """A command whose first argument is MODEL: `check kip320 --log-size 3` knows `--log-size` from kip320."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the model among the arguments, so that `get_params` knows its bounds, and parse them all."""
        look = first_look(self, args)
        ctx.meta[_CHOSEN] = {}
        if ctx.resilient_parsing:
            return self._parse_unfinished(ctx, args, look.model)
        if look.model is not None:
            ctx.meta[MODEL_KEY] = kind = find_model(look.model)
            self._require_value(ctx, kind, look.without_value)
        elif not look.help:
            raise click.MissingParameter(ctx=ctx, param=self.params[0])
        rest = super().parse_args(ctx, args)
        if (named := ctx.params[_ARGUMENT]) != look.model:
            message = f"the model could be {look.model} or {named}. Put MODEL before the options."
            raise click.UsageError(message, ctx)
        self.refuse_shadowed(ctx)
        refuse_overwriting(ctx)
        return rest

    def _parse_unfinished(self, ctx: click.Context, args: list[str], model: str | None) -> list[str]:
        """Parse a line that a shell wants completed, in which much may still be wrong, without a word about it."""
        if model is not None:
            with suppress(UserError), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                ctx.meta[MODEL_KEY] = find_model(model)
        return super().parse_args(ctx, args)

    def _require_value(self, ctx: click.Context, kind: type[Model], option: str | None) -> None:
        """Raise UsageError for an option of a bound or setting that stands before the model without its value."""
        for name, known in option_names(kind, self.taken(ctx)).items():
            if known == option:
                values = range_of(choices(kind)[name])
                message = f"{option} stands before {kind.name} without a value. Give it one of: {values}."
                raise click.UsageError(message, ctx)

    def refuse_shadowed(self, ctx: click.Context) -> None:
        """Raise UsageError for an option of the command that could be meant for the bound of the same name."""
        own = {name: param for param in self.params for name in param.opts}
        kind: type[Model] = ctx.meta[MODEL_KEY]
        for name, option in option_names(kind, self.taken(ctx)).items():
            param = own.get(natural := "--" + name.replace("_", "-"))
            if not isinstance(param, click.Option) or param.is_flag or param.name is None:
                continue
            given = ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
            if given and ctx.get_parameter_source(f"bound_{name}") is not ParameterSource.COMMANDLINE:
                choice = choices(kind)[name]
                message = (
                    f"{natural} is an option of the command, and {kind.name} has a "
                    f"{'bound' if isinstance(choice, Bound) else 'setting'} of that name as well, which is {option}. "
                    f"Give {option} too, so that both are plain; its default is {default_of(choice)}."
                )
                raise click.UsageError(message, ctx)

    def taken(self, ctx: click.Context) -> set[str]:
        """Return the options that the command has itself."""
        return {*ctx.help_option_names, *(name for param in self.params for name in param.opts)}

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters of the command and the bounds of the model."""
        params = super().get_params(ctx)
        model = ctx.meta.get(MODEL_KEY)
        if model is None:
            return params
        return [*params, *choice_options(model, self.taken(ctx), ctx.meta[_CHOSEN])]

    def get_help(self, ctx: click.Context) -> str:
        """Return the help text, which has names and sentences of the user's model."""
        return printable(super().get_help(ctx))  # click prints it

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those of the model in sections of their own, and what the model says of itself."""
        own = {param.name for param in super().get_params(ctx)}
        options, chosen = [], {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and param.name in own:
                options.append(record)
            elif record is not None:
                chosen[param.name] = record
        with formatter.section("Options"):
            formatter.write_dl(options)
        kind: type[Model] | None = ctx.meta.get(MODEL_KEY)
        if kind is None:
            _format_models(ctx, formatter)
            return
        for title, names in (("Settings", kind.settings), ("Bounds", kind.bounds)):
            if names:
                with formatter.section(f"{title} of {kind.name}"):
                    formatter.write_dl([chosen[f"bound_{name}"] for name in names])
        self.format_properties(kind, formatter)

    def format_properties(self, model: type[Model], formatter: click.HelpFormatter) -> None:
        """Write the properties that the command is about."""
        rows = [(f"{name}{' *' if default else ''}", says) for name, says, default in model_properties(model)]
        with formatter.section(f"Properties of {model.name} (* checked by default)"):
            formatter.write_dl(rows)


def _format_models(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the names of the models, and where there is more about them."""
    with formatter.section("Models"):
        formatter.write_text(", ".join(BUILT_IN))
        formatter.write_text(
            f"`insync list` says what they are; `{ctx.command_path} kip320 --help` shows the bounds, settings and "
            f"properties of one as well. path/to/file.py:ModelName is a model of your own."
        )


def model_command(
    name: str, short_help: str, cls: type[ModelCommand] = ModelCommand
) -> Callable[[Callable[..., int]], click.Command]:
    """Return a decorator that makes a command about a model, which it gets as `chosen`, a `ChosenModel`."""

    def decorate(function: Callable[..., int]) -> click.Command:
        @click.command(name, cls=cls, epilog=EPILOG, short_help=short_help)
        @click.argument(_ARGUMENT, metavar="MODEL", shell_complete=complete_models)
        @click.pass_context
        @functools.wraps(function)
        def command(ctx: click.Context, /, **values: Any) -> int:
            del values[_ARGUMENT]
            return function(chosen=ChosenModel(ctx.meta[MODEL_KEY], ctx.meta[_CHOSEN]), **values)

        return command

    return decorate
