"""The entry point. Its first lines answer Ctrl-C; everything else is imported after them.

What comes before is Python's own start and the few lines that the installer wrote, and is answered as Python does: by a
traceback, with exit code 1 while Python prepares itself (its module `site`), and by SIGINT afterwards.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` is made of it, and would first import `enum` for 3 ms
import os

__all__ = ["main"]


def _leave(number: int, frame: object) -> None:
    """End the process at once: what is imported has done nothing yet."""
    try:
        os.write(2, b"Interrupted.\n")
    finally:
        os._exit(130)


if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # else Ctrl-C is ignored, and stays so
    _signal.signal(_signal.SIGINT, _leave)

from insync.cli.main import main  # noqa: E402
