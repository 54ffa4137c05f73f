"""The entry point: from here on Ctrl-C ends the process with a word, whatever is being imported.

So nothing that takes time is imported before the handler is there: not click, and of the standard library only what
Python has imported by then or gets in no time.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # of typing, which takes as long to import as everything else here
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import NoReturn, TextIO

__all__ = ["main", "run"]

_INTERRUPTED = 130  # of ExitCode, which is not imported yet when it is needed


def main() -> NoReturn:
    """Run the command of this process's arguments and end the process with its exit code."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # else Ctrl-C is ignored, and stays so
        signal.signal(signal.SIGINT, _leave)
    from insync.cli.group import run_command

    signal.signal(signal.SIGINT, before)
    code = run_command(None)
    if _still_working():
        # The interpreter would wait for what nobody waits for any more: a compilation, or a job of Spark.
        for stream in (sys.stdout, sys.stderr):
            _flush(stream)
        os._exit(code)
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; see `ExitCode`. Without arguments, those of the process are taken."""
    from insync.cli.group import run_command

    return run_command(arguments)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """End the process at once: what is being imported has done nothing yet, and need not be told."""
    try:
        os.write(2, b"Interrupted.\n")
    finally:
        os._exit(_INTERRUPTED)


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except OSError:  # its reader has closed it, and has seen what it wanted
        return


def _still_working() -> bool:
    machine = sys.modules.get("insync.machine.interruptible")
    return machine is not None and bool(machine.still_working())
