"""`insync kafka patch --unit-tests` as text and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from insync.conformance.patches.unit_test_runs import UnitTestRun
from insync.explorer.traces.grid import Paint, Tone

if TYPE_CHECKING:
    from insync.conformance.documents.json_types import UnitTestsObject

__all__ = ["describe_unit_tests", "unit_tests_json"]

_WIDEST = 100


def describe_unit_tests(came: UnitTestRun, paint: Paint) -> str:
    """Return a table of the added tests, without the fix and with it, and the result of all others."""
    shown = "red without the fix, green with it"
    verdict = paint(shown, Tone.GOOD) if came.is_shown else paint(f"not {shown}", Tone.BAD)
    names = sorted({*came.red, *came.green})
    width = max(len("test"), *map(len, names)) if names else len("test")
    columns = (f"Kafka {came.version}", f"with {came.fix.name}")
    lines = [verdict, "", f"  {'test':<{width}}  {columns[0]}  {columns[1]}"]
    for name in names:
        said = ["fails" if name in came.red else "passes", "passes" if name in came.green else "fails"]
        lines.append(f"  {name:<{width}}  {said[0]:<{len(columns[0])}}  {said[1]}")
    lines += ["", "Without the fix:", *(f"  {name}: {_short(said)}" for name, said in sorted(came.red.items()))]
    lines += ["", f"The other {came.without.count - len(came.red)} tests of the classes: {_others(came)}."]
    lines += [f"The tests: {came.tests.file}", f"The fix:   {came.fix.file}"]
    return "\n".join(lines)


def _short(said: str) -> str:
    """Return the expected and the actual value of an assertion, without the message of the test."""
    kind, _, message = said.partition(": ")
    return f"{kind}: {message.rpartition(' ==> ')[2]}"[:_WIDEST] if message else kind


def _others(came: UnitTestRun) -> str:
    broken = sorted(name for name in came.failing_after if name not in came.failing_before and name not in came.red)
    before = sorted(came.failing_before)
    parts = [f"fail without the fix and with it: {', '.join(before)}"] if before else []
    parts += [f"fail with the fix alone: {', '.join(broken)}"] if broken else []
    return "; ".join(parts) or "pass without the fix and with it"


def unit_tests_json(came: UnitTestRun) -> str:
    """Return the object for a run of unit tests."""
    entry: UnitTestsObject = {
        "kafka": came.version,
        "tests": str(came.tests.file),
        "fix": str(came.fix.file),
        "shown": came.is_shown,
        "count": came.without.count,
        "red": came.red,
        "green": list(came.green),
        "failing_before": came.failing_before,
        "failing_after": came.failing_after,
    }
    return json.dumps(entry, ensure_ascii=False)
