"""Messages without the whole of a long wrong value: its beginning says which one it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

__all__ = ["shortened"]

_SHOWN = 80
_LONGEST = 300
_QUOTED = re.compile(r"(?<!\w)(['\"])((?:\\.|(?!\1).){121,})\1(?!\w)", re.DOTALL)
_WORD = re.compile(r"\S{301,}")


def shortened(message: str, arguments: Sequence[str] = ()) -> str:
    """Return a message in which each quoted text of more than 120 characters, and each word of more than 300, is cut.

    An apostrophe within a word opens no quotation. Paths are seldom so long, and are then cut as well.

    Args:
        message: the message.
        arguments: those of the command; one of more than 300 characters is cut as well, even if it has blanks.
    """
    for long in sorted(_long_values(arguments), key=len, reverse=True):
        message = message.replace(long, f"{long[:_SHOWN]}...")
    message = _QUOTED.sub(lambda found: f"{found[1]}{found[2][:_SHOWN]}...{found[1]}", message)
    return _WORD.sub(lambda found: f"{found[0][:_SHOWN]}...", message)


def _long_values(arguments: Sequence[str]) -> Iterator[str]:
    """Each long argument, and the parts of one that messages name: the value of an option, a file, a class in it."""
    for argument in arguments:
        _, _, value = argument.partition("=")
        file, _, name = argument.rpartition(":")
        yield from (part for part in {argument, value, file, name} if len(part) > _LONGEST)
