"""Which traces an answer shows: of the broken promises, in their order, those that are not the same steps again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from insync.cli.show.ask_report import (
    describe_answer,
    describe_default,
    describe_notes,
    describe_remedy,
    describe_row,
    describe_settings,
)
from insync.explorer.results import PropertyResult, Verdict, Violation
from insync.explorer.traces.grid import plain
from insync.explorer.traces.trace import Trace, TraceStep
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.kafka_questions.ask import PROMISES, Asked, Cell
from insync.kafka_questions.disturbances import Remedy
from insync.model import Demand, Hardness
from insync.runtime.watch import StopReason

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
    assert reasons(answer(SAME, ONE)) == ["First", "Second"]
    assert f"{SECOND} fails after the same steps as {FIRST}\n" in answer(SAME, ONE)
    assert answer(SAME, ONE).count(" 1  one") == 1, "the same steps are not shown again"
    assert reasons(answer(OTHER, SAME, ONE)) == ["First", "Second", "Third"]
    assert reasons(answer(MORE, OTHER, SAME, ONE)) == ["First", "Second", "Third"], "no more than two grids"
    assert reasons(answer(MORE, OTHER)) == ["Third", "Last"]


def test_the_first_steps_of_another_trace_are_not_shown_again() -> None:
    said = answer(MORE, OTHER)
    assert f"Steps 1 to 2 are those of {THIRD}, above; this is the state after them" in said
    rows = [line.split()[0] for line in said.splitlines() if line[:3].strip().isdigit()]
    assert rows == ["0", "1", "2", "2", "3"]


def test_one_step_in_common_is_shown_again() -> None:
    said = answer(OTHER, ONE)
    assert "above" not in said
    assert said.count(" 1  one") == 2


def test_what_the_first_steps_of_another_trace_take_is_not_said_again() -> None:
    takes = [Demand(number, Hardness.DELAY, f"waits {number}") for number in (1, 3)]
    said = answer(replace(MORE, demands=tuple(takes)), replace(OTHER, demands=(takes[0],)))
    assert said.count("step 1: waits 1 (delay)") == 1
    assert "What it takes besides:\n  step 3: waits 3 (delay)" in said


def test_each_promise_is_kept_or_broken_in_so_many_steps() -> None:
    said = answer(OTHER, ONE)
    assert f"  {PROMISES[FIRST]:<62}  broken in 1 step\n" in said
    assert f"  {PROMISES[SECOND]:<62}  holds\n" in said
    assert f"  {PROMISES[THIRD]:<62}  broken in 2 steps\n" in said


def test_a_trace_that_was_written_says_where() -> None:
    said = answer(ONE, OTHER, **{THIRD: Path("other.json")})
    assert said.count("other.json") == 1
    assert said.index("Third reason.") < said.index("other.json")


def test_of_the_newest_release_no_newer_ones_are_named() -> None:
    newest = list(Release)[-1].value
    assert describe_default(Cluster(release=newest), 100) == f"No --release was given: this is {newest}."
    older = describe_default(Cluster(release="4.0"), 1000)
    named = older.split("Of the newer ones ")[1].split(" differ, and in ")[0].split(", ")
    assert named[0] == "4.0.1"
    assert "4.0" not in named
    assert older.endswith(" alone.")


@pytest.mark.parametrize(
    ("verdict", "length", "said"),
    [
        ("holds", None, "no record is lost"),
        ("incomplete", None, "unknown: stopped by Ctrl-C"),
        ("violated", 1, "a record is lost all the same, in 0 steps"),
        ("violated", 2, "a record is lost all the same, in 1 step"),
        ("violated", 9, "a record is lost all the same, in 8 steps"),
    ],
)
def test_what_a_change_would_have_done(verdict: str, length: int | None, said: str) -> None:
    cell = Cell({"unclean": "off"}, verdict, length, StopReason.INTERRUPT if verdict == "incomplete" else None)
    line = f"  {'unclean.leader.election.enable=false':<48}  {said}"
    assert describe_remedy(Remedy(cell), False, set(), 100) == line
    assert describe_remedy(Remedy(cell), True, set(), 100) == f"\nWhat would have kept the record:\n{line}"


def test_a_row_of_the_table_and_what_stands_below_it() -> None:
    settings: dict[str, int | str] = {"acks": "1", "min_insync": 2}
    cells = [Cell(settings, "holds", None), Cell(settings, "violated", 4)]
    assert describe_row(cells) == f"  1     {2:<20}  {'safe':<24}  lost in 3 steps"
    nothing = [Cell(settings, "", None), Cell(settings, "incomplete", None, StopReason.TIME)]
    assert describe_row(nothing) == f"  1     {2:<20}  {'nothing is promised':<24}  unknown"
    assert describe_notes(cells, [], plain, 100, "") == ""
    notes = describe_notes([*cells, *nothing, *nothing], [], plain, 100, "What is left out.").splitlines()
    assert notes == ["", "What is left out.", "unknown: stopped by the limit on the time (--max-seconds)"]
    assert describe_row(cells, ["reads_repeat"]).endswith("broken in 3 steps")


def test_settings_have_the_names_that_kafka_has_for_them() -> None:
    some: dict[str, int | str] = {
        "acks": "all",
        "min_insync": 2,
        "unclean": "on",
        "elr": "off",
        "release": "4.1",
        "x": 1,
    }
    assert describe_settings(some) == (
        "acks=all, min.insync.replicas=2, unclean.leader.election.enable=true, eligible leader replicas off, "
        "Kafka 4.1, x 1"
    )
