r"""Writing to the terminal: text that survives a closed pipe, colours where they are wanted, and one line of status.

All that commands print goes through here. Control characters in names, texts and paths are shown as escapes (`\x1b`),
and no line of them is one that a build server obeys; `emit_data` alone prints what it gets.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from enum import IntEnum
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from insync.explorer.traces.grid import Paint, Tone

__all__ = [
    "EPILOG",
    "ExitCode",
    "clear_status",
    "emit",
    "emit_data",
    "emit_error",
    "emit_status",
    "exit_code_for",
    "give_output_back",
    "give_up_output",
    "grid_width",
    "has_status_line",
    "output",
    "painter",
    "prepare_streams",
    "printable",
    "status_shown",
    "typed",
    "wants_colour",
]


_WIDTH = 120
_NARROWEST = 40

_STYLES: dict[str, dict[str, object]] = {
    "good": {"fg": "green", "bold": True},
    "bad": {"fg": "red", "bold": True},
    "open": {"fg": "yellow", "bold": True},
    "heading": {"bold": True},
    "number": {"dim": True},
    "label": {"fg": "cyan"},
    "refused": {"fg": "red"},
    "reason": {"bold": True},
}


class _Kept:
    """Standard output, while it is kept for answers; None where it is not."""

    output: TextIO | None = None


def prepare_streams(*, keeps_output: bool) -> None:
    """Make standard output and error accept every text, and be there at all when the process began with them closed.

    Args:
        keeps_output: whether `emit` alone writes to standard output from here on: what a model prints goes to standard
            error then, whatever part of it prints, and in which thread.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 -- open until the process ends
        with contextlib.suppress(AttributeError):  # what stands in for a stream may have no encoding to change
            getattr(sys, name).reconfigure(errors="backslashreplace")
    if keeps_output:
        _Kept.output, sys.stdout = sys.stdout, sys.stderr


def give_output_back() -> None:
    """Let everybody write to standard output again, where it was kept."""
    if _Kept.output is not None:
        _Kept.output, sys.stdout = None, _Kept.output


def output() -> TextIO:
    """Return standard output, which `sys.stdout` may not be; see `prepare_streams`."""
    return sys.stdout if _Kept.output is None else _Kept.output


def typed(prompt: str) -> str:
    """Return a line that somebody types, who may edit it: Python allows that on the terminal's standard output alone.

    Raises:
        EOFError: the input ended.
    """
    other, sys.stdout = sys.stdout, output()
    try:
        return input(prompt)
    finally:
        sys.stdout = other


def emit(text: str) -> None:
    """Write a text and a newline to standard output, at once. See `emit_data`."""
    emit_data(printable(text))


def emit_data(text: str) -> None:
    """Write `text` and a newline to standard output, at once, as it is: for JSON and the like, which programs read.

    A reader that closed the pipe has seen what it wanted: the rest is dropped and the exit code stays what it is.
    Raises UserError when the output cannot be written for another reason, such as a full disk.
    """
    clear_status()
    try:
        output().write(text + "\n")
        output().flush()
    except BrokenPipeError:
        _discard(output())
    except OSError as error:
        from insync.model.errors import UserError

        raise UserError(give_up_output(error)) from error


def give_up_output(error: OSError) -> str:
    """Write no more to standard output, nor what it still holds, and return the sentence for why it cannot be written.

    What it holds would be written once more when Python ends, and fail again.
    """
    _discard(output())
    reason = error.strerror or error
    return f"standard output: cannot be written ({reason}). Send it to a place with room, or to a terminal."


def emit_error(text: str) -> None:
    """Write `text` and a newline to standard error, at once; nothing can be said when that fails."""
    clear_status()
    _write_error(printable(text) + "\n")


class _Status:
    """Whether the last line of the terminal says how far some work is, and is to be replaced."""

    shown = False


_WIPE = "\r\x1b[K"


def has_status_line() -> bool:
    """Return whether standard error can show a line that is rewritten: a terminal that moves its cursor."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def status_shown() -> bool:
    """Return whether a line of status stands there, without a newline after it."""
    return _Status.shown


def emit_status(text: str) -> None:
    """Show how far some work is: on a terminal in one line that the next one replaces, elsewhere as a line."""
    if not has_status_line():
        emit_error(text)
        return
    room = shutil.get_terminal_size().columns - 1
    _write_error(_WIPE + printable(text).replace("\n", " ")[:room])
    _Status.shown = True


def clear_status() -> None:
    """Take the line of status away, if there is one."""
    if _Status.shown:
        _Status.shown = False
        _write_error(_WIPE)


def _write_error(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)
    except ValueError:  # a model has closed it
        return


def _discard(stream: TextIO) -> None:
    """Make later writes to `stream`, and its flush when Python ends, go nowhere."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)


def wants_colour(choice: str) -> bool:
    """Decide `--color`: auto means a terminal, and no NO_COLOR in the environment."""
    if choice == "auto":
        return output().isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return choice == "always"


def painter(choice: str) -> Paint:
    """Return what colours the grid for a choice of `--color`."""
    from insync.explorer.traces.grid import plain

    return _paint if wants_colour(choice) else plain


def _paint(text: str, tone: Tone) -> str:
    if not text.strip():
        return text
    style = _STYLES[tone.value]
    return click.style(_visible(text), **style).replace(_CODE, _OWN)  # type: ignore[arg-type]


_CODE = "\x1b["
"""What a code for colours begins with."""

_NONCE = os.urandom(4).hex()
_OWN = f"\x1b{_NONCE}["
"""What stands for it until it is printed: nobody else can write it, so other codes are shown as text."""

_SHOWN = f"\\x1b{_NONCE}["
"""The same with its control character as an escape."""

_COMMAND = re.compile(rf"^((?:[^\S\n]|{re.escape(_SHOWN)}[0-9;]*m)*)::|##(?=[a-z]*\[)", re.MULTILINE)
"""What a build server would take for a command: `::error::` at the beginning of a line for GitHub's runner, and
`##[error]`, `##vso[...]`, `##teamcity[...]` anywhere in it."""


def printable(text: str) -> str:
    """Return a text as it may be printed: the codes of our own colours stay."""
    shown = _COMMAND.sub(lambda found: "#\\x23" if found[0] == "##" else f"{found[1]}\\x3a:", _visible(text))
    return shown.replace(_SHOWN, _CODE)


def _visible(text: str) -> str:
    if text.replace("\n", "").isprintable():
        return text
    from insync.model.visible_text import visible  # where it is needed: `insync --version` begins without a model

    return visible(text)


def grid_width() -> int:
    """Return how wide the grid may be: what COLUMNS says, else the terminal, or 120 characters where there is none."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return max(_NARROWEST, int(wanted[:6]))
    return max(_NARROWEST, shutil.get_terminal_size().columns) if output().isatty() else _WIDTH


# What the process says when it ends, for scripts.


class ExitCode(IntEnum):
    """The exit codes of every command."""

    HOLDS = 0
    VIOLATED = 1
    USER_ERROR = 2
    INCOMPLETE = 3
    INTERNAL_ERROR = 70
    INTERRUPTED = 130


EPILOG = """\b
Exit codes:
  0   every property holds and the search is complete (other commands: done)
  1   a property is violated
  2   a mistake in the command, a file or a model: one sentence says which
  3   incomplete: a limit or Ctrl-C ended the search, and nothing is proved
  70  an error in insync itself
  130 interrupted by Ctrl-C outside a search, or by a second one
"""


def exit_code_for(verdict: str) -> ExitCode:
    """Return the exit code of a verdict word: holds, violated or incomplete."""
    return {"holds": ExitCode.HOLDS, "violated": ExitCode.VIOLATED, "incomplete": ExitCode.INCOMPLETE}[verdict]
