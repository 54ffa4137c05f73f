"""The guide has the table that `insync kafka claims` prints."""

from __future__ import annotations

import re
from pathlib import Path

from insync.conformance.catalogue.catalogue_record import read_record
from insync.conformance.catalogue.claim_evidence import evidence
from insync.conformance.documents.claims import claim_rows

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "kafka.md"


def table() -> str:
    rows = [("before", "since", "rule", "shown by", "seen"), ("---",) * 5, *claim_rows(evidence(read_record()))]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def test_the_table_of_claims_is_what_is_on_record() -> None:
    (written,) = re.findall(r"<!-- claims -->\n(.*?)\n<!-- end of claims -->", GUIDE.read_text(), re.DOTALL)
    assert written == table()
