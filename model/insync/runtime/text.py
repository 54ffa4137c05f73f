r"""Texts for people: numbers with their nouns, and control characters as escapes in Python's notation, such as `\x1b`.

Names and texts of a model are the user's, and a path or a trace file may be somebody else's. None of them may move the
cursor, set a title, colour a verdict, or change the direction of the text that follows.
"""

from __future__ import annotations

import re

__all__ = ["in_one_line", "plural", "visible"]

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters (C0 but for tab and line feed, DEL, C1), line separators, and the bidirectional formatting
characters of Unicode Standard Annex 9."""


def visible(text: str) -> str:
    """Return a text with control and bidirectional characters as escapes; line breaks and tabs stay."""
    return _OBEYED.sub(_escape, text)


def in_one_line(text: str) -> str:
    r"""Return the same with each line break as `\n`, for text that must stay in one line."""
    return visible(text).replace("\n", "\\n")


def plural(number: int, noun: str) -> str:
    """Return a number with its noun: "1 state", "2,000 states"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
