"""Annotations as GitHub's runner reads them: a line each on standard output.

The form is that of "Workflow commands for GitHub Actions"; what is escaped, and how, is what GitHub's own toolkit does.
"""

from __future__ import annotations

from collections.abc import Iterable

from insync.cli.show.annotations import Annotation
from insync.model.visible_text import visible

__all__ = ["github_lines"]

_IN_MESSAGES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTIES = {**_IN_MESSAGES, ord(":"): "%3A", ord(","): "%2C"}


def github_lines(annotations: Iterable[Annotation]) -> str:
    """Return the lines; none without annotations."""
    return "\n".join(map(_line, annotations))


def _line(annotation: Annotation) -> str:
    properties = {"title": f"insync: {annotation.rule}"}
    if annotation.place is not None:
        properties = {"file": annotation.place.path, "line": str(annotation.place.line), **properties}
    written = ",".join(f"{name}={visible(value).translate(_IN_PROPERTIES)}" for name, value in properties.items())
    steps = [f"{number:>3}  {step.label}" for number, step in enumerate(annotation.steps)]
    text = "\n".join([annotation.message, *steps]).translate(_IN_MESSAGES)
    return f"::{'error' if annotation.fails else 'warning'} {written}::{text}"
