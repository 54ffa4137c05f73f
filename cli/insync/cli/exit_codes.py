"""What the process says when it ends, for scripts."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["EPILOG", "ExitCode", "exit_code_for"]


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
