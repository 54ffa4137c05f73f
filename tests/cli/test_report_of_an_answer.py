"""Which traces an answer shows: of the broken promises, in their order, those that are not the same steps again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from insync.cli.show.ask_report import describe_answer
from insync.explorer.ask import PROMISES, Asked
from insync.explorer.traces.grid import plain
from insync.explorer.traces.trace import Trace, TraceStep
from insync.explorer.verdict import PropertyResult, Verdict, Violation
from insync.kafka.cluster.model import Cluster

MODEL = Cluster(replicas=1, min_insync=1)
STATE = MODEL.decode(MODEL.program.initials[0])
FIRST, SECOND, THIRD, FOURTH, *_ = PROMISES
ONE = Trace("cluster", {}, FIRST, (TraceStep(None, {}, STATE), TraceStep("a", {}, STATE, "one")), "First reason.")
SAME = replace(ONE, property=SECOND, reason="Second reason.")
OTHER = replace(ONE, property=THIRD, steps=(*ONE.steps, TraceStep("b", {}, STATE, "two")), reason="Third reason.")
MORE = replace(OTHER, property=FOURTH, steps=(*OTHER.steps, TraceStep("c", {}, STATE, "three")), reason="Last reason.")


def answer(*traces: Trace, **files: Path) -> str:
    broken = {trace.property for trace in traces}
    verdicts = {True: Verdict.VIOLATED, False: Verdict.HOLDS}
    result: Any = SimpleNamespace(
        violations=tuple(Violation(trace.property, trace.length, trace) for trace in traces),
        properties=tuple(PropertyResult(name, verdicts[name in broken]) for name in PROMISES),
        warnings=(), stopped_by=None, distinct_states=7, depth=3, levels=(1, 2, 4), verdict=Verdict.VIOLATED,
        within=(), outside=0, frontier=0, representatives=None,
    )  # fmt: skip
    return describe_answer(Asked(MODEL, result), files, plain, 100)


def reasons(text: str) -> list[str]:
    return [line.split()[0] for line in text.splitlines() if line.endswith(" reason.")]


def test_two_different_traces_are_shown_in_the_order_of_the_promises() -> None:
    assert reasons(answer(ONE)) == ["First"]
    assert reasons(answer(SAME, ONE)) == ["First"], "the same steps are not shown again"
    assert reasons(answer(OTHER, SAME, ONE)) == ["First", "Third"]
    assert reasons(answer(MORE, OTHER, SAME, ONE)) == ["First", "Third"], "no more than two"
    assert reasons(answer(MORE, OTHER)) == ["Third", "Last"]


def test_each_promise_is_kept_or_broken_in_so_many_steps() -> None:
    said = answer(OTHER, ONE)
    assert f"  {PROMISES[FIRST]:<62}  broken in 1 step\n" in said
    assert f"  {PROMISES[SECOND]:<62}  holds\n" in said
    assert f"  {PROMISES[THIRD]:<62}  broken in 2 steps\n" in said


def test_a_trace_that_was_written_says_where() -> None:
    said = answer(ONE, OTHER, **{THIRD: Path("other.json")})
    assert said.count("other.json") == 1
    assert said.index("Third reason.") < said.index("other.json")
