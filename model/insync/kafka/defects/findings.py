"""The findings: defects of released Kafka that were executed with insync, one page of docs/findings each.

A finding may have several entries of the catalogue: courses of events with one cause and one fix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

__all__ = ["FINDINGS", "FindingStatus", "KafkaFinding", "finding_of", "page_of"]


class FindingStatus(Enum):
    """The status of a finding outside of insync."""

    NEW = "new"
    KNOWN = "known"
    BY_DESIGN = "by design"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class KafkaFinding:
    """A defect of released Kafka.

    Attributes:
        name: its name, which is also that of its page.
        title: the summary of a ticket about it.
        status: its status outside of insync.
        affects: the releases that have it.
        read: the releases whose published sources were read for it, in words; empty if it has no page.
        by_reading: those of the releases in `affects` that come before the first one that was executed: their sources
            alone were read, at both ends. Empty if there are none.
        related: the tickets and KIPs that its page names above the appendix.
        entries: the other entries of the catalogue that it answers for.
        ticket: the ticket or pull request that is about it or about its code; empty if none was found.
        fixed_in: the first release that has the fix; empty if none has.
        discuss: whether maintainers should be asked before it is filed: what is wanted is not certain.
        paged: whether it has a page.
    """

    name: str
    title: str
    status: FindingStatus
    affects: str
    read: str = ""
    by_reading: str = ""
    related: str = ""
    entries: tuple[str, ...] = ()
    ticket: str = ""
    fixed_in: str = ""
    discuss: bool = False
    paged: bool = True

    @property
    def page(self) -> str:
        """The file of its page, from the root of the repository; empty if it has none."""
        return f"docs/findings/{self.name}.md" if self.paged else ""

    @property
    def standing(self) -> str:
        """Its status in words, with its ticket and the release that has the fix."""
        told = [self.status.value]
        if self.fixed_in:
            told.append(f"in {self.fixed_in}")
        if self.ticket:
            told.append(f"({self.ticket})")
        return " ".join(told)

    @property
    def evidence(self) -> str:
        """How the releases are known that have it, beside those that were executed, which are on record."""
        told = [f"sources of {self.read} read"] if self.read else []
        if self.by_reading:
            told.append(f"{self.by_reading} by reading alone")
        return "; ".join(told)


_ALL = (
    KafkaFinding(
        "Q-7",
        "The KRaft leader exits when a removed voter answers BeginQuorumEpoch",
        FindingStatus.NEW,
        "3.9.0 to 4.4.0",
        read="3.9.2, 4.0.2, 4.1.2, 4.2.1 and 4.3.1",
        related="KAFKA-16536 KAFKA-16537 KAFKA-17608",
    ),
    KafkaFinding(
        "Q-18",
        "Two controllers lead one epoch: a follower that was a candidate restarts as a candidate",
        FindingStatus.NEW,
        "4.0.0 to 4.4.0",
        read="3.9.2, 4.1.2 and 4.3.1",
        related="KAFKA-10527 KAFKA-17642 KAFKA-18389 KIP-996",
        entries=("Q-6", "Q-17"),
    ),
    KafkaFinding(
        "N-02",
        "ELR keeps replicas that a reassignment removed: data loss, or a partition that stays leaderless",
        FindingStatus.NEW,
        "4.0.0 to 4.4.0",
        read="3.9.2, 4.1.2 and 4.3.1",
        related="KAFKA-15581 KAFKA-15584",
        entries=("N-05", "N-07"),
    ),
    KafkaFinding(
        "N-01",
        "A re-elected leader counts follower offsets of its former term: acknowledged records are lost",
        FindingStatus.NEW,
        "3.0.0 to 4.4.0",
        read="3.0.0, 3.3.0, 3.6.2, 3.9.2, 4.1.2 and 4.3.1",
        by_reading="3.0.0 to 3.6.2",
        related="KAFKA-7164 KAFKA-13790 KAFKA-20554",
    ),
    KafkaFinding(
        "N-09",
        "A reassignment that replaces one under way never ends, or keeps the replicas of the first",
        FindingStatus.NEW,
        "3.7.0 to 4.4.0",
        read="4.1.2 and 4.3.1",
        related="KAFKA-10779 KAFKA-12803 KAFKA-19975",
    ),
    KafkaFinding(
        "N-04",
        "ELR: a clean shutdown counts although the log directory of the replica is gone",
        FindingStatus.NEW,
        "4.0.0 to 4.4.0",
        read="4.1.2 and 4.3.1",
        related="KAFKA-10471 KAFKA-15375 KAFKA-15582 KAFKA-15586 KAFKA-19774 KIP-1066",
    ),
    KafkaFinding(
        "N-12",
        "A broker that restarts replaces its log by a future replica that lacks acknowledged records",
        FindingStatus.NEW,
        "3.7.1 to 4.4.0",
        read="4.3.1",
        related="KAFKA-16082 KAFKA-16234 KAFKA-20961",
        entries=("N-13",),
    ),
    KafkaFinding(
        "N-06",
        "Partition.makeLeader drops an ISR change in flight when metadata repeats the epoch that it has",
        FindingStatus.NEW,
        "3.3.0 to 4.4.0",
        read="3.3.0, 3.6.2 and 4.3.1",
        by_reading="3.3.0 to 3.6.2",
        related="KAFKA-12686 KAFKA-13790",
    ),
    KafkaFinding(
        "N-10",
        "A follower never gets the high watermark that came with a diverging epoch in its fetch session",
        FindingStatus.NEW,
        "3.4.1 to 4.4.0",
        read="3.4.1, 3.6.2, 3.9.2, 4.1.2 and 4.3.1",
        by_reading="3.4.1 to 3.6.2",
        related="KAFKA-9491 KAFKA-14704 KIP-392",
    ),
    KafkaFinding(
        "N-11",
        "A consumer is not told of truncation when the leader has no records of its epoch",
        FindingStatus.NEW,
        "2.3.0 to 4.4.0",
        read="2.3.0, 3.6.2 and 4.3.1",
        by_reading="2.3.0 to 3.8.1",
        related="KAFKA-6361 KAFKA-7747 KAFKA-9840 KAFKA-10498 KIP-279 KIP-320",
    ),
    KafkaFinding(
        "N-14",
        "KIP-858: a partition stays without a leader after a log directory fails, with the log there",
        FindingStatus.NEW,
        "3.7.0 to 4.4.0",
        read="4.3.1",
        related="KAFKA-15649 KAFKA-16583 KAFKA-19289 KIP-858",
        entries=("N-19",),
    ),
    KafkaFinding(
        "N-03",
        "Topics are applied before configs: a leader counts a new ISR by the old min.insync.replicas",
        FindingStatus.NEW,
        "3.7.0 to 4.4.0",
        read="3.7.0, 3.9.2, 4.1.2 and 4.3.1",
        related="KAFKA-16540",
        entries=("N-20",),
        discuss=True,
    ),
    KafkaFinding(
        "N-08",
        "A change of min.insync.replicas clears the ELR of a partition without a leader",
        FindingStatus.BY_DESIGN,
        "4.0.0 to 4.4.0",
        read="4.3.1",
        related="KAFKA-16540",
        ticket="KAFKA-16540",
        discuss=True,
    ),
    KafkaFinding(
        "N-15",
        "Deleted records come back when an eligible replica that was offline is elected",
        FindingStatus.BY_DESIGN,
        "3.7.0 to 4.4.0",
        read="4.3.1",
        related="KAFKA-4586 KAFKA-6975 KIP-107 KIP-966",
        ticket="KIP-107",
        discuss=True,
    ),
    KafkaFinding(
        "R-46",
        "A swap of replicas ends while a replica that stays is out of the ISR",
        FindingStatus.BY_DESIGN,
        "3.7.0 to 3.7.2, 4.3.0 to 4.4.0",
        read="4.1.2 and 4.3.1",
        related="KAFKA-15665 KAFKA-16218 KAFKA-19975",
        ticket="KAFKA-19975",
        discuss=True,
    ),
    KafkaFinding(
        "N-18",
        "KIP-858: the log directory of an added replica stays unknown, and its failure unnoticed",
        FindingStatus.NEW,
        "3.7.1 to 4.4.0",
        read="4.1.2 and 4.3.1",
        related="KAFKA-15365 KAFKA-16583 KAFKA-16886 KIP-858",
    ),
    KafkaFinding(
        "R-70",
        "A removed replica that catches up by a metadata snapshot is not stopped, and goes on leading",
        FindingStatus.KNOWN,
        "3.7.0 to 4.4.0",
        read="3.9.2, 4.0.2, 4.1.2, 4.2.1 and 4.3.1",
        related="KAFKA-16892",
        ticket="KAFKA-16892",
    ),
    KafkaFinding(
        "N-17",
        "A broker names another directory, and the controller clears the ELR",
        FindingStatus.FIXED,
        "4.0.0 to 4.2.1",
        read="4.0.2, 4.1.2 and 4.3.1",
        ticket="PR 20716",
        fixed_in="4.3.0",
    ),
    KafkaFinding(
        "N-16",
        "A broker that is to lead a log it has not got drops the metadata about all others",
        FindingStatus.FIXED,
        "3.7.0 to 3.9.2",
        fixed_in="4.0.0",
        paged=False,
    ),
)

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
