"""Commands about two models, or about one under two choices, or about two traces.

An option that is given once applies to both models. Given twice, it applies to the first and then to the second:
`insync diff cluster --release 3.9 --release 4.1` compares two releases of one model.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from insync.cli.completion import MODEL_KEY, complete_models_and_traces
from insync.cli.options.model import (
    ChosenModel,
    ModelCommand,
    by_present_names,
    choice_options,
    first_look,
    option_names,
)
from insync.cli.options.output import refuse_overwriting
from insync.cli.terminal import EPILOG
from insync.model import Model
from insync.model.catalogue import find_model
from insync.model.domains.bounds import choices
from insync.runtime.errors import UserError

__all__ = ["ChosenPair", "two_models_command"]


_GIVEN = "insync.given_twice"
_KINDS = "insync.two_kinds"
_OF_TRACES = ("references", "output_html", "output_json", "output_color", "output_quiet")
_TRACE = ".json"


@dataclass(frozen=True, slots=True)
class ChosenPair:
    """The two models, or the two trace files, to compare.

    Attributes:
        kinds: the classes of the models; empty if files are compared.
        chosen: the given bounds and settings of each.
        files: the trace files; empty if models are compared.
    """

    kinds: tuple[type[Model], ...]
    chosen: tuple[dict[str, int | str], dict[str, int | str]]
    files: tuple[Path, ...] = ()

    def untraced(self) -> tuple[Model, Model]:
        """Return the models under their bounds and settings; the verb of the command traces them."""
        pairs = zip(self.kinds, self.chosen, strict=True)
        first, second = (ChosenModel(kind, chosen).untraced() for kind, chosen in pairs)
        return first, second


class PairCommand(ModelCommand):
    """A command about two models or trace files; without a second model it compares two choices of the first."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the models among the arguments, for `get_params`, and then parse all arguments."""
        look = first_look(self, args)
        ctx.meta[_GIVEN], ctx.meta[_KINDS] = {}, []
        named, quiet = look.positional[:2], ctx.resilient_parsing
        files = [name for name in named if name.endswith(_TRACE)]
        if named and not files:
            with suppress(UserError) if quiet else nullcontext():  # completion reports no mistakes
                ctx.meta[_KINDS] = [find_model(name) for name in (named[0], named[-1])]
                ctx.meta[MODEL_KEY] = ctx.meta[_KINDS][0]
        for kind in () if quiet else dict.fromkeys(ctx.meta[_KINDS]):
            args = by_present_names(kind, args, self.taken(ctx))
        rest = click.Command.parse_args(self, ctx, args)
        if files and not quiet:
            self._require_traces(ctx, files, named)
        for kind in () if quiet else ctx.meta[_KINDS]:
            ctx.meta[MODEL_KEY] = kind
            self.refuse_shadowed(ctx)
            refuse_overwriting(ctx)
        if not quiet:
            refuse_overwriting(ctx, [("one of the traces", Path(file)) for file in files])
        return rest

    def _require_traces(self, ctx: click.Context, files: Sequence[str], named: Sequence[str]) -> None:
        """Raise UsageError unless two trace files are given, with no option that is about models."""
        if len(files) < 2:
            beside = f"{next(name for name in named if name not in files)} is none" if len(named) > 1 else "is alone"
            message = f"{files[0]} is a trace file, and {beside}. Give two trace files, or one or two models."
            raise click.UsageError(message, ctx)
        for param in self.params:
            about_models = isinstance(param, click.Option) and param.name not in _OF_TRACES
            if about_models and ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE:
                message = f"{param.opts[0]} is about models, and two trace files are compared. Leave it out."
                raise click.UsageError(message, ctx)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        params = click.Command.get_params(self, ctx)
        known: dict[str, click.Parameter] = {}
        for kind in ctx.meta.get(_KINDS, []):
            for param in choice_options(kind, self.taken(ctx), {}):
                known.setdefault(str(param.name), _several(param, ctx.meta[_GIVEN]))
        return [*params, *known.values()]

    def format_properties(self, model: type[Model], formatter: click.HelpFormatter) -> None:
        pass


def _several(param: click.Parameter, given: dict[str, Sequence[int | str]]) -> click.Option:
    """Return the option of a bound or setting as one that may be given twice; `given` receives its values."""
    assert isinstance(param, click.Option)
    name = str(param.name)

    def remember(ctx: click.Context, option: click.Parameter, values: Sequence[int | str]) -> None:
        if len(values) > 2:
            message = f"{param.opts[0]} is given {len(values)} times; give it once for both models, or twice."
            raise click.UsageError(message, ctx)
        if values:
            given[name.removeprefix("bound_")] = values

    return click.Option(
        [param.opts[0], name],
        type=param.type,
        metavar=param.metavar,
        help=f"{param.help or ''} [default: {param.default}]".strip(),
        multiple=True,
        expose_value=False,
        callback=remember,
    )


def two_models_command(name: str, short_help: str) -> Callable[[Callable[..., int]], click.Command]:
    """Return a decorator that makes a command about two models or traces; it receives a `ChosenPair` as `chosen`."""

    def decorate(function: Callable[..., int]) -> click.Command:
        @click.command(name, cls=PairCommand, epilog=EPILOG, short_help=short_help)
        @click.argument("first", metavar="A", shell_complete=complete_models_and_traces)
        @click.argument("second", metavar="[B]", required=False, shell_complete=complete_models_and_traces)
        @click.pass_context
        @functools.wraps(function)
        def command(ctx: click.Context, /, first: str, second: str | None, **values: Any) -> int:
            kinds = ctx.meta.get(_KINDS)
            if not kinds:
                chosen = ChosenPair((), ({}, {}), (Path(first), Path(second or first)))
            else:
                chosen = _pair(ctx, kinds, second)
            return function(chosen=chosen, **values)

        return command

    return decorate


def _pair(ctx: click.Context, kinds: Sequence[type[Model]], second: str | None) -> ChosenPair:
    given: dict[str, Sequence[int | str]] = ctx.meta[_GIVEN]
    if second is None and not any(len(values) == 2 for values in given.values()):
        option = next(iter(option_names(kinds[0]).values()), "--bound")
        message = (
            f"{kinds[0].name} is the only model, and nothing is given twice. Name a second model, or give a bound or "
            f"setting twice, such as {option}: first that of A, then that of B."
        )
        raise click.UsageError(message, ctx)
    chosen: tuple[dict[str, int | str], dict[str, int | str]] = ({}, {})
    for name, values in given.items():
        for kind, of_kind, value in zip(kinds, chosen, [values[0], values[-1]], strict=True):
            if name in choices(kind):
                of_kind[name] = value
            elif len(values) == 2:
                option_name = option_names(kind).get(name, name)
                message = f"{option_name} is given twice, and {kind.name} has no {name!r}. Give it once."
                raise click.UsageError(message, ctx)
    return ChosenPair(tuple(kinds), chosen)
