"""A tour of a system as HTML: how much of the space was taken, and the failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from insync.explorer.documents.text import plural

if TYPE_CHECKING:
    from insync.explorer.tour import TourResult

__all__ = ["html"]

_SILENT = (
    "A tour says nothing about larger bounds, about steps that the model does not allow, about what the system does "
    "between two steps, and about what the adapter does not show."
)


def html(result: TourResult) -> list[str]:
    """Return the parts of the HTML."""
    from insync.explorer.documents.html import drawing_of, folded, heading, paragraph, table, warned

    failure = result.failure
    stopped = "" if result.stopped_by is None else f"; stopped by {result.stopped_by}"
    visited = f"{result.visited:,} of {plural(result.states, 'state')} compared"
    kind = [] if failure is None else [paragraph(f"{result.adapter}: {failure.kind}. {failure.trace.reason}")]
    unused = [f"Never enabled: {', '.join(result.never_enabled)}."] if result.never_enabled else []
    rows = ((name, share.transitions, share.taken) for name, share in result.actions.items())
    return [
        heading(result.verdict, result.model, result.bounds),
        *kind,
        paragraph(f"{result.adapter}: {result.extent()}; {visited}{stopped}. {_SILENT}", dim=True),
        *map(paragraph, unused),
        *warned(result.warnings),
        folded("Actions", table(("action", "transitions", "taken"), rows)),
        *([] if failure is None else [drawing_of(failure.trace)]),
    ]
