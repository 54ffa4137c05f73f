"""Whose fault an exception is: the user's, whose model raised it, or insync's own."""

from __future__ import annotations

import inspect
import re
import shlex
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from types import FrameType, TracebackType

from insync.cli.shortened import shortened
from insync.cli.show.refusals import refusal_of_the_system
from insync.cli.terminal import ExitCode, emit_data, emit_error, give_up_output

__all__ = ["explain_exit", "explain_fault"]

_USER_MODULES = "insync_user_"  # the catalogue loads a user's file under such a name
_OWN_MODULES = "insync."


def explain_fault(error: Exception, arguments: Sequence[str] = ()) -> ExitCode:
    """Print what went wrong, in one sentence where it is the user's to fix, and return the exit code.

    Args:
        error: what was raised.
        arguments: those of the command.
    """
    from insync.explorer.named_model import UnnamedModel
    from insync.model.domains.symbolic import cure_of_call
    from insync.model.errors import UserError
    from insync.model.visible_text import in_one_line

    if isinstance(error, UnnamedModel):
        said = shortened(error.said, arguments)
        _say(in_one_line(f"{said} {error.advice}: {_naming(arguments, error.models)}"), arguments)
        return ExitCode.USER_ERROR
    if isinstance(error, UserError):
        _say(shortened(error.args[0], arguments), arguments)
        return ExitCode.USER_ERROR
    if isinstance(error, OSError) and _is_of_click(error):  # a help text, which click writes itself
        emit_error(f"Error: {give_up_output(error)}")
        return ExitCode.USER_ERROR
    endless = _endless_recursion(error)
    if endless is not None:
        _say(endless, arguments)
        return ExitCode.USER_ERROR
    place = _place_in_user_code(error.__traceback__)
    if place is not None:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        cure = cure_of_call(error) or " Fix it there; Python ran this line to read the model."
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


def _is_of_click(error: BaseException) -> bool:
    """Return whether click raised an error, and not what click has called."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and str(trace.tb_frame.f_globals.get("__name__", "")).startswith("click.")


def _say(message: str, arguments: Sequence[str]) -> None:
    """Print the sentence for a mistake, and to a build that wants it where it is."""
    emit_error(f"Error: {message}")
    if "--github" in arguments:
        from insync.cli.show.annotations import mistake
        from insync.cli.show.github import github_lines

        emit_data(github_lines([mistake(message)]))


def _naming(arguments: Sequence[str], models: Sequence[str]) -> str:
    """Return the command with the same arguments that names some models as well."""
    if arguments[0] == "prove":
        return shlex.join(["insync", "prove", *models, *arguments[1:]])
    named = [word for model in models for word in ("--model", model)]
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return shlex.join(["insync", *arguments[:end], *named, *arguments[end:]])


_OFTEN = 20
"""How often a function of a user's file is found in one traceback only if it calls itself without end."""


def _endless_recursion(error: Exception) -> str | None:
    """What to say where a user's function calls itself without end, wherever Python then gave up."""
    if not isinstance(error, RecursionError):
        return None
    frames = [one for one in traceback.walk_tb(error.__traceback__) if _is_of_user(one[0])]
    times = Counter(frame.f_code for frame, _ in frames)
    found = next(((frame, line) for frame, line in reversed(frames) if times[frame.f_code] >= _OFTEN), None)
    if found is None:
        return None
    code = found[0].f_code
    return (
        f"{code.co_filename}:{found[1]}: the model raised RecursionError: {code.co_name} calls itself without end. "
        "What ends it must be known while the model is read, such as a number of Python; a value of the state is not."
    )


def _is_of_user(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(_USER_MODULES)


def _replaced_method(error: Exception) -> str | None:
    """What to say where insync calls a method of a user's class that has other parameters than the one it replaces."""
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
    """Return the exit code for a request to end the process: a model must not make one, click does at a closed pipe."""
    place = _place_in_user_code(error.__traceback__)
    if place is None:
        return ExitCode.HOLDS
    emit_error(f"Error: {place}: the model ends the process. Take that out; Python ran this line to read the model.")
    return ExitCode.USER_ERROR


def _place_in_user_code(trace: TracebackType | None) -> str | None:
    """Where the exception left a user's file, if no code of insync lies between that line and the exception."""
    place = None
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if module.startswith(_USER_MODULES):
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        elif module.startswith(_OWN_MODULES):
            place = None
        trace = trace.tb_next
    return place
