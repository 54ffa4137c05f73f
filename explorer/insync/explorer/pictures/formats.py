"""The formats of a picture of a trace. A new format is a renderer beside this file and an entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from insync.explorer.pictures.markup import markdown, mermaid
from insync.explorer.pictures.page import Page, html_page
from insync.explorer.pictures.picture import Picture, picture
from insync.explorer.pictures.svg import svg
from insync.explorer.traces.trace import Trace
from insync.explorer.traces.trace_file import trace_text
from insync.model import Model

__all__ = ["FORMATS", "Format", "drawn_as"]


@dataclass(frozen=True, slots=True)
class Format:
    """A format of pictures.

    Attributes:
        meaning: what it is, in a few words.
        render: returns the text of a picture of a trace.
        read_by_people: whether the text is read as it stands, so that control characters are shown as escapes.
    """

    meaning: str
    render: Callable[[Picture, Trace], str]
    read_by_people: bool = False


FORMATS: Mapping[str, Format] = {
    "html": Format("a page", lambda drawn, trace: html_page([Page(drawn, trace_text(trace))])),
    "svg": Format("a picture", lambda drawn, _: svg(drawn)),
    "mermaid": Format("a sequence diagram", lambda drawn, _: mermaid(drawn), read_by_people=True),
    "markdown": Format("for issues and tickets", lambda drawn, _: markdown(drawn), read_by_people=True),
}
"""The formats by their names on the command line."""


def drawn_as(form: str, trace: Trace, model: Model, file: Path) -> str:
    """Return a trace as a picture in one of `FORMATS`; `file` is the trace file."""
    return FORMATS[form].render(picture(trace, model, file=file), trace)
