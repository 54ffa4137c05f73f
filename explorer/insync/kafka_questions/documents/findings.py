"""The finding that an entry of the catalogue belongs to, as text and as JSON: page, ticket, status of the fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from insync.kafka.defects.findings import finding_of

if TYPE_CHECKING:
    from insync.kafka_questions.documents.json_types import FindingEntry

__all__ = ["finding_json", "finding_lines", "finding_standing"]


def finding_lines(entry: str) -> list[str]:
    """Return the finding of an entry as a line, and as another what an operator can do; no lines if there is none."""
    finding = finding_of(entry)
    if finding is None:
        return []
    page = f", {finding.page}" if finding.paged else ""
    evidence = f" ({finding.evidence})" if finding.evidence else ""
    said = f"finding {finding.name}: {finding.title}; {finding.standing}; Kafka {finding.affects}{evidence}{page}"
    return [said, *([f"workaround: {finding.workaround}"] if finding.workaround else [])]


def finding_standing(entry: str) -> str:
    """Return the name and the status of the finding of an entry; empty if there is none."""
    finding = finding_of(entry)
    return "" if finding is None else f"finding {finding.name}: {finding.standing}"


def finding_json(entry: str) -> FindingEntry | None:
    """Return the finding of an entry as JSON values; None if there is none."""
    finding = finding_of(entry)
    if finding is None:
        return None
    return {
        "name": finding.name,
        "title": finding.title,
        "status": finding.status.value,
        "affects": finding.affects,
        "ticket": finding.ticket or None,
        "fixed_in": finding.fixed_in or None,
        "page": finding.page or None,
        "workaround": finding.workaround or None,
    }
