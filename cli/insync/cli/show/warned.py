"""What is suspicious in a model, as every report says it: a line for each warning."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from insync.explorer.traces.grid import Paint, Tone

__all__ = ["warning_lines"]


def warning_lines(warnings: Sequence[str], paint: Paint, width: int) -> list[str]:
    """Return the lines of a report for the warnings of a result, filled to a width; none where there are none."""
    lines = []
    for text in warnings:
        first, *rest = textwrap.wrap(
            f"warning: {text}", width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        lines += [paint("warning:", Tone.OPEN) + first.removeprefix("warning:"), *rest]
    return lines
