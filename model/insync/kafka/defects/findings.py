"""The findings: entries of the catalogue that were executed with insync, one page of docs/findings each.

A finding may have several entries of the catalogue: courses of events with one cause and one fix. The entry that has
its name says what it is (`Defect.finding`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from insync.kafka.defects import LEFT_OUT, Defect, LeftOut, all_defects
from insync.kafka.defects.finding import FindingStatus, KafkaFinding

__all__ = ["FINDINGS", "FindingStatus", "KafkaFinding", "finding_of", "page_of"]

_ENTRIES: list[Defect | LeftOut] = [*all_defects().values(), *LEFT_OUT]
_NAMED = (replace(entry.finding, name=entry.name) for entry in _ENTRIES if entry.finding is not None)
_ALL = sorted(_NAMED, key=lambda finding: finding.rank)

FINDINGS: Mapping[str, KafkaFinding] = {finding.name: finding for finding in _ALL}
"""All findings by their names, those first that matter most."""

_BY_ENTRY = {name: finding for finding in _ALL for name in (finding.name, *finding.entries)}


def finding_of(entry: str) -> KafkaFinding | None:
    """Return the finding that an entry of the catalogue belongs to; None if it is no finding."""
    return _BY_ENTRY.get(entry)


def page_of(entry: str) -> str:
    """Return the name of the finding that an entry belongs to, or the entry's own name."""
    finding = finding_of(entry)
    return entry if finding is None else finding.name
