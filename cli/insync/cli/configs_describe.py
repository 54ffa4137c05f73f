"""What `kafka-configs --describe` prints: a heading for each broker or topic, and below it a line a setting."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from insync.cli.declared import Declared, Place, mistake

__all__ = ["configs_in", "is_configs_heading"]

_HEADING = re.compile(
    r"(?P<kind>Dynamic configs|All configs|Default configs|Configs) for (?:the )?"
    r"(?P<entity>topic|broker|topics|brokers)s?(?: (?P<name>\S+)| in the cluster)? are:?(?P<rest>.*)"
)
_SETTING = re.compile(r"(?P<key>[A-Za-z0-9._\-]+)=(?P<value>.*?)(?:\s+sensitive=(?:true|false)\b.*)?")


def is_configs_heading(line: str) -> bool:
    """Return whether a line is a heading of this format."""
    return _HEADING.fullmatch(line.strip()) is not None


def configs_in(file: str, lines: Sequence[str]) -> Iterator[Declared]:
    """Yield every setting; those below the heading of a topic are about it.

    Raises:
        UserError: a line that is neither a heading nor a setting, or a setting above the first heading.
    """
    heading: re.Match[str] | None = None
    for number, line in enumerate(lines, start=1):
        place, text = Place(file, number), line.strip()
        if (found := _HEADING.fullmatch(text)) is not None:
            heading, text = found, found["rest"].strip()
        if not text:
            continue
        setting = _SETTING.fullmatch(text)
        if setting is None or heading is None:
            cure = "give its output as it is, each setting on a line below its heading"
            raise mistake(place, text, "a line of kafka-configs --describe", cure)
        named = heading["entity"] == "topic"
        topic = heading["name"].strip("'\"") if named and heading["name"] else None
        general = heading["kind"] == "Default configs"
        yield Declared(topic, setting["key"], setting["value"].strip(), place, default=general)
