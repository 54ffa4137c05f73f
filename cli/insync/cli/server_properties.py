"""Java's properties, as in server.properties: `key=value`, comments, lines that are continued."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from insync.cli.declared import Declared, Place, mistake

__all__ = ["properties_in"]

_PAIR = re.compile(r"([A-Za-z0-9._\-]+)\s*(?:[=:]\s*|\s+)(.*)", re.DOTALL)


def properties_in(file: str, lines: Sequence[str]) -> Iterator[Declared]:
    """Yield every property; all are about all topics.

    Raises:
        UserError: a line that is no property.
    """
    number, count = 0, len(lines)
    while number < count:
        place, text = Place(file, number + 1), lines[number].strip()
        number += 1
        if not text or text[0] in "#!":
            continue
        while text.endswith("\\") and number < count:
            text = text[:-1] + lines[number].strip()
            number += 1
        pair = _PAIR.fullmatch(text)
        if pair is None:
            raise mistake(place, text, "a property", "write key=value, or # before a comment")
        yield Declared(None, pair[1], pair[2].strip(), place)
