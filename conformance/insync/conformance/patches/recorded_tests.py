"""What Kafka's unit tests did with the failing tests of the findings, as of a date: a file in the package.

`python -m insync.conformance.patches.recorded_tests 4.3.1 N-02 ...` runs them and records what came of it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from insync.conformance.jars.pinned import version_order
from insync.conformance.jars.store import stored_for_cluster, stored_for_unit_tests
from insync.conformance.patches.patched_jars import Patch, read_patch
from insync.conformance.patches.unified_diff import read_diff
from insync.conformance.patches.unit_test_runs import UnitTestRun, read_unit_tests, run_unit_tests

__all__ = ["RecordedTests", "is_current", "record_of", "recorded_tests", "run_table", "write_record"]

_FILE = Path(__file__).parent / "unit_tests" / "runs.json"


@dataclass(frozen=True, slots=True)
class RecordedTests:
    """One run of a finding's tests on a release, without and with its fix.

    Attributes:
        finding: whose patch of tests was applied.
        kafka: the release.
        date: the day of the run.
        tests: the digest of what the patch of the tests changes.
        fix: the digest of what the fix changes.
        count: how many tests the classes have, with those that the patch adds.
        red: the added tests that fail on the release, with what is raised.
        green: the added tests that pass with the fix.
        failing_before: other tests that fail on the release.
        failing_after: tests that fail with the fix.
        shown: whether all added tests are red and green, and no other test fails with the fix alone.
    """

    finding: str
    kafka: str
    date: str
    tests: str
    fix: str
    count: int
    red: Mapping[str, str]
    green: Sequence[str]
    failing_before: Sequence[str]
    failing_after: Sequence[str]
    shown: bool


def recorded_tests(file: Path = _FILE) -> tuple[RecordedTests, ...]:
    """Return the runs that are on record, by finding and release."""
    return tuple(RecordedTests(**entry) for entry in json.loads(file.read_text(encoding="utf-8")))


def is_current(run: RecordedTests) -> bool:
    """Return whether both patches change now what they changed when a run was recorded."""
    patches = read_unit_tests(run.finding, run.kafka), read_patch(run.finding, run.kafka)
    return (run.tests, run.fix) == (digest(patches[0]), digest(patches[1]))


def digest(patch: Patch) -> str:
    """Return a digest of what a patch changes, without line numbers and the words before it."""
    changes = [
        (diff.path, [(hunk.old, hunk.new) for hunk in diff.hunks]) for diff in read_diff(patch.text, str(patch.file))
    ]
    return hashlib.sha256(repr(changes).encode()).hexdigest()[:16]


def record_of(finding: str, tested: UnitTestRun, date: str) -> RecordedTests:
    """Return the record of a run."""
    return RecordedTests(
        finding,
        tested.version,
        date,
        digest(tested.tests),
        digest(tested.fix),
        tested.without.count,
        dict(sorted((name, said[:200]) for name, said in tested.red.items())),
        tested.green,
        sorted(tested.failing_before),
        sorted(tested.failing_after),
        tested.is_shown,
    )


def run_table(findings: Sequence[str]) -> list[str]:
    """Return the recorded runs of some findings as a table of Markdown, line by line."""
    lines = [
        "| tests of | Kafka | run on | fail without the fix | pass with it | other tests, all as before |",
        "|---|---|---|---|---|---|",
    ]
    for run in recorded_tests():
        if run.finding in findings:
            others = run.count - len(run.red)
            failing = f"; {', '.join(run.failing_before)} fails in both" if run.failing_before else ""
            lines.append(
                f"| {run.finding} | {run.kafka} | {run.date} | {len(run.red)} | {len(run.green)} | {others}{failing} |"
            )
    return lines


def write_record(run: RecordedTests, file: Path = _FILE) -> None:
    """Put a run on record, in place of an earlier one of the same finding and release."""
    runs = recorded_tests(file) if file.is_file() else ()
    kept = [one for one in runs if (one.finding, one.kafka) != (run.finding, run.kafka)]
    ordered = sorted([*kept, run], key=lambda one: (one.finding, version_order(one.kafka)))
    file.write_text(json.dumps([asdict(one) for one in ordered], indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    version, *findings = sys.argv[1:]
    for given in findings:
        came = run_unit_tests(given, stored_for_unit_tests(version), stored_for_cluster(version))
        new = record_of(given, came, datetime.now(UTC).date().isoformat())
        write_record(new)
        sys.stdout.write(
            f"{given} {version} shown={new.shown} red={len(new.red)} green={len(new.green)} of {new.count}\n"
        )
        sys.stdout.write(f"   before={new.failing_before} after={new.failing_after} red={dict(new.red)}\n")
