"""What the pages of the findings and the catalogue say of Kafka's versions is what is on record.

Where a test here fails, versions were run since a page was written, or a page says what nobody has run.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from insync.conformance.catalogue.catalogue_record import RecordedEntry, read_record
from insync.conformance.jars.pinned import pinned_versions, version_order
from insync.kafka.defects import DEFECTS
from insync.kafka.defects.findings import FINDINGS, page_of


@cache
def recorded() -> dict[str, RecordedEntry]:
    return read_record()


PAGES = Path(__file__).parents[3] / "docs" / "findings"
_VERSION = r"\d+\.\d+\.\d+"
_VERSIONS = rf"({_VERSION}(?:(?:,| and|,? to)\s+{_VERSION})*)"
_BROKERS_OF = re.compile(rf"running brokers(?: and consumers)? of {_VERSIONS}")
_CLASSES_OF = re.compile(rf"classes of {_VERSIONS}")
_TRACE_ON = re.compile(rf"trace is reproduced on the classes of {_VERSIONS}")


def versions_in(text: str, where: re.Pattern[str]) -> list[list[str]]:
    """The versions of which a text tells something, each time that it does."""
    return [named_versions(said) for said in where.findall(text)]


def named_versions(said: str) -> list[str]:
    """The versions that a text lists, those in between included where it says `to`."""
    found: list[str] = []
    for to, version in re.findall(rf"(to\s+)?({_VERSION})", said):
        known = pinned_versions()
        between = known[known.index(found[-1]) + 1 : known.index(version)] if to else ()
        found += [*between, version]
    return found


def seen_on_brokers(name: str, *, reproduced: bool) -> list[str]:
    """The versions whose running brokers have done what an entry says, or were asked, the oldest first."""
    runs = recorded()[name].on_brokers
    return list(dict.fromkeys(run.kafka for run in runs if run.reproduced or not reproduced))


def row(name: str) -> str:
    """What the page of a finding says of where one of its entries was executed."""
    (found,) = re.findall(rf"^- {name}: (.*)$", page(name), re.MULTILINE)
    return str(found)


def page(name: str) -> str:
    return (PAGES / f"{page_of(name)}.md").read_text()


WITH_A_PAGE = [name for name in recorded() if (PAGES / f"{page_of(name)}.md").is_file()]
ON_BROKERS = [name for name in WITH_A_PAGE if recorded()[name].on_brokers]


def test_versions_are_read_as_people_write_them() -> None:
    assert versions_in("on running brokers of 4.1.2, 4.2.1 and 4.4.0.", _BROKERS_OF) == [["4.1.2", "4.2.1", "4.4.0"]]
    assert versions_in("running brokers of 4.1.0 to 4.1.2, 4.4.0", _BROKERS_OF) == [
        ["4.1.0", "4.1.1", "4.1.2", "4.4.0"]
    ]
    assert versions_in("on running brokers, of which", _BROKERS_OF) == []
    assert versions_in("classes of 4.1.2; running brokers of 4.4.0", _CLASSES_OF) == [["4.1.2"]]


@pytest.mark.parametrize("name", ON_BROKERS)
def test_a_page_has_the_brokers_that_are_on_record(name: str) -> None:
    assert versions_in(row(name), _BROKERS_OF) == [seen_on_brokers(name, reproduced=True)]


@pytest.mark.parametrize("name", sorted({page_of(name) for name in ON_BROKERS}))
def test_a_page_speaks_of_no_brokers_that_are_not_on_record(name: str) -> None:
    told = {version for versions in versions_in(page(name), _BROKERS_OF) for version in versions}
    entries = [one for one in ON_BROKERS if page_of(one) == name]
    assert told <= {version for one in entries for version in seen_on_brokers(one, reproduced=False)}


@pytest.mark.parametrize("name", WITH_A_PAGE)
def test_a_page_has_the_classes_that_are_on_record(name: str) -> None:
    assert versions_in(row(name), _CLASSES_OF) == [recorded()[name].versions("reproduced")]


@pytest.mark.parametrize("name", WITH_A_PAGE)
def test_a_page_says_why_classes_were_executed_of_releases_that_are_not_affected(name: str) -> None:
    begins = version_order(FINDINGS[page_of(name)].affects.split()[0])
    before = [one for one in recorded()[name].versions("reproduced") if version_order(one) < begins]
    assert bool(re.search(r"classes of [^;(]* \(to [\d.]+ ", row(name))) is bool(before)


@pytest.mark.parametrize("name", sorted({page_of(name) for name in WITH_A_PAGE}))
def test_traces_that_a_page_calls_reproduced_are_on_record(name: str) -> None:
    on_record = [recorded()[one].versions("reproduced") for one in WITH_A_PAGE if page_of(one) == name]
    for versions in versions_in(page(name), _TRACE_ON):
        assert versions in on_record


@pytest.mark.parametrize("name", [name for name in recorded() if name in DEFECTS])
def test_the_catalogue_leaves_what_was_executed_to_the_record(name: str) -> None:
    assert not re.findall(r"executed|replayed|classes|running brokers", DEFECTS[name].affected)
