"""The entry point. Its first lines handle Ctrl-C; everything else is imported after them.

During the start of Python before these lines, Ctrl-C has Python's own effect: a traceback and exit code 1 while the
module `site` is imported, and the end of the process by SIGINT afterwards.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` wraps it, and would first import `enum` for 3 ms
import os

__all__ = ["main"]


def _leave(number: int, frame: object) -> None:
    """Exit at once: nothing needs to be cleaned up yet."""
    try:
        os.write(2, b"Interrupted.\n")
    finally:
        os._exit(130)


if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # an ignored Ctrl-C stays ignored
    _signal.signal(_signal.SIGINT, _leave)

from insync.cli.main import main  # noqa: E402
