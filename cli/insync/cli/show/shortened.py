"""Messages without the whole of a long wrong value: its beginning says which one it was."""

from __future__ import annotations

import re

__all__ = ["shortened"]

_SHOWN = 80
_QUOTED = re.compile(r"(?<!\w)(['\"])((?:(?!\1).){121,})\1(?!\w)", re.DOTALL)
_WORD = re.compile(r"\S{301,}")


def shortened(message: str) -> str:
    """Return a message in which each quoted text of more than 120 characters, and each word of more than 300, is cut.

    An apostrophe within a word opens no quotation. Paths are seldom so long, and are then cut as well.
    """
    message = _QUOTED.sub(lambda found: f"{found[1]}{found[2][:_SHOWN]}...{found[1]}", message)
    return _WORD.sub(lambda found: f"{found[0][:_SHOWN]}...", message)
