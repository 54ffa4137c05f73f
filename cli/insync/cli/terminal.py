r"""Output of commands: standard output and error, colours, a status line, exit codes.

All output goes through this module. Control characters in names, texts and paths are shown as escapes (`\x1b`), and
commands for build servers in them are defused. Only `emit_data` prints a text as it is. A closed pipe is no error.
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
    """Standard output, while it is reserved for `emit`; else None."""

    output: TextIO | None = None


def prepare_streams(*, keeps_output: bool) -> None:
    """Make standard output and error accept every text; open them on the null device if they are closed.

    Args:
        keeps_output: whether to reserve standard output for `emit`. All else that is printed, such as by a model, goes
            to standard error then.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 -- open until the process ends
        with contextlib.suppress(AttributeError):  # a substitute for a stream may lack this method
            getattr(sys, name).reconfigure(errors="backslashreplace")
    if keeps_output:
        _Kept.output, sys.stdout = sys.stdout, sys.stderr


def give_output_back() -> None:
    """Undo the reservation of standard output."""
    if _Kept.output is not None:
        _Kept.output, sys.stdout = None, _Kept.output


def output() -> TextIO:
    """Return the real standard output; `sys.stdout` may be standard error, see `prepare_streams`."""
    return sys.stdout if _Kept.output is None else _Kept.output


def typed(prompt: str) -> str:
    """Read a line, with editing, which Python supports only if `sys.stdout` is the terminal's standard output.

    Raises:
        EOFError: the input ended.
    """
    other, sys.stdout = sys.stdout, output()
    try:
        return input(prompt)
    finally:
        sys.stdout = other


def emit(text: str) -> None:
    """Write a text and a newline to standard output, with escapes, and flush. See `emit_data`."""
    emit_data(printable(text))


def emit_data(text: str) -> None:
    """Write `text` as it is and a newline to standard output, and flush: for JSON and other data.

    If the reader has closed the pipe, the rest is dropped, and the exit code stays as it is.

    Raises:
        UserError: the output cannot be written for another reason, such as a full disk.
    """
    clear_status()
    try:
        output().write(text + "\n")
        output().flush()
    except BrokenPipeError:
        _discard(output())
    except OSError as error:
        from insync.runtime.errors import UserError

        raise UserError(give_up_output(error)) from error


def give_up_output(error: OSError) -> str:
    """Discard the buffer of standard output and all later output; return the sentence about the error.

    Python would flush the buffer again at its end, and fail again.
    """
    _discard(output())
    reason = error.strerror or error
    return f"standard output: cannot be written ({reason}). Send it to a place with room, or to a terminal."


def emit_error(text: str) -> None:
    """Write `text` and a newline to standard error, with escapes, and flush; an error is ignored."""
    clear_status()
    _write_error(printable(text) + "\n")


class _Status:
    """Whether the last line of the terminal is a status line, to be overwritten."""

    shown = False


_WIPE = "\r\x1b[K"


def has_status_line() -> bool:
    """Return whether standard error can show a status line: a terminal that can move its cursor."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def status_shown() -> bool:
    """Return whether a status line is shown, which has no newline after it."""
    return _Status.shown


def emit_status(text: str) -> None:
    """Show a status line, which the next one overwrites; without a terminal, an ordinary line."""
    if not has_status_line():
        emit_error(text)
        return
    room = shutil.get_terminal_size().columns - 1
    _write_error(_WIPE + printable(text).replace("\n", " ")[:room])
    _Status.shown = True


def clear_status() -> None:
    """Erase the status line, if there is one."""
    if _Status.shown:
        _Status.shown = False
        _write_error(_WIPE)


def _write_error(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)
    except ValueError:  # a model has closed the stream
        return


def _discard(stream: TextIO) -> None:
    """Redirect later writes to `stream`, and its flush at the end of Python, to the null device."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)


def wants_colour(choice: str) -> bool:
    """Return whether to use colours, for a value of `--color`: for auto, on a terminal unless NO_COLOR is set."""
    if choice == "auto":
        return output().isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return choice == "always"


def painter(choice: str) -> Paint:
    """Return the function that colours texts, for a value of `--color`."""
    from insync.explorer.traces.grid import plain

    return _paint if wants_colour(choice) else plain


def _paint(text: str, tone: Tone) -> str:
    if not text.strip():
        return text
    style = _STYLES[tone.value]
    return click.style(_visible(text), **style).replace(_CODE, _OWN)  # type: ignore[arg-type]


_CODE = "\x1b["
"""The beginning of a colour code."""

_NONCE = os.urandom(4).hex()
_OWN = f"\x1b{_NONCE}["
"""The placeholder for it until a text is printed. A model cannot guess it, so codes in its texts are shown as text."""

_SHOWN = f"\\x1b{_NONCE}["
"""The placeholder after escaping."""

_COMMAND = re.compile(rf"^((?:[^\S\n]|{re.escape(_SHOWN)}[0-9;]*m)*)::|##(?=[a-z]*\[)", re.MULTILINE)
"""Commands for build servers: `::error::` at the beginning of a line (GitHub's runner), and `##[error]`, `##vso[...]`,
`##teamcity[...]` anywhere."""


def printable(text: str) -> str:
    """Return a text with control characters escaped, commands for build servers defused, and insync's own colours."""
    shown = _COMMAND.sub(lambda found: "#\\x23" if found[0] == "##" else f"{found[1]}\\x3a:", _visible(text))
    return shown.replace(_SHOWN, _CODE)


def _visible(text: str) -> str:
    if text.replace("\n", "").isprintable():
        return text
    from insync.runtime.text import visible  # not at the top: `insync --version` starts without a model

    return visible(text)


def grid_width() -> int:
    """Return the greatest width of a grid, in characters: COLUMNS, else that of the terminal, else 120."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return max(_NARROWEST, int(wanted[:6]))
    return max(_NARROWEST, shutil.get_terminal_size().columns) if output().isatty() else _WIDTH


# Exit codes.


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
    """Return the exit code of a verdict: holds, violated or incomplete."""
    return {"holds": ExitCode.HOLDS, "violated": ExitCode.VIOLATED, "incomplete": ExitCode.INCOMPLETE}[verdict]
