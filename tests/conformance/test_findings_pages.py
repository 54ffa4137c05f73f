"""The pages of the findings are right: their commands run and print what the pages say.

Those of `insync kafka` need Kafka's jars, and are marked `kafka`; those with brokers are in `live`. What searches a
large space is marked `slow`, and so are `insync defects`, whose entries the tests of the catalogue look at one by one,
and what a page shows of its patch on more than one release.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from insync.conformance.catalogue.brokers_table import brokers_table
from insync.conformance.catalogue.catalogue_record import read_record
from insync.conformance.jars.pinned import version_order
from insync.conformance.patches.patched_jars import known_patches
from insync.conformance.patches.recorded_tests import recorded_tests, run_table
from insync.kafka.defects import DEFECTS, LEFT_OUT, LeftOut
from insync.kafka.defects.findings import FINDINGS, FindingStatus, KafkaFinding, finding_of
from insync.kafka.defects.named import why_not_shown
from insync_finding_commands import PAGES, Needs, check, check_on_kafka, parameters

PATCHES = Path(__file__).parents[2] / "conformance" / "insync" / "conformance" / "patches"
MOST_PAGES, MOST_LINES, WIDEST = 18, 40, 100
WRITTEN = [finding.name for finding in FINDINGS.values() if finding.paged]


@pytest.mark.parametrize(("page", "command", "expected"), parameters(Needs.NOTHING))
def test_a_command_prints_what_the_page_says(
    page: Path, command: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check(command, expected)


@pytest.mark.kafka
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("page", "command", "expected"), parameters(Needs.CLASSES))
def test_kafka_does_what_the_page_says(
    page: Path, command: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_on_kafka(page, command, expected, tmp_path, monkeypatch)


@pytest.mark.parametrize("name", known_patches())
def test_every_patch_has_a_page_that_tries_it(name: str) -> None:
    finding = finding_of("-".join(name.split("-")[:2]))
    assert finding is not None
    if finding.paged:
        plain = re.sub(r"-\d+\.\d+$", "", name)
        assert re.search(rf"insync kafka patch {plain}\b", (PAGES / f"{finding.name}.md").read_text(), re.IGNORECASE)


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_what_a_page_links_to_is_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("entry", LEFT_OUT, ids=lambda one: one.name)
def test_the_file_that_an_entry_without_a_trace_names_is_there(entry: LeftOut) -> None:
    for file in re.findall(r"\b(?:docs|tests)/[\w/.-]+\.(?:md|py)", entry.reason):
        assert (PAGES.parents[1] / file).is_file(), f"{entry.name} names {file}"


@pytest.mark.parametrize("name", ["Q-18", "Q-6", "Q-17", "N-16"])
def test_an_entry_without_a_trace_is_told_with_its_finding(name: str) -> None:
    finding = finding_of(name)
    assert finding is not None
    told = f" Finding {finding.name}: {finding.title}; {finding.standing}; Kafka {finding.affects}."
    assert why_not_shown(name).endswith(told)


def test_there_is_a_page_for_each_finding_and_no_other() -> None:
    pages = {page.stem for page in PAGES.glob("*.md")} - {"README", "unit-tests"}
    assert pages == {finding.name for finding in FINDINGS.values() if finding.paged}
    assert len(pages) <= MOST_PAGES


def front(name: str) -> list[str]:
    """The lines of a page that go into a ticket, those above its appendix."""
    before, heading, _ = (PAGES / f"{name}.md").read_text().partition("\n## Appendix\n")
    assert heading, f"{name} has no appendix"
    return before.rstrip().splitlines()


def label(name: str, word: str) -> str:
    """What stands after a bold word of the front of a page, up to the next bold word, item or paragraph."""
    text = " ".join(line.strip() for line in front(name))
    found = re.search(rf"\*\*{word}[.:]?\*\* (.*?)(?=  | (?:[-*] )?\*\*|$)", text)
    assert found is not None, f"{name} says nothing of {word}"
    return found[1]


@pytest.mark.parametrize("name", WRITTEN)
def test_the_front_of_a_page_fits_into_a_ticket(name: str) -> None:
    lines = front(name)
    assert len(lines) <= MOST_LINES
    assert [line for line in lines if len(line) > WIDEST] == []
    assert lines[0] == f"# {FINDINGS[name].title}"
    assert lines[2].startswith("How likely: ")


@pytest.mark.parametrize("name", WRITTEN)
def test_the_front_of_a_page_needs_no_knowledge_of_insync(name: str) -> None:
    text = "\n".join(front(name))
    assert not re.search(r"\]\(|```|(?<![.\w])insync(?!\.replicas)", text, re.IGNORECASE)
    without_patches = re.sub(r"`(?:unit_tests|diffs)/[\w.-]+\.patch`", "", text)
    assert not re.findall(r"\b[NQRMLC]-\d+\b|\bb[1-9]\b|\[[^]]*\|[^]]*\]|~\d", without_patches)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_says_what_the_list_of_findings_says(name: str) -> None:
    finding = FINDINGS[name]
    assert label(name, "Status").startswith(finding.standing)
    assert label(name, "Affects").startswith(finding.affects)
    assert label(name, "Fix version").startswith(finding.fixed_in or "none")
    assert label(name, "Workaround").replace("`", "") == finding.workaround
    for word in ("Component", "Priority", "Lost", "Look for", "Cause"):
        assert label(name, word)
    assert "searched 2026-11-28" in label(name, "Related tickets")
    assert set(re.findall(r"\b(?:KAFKA|KIP)-\d+", "\n".join(front(name)))) == set(finding.related.split())
    assert re.search(r"^1\. ", "\n".join(front(name)), re.MULTILINE)


@pytest.mark.parametrize("name", WRITTEN)
def test_head_and_appendix_have_the_evidence_of_the_list_of_findings(name: str) -> None:
    """Which sources were read, and which releases have it by reading alone, stands in the list, and the page agrees."""
    finding = FINDINGS[name]
    text = (PAGES / f"{name}.md").read_text()
    said = f"{finding.affects} ({finding.by_reading} by reading)" if finding.by_reading else finding.affects
    assert label(name, "Affects").startswith(said)
    assert (" by reading" in label(name, "Affects")) is bool(finding.by_reading)
    read = re.search(r"^Read in the released sources of (.*)$", text, re.MULTILINE)
    assert read is not None
    assert re.match(rf"{re.escape(finding.read)}(?=[.;]|, and | \()", read[1])
    assert bool(re.search(rf"^- {finding.by_reading}: by reading, not executed\.", text, re.MULTILINE)) is bool(
        finding.by_reading
    )


@pytest.mark.parametrize("name", [name for name in WRITTEN if name in read_record()])
def test_releases_that_were_not_executed_are_known_by_reading(name: str) -> None:
    finding, executed = FINDINGS[name], read_record()[name]
    versions = [run.kafka for run in executed.runs if run.verdict == "reproduced"]
    versions += [run.kafka for run in executed.on_brokers if run.reproduced]
    first = min((version_order(version)[:2] for version in versions), default=(9, 9))
    begins = version_order(finding.affects.split()[0])
    assert (begins[:2] < first) is bool(finding.by_reading)
    if finding.by_reading:
        oldest, newest = map(version_order, finding.by_reading.split(" to "))
        assert oldest == begins
        assert newest[:2] < first
        assert finding.read.startswith(finding.affects.split()[0])


@pytest.mark.parametrize("name", [name for name in DEFECTS if finding_of(name) is not None])
def test_an_entry_says_as_its_finding_which_releases_have_it_and_leaves_the_evidence_to_that(name: str) -> None:
    affected = DEFECTS[name].affected
    assert not re.search(r"\bread\b|by reading|by the model", affected)
    if name in FINDINGS:
        assert affected.startswith(FINDINGS[name].affects)


@pytest.mark.parametrize("name", [name for name in WRITTEN if not FINDINGS[name].discuss])
def test_a_page_to_be_filed_has_a_failing_test_and_its_fix(name: str) -> None:
    text = "\n".join(front(name))
    assert {f"unit_tests/{name}.patch", f"diffs/{name}.patch"} <= set(re.findall(r"[a-z_]+/[\w.-]+\.patch", text))
    for folder, patch in re.findall(r"(unit_tests|diffs)/([\w.-]+\.patch)", text):
        assert (PATCHES / folder / patch).is_file()
    entries = (name, *FINDINGS[name].entries)
    runs = [run for run in recorded_tests() if run.finding in entries]
    said = set(re.findall(r"\d+\.\d+\.\d+", label(name, "Test")))
    assert said - {"4.4.0"} == {run.kafka for run in runs}
    classes = {red.partition(".")[0] for came in runs for red in came.red}
    assert classes == {one for one in re.findall(r"`(\w+Test)`", label(name, "Test")) if one in classes}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_appendix_has_the_recorded_runs_of_the_unit_tests(name: str) -> None:
    entries = [name, *FINDINGS[name].entries]
    if any(run.finding in entries for run in recorded_tests()):
        assert "\n".join(run_table(entries)) in (PAGES / f"{name}.md").read_text()


@pytest.mark.parametrize("name", WRITTEN)
def test_the_appendix_has_the_recorded_runs_on_brokers(name: str) -> None:
    table = "\n".join(brokers_table(read_record(), [name, *FINDINGS[name].entries]))
    assert ("\n### Runs on brokers\n" in (PAGES / f"{name}.md").read_text()) is bool(table)
    assert table in (PAGES / f"{name}.md").read_text()


@pytest.mark.parametrize("name", [name for name in WRITTEN if not FINDINGS[name].discuss])
def test_how_likely_a_finding_is_was_measured_on_a_day(name: str) -> None:
    (said,) = re.findall(r"^How likely: (.*?)\n\n", "\n".join(front(name)), re.MULTILINE | re.DOTALL)
    told = " ".join(said.split())
    recorded = read_record()[name].on_brokers if name in read_record() else ()
    for seen in recorded:
        if (seen.kafka, seen.how) == ("4.3.1", name.lower()):
            assert f"{seen.reproduced} of {seen.runs} runs" in told
            assert seen.date in told
    assert bool(re.search(r"\d+ of \d+ runs", told)) is bool(re.search(r"\d{4}-\d\d-\d\d", told))


TABLES: Mapping[str, Callable[[KafkaFinding], bool]] = {
    "To file": lambda finding: not finding.discuss and finding.status is FindingStatus.NOT_REPORTED,
    "To discuss first": lambda finding: finding.discuss,
    "Known or fixed": lambda finding: not finding.discuss and finding.status is not FindingStatus.NOT_REPORTED,
}


LAST_COLUMN = {"To file": "what is lost", "To discuss first": "why first", "Known or fixed": "fixed in"}


def index(text: str) -> str:
    """The index with its tables, and the line with other names, as the findings have them."""
    for heading, fits in TABLES.items():
        lines = [f"| page | affects | {LAST_COLUMN[heading]} |", "|---|---|---|"]
        for one in filter(fits, FINDINGS.values()):
            page = f"[{one.name}]({one.name}.md)" if one.paged else one.name
            lines.append(f"| {page}: {one.title} | {one.affects} | {one.harm} |")
        table = "\n".join([*lines, ""])
        begin, end = re.search(rf"(?m)^## {heading}\n(?:[^|#]*\n)?()(?:\|.*\n)+", text).span()  # type: ignore[union-attr]
        written = text[begin:end]
        text = text[:begin] + written[: written.index("|")] + table + text[end:]
    told = [f"{' and '.join(one.entries)} to [{one.name}]({one.name}.md)" for one in FINDINGS.values() if one.entries]
    return re.sub(r"(?m)^(Other names lead to these pages: ).*$", rf"\g<1>{', '.join(told)}.", text)


def test_the_index_is_what_the_findings_say() -> None:
    written = (PAGES / "README.md").read_text()
    assert written == index(written), "`make records` writes it"
    assert written.count("\n| page | affects |") == len(TABLES)
    assert [one.name for one in FINDINGS.values() if f"| {one.name}" not in written.replace("[", "")] == []


def test_the_readme_names_the_findings_that_matter_most() -> None:
    named = re.findall(r"docs/findings/([NQR]-\d+)\.md", (PAGES.parents[1] / "README.md").read_text())
    assert named == list(FINDINGS)[:3]


if __name__ == "__main__":
    file = PAGES / "README.md"
    file.write_text(index(file.read_text(encoding="utf-8")), encoding="utf-8")
