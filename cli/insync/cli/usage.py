"""The mistakes that click finds in a command line, in the words of insync: one sentence, and what to do."""

from __future__ import annotations

import difflib
import re

import click

__all__ = ["describe_usage_error"]

_EXTRA = re.compile(r"Got unexpected extra arguments? \((.*)\)", re.DOTALL)
_FEW = 2
_MODELS = ("MODEL", "A")


def describe_usage_error(error: click.UsageError) -> str:
    """Return the message for a usage error: what is wrong, with the value, and where help is."""
    context = error.ctx
    command = context.command_path if context is not None else "insync"
    text = _describe(error, command).rstrip()
    return text if text.endswith((".", "?", "`")) else f"{text}."


def _describe(error: click.UsageError, command: str) -> str:
    see = f"`{command} --help` shows what there is."
    if isinstance(error, click.NoSuchOption):
        near = _near(error.option_name, _options(error.ctx))
        owner = _owning_model(error.option_name, error.ctx) or _owner(error.option_name, error.ctx)
        hints = [hint for hint in (owner, near) if hint is not None]
        return f"{command} has no option {error.option_name!r}. {' '.join(hints) or see}"
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        option = f"{error.param.opts[-1]} {error.param.metavar or ''}".rstrip()
        return f"{command}: {option} is missing. {error.param.help or see}"
    if isinstance(error, click.MissingParameter):
        name = error.param.human_readable_name if error.param is not None else "an argument"
        return f"{command}: {name} is missing. {_hint(name, command) or see}"
    if isinstance(error, click.BadOptionUsage):
        takes = "takes no value" if "not take a value" in error.message else "needs a value"
        return f"The option {error.option_name!r} {takes}. {see}"
    if isinstance(error, click.BadParameter):
        return f"{command}: {_bad_value(error)}"
    group = error.ctx.command if error.ctx is not None else None
    if isinstance(group, click.Group) and error.ctx is not None:
        return _no_command(error, group, error.ctx)
    extra = _EXTRA.fullmatch(error.message)
    if extra is not None:
        return f"{command}: {extra[1]!r} is one argument too many. Bounds are options, such as --log-size 3. {see}"
    return f"{command}: {error.message} {see}"


def _bad_value(error: click.BadParameter) -> str:
    param = error.param
    if param is None:
        return error.message
    message = error.message
    if isinstance(param.type, click.Choice):
        message = f"{message.split(' is not ')[0]} is not known; give {' or '.join(map(str, param.type.choices))}."
    return f"{param.opts[-1]}: {message}" if isinstance(param, click.Option) else message


def _no_command(error: click.UsageError, group: click.Group, context: click.Context) -> str:
    names, path = group.list_commands(context), context.command_path
    known = f"The commands are {', '.join(names)}; `{path} --help` explains them."
    # Where no command is named, the message may be the whole help.
    quoted = [] if isinstance(error, click.exceptions.NoArgsIsHelpError) else error.message.split("'")
    if len(quoted) >= 2:
        return f"{path} has no command {quoted[1]!r}. {_near(quoted[1], names) or known}"
    return f"{path}: a command is missing. {known}"


def _hint(name: str, command: str) -> str | None:
    if name == "MODEL":
        return f"`insync list` shows the models; for instance `{command} kip320`."
    if name == "FILE":
        return "Name a trace file that `insync check MODEL --trace FILE` wrote."
    return None


def _options(context: click.Context | None) -> list[str]:
    if context is None:
        return []
    return [
        name for param in context.command.get_params(context) if isinstance(param, click.Option) for name in param.opts
    ]


def _near(name: str, known: list[str]) -> str | None:
    plain = {other.lstrip("-").casefold(): other for other in known}  # dashes would make all options alike
    near = difflib.get_close_matches(name.lstrip("-").casefold(), plain, n=1, cutoff=0.6)
    return f"Did you mean {plain[near[0]]!r}?" if near else None


def _owning_model(option: str, context: click.Context | None) -> str | None:
    """Say which models have a setting or bound of that name, if they are few, for a command about models."""
    if context is None or not any(
        isinstance(param, click.Argument) and param.human_readable_name in _MODELS for param in context.command.params
    ):
        return None
    from insync.model.catalogue import BUILT_IN, find_model

    name = option.removeprefix("--").replace("-", "_")
    kinds = {model: find_model(model) for model in BUILT_IN}
    owners = [
        (model, "setting" if name in kind.settings else "bound")
        for model, kind in kinds.items()
        if name in (*kind.settings, *kind.bounds)
    ]
    said = " and ".join(f"a {what} of `{model}`" for model, what in owners)
    return f"It is {said}." if 0 < len(owners) <= _FEW else None


def _owner(option: str, context: click.Context | None) -> str | None:
    """Say which other commands have an option, if they are few."""
    if context is None:
        return None
    group = context.find_root().command
    if not isinstance(group, click.Group):
        return None
    owners = [
        f"`insync {name}`"
        for name in group.list_commands(context)
        if (command := group.get_command(context, name)) is not None
        and any(option in param.opts for param in command.params)
    ]
    return f"It belongs to {' and '.join(owners)}." if 0 < len(owners) <= _FEW else None
