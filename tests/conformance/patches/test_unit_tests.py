"""The failing tests of the findings: which are added, when a fix is shown, what is on record; and `git apply`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from insync.conformance.documents.unit_tests import describe_unit_tests, unit_tests_json
from insync.conformance.jars.pinned import pinned_for_unit_tests, unit_test_versions
from insync.conformance.jars.store import is_stored, stored_for_cluster, stored_for_unit_tests
from insync.conformance.patches.junit_runs import JUnitRun, read_reports
from insync.conformance.patches.patched_jars import Patch, known_patches, named_patch, read_patch
from insync.conformance.patches.recorded_tests import (
    RecordedTests,
    is_current,
    record_of,
    recorded_tests,
    write_record,
)
from insync.conformance.patches.source_files import released_sources
from insync.conformance.patches.unified_diff import read_diff
from insync.conformance.patches.unit_test_runs import (
    UnitTestRun,
    added_tests,
    known_unit_tests,
    read_unit_tests,
    run_unit_tests,
)
from insync.kafka.defects.findings import FINDINGS, page_of
from insync.runtime.errors import UserError

FOLDER = Path(read_unit_tests("Q-7", "4.3.1").file).parent
PATCHES = [*sorted(FOLDER.glob("*.patch")), *sorted((FOLDER.parent / "diffs").glob("*.patch"))]
RECORDED = [(run.finding, run.kafka) for run in recorded_tests()]
ADDED = """\
+    public void testBeats() {
+    void testSleeps(short version) {
+  def testWakes(): Unit = {
+    void helps() {
"""
TESTS = Patch("N-99", Path("N-99.patch"), ADDED)
GREEN = JUnitRun(("HeartTest.testBeats[1]", "HeartTest.testOld", "HeartTest.testSleeps", "HeartTest.testWakes"))
RED = JUnitRun(
    ("HeartTest.testOld",),
    {"HeartTest.testBeats[1]": "no", "HeartTest.testSleeps": "no", "HeartTest.testWakes": "no"},
)


def run_of(without: JUnitRun = RED, with_it: JUnitRun = GREEN) -> UnitTestRun:
    return UnitTestRun("9.9.9", TESTS, Patch("N-99", Path("fix.patch"), ""), without, with_it)


def git_apply(patch: Path, folder: Path, *options: str) -> None:
    command = ["git", "apply", *options, str(patch)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_added_tests_are_the_methods_that_the_patch_adds() -> None:
    assert added_tests(TESTS) == {"testBeats", "testSleeps", "testWakes"}


def test_added_tests_that_are_red_and_green_show_a_fix() -> None:
    came = run_of()
    assert came.is_shown
    assert (set(came.red), len(came.green)) == (set(RED.failed), 3)


BROKEN: Mapping[str, UnitTestRun] = {
    "an added test passes without the fix": run_of(
        without=replace(RED, failed={name: "no" for name in RED.failed if "Wakes" not in name})
    ),
    "an added test fails with the fix": run_of(with_it=replace(GREEN, failed={"HeartTest.testWakes": "no"}, passed=())),
    "an added test is not run with the fix": run_of(with_it=replace(GREEN, passed=GREEN.passed[:2])),
    "another test fails with the fix alone": run_of(with_it=replace(GREEN, failed={"HeartTest.testOld": "no"})),
    "nothing is added": replace(run_of(), tests=replace(TESTS, text="")),
}


@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN)
def test_a_fix_is_not_shown_where(case: UnitTestRun) -> None:
    assert not case.is_shown
    assert describe_unit_tests(case, lambda text, tone: text).startswith("not red")


def test_a_test_that_fails_without_the_fix_too_is_named_and_breaks_nothing() -> None:
    odd = {"HeartTest.testOdd": "root"}
    came = run_of(replace(RED, failed={**RED.failed, **odd}), replace(GREEN, failed=odd))
    assert came.is_shown
    told = describe_unit_tests(came, lambda text, tone: text)
    assert "The other 2 tests of the classes: fail without the fix and with it: HeartTest.testOdd." in told
    assert "  HeartTest.testBeats[1]  fails        passes" in told
    assert json.loads(unit_tests_json(came))["shown"] is True


def test_of_a_failed_assertion_the_end_is_told() -> None:
    said = "AssertionFailedError: Partition(replicas=[1]) ==> expected: <0> but was: <-1>"
    came = run_of(replace(RED, failed=dict.fromkeys(RED.failed, said)))
    told = describe_unit_tests(came, lambda text, tone: text)
    assert "  HeartTest.testWakes: AssertionFailedError: expected: <0> but was: <-1>\n" in told


def test_reports_of_junit_are_read() -> None:
    report = """<testsuite><testcase name="testA(String, int)[2]" classname="org.example.HeartTest"/>
    <testcase name="testB()" classname="org.example.HeartTest">
      <failure message="expected: 1&#10; but was: 2" type="org.opentest4j.AssertionFailedError"/></testcase>
    <testcase name="testC()" classname="org.example.HeartTest"><error type="java.lang.Error"/></testcase>
    <testcase name="testD()" classname="org.example.HeartTest"><skipped/></testcase></testsuite>"""
    run = read_reports([report])
    assert run.passed == ("HeartTest.testA[2]",)
    assert run.failed == {
        "HeartTest.testB": "AssertionFailedError: expected: 1 but was: 2",
        "HeartTest.testC": "Error",
    }
    assert (run.skipped, run.count) == (("HeartTest.testD",), 3)


def test_a_run_takes_the_place_of_an_earlier_one_on_record(tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    came = replace(run_of(), tests=read_unit_tests("Q-7", "4.3.1"), fix=read_patch("Q-7", "4.3.1"))
    write_record(record_of("Q-7", came, "2026-01-01"), file)
    (first,) = recorded_tests(file)
    write_record(replace(first, date="2026-01-02"), file)
    write_record(replace(first, kafka="4.10.0"), file)
    runs = [(run.kafka, run.date) for run in recorded_tests(file)]
    assert runs == [("4.10.0", "2026-01-01"), ("9.9.9", "2026-01-02")]
    assert is_current(replace(first, kafka="4.3.1"))
    assert not is_current(replace(first, kafka="4.3.1", fix="0"))


@pytest.mark.parametrize("name", known_unit_tests())
def test_a_patch_of_tests_adds_tests_to_test_classes_and_has_a_fix(name: str) -> None:
    patch = named_patch(name, "9.9.9", FOLDER)
    assert patch is not None
    assert added_tests(patch)
    assert all("/src/test/" in path for path in patch.paths)
    finding = "-".join(name.split("-")[:2])
    assert page_of(finding) in FINDINGS
    assert read_patch(finding, "4.2.1").name in known_patches()


@pytest.mark.parametrize("file", PATCHES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_git_applies_a_patch_to_a_tree_that_has_its_lines(file: Path, tmp_path: Path) -> None:
    for diff in read_diff(file.read_text(), str(file)):
        lines = [f"line {number}" for number in range(1, diff.hunks[-1].line + 2000)]
        for hunk in reversed(diff.hunks):
            lines[hunk.line - 1 : hunk.line - 1 + len(hunk.old)] = hunk.old
        source = tmp_path / diff.path
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("\n".join(lines) + "\n")
    git_apply(file, tmp_path, "--check")


@pytest.mark.parametrize("run", recorded_tests(), ids=lambda run: f"{run.finding} {run.kafka}")
def test_what_is_on_record_is_red_and_green_with_the_patches_as_they_are(run: RecordedTests) -> None:
    assert is_current(run), f"python -m insync.conformance.patches.recorded_tests {run.kafka} {run.finding}"
    assert run.shown
    added = added_tests(read_unit_tests(run.finding, run.kafka))
    assert {name.partition(".")[2].partition("[")[0] for name in run.red} == added
    assert set(run.red) == set(run.green)
    assert set(run.failing_after) <= set(run.failing_before)
    assert asdict(run)["count"] > len(run.red)


def test_every_patch_of_tests_was_run_on_the_newest_release_that_it_is_for() -> None:
    for name in known_unit_tests():
        assert any(read_unit_tests(finding, kafka).name == name for finding, kafka in RECORDED), name


@pytest.mark.parametrize("given", ["N-99", "N-01x", "N-03"])
def test_tests_that_are_not_there_are_one_sentence(given: str) -> None:
    with pytest.raises(UserError, match=rf"^insync has no failing tests of '{given}'\. It has some of: N-01, N-02,"):
        read_unit_tests(given, "4.3.1")


def test_an_entry_of_a_finding_has_the_patches_of_the_finding() -> None:
    assert read_unit_tests("q-6", "4.3.1").name == "Q-18"
    assert read_patch("Q-17", "4.3.1").name == "Q-18"


@pytest.mark.parametrize("version", unit_test_versions())
def test_a_list_has_the_classes_of_the_tests_their_sources_and_junit(version: str) -> None:
    jars = pinned_for_unit_tests(version).jars
    for classifier in ("test", "test-sources"):
        of_it = {jar.artifact for jar in jars if jar.classifier == classifier}
        assert of_it >= {"kafka_2.13", "kafka-clients", "kafka-metadata", "kafka-raft", "kafka-server"}
    assert {"junit-platform-console-standalone", "mockito-core"} <= {jar.artifact for jar in jars}
    keys = [(jar.group, jar.artifact, jar.classifier) for jar in jars]
    assert len(set(keys)) == len(keys)


@pytest.mark.kafka
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("finding", "kafka"),
    [pytest.param(*key, marks=[] if key == ("N-09", "4.3.1") else pytest.mark.slow) for key in RECORDED],
)
def test_the_tests_are_red_on_kafka_and_green_with_the_fix(finding: str, kafka: str, tmp_path: Path) -> None:
    if not is_stored(pinned_for_unit_tests(kafka)):
        pytest.skip(f"insync kafka fetch {kafka} --unit-tests, with INSYNC_CACHE_DIR set, fetches what this needs")
    for patch, kind in ((read_unit_tests(finding, kafka), "test"), (read_patch(finding, kafka), "main")):
        for path, text in released_sources(kafka, patch.paths, patch.name, None, kind).items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        git_apply(patch.file, tmp_path)
    came = run_unit_tests(finding, stored_for_unit_tests(kafka), stored_for_cluster(kafka))
    (known,) = [run for run in recorded_tests() if (run.finding, run.kafka) == (finding, kafka)]
    assert came.is_shown
    assert set(came.red) == set(known.red)
