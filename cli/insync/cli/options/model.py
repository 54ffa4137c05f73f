"""Commands about one model, whose bounds and settings become options of the command.

The command line is read twice: a first look finds the model, and then it is parsed with the options of that model.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Collection, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from typing import Any

import click
from click.core import ParameterSource

from insync.cli.completion import MODEL_KEY, complete_models, complete_properties
from insync.cli.options.output import refuse_overwriting
from insync.cli.options.values import Decorator, Named, Whole, gathered, option
from insync.cli.progress import tell_place
from insync.cli.terminal import EPILOG, emit_error, printable
from insync.explorer.task import trace_to_show
from insync.model import Bound, Model, Setting
from insync.model.catalogue import BUILT_IN, find_model
from insync.model.define import former_names_in_words
from insync.model.domains.bounds import Choice, choices, default_of, range_of
from insync.properties.registry import confined, select
from insync.runtime.errors import UserError
from insync.runtime.oversight import Oversight, read_within
from insync.runtime.watch import Limits, Watch

__all__ = [
    "ChosenModel",
    "ModelCommand",
    "by_present_names",
    "choice_options",
    "command_about",
    "each_choice",
    "first_look",
    "model_command",
    "names_of_within",
    "option_names",
    "property_option",
    "within_option",
]


_CHOSEN = "insync.chosen"
_PRESET = "insync.preset"
_HELP_ALL = "insync.help_all"
_WIDEST = 60  # characters of the names of a setting in the help
_NONE = "none"
_ARGUMENT = "model"


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """The model that the command line names.

    Attributes:
        kind: the class of the model.
        chosen: the value of each setting and bound.
    """

    kind: type[Model]
    chosen: dict[str, int | str]

    def untraced(self, within: Sequence[str] = ()) -> Model:
        """Return the model under its bounds; the verb of the command traces it, under its limits.

        Args:
            within: the names given to `--within`.

        Raises:
            UserError: the model cannot be confined.
        """
        return confined(self.kind(**self.chosen), names_of_within(within))

    def build(self, within: Sequence[str] = ()) -> Model:
        """Return the model under its bounds, traced, for a command that has no limits.

        Raises:
            UserError: the model cannot be traced, with file and line in the message, or cannot be confined.
        """
        model, watch = self.untraced(within), Watch()
        with Oversight(watch, tell_place):
            trace_to_show(model, watch.check)
        return model

    def select(self, model: Model, names: Sequence[str]) -> list[str]:
        """Return the names of the properties to check: the named ones, none for `none`, or the model's defaults.

        Raises:
            UserError: an unknown name, or `none` beside other names.
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
    """Return the invariants named by `--within`; None if the option is not given, for the default of the class.

    Raises:
        UserError: `none` beside other names.
    """
    others = [name for name in given if name != _NONE]
    if others and len(others) < len(given):
        message = f"--within none takes all steps, and --within {others[0]} is there as well. Leave one of them out."
        raise UserError(message)
    return others if given else None


def within_option() -> Decorator:
    """Return a decorator that adds `--within`, which the command receives as `within`."""
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
    """Return a decorator that adds `--property`, which the command receives as `properties`."""
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
    """A command whose first argument is MODEL: `--log-size` of `check kip320 --log-size 3` is a bound of kip320."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the model among the arguments, for `get_params`, and then parse all arguments."""
        look = first_look(self, args)
        ctx.meta[_CHOSEN] = {}
        if look.model is not None and not ctx.resilient_parsing:
            with read_within(Watch(_seconds_of(look)), look.model, tell_place):
                model = find_model(look.model)
            args = by_present_names(model, args, self.taken(ctx))
            look = first_look(self, args)
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
        _take_preset(ctx)
        refuse_overwriting(ctx)
        return rest

    def _parse_unfinished(self, ctx: click.Context, args: list[str], model: str | None) -> list[str]:
        """Parse an unfinished line for shell completion, without reporting mistakes."""
        if model is not None:
            with suppress(UserError), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                ctx.meta[MODEL_KEY] = find_model(model)
        return super().parse_args(ctx, args)

    def _require_value(self, ctx: click.Context, kind: type[Model], option: str | None) -> None:
        """Raise UsageError if the option of a bound or setting stands before the model without its value."""
        for name, known in option_names(kind, self.taken(ctx)).items():
            if known == option:
                values = range_of(choices(kind)[name])
                message = f"{option} stands before {kind.name} without a value. Give it one of: {values}."
                raise click.UsageError(message, ctx)

    def refuse_shadowed(self, ctx: click.Context) -> None:
        """Raise UsageError if an option of the command is given that the model has a bound or setting named like."""
        own = {name: param for param in self.params for name in param.opts}
        kind: type[Model] = ctx.meta[MODEL_KEY]
        for name, plain in option_names(kind, self.taken(ctx)).items():
            param = own.get(natural := "--" + name.replace("_", "-"))
            if not isinstance(param, click.Option) or param.is_flag or param.name is None:
                continue
            given = ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
            if given and ctx.get_parameter_source(f"bound_{name}") is not ParameterSource.COMMANDLINE:
                choice = choices(kind)[name]
                message = (
                    f"{natural} is an option of the command, and {kind.name} has a "
                    f"{'bound' if isinstance(choice, Bound) else 'setting'} of that name as well, whose option is "
                    f"{plain}. Give {plain} too, to make clear which is which; its default is {default_of(choice)}."
                )
                raise click.UsageError(message, ctx)

    def taken(self, ctx: click.Context) -> set[str]:
        """Return the names of the command's own options."""
        return {*ctx.help_option_names, *(name for param in self.params for name in param.opts)}

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters of the command, then the bounds and settings of the model."""
        params = super().get_params(ctx)
        model = ctx.meta.get(MODEL_KEY)
        if model is None:
            return params
        return [*params, *_preset_option(model, ctx), *choice_options(model, self.taken(ctx), ctx.meta[_CHOSEN])]

    def get_help(self, ctx: click.Context) -> str:
        """Return the help text, with control characters of a user's model escaped."""
        return printable(super().get_help(ctx))  # click prints it

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, with sections for settings, bounds and properties of the model."""
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
        if "preset" in chosen:
            with formatter.section(f"Presets of {kind.name}"):
                formatter.write_dl([chosen["preset"]])
        for title, names in _groups(kind, rare=_HELP_ALL in ctx.meta).items():
            with formatter.section(title):
                formatter.write_dl([chosen[f"bound_{name}"] for name in names])
        if kind.rare_options and _HELP_ALL not in ctx.meta:
            with formatter.section("More"):
                number = len(kind.rare_options)
                formatter.write_text(
                    f"`{ctx.command_path} {kind.name} --help-all` has {number} more options of {kind.name}."
                )
        self.format_properties(kind, formatter)

    def format_properties(self, model: type[Model], formatter: click.HelpFormatter) -> None:
        """Write the properties of the model."""
        from insync.explorer.documents.models import model_properties

        rows = [(f"{name}{' *' if default else ''}", says) for name, says, default in model_properties(model)]
        with formatter.section(f"Properties of {model.name} (* checked by default)"):
            formatter.write_dl(rows)


def _groups(kind: type[Model], *, rare: bool) -> dict[str, list[str]]:
    """Return the settings and bounds of a model by the titles of their sections in the help."""
    placed = {*kind.rare_options, *(name for names in kind.option_groups.values() for name in names)}
    sections = {
        **kind.option_groups,
        f"Settings of {kind.name}": [name for name in kind.settings if name not in placed],
        f"Bounds of {kind.name}": [name for name in kind.bounds if name not in placed],
        "Rare options": kind.rare_options if rare else (),
    }
    return {title: list(names) for title, names in sections.items() if names}


def _show_all(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    """Show the help with the rare options of the model."""
    if wanted and not ctx.resilient_parsing:
        ctx.meta[_HELP_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _format_models(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the names of the models, and where to find more about them."""
    with formatter.section("Models"):
        formatter.write_text(", ".join(BUILT_IN))
        formatter.write_text(
            f"`insync list` says what they are; `{ctx.command_path} kip320 --help` shows the bounds, settings and "
            f"properties of one as well. path/to/file.py:ModelName is a model of your own."
        )


def model_command(
    name: str, short_help: str, cls: type[ModelCommand] = ModelCommand
) -> Callable[[Callable[..., int]], click.Command]:
    """Return a decorator that makes a command about a model; it receives the model as `chosen`, a `ChosenModel`."""

    def decorate(function: Callable[..., int]) -> click.Command:
        @click.command(name, cls=cls, epilog=EPILOG, short_help=short_help)
        @click.argument(_ARGUMENT, metavar="MODEL", shell_complete=complete_models)
        @click.option("--help-all", is_flag=True, is_eager=True, expose_value=False, callback=_show_all, hidden=True)
        @click.pass_context
        @functools.wraps(function)
        def command(ctx: click.Context, /, **values: Any) -> int:
            del values[_ARGUMENT]
            return function(chosen=ChosenModel(ctx.meta[MODEL_KEY], ctx.meta[_CHOSEN]), **values)

        return command

    return decorate


# The first look at a command line, which finds MODEL before its options exist.
#
# Options of bounds and settings take one value each, so an unknown option without `=` is assumed to take the next
# argument. If the user forgot that value (`check --guard mine.py:Mine`), the assumed value is the name of the model.
# Assumed values are therefore kept, and one that can only be a model is the model if there is no other.


@dataclass(slots=True)  # not frozen: filled while the arguments are read
class FirstLook:
    """A command line, read with the command's own options alone.

    Attributes:
        first: the first positional argument.
        taken: the assumed value of each unknown option.
        values: the values of the command's own options, by the name of the parameter; the last one counts.
        help: whether the help text is requested.
        positional: the arguments that are neither options nor, by assumption, values of one.
    """

    first: str | None = None
    taken: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    help: bool = False
    positional: list[str] = field(default_factory=list)

    @property
    def model(self) -> str | None:
        """The argument that probably names the model; None if there is none."""
        option = self.without_value
        return self.first if option is None else self.taken[option]

    @property
    def without_value(self) -> str | None:
        """The unknown option whose assumed value is the model; None if there is none."""
        if self.first is not None and _names_model(self.first):
            return None
        return next((option for option, value in self.taken.items() if _names_model(value)), None)


def _seconds_of(look: FirstLook) -> Limits:
    """Return the limit on time that a command line gives; none where it is no number, which is refused later."""
    try:
        return Limits(seconds=float(look.values.get("limits_seconds", "")))
    except (ValueError, UserError):
        return Limits()


def first_look(command: click.Command, arguments: Sequence[str]) -> FirstLook:
    """Read a command line with the command's own options alone."""
    own = {name: param for param in command.params for name in param.opts}
    found = FirstLook()
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            found.positional += rest
            found.first = next(iter(found.positional), None)
            break
        if not argument.startswith("-") or argument == "-":
            found.first = found.first or argument
            found.positional.append(argument)
            continue
        name, equals, value = argument.partition("=")
        param = own.get(name)
        if argument in ("--help", "-h", "--help-all"):
            found.help = True
        elif isinstance(param, click.Option) and not param.is_flag and param.name is not None:
            found.values[param.name] = value if equals else next(rest, "")
        elif param is None and not equals and (value := next(rest, "")):
            found.taken.setdefault(name, value)
    return found


def _names_model(argument: str) -> bool:
    return argument in BUILT_IN or ".py:" in argument


# Options of a model's settings and bounds.


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


def _preset_option(model: type[Model], ctx: click.Context) -> list[click.Parameter]:
    """Return the option that names a preset of a model; none if it has no presets."""
    if not model.presets:
        return []

    def remember(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
        ctx.meta[_PRESET] = value

    said = "Values that go together; what is given beside a preset wins [default: those of each option]."
    names = click.Choice(list(model.presets))
    return [click.Option(["--preset"], type=names, help=said, expose_value=False, callback=remember)]


def _take_preset(ctx: click.Context) -> None:
    """Give the values of the preset to the bounds and settings that the command line does not name."""
    preset = ctx.meta.get(_PRESET)
    if preset is not None:
        for name, value in ctx.meta[MODEL_KEY].presets[preset].items():
            if ctx.get_parameter_source(f"bound_{name}") is not ParameterSource.COMMANDLINE:
                ctx.meta[_CHOSEN][name] = value


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
