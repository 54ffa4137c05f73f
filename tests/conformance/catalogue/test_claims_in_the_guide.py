"""A page of the guide has the table that `insync kafka claims` prints."""

from __future__ import annotations

from pathlib import Path

from insync.conformance.catalogue.catalogue_record import read_record
from insync.conformance.catalogue.claim_evidence import evidence
from insync.conformance.documents.claims import claim_rows

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "reference" / "kafka-releases.md"


def page() -> str:
    """The text of the page: its first lines as they are, and the table."""
    head = PAGE.read_text(encoding="utf-8").split("\n| ")[0]
    rows = [("before", "since", "rule", "shown by", "seen"), ("---",) * 5, *claim_rows(evidence(read_record()))]
    return "\n".join([head, *(f"| {' | '.join(row)} |" for row in rows), ""])


def test_the_table_of_claims_is_what_is_on_record() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "`make records` writes it"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
