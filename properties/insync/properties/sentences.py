"""Sentences on why a property fails, in phrases that keep what they are about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Phrase", "Sentence", "offset_in", "pointed", "said"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A piece of a sentence.

    Attributes:
        text: the text.
        about: the names of the members and records, and the paths of the fields, that it is about; often none.
        offset: the place in the logs of these members; None if it is about all of each.
    """

    text: str
    about: tuple[str, ...] = ()
    offset: int | None = None


class Sentence(str):
    """A text that keeps its phrases. Whatever makes another text of it, such as an f-string, gives a plain `str`."""

    phrases: tuple[Phrase, ...]

    def __new__(cls, phrases: Iterable[Phrase]) -> Sentence:
        parts = tuple(phrase for phrase in phrases if phrase.text)
        made = super().__new__(cls, "".join(phrase.text for phrase in parts))
        made.phrases = parts
        return made

    def __getnewargs__(self) -> tuple[tuple[Phrase, ...]]:  # type: ignore[override]  # for copies and pickles
        return (self.phrases,)


def said(template: str, /, **parts: object) -> Sentence:
    """Return a sentence with a value for each name in braces: `said("{broker} has no record", broker="b1")`.

    Pictures of the last state point at what a `str` names: a member, a record, or a field by its path. A list of names
    stands with commas between them, a `Sentence` keeps what it is about, and any other value is text. A brace that is
    written twice stands for itself, as in `str.format`.
    """
    return Sentence(_filled(template, parts))


def _filled(template: str, parts: Mapping[str, object]) -> Iterator[Phrase]:
    for piece in re.split(r"(\{\{|\}\}|\{\w+\})", template):
        if not piece.startswith("{") or piece == "{{":
            yield Phrase(piece[:1] if piece in ("{{", "}}") else piece)
            continue
        value = parts[piece[1:-1]]
        for at, one in enumerate(value if isinstance(value, list | tuple) else [value]):
            yield Phrase(", " if at else "")
            yield from one.phrases if isinstance(one, Sentence) else [Phrase(str(one), _named(one))]


def _named(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else ()


def offset_in(offset: int, *logs: str) -> Sentence:
    """Return the phrase "offset 0", which is about this place in the logs of these members."""
    return Sentence([Phrase(f"offset {offset}", logs, offset)])


def pointed(text: str, names: Iterable[str]) -> Sentence:
    """Return a text as a sentence that is about each of these names wherever it stands in the text."""
    longest = sorted((re.escape(name) for name in names if name.strip() and not name.isdigit()), key=len, reverse=True)
    if not longest:
        return Sentence([Phrase(text)])
    pieces = re.split(rf"(?<![\w.@])({'|'.join(longest)})(?![\w@])", text)
    return Sentence(Phrase(piece, (piece,) if at % 2 else ()) for at, piece in enumerate(pieces))
