"""The command from its first line to its last: what Ctrl-C does outside a search, and how the process ends.

Nothing that takes time is imported at the top: not click, and of the standard library only what takes no time.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys

TYPE_CHECKING = False  # of typing, which takes as long to import as everything else here
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import NoReturn, TextIO

__all__ = ["main", "run"]

_USER_ERROR, _FAULT, _INTERRUPTED = 2, 70, 130  # of ExitCode, which is not imported yet when they are needed
_IMPORTING = "<frozen importlib._bootstrap"


class _Answer:
    """The exit code of the command, once its answer is printed as a whole."""

    code: int | None = None


def main() -> NoReturn:
    """Run the command of this process's arguments and end the process with its exit code.

    Ctrl-C raises KeyboardInterrupt in a command, so that it removes its temporary files and ends its processes. It ends
    the process at once before the command begins, while modules are imported, and when the answer is printed.
    """
    _Answer.code = None
    if callable(signal.getsignal(signal.SIGINT)):  # else Ctrl-C is ignored, and stays so
        signal.signal(signal.SIGINT, _interrupted)
        sys.unraisablehook = _unraisable
        # What is registered first is called last. Python gives the signal back to the system after that, which would
        # end the process by it though the answer is there.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    code = _INTERRUPTED
    try:
        code = _command()
    except KeyboardInterrupt:  # a second one, while the first was answered
        _say_interrupted()
    except MemoryError:  # it has too little to say so itself
        os.write(
            2, b"Error: The system gives this process too little memory to begin with (`ulimit -v`). Allow more.\n"
        )
        code = _USER_ERROR
    except Exception:  # noqa: BLE001 -- the command itself cannot be loaded
        sys.excepthook(*sys.exc_info())
        code = _FAULT
    _Answer.code = code
    if _still_working():
        # The interpreter would wait for what nobody waits for any more: a compilation, or a job of Spark.
        for stream in (sys.stdout, sys.stderr):
            _flush(stream)
        os._exit(code)
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; see `ExitCode`. Without arguments, those of the process are taken."""
    from insync.cli.group import run_command
    from insync.cli.terminal import give_output_back

    try:
        return run_command(arguments)
    finally:
        give_output_back()


def _command() -> int:
    """Run the command; `_interrupted` looks for the frame of this function."""
    from insync.cli.group import run_command

    return run_command(None)


def _interrupted(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt in the command, or end the process where nothing would answer that.

    While a module is imported, C code may take the exception for a failed import, or print it.
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
    """End the process for a KeyboardInterrupt where no exception can be raised: in `__del__`, or in a callback."""
    if issubclass(given.exc_type, KeyboardInterrupt):
        _leave()
    sys.__unraisablehook__(given)


def _leave() -> NoReturn:
    """End the process at once, with the exit code of the answer if there is one."""
    try:
        if _Answer.code is None:
            _say_interrupted()
    finally:
        os._exit(_INTERRUPTED if _Answer.code is None else _Answer.code)


def _say_interrupted() -> None:
    """Print the word below a line of status, not through `sys.stderr`, which may be in the middle of a write."""
    terminal = sys.modules.get("insync.cli.terminal")
    below = terminal is not None and hasattr(terminal, "status_shown") and terminal.status_shown()
    try:
        os.write(2, b"\nInterrupted.\n" if below else b"Interrupted.\n")
    except OSError:  # standard error is closed
        return


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except OSError:  # its reader has closed it, and has seen what it wanted
        return


def _still_working() -> bool:
    machine = sys.modules.get("insync.machine.interruptible")
    return machine is not None and bool(machine.still_working())
