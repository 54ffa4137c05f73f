"""Files with sections (INI): inventories of Ansible, whose hosts and groups have variables, and clients' settings."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from insync.kafka_questions.configs.documents import spelled
from insync.kafka_questions.configs.entries import Declared, Place

__all__ = ["ini_in", "is_ini"]

_SECTION = re.compile(r"\[(?P<group>[\w.-]+)(?::(?P<what>vars|children))?\]\s*(?:[#;].*)?")


def is_ini(lines: Sequence[str]) -> bool:
    """Return whether a file has sections."""
    return any(_SECTION.fullmatch(line.strip()) for line in lines)


def ini_in(file: str, lines: Sequence[str]) -> Iterator[Declared]:
    """Yield what is a setting of Kafka in each section, and the variables of a host as a part of their own."""
    section = _SECTION.fullmatch("[all]")
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text[0] in "#;":
            continue
        if (found := _SECTION.fullmatch(text)) is not None:
            section = found
            continue
        assert section is not None
        host, *pairs = _words(text)
        if section["what"] == "vars" or "=" in host:
            host, pairs = section[0], [text]
        for pair in pairs:
            key, equals, value = pair.partition("=")
            if equals:
                plain = value.strip().strip("\"'")
                yield from spelled(Declared(None, key.strip(), plain, Place(file, number), scope=host))


def _words(text: str) -> list[str]:
    """Return the words of a line, quoted ones whole, up to a comment."""
    try:
        return shlex.split(text, comments=True)
    except ValueError:  # a quotation mark alone
        return text.split()
