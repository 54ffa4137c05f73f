"""What an entry of the catalogue says of its finding: the page, the ticket, and the first release with the fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.conformance.documents.seen import seen_in_short, seen_json
from insync.kafka.defects import LEFT_OUT, all_defects
from insync.kafka.defects.findings import FINDINGS, FindingStatus, finding_of, page_of
from insync.kafka_questions.documents.defects import catalogue_json, describe_catalogue
from insync.kafka_questions.documents.findings import finding_json, finding_lines, finding_standing

ROOT = Path(__file__).parents[3]


def test_an_entry_of_a_finding_with_several_leads_to_its_page() -> None:
    said = finding_json("N-05")
    assert said is not None
    assert (said["name"], said["page"], said["status"]) == ("N-02", "docs/findings/N-02.md", "not reported")
    assert finding_lines("N-07") == finding_lines("N-02")
    about, workaround = finding_lines("N-02")
    assert about.endswith(
        "; not reported; Kafka 4.0.0 to 4.4.0 (sources of 3.9.2, 4.1.2 and 4.3.1 read), docs/findings/N-02.md"
    )
    assert workaround == "workaround: lower min.insync.replicas before you reassign. If nobody leads: elect uncleanly."
    assert said["workaround"] == workaround.removeprefix("workaround: ")
    assert "Kafka 3.0.0 to 4.4.0 (sources of 3.0.0, " in finding_lines("N-01")[0]
    assert "read; 3.0.0 to 3.6.2 by reading alone)" in finding_lines("N-01")[0]


def test_a_fixed_finding_names_the_release_and_the_pull_request() -> None:
    said = finding_json("N-17")
    assert said is not None
    assert (said["fixed_in"], said["ticket"]) == ("4.3.0", "PR 20716")
    assert finding_standing("N-17") == "finding N-17: fixed in 4.3.0 (PR 20716)"


def test_a_finding_without_a_page_names_none() -> None:
    said = finding_json("N-16")
    assert said is not None
    assert (said["page"], said["workaround"]) == (None, None)
    assert ".md" not in "".join(finding_lines("N-16"))


@pytest.mark.parametrize("entry", ["R-01", "C-18"])
def test_an_entry_that_is_no_finding_says_nothing_of_one(entry: str) -> None:
    assert (finding_json(entry), finding_lines(entry), finding_standing(entry)) == (None, [], "")
    assert page_of(entry) == entry


@pytest.mark.parametrize("finding", FINDINGS.values(), ids=FINDINGS)
def test_a_finding_is_of_entries_of_the_catalogue_and_its_page_is_there(finding: object) -> None:
    known = {*all_defects(), *(entry.name for entry in LEFT_OUT)}
    found = finding_of(str(getattr(finding, "name", "")))
    assert found is finding
    assert found is not None
    assert {found.name, *found.entries} <= known
    assert not found.paged or (ROOT / found.page).is_file()
    assert bool(found.fixed_in) == (found.status is FindingStatus.FIXED)
    assert found.ticket or found.status in (FindingStatus.NOT_REPORTED, FindingStatus.FIXED)


def test_the_catalogue_lists_the_status_of_each_finding() -> None:
    told = describe_catalogue(seen_in_short)
    assert "finding N-02: not reported" in told
    assert "finding N-08: by design (KAFKA-16540)" in told
    assert '"page": "docs/findings/Q-18.md"' in catalogue_json(seen_json)
