"""A finding: a defect of released Kafka that was executed with insync, and the facts of its page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["FindingStatus", "KafkaFinding"]


class FindingStatus(Enum):
    """The status of a finding outside of insync."""

    NOT_REPORTED = "not reported"
    KNOWN = "known"
    BY_DESIGN = "by design"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class KafkaFinding:
    """A defect of released Kafka.

    Attributes:
        title: the summary of a ticket about it.
        status: its status outside of insync.
        affects: the releases that have it.
        harm: what is lost; or why it is to be discussed first; or what there is to say of its fix.
        workaround: what an operator can do against it, as its page says; empty if it has no page.
        rank: its place among the findings; the lower, the more it matters.
        name: its name, which is also that of its page: that of its entry in the catalogue.
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

    title: str
    status: FindingStatus
    affects: str
    harm: str
    rank: int
    workaround: str = ""
    name: str = ""
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
