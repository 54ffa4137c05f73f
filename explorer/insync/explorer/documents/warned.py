"""Warnings in reports, and the warning about a machine without huge pages."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from insync.explorer.traces.grid import Paint, Tone

if TYPE_CHECKING:
    from insync.explorer.results import CheckResult

__all__ = ["NO_HUGE_PAGES", "warning_lines", "without_huge_pages"]

_MANY_MISSED = 32
"""The least number of missed huge pages (64 MiB) for a warning; smaller searches end soon in any case."""

NO_HUGE_PAGES = (
    "this machine gives none, and large searches take several times as long; allow them with `echo madvise > "
    "/sys/kernel/mm/transparent_hugepage/enabled`"
)


def warning_lines(warnings: Sequence[str], paint: Paint, width: int) -> list[str]:
    """Return the lines of a report for the warnings of a result, wrapped to a width."""
    lines = []
    for text in warnings:
        first, *rest = textwrap.wrap(
            f"warning: {text}", width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        lines += [paint("warning:", Tone.OPEN) + first.removeprefix("warning:"), *rest]
    return lines


def without_huge_pages(result: CheckResult) -> list[str]:
    """Return a warning if most of the memory of a large search was in small pages."""
    pages = result.huge_pages
    if pages is None or pages.missed < max(_MANY_MISSED, pages.had):
        return []
    if not pages.had:
        return [f"The states had no huge pages: {NO_HUGE_PAGES}"]
    numbers = f"{pages.had:,} huge pages were had and {pages.missed:,} missed"
    return [f"Of the memory of the states {numbers}: memory is scattered or scarce, and large searches take longer."]
