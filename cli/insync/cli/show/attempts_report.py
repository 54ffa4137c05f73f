"""The changes of settings that were tried against a disturbance, as text."""

from __future__ import annotations

import textwrap

from insync.cli.show.ask_report import describe_settings
from insync.cli.show.figures import plural
from insync.cli.show.report import STOPPED_BY
from insync.kafka.defects.findings import page_of
from insync.kafka_questions.ask import LOSS, PROMISES, Cell
from insync.kafka_questions.disturbances import Attempt, Disturbed

__all__ = ["describe_attempt", "describe_what_helps", "what_helps"]


def describe_attempt(attempt: Attempt, first: bool, width: int) -> str:
    """Return the result of a change, below a heading if it is the first."""
    head = "\nWhat would have kept that:\n" if first else ""
    said = f"  {describe_settings(attempt.cell.settings):<48}  {_outcome(attempt)}"
    return head + "\n".join(textwrap.wrap(said, width, drop_whitespace=True, subsequent_indent=" " * 8))


def _outcome(attempt: Attempt) -> str:
    if attempt.undisturbed is None:
        return _of(attempt.cell, "", "all the same")
    calm = attempt.undisturbed
    if calm.verdict == "violated":
        return f"that holds, but {_of(calm, '', 'without it')}"
    return _of(calm, "that holds, and what held without it", "")


def _of(cell: Cell, holds: str, how: str) -> str:
    if cell.verdict == "incomplete":
        return f"unknown: stopped by {STOPPED_BY[str(cell.stopped_by)]}"
    if cell.verdict == "holds":
        return holds
    assert cell.trace is not None
    steps = plural((cell.length or 1) - 1, "step")
    if cell.trace.property == LOSS:
        return f"a record is lost {how}, in {steps}"
    return f"broken {how}, in {steps}: {PROMISES[cell.trace.property]}"


def describe_what_helps(found: Disturbed, width: int) -> str:
    """Return the changes that help, as a paragraph."""
    return "\n".join(["", *textwrap.wrap(f"What helps: {what_helps(found)}.", width)])


def what_helps(found: Disturbed) -> str:
    """Return the changes that help, in words, or that none does and what operators can do instead."""
    helping = [describe_settings(attempt.cell.settings) for attempt in found.attempts if attempt.verdict == "holds"]
    if helping:
        return "; or ".join(helping)
    if any(attempt.verdict == "incomplete" for attempt in found.attempts):
        return "unknown, as not every change was searched"
    if not found.kept:
        return "no single change of those that were tried"
    entry = found.disturbance.defect.name
    return f"no setting that was tried; {found.disturbance.avoided_by} (docs/findings/{page_of(entry)}.md)"
