"""Whether what the model says to have changed between versions was seen on both sides of the change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from insync.conformance.catalogue.catalogue_record import RecordedEntry, RecordedRun
from insync.conformance.catalogue.reached import Claim, claims
from insync.conformance.catalogue.rule_traces import RULE_TRACES
from insync.kafka.defects import DEFECTS

__all__ = ["ClaimEvidence", "evidence"]


@dataclass(frozen=True, slots=True)
class ClaimEvidence:
    """What was seen of a claim.

    Attributes:
        claim: the claim.
        shown_by: the entry whose traces show the rule; "" where there is none.
        of_old: whether these traces show the value of before, and not that of since.
        before: what the last version without the change did.
        since: what the first version with it did.
    """

    claim: Claim
    shown_by: str = ""
    of_old: bool = False
    before: RecordedRun | None = None
    since: RecordedRun | None = None

    @property
    def confirmed(self) -> bool:
        """Whether the one version takes the trace and the other does not, as the claim says."""
        if self.before is None or self.since is None or "not_schedulable" in (self.before.verdict, self.since.verdict):
            return False
        return (self.before.taken, self.since.taken) == (self.of_old, not self.of_old)


def evidence(record: Mapping[str, RecordedEntry]) -> list[ClaimEvidence]:
    """Return what the record says of each claim, the oldest first: that which confirms it, if there is such."""
    found = []
    for claim in claims():
        seen = list(_seen(claim, record))
        found.append(next((one for one in seen if one.confirmed), seen[0] if seen else ClaimEvidence(claim)))
    return found


def _seen(claim: Claim, record: Mapping[str, RecordedEntry]) -> Iterator[ClaimEvidence]:
    for name, value in _showing(claim.rule):
        if value in (claim.old, claim.new) and name in record:
            runs = {run.kafka: run for run in record[name].runs}
            before, since = runs.get(claim.before), runs.get(claim.since)
            yield ClaimEvidence(claim, name, value == claim.old, before, since)


def _showing(rule: str) -> Iterator[tuple[str, object]]:
    """The entries that are about a rule alone, each with the value that it shows."""
    for name, defect in DEFECTS.items():
        if list(defect.rules) == [rule] and not defect.harmless:
            yield name, defect.rules[rule]
    if rule in RULE_TRACES:
        yield rule, RULE_TRACES[rule].value
