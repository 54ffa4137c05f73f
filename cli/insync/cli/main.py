"""The life of the process: Ctrl-C outside a search, and the exit code.

Only cheap modules of the standard library are imported at the top, and not click.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys

TYPE_CHECKING = False  # importing `typing` would take as long as all other imports here
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import NoReturn, TextIO

__all__ = ["main", "run"]

_USER_ERROR, _FAULT, _INTERRUPTED = 2, 70, 130  # as in ExitCode, which is not imported yet
_IMPORTING = "<frozen importlib._bootstrap"


class _Answer:
    """The exit code of the command, once its whole output is printed."""

    code: int | None = None


def main() -> NoReturn:
    """Run the command in the arguments of this process, and exit with its exit code.

    Ctrl-C raises KeyboardInterrupt in a command, so that it removes its temporary files and ends its child processes.
    Ctrl-C exits at once before the command begins, while modules are imported, and after the output is printed.
    """
    _Answer.code = None
    if callable(signal.getsignal(signal.SIGINT)):  # an ignored Ctrl-C stays ignored
        signal.signal(signal.SIGINT, _interrupted)
        sys.unraisablehook = _unraisable
        # The first registered function is called last. Without it, Ctrl-C would then kill the process although its
        # output is complete, as Python restores the default handler.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    code = _INTERRUPTED
    try:
        code = _command()
    except KeyboardInterrupt:  # a second one, while the first is handled
        _say_interrupted()
    except MemoryError:  # too little memory to load `faults`
        os.write(2, b"Error: The system gives this process no more memory. Allow more (`ulimit -v`).\n")
        code = _USER_ERROR
    except Exception:  # noqa: BLE001 -- the group of commands cannot be loaded
        sys.excepthook(*sys.exc_info())
        code = _FAULT
    _Answer.code = code
    if _still_working():
        # The interpreter would wait for abandoned work: a compilation, or a job of Spark.
        for stream in (sys.stdout, sys.stderr):
            _flush(stream)
        os._exit(code)
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; see `ExitCode`. None takes the arguments of the process."""
    from insync.cli.group import run_command
    from insync.cli.terminal import give_output_back

    try:
        return run_command(arguments)
    finally:
        give_output_back()


def _command() -> int:
    """Run the command. `_interrupted` searches the stack for this function."""
    from insync.cli.group import run_command

    return run_command(None)


def _interrupted(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt in the command; outside it and during an import, exit.

    During an import, C code may take the exception for a failed import, or print it.
    """
    within = importing = False
    while frame is not None:
        within = within or frame.f_code is _command.__code__
        importing = importing or frame.f_code.co_filename.startswith(_IMPORTING)
        frame = frame.f_back
    if not within or importing:
        _leave()
    raise KeyboardInterrupt


def _unraisable(given: sys.UnraisableHookArgs) -> None:
    """Exit for a KeyboardInterrupt where no exception can be raised: in `__del__`, or in a callback."""
    if issubclass(given.exc_type, KeyboardInterrupt):
        _leave()
    sys.__unraisablehook__(given)


def _leave() -> NoReturn:
    """Exit at once, with the exit code of the command if its output is complete."""
    try:
        if _Answer.code is None:
            _say_interrupted()
    finally:
        os._exit(_INTERRUPTED if _Answer.code is None else _Answer.code)


def _say_interrupted() -> None:
    """Print "Interrupted." below the status line, not through `sys.stderr`, which may be in the middle of a write."""
    terminal = sys.modules.get("insync.cli.terminal")
    below = terminal is not None and hasattr(terminal, "status_shown") and terminal.status_shown()
    try:
        os.write(2, b"\nInterrupted.\n" if below else b"Interrupted.\n")
    except OSError:  # standard error is closed
        return


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except OSError:  # the reader has closed the pipe
        return


def _still_working() -> bool:
    machine = sys.modules.get("insync.runtime.watch")
    return machine is not None and bool(machine.still_working())
