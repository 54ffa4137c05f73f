"""Messages for exceptions: mistakes of users and their models, usage errors of the command line, errors of insync."""

from __future__ import annotations

import difflib
import errno
import inspect
import os
import re
import resource
import shlex
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import EnumType
from types import FrameType, TracebackType

import click

from insync.cli.terminal import ExitCode, emit_data, emit_error, give_up_output

__all__ = [
    "describe_usage_error",
    "explain_exit",
    "explain_fault",
    "refusal_of_the_system",
    "shortened",
]


_USER_MODULES = "insync_user_"  # the catalogue loads a user's file under such a name
_OWN_MODULES = "insync."


def explain_fault(error: Exception, arguments: Sequence[str] = ()) -> ExitCode:
    """Print the message for an exception, one sentence for a mistake of the user, and return the exit code.

    Args:
        error: the exception.
        arguments: the arguments of the command.
    """
    from insync.explorer.named_model import UnnamedModel
    from insync.model.domains.symbolic import cure_of_call
    from insync.runtime.errors import UserError
    from insync.runtime.text import in_one_line

    if isinstance(error, UnnamedModel):
        said = shortened(error.said, arguments)
        _say(in_one_line(f"{said} {error.advice}: {_naming(arguments, error.models)}"), arguments)
        return ExitCode.USER_ERROR
    if isinstance(error, UserError):
        _say(shortened(error.args[0], arguments), arguments)
        return ExitCode.USER_ERROR
    if isinstance(error, OSError) and _is_of_click(error):  # click writes help texts itself
        emit_error(f"Error: {give_up_output(error)}")
        return ExitCode.USER_ERROR
    endless = _endless_recursion(error)
    if endless is not None:
        _say(endless, arguments)
        return ExitCode.USER_ERROR
    place = _place_in_user_code(error.__traceback__)
    if place is not None:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        cure = cure_of_call(error) or _cure_of_name(error) or " Fix it there; Python ran this line to read the model."
        _say(f"{place}: the model raised {what}.{cure}", arguments)
        return ExitCode.USER_ERROR
    replaced = _replaced_method(error)
    if replaced is not None:
        _say(replaced, arguments)
        return ExitCode.USER_ERROR
    refused = refusal_of_the_system(error)
    if refused is not None:
        _say(refused, arguments)
        return ExitCode.USER_ERROR
    emit_error("".join(traceback.format_exception(error)).rstrip())
    emit_error(
        "Error: insync met a case that it was not written for. This is a fault of insync, not of your model: "
        "please report it with the lines above and the command that led to it."
    )
    return ExitCode.INTERNAL_ERROR


def _cure_of_name(error: Exception) -> str:
    """Return what to write in place of a name that a model's Python does not have, after a blank; else nothing."""
    from insync.model import Bounds, Model
    from insync.runtime.errors import closest

    if isinstance(error, TypeError) and str(error) == "'type' object is not iterable":
        return " Write self.all(Sort) for the members of a sort."
    name, owner = getattr(error, "name", None), getattr(error, "obj", None)
    if isinstance(error, NameError) and name == "b":
        return " Write self.b for the bounds."
    if not isinstance(error, AttributeError) or name is None:
        return ""
    if isinstance(owner, EnumType):
        return f" {closest(name, owner.__members__)}"
    if isinstance(owner, Bounds) or (isinstance(owner, Model) and name in owner.b):
        return f" Write self.b.{name}."
    if isinstance(owner, Model) and name in owner.state.present:
        return f" Write s.{name}, where s is the state that the method is given."
    if isinstance(owner, Model):
        near = closest(name, [each for each in dir(owner) if not each.startswith("_")])
        state = f"A model has no state but s: declare {name} in `declare`, and write s.{name}."
        return f" {near if near.startswith('Did') else state}"
    return ""


def _is_of_click(error: BaseException) -> bool:
    """Return whether click itself raised an error, and not code that it called."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and str(trace.tb_frame.f_globals.get("__name__", "")).startswith("click.")


def _say(message: str, arguments: Sequence[str]) -> None:
    """Print the sentence for a mistake, and with `--github` its annotation."""
    emit_error(f"Error: {message}")
    if "--github" in arguments:
        from insync.cli.annotations import github_lines, mistake

        emit_data(github_lines([mistake(message)]))


def _naming(arguments: Sequence[str], models: Sequence[str]) -> str:
    """Return the command line with models named as well."""
    if arguments[0] == "prove":
        return shlex.join(["insync", "prove", *models, *arguments[1:]])
    named = [word for model in models for word in ("--model", model)]
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return shlex.join(["insync", *arguments[:end], *named, *arguments[end:]])


_OFTEN = 20
"""The number of frames of one function in a traceback that shows an endless recursion."""


def _endless_recursion(error: Exception) -> str | None:
    """Return the sentence about a user's function that calls itself without end; None for another error."""
    if not isinstance(error, RecursionError):
        return None
    frames = [one for one in traceback.walk_tb(error.__traceback__) if _is_of_user(one[0])]
    times = Counter(frame.f_code for frame, _ in frames)
    often = [(frame.f_code, line) for frame, line in reversed(frames) if times[frame.f_code] >= _OFTEN]
    if not often:
        return None
    named = [one for one in often if one[0].co_name != "<lambda>"]  # which says more than a lambda that it calls
    code, place = (named or often)[0]
    return (
        f"{code.co_filename}:{place}: the model raised RecursionError: {code.co_name} calls itself without end. "
        "Only what is known while the model is read can end that, such as a Python number; a value of the state cannot."
    )


def _is_of_user(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(_USER_MODULES)


def _replaced_method(error: Exception) -> str | None:
    """Return the sentence about a method of a user's class with other parameters than the one it overrides, if so."""
    called = re.match(r"(\w+)\.(\w+)\(\) (?:takes|missing|got)\b", str(error)) if isinstance(error, TypeError) else None
    if called is None:
        return None
    for module in [one for name, one in list(sys.modules.items()) if name.startswith(_USER_MODULES)]:
        kind, method = getattr(module, called[1], None), called[2]
        own = vars(kind).get(method) if isinstance(kind, type) and kind.__module__ == module.__name__ else None
        code = getattr(inspect.unwrap(own), "__code__", None) if callable(own) else None
        if code is not None and isinstance(kind, type) and any(method in vars(base) for base in kind.__mro__[1:]):
            return (
                f"{code.co_filename}:{code.co_firstlineno}: {called[1]}.{method} replaces a method of the model, and "
                f"is called with other parameters than it has ({error}). Give it those of the one that it replaces, or "
                "another name."
            )
    return None


def explain_exit(error: SystemExit) -> ExitCode:
    """Return the exit code for SystemExit, which a model must not raise and click raises for a closed pipe."""
    place = _place_in_user_code(error.__traceback__)
    if place is None:
        return ExitCode.HOLDS
    emit_error(f"Error: {place}: the model ends the process. Take that out; Python ran this line to read the model.")
    return ExitCode.USER_ERROR


def _place_in_user_code(trace: TracebackType | None) -> str | None:
    """Return the line in a user's file that raised an exception, unless insync's code did so below that line."""
    place = None
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if module.startswith(_USER_MODULES):
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        elif module.startswith(_OWN_MODULES):
            place = None
        trace = trace.tb_next
    return place


# Usage errors of click in insync's words: one sentence, and what to do.


_EXTRA = re.compile(r"Got unexpected extra argument(?P<several>s?) \((?P<words>.*)\)", re.DOTALL)
_FEW = 2
_MODELS = ("MODEL", "A")


def describe_usage_error(error: click.UsageError, arguments: Sequence[str], group: click.Group) -> str:
    """Return the message for a usage error: the mistake with its value, and where to find help.

    Args:
        error: the error.
        arguments: the arguments of the process; they name the command that click's parser refuses.
        group: the group of all commands.
    """
    context = error.ctx or _context_of(arguments, group)
    command = context.command_path if context is not None else "insync"
    text = _describe(error, command, context).rstrip()
    return text if text.endswith((".", "?", "`")) else f"{text}."


def _context_of(arguments: Sequence[str], group: click.Group) -> click.Context | None:
    """Return a context of the command that arguments name; None if they name none."""
    context = click.Context(group, info_name="insync")
    for word in arguments:
        commands = context.command
        if not isinstance(commands, click.Group) or word not in commands.list_commands(context):
            break
        named = commands.get_command(context, word)
        assert named is not None
        context = click.Context(named, parent=context, info_name=word)
    return context if context.parent is not None else None


def _describe(error: click.UsageError, command: str, context: click.Context | None) -> str:
    see = f"`{command} --help` shows what there is."
    if isinstance(error, click.NoSuchOption):
        near = _near(error.option_name, [name for one in _options(error.ctx) for name in one.opts])
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
        if "not take a value" in error.message:
            return f"{command}: {error.option_name} takes no value. {see}"
        found = next((one for one in _options(context) if error.option_name in one.opts), None)
        wanted = f" {found.metavar}. {found.help}" if found is not None and found.metavar else f". {see}"
        return f"{command}: {error.option_name} needs a value{wanted}"
    if isinstance(error, click.BadParameter):
        return f"{command}: {_bad_value(error)}"
    group = error.ctx.command if error.ctx is not None else None
    if isinstance(group, click.Group) and error.ctx is not None:
        return _no_command(error, group, error.ctx)
    extra = _EXTRA.fullmatch(error.message)
    if extra is not None:
        words = extra["words"].split() if extra["several"] else [extra["words"]]
        too_many = f"are {len(words)} arguments" if extra["several"] else "is one argument"
        return f"{command}: {extra['words']!r} {too_many} too many. {_where_it_belongs(words[0], context)}{see}"
    return f"{command}: {error.message} {see}"


def _where_it_belongs(word: str, context: click.Context | None) -> str:
    """Return what to write in place of an argument too many; empty if no option of the command is for such a word."""
    options = [name for option in _options(context) for name in option.opts]
    if "--config" in options:
        return f"Name a file with --config {word}. "
    params = [] if context is None else context.command.get_params(context)
    if not any(one.name == "model" for one in params):
        return ""
    name, equals, value = word.partition("=")
    if equals:
        return f"A bound is an option: --{name.replace('_', '-')} {value}. "
    if "--property" in options:
        return f"Name a property with --property {word}; bounds are options, such as --log-size 3. "
    return "Bounds are options, such as --log-size 3. "


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
    # Without a command, the message may be the whole help text.
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


def _options(context: click.Context | None) -> list[click.Option]:
    params = [] if context is None else context.command.get_params(context)
    return [param for param in params if isinstance(param, click.Option)]


def _near(name: str, known: list[str]) -> str | None:
    plain = {other.lstrip("-").casefold(): other for other in known}  # dashes would make all options similar
    near = difflib.get_close_matches(name.lstrip("-").casefold(), plain, n=1, cutoff=0.6)
    return f"Did you mean {plain[near[0]]!r}?" if near else None


def _owning_model(option: str, context: click.Context | None) -> str | None:
    """Return the sentence about the models with a setting or bound of that name, if there are few."""
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
    """Return the sentence about the other commands with an option, if there are few."""
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


# Messages with long values cut short.


_SHOWN = 80
_LONGEST = 300
_QUOTED = re.compile(r"(?<!\w)(['\"])((?:\\.|(?!\1).){121,})\1(?!\w)", re.DOTALL)
_WORD = re.compile(r"\S{301,}")


def shortened(message: str, arguments: Sequence[str] = ()) -> str:
    """Return a message in which quoted texts of more than 120 characters, and words of more than 300, are cut.

    An apostrophe within a word opens no quotation. Long paths are cut as well.

    Args:
        message: the message.
        arguments: the arguments of the command; those of more than 300 characters are cut, even if they have blanks.
    """
    for long in sorted(_long_values(arguments), key=len, reverse=True):
        message = message.replace(long, f"{long[:_SHOWN]}...")
    message = _QUOTED.sub(lambda found: f"{found[1]}{found[2][:_SHOWN]}...{found[1]}", message)
    return _WORD.sub(lambda found: f"{found[0][:_SHOWN]}...", message)


def _long_values(arguments: Sequence[str]) -> Iterator[str]:
    """Yield each long argument, and the long parts that messages name: an option's value, a file, a class in it."""
    for argument in arguments:
        _, _, value = argument.partition("=")
        file, _, name = argument.rpartition(":")
        yield from (part for part in {argument, value, file, name} if len(part) > _LONGEST)


# ----------------------------------------------------------------------------------------------- refusals of the system
#
# Memory, threads, open files, the current folder, access: the causes lie in the environment, where the user can remove
# them.


_MEMORY = re.compile(
    "failed to map segment|[Cc]annot allocate memory|cannot (apply additional memory|create shared object)|"
    "can't (start new thread|allocate (lock|read lock))"
)
_OF_FILES = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE)
_UNLOADED = re.compile(r"libz3\S* not found")
"""z3's message about its library, whether it is missing or there is too little memory to load it."""


def refusal_of_the_system(error: BaseException) -> str | None:
    """Return what the system refused and what to do, in a sentence or two; None for any other error.

    Args:
        error: the exception; its causes are examined too, as libraries wrap errors.
    """
    for one in _origins(error):
        number = one.errno if isinstance(one, OSError) else None
        if number in (errno.EMFILE, errno.ENFILE):
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            return f"The system opens no more files: `ulimit -n` allows {most}. Allow more."
        if isinstance(one, MemoryError) or number == errno.ENOMEM or _MEMORY.search(str(one)):
            return _too_little()
        if _UNLOADED.search(str(one)) and resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
            return _too_little()
    if not _has_folder():
        return "The current folder does not exist any more. Change to another one (cd) first."
    if isinstance(error, OSError) and error.errno in _OF_FILES:
        what = "a file" if error.filename is None else os.fsdecode(error.filename)
        return f"The system refuses {what} ({error.strerror}). Allow it, or work in another folder."
    return None


def _origins(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its causes and its contexts."""
    seen: list[BaseException] = []
    left: list[BaseException | None] = [error]
    while left:
        one = left.pop()
        if one is not None and one not in seen:
            seen.append(one)
            yield one
            left += [one.__context__, one.__cause__]


def _too_little() -> str:
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return "The system gives this process no more memory. End other programs, or use smaller bounds."
    return (
        f"The system gives this process no more memory: `ulimit -v` allows {most >> 20} MiB of address space. Allow "
        "more, or use smaller bounds."
    )


def _has_folder() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True
