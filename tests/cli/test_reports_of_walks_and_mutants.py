"""Reports of walks and of mutants, of results made by hand: each line, and that it is not there without its reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import Fate, MutantResult, MutationResult, SimulationResult
from insync.explorer.documents.document import Style
from insync.explorer.documents.mutate import MutationDocument, mutant_line
from insync.explorer.documents.simulate import SimulationDocument
from insync.explorer.documents.text import memory, plural, rate, seconds
from insync.explorer.results import PropertyResult, Verdict, Violation
from insync.explorer.search.walks import AbstractStates
from insync.explorer.simulate import WalkLengths
from insync.machine.walker import Strategy
from insync.model.catalogue import find_model
from insync.runtime.watch import StopReason
from insync_lamp_reports import BOUNDS, HEAD, TRACE, WIDTH, columns

# ------------------------------------------------------------------------------------------------------------- figures


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (plural(0, "state"), "0 states"),
        (plural(1, "state"), "1 state"),
        (plural(2_000, "state"), "2,000 states"),
        (memory(3 << 19), "2 MiB"),
        (memory((1 << 30) - 1), "1024 MiB"),
        (memory(1 << 30), "1.00 GiB"),
        (seconds(9.99), "9.99 s"),
        (seconds(10), "10.0 s"),
        (seconds(119.9), "119.9 s"),
        (seconds(120), "2 min 00 s"),
        (seconds(185.4), "3 min 05 s"),
        (seconds(3599.4), "59 min 59 s"),
        (seconds(3599.6), "1 h 00 min"),
        (seconds(7500), "2 h 05 min"),
        (rate(999_999, "steps"), "999,999 steps/s"),
        (rate(1e6, "steps"), "1.0 million steps/s"),
    ],
)
def test_figures_have_the_digits_that_matter(shown: str, expected: str) -> None:
    assert shown == expected


# --------------------------------------------------------------------------------------------------------------- walks

WALKED = SimulationResult(
    model="lamp",
    bounds=BOUNDS,
    verdict=Verdict.INCOMPLETE,
    stopped_by=None,
    seed=7,
    strategy=Strategy.MIXED,
    depth=20,
    walks=1_000,
    steps=12_000,
    properties=(PropertyResult("dark", Verdict.INCOMPLETE), PropertyResult("whole", Verdict.INCOMPLETE)),
    violation=None,
    failed_walk=None,
    failed_walk_length=None,
    lengths=WalkLengths(shortest=3, longest=1, mean=1.25, stuck=1_001),
    actions={"press": 10, "burn": 11_990, "drop": 0},
    not_taken=("drop", "stop"),
    abstract_states=None,
    within=(),
    warnings=(),
    seconds={"compile": 1.0, "search": 0.5},
    peak_memory_bytes=10 << 20,
)


def simulation(file: Path | None = None, **other: object) -> list[str]:
    result = replace(WALKED, **other)  # type: ignore[arg-type]
    return SimulationDocument(result, columns, file).text(Style(width=WIDTH)).splitlines()


IN_ALL = "(1,000 walks of up to 20 steps, seed 7)"


def test_a_simulation() -> None:
    assert simulation() == [
        HEAD,
        "incomplete: no violation of dark, whole in 1,000 walks of up to 20 steps, seed 7; walks prove nothing",
        "",
        "12,000 steps taken",
        "  burn   11,990",
        "  press      10",
        "not taken in these walks: drop, stop",
        "walks of 3 to 1 step, 1.2 on average; 1,001 ended in a state without a step",
        "",
        "compile 1.00 s, search 0.50 s, 24,000 steps/s, memory 10 MiB",
    ]
    assert simulation(properties=())[1].startswith("incomplete: no violation of type_ok in 1,000 walks")
    assert not any("not taken" in line for line in simulation(not_taken=()))
    assert simulation(stopped_by=StopReason.TIME, within=("near",), warnings=("It is odd.",))[2:5] == [
        "  stopped by the limit on the time (--max-seconds)",
        "  within near: no step is taken from states outside",
        "warning: It is odd.",
    ]
    assert simulation(seconds={"search": 0.1})[-1] == "search 0.10 s, 120,000 steps/s, memory 10 MiB"
    assert simulation(seconds={"search": 0.09})[-1] == "search 0.09 s, memory 10 MiB"


GROWN = AbstractStates(("leader", "ISR"), 1_234, 998, ((1, 7), (10, 50), (100, 400), (1_000, 1_234)))


def test_a_simulation_with_abstract_states() -> None:
    said = simulation(abstract_states=GROWN)
    assert said[8:12] == [
        "1,234 abstract states, told apart by leader, ISR",
        "  after 1, 10, 100, 1,000 walks: 7, 50, 400, 1,234; the last new one in walk 998",
        "",
        "compile 1.00 s, search 0.50 s, 24,000 steps/s, memory 10 MiB",
    ]
    said = simulation(abstract_states=replace(GROWN, last_new=948), stopped_by=StopReason.SATURATION)
    assert said[2] == "  stopped by saturation (--until-saturated): the last 51 walks saw no new abstract state"
    said = simulation(abstract_states=GROWN, stopped_by=StopReason.MEMORY)
    assert said[2] == "  stopped because the abstract states have filled the memory"
    nothing = AbstractStates((), 0, None, ())
    assert "0 abstract states, told apart by nothing" in simulation(abstract_states=nothing, stopped_by=StopReason.TIME)


def test_a_simulation_that_fails(tmp_path: Path) -> None:
    failed: dict[str, Any] = {"verdict": Verdict.VIOLATED, "failed_walk": 1_234, "failed_walk_length": 17}
    said = simulation(violation=Violation("dark", 2, TRACE), **failed)
    assert said[1:4] == [
        f"violated: dark in walk 1,234 {IN_ALL}",
        "  17 states, shortened to a trace of 2 states",
        "",
    ]
    assert said[-1] == "The lamp is on."
    file = tmp_path / "trace.json"
    said = simulation(file, violation=Violation("dark", 2, TRACE), stopped_by=StopReason.INTERRUPT, **failed)
    assert said[3] == "  stopped by Ctrl-C"
    assert str(file) in said[-1]
    assert simulation(stopped_by=StopReason.INTERRUPT, failed_walk=5, failed_walk_length=1)[1:3] == [
        f"incomplete: walk 5 fails after 1 state {IN_ALL}, and there was no time to confirm it",
        "  stopped by Ctrl-C",
    ]


# ------------------------------------------------------------------------------------------------------------- mutants

KILLED = MutantResult("press() without it", "press", "without", "it", Fate.KILLED, {"dark": 1, "whole": 3, "ends": 0})
SURVIVED = replace(KILLED, name="b", fate=Fate.SURVIVED, killed_by={}, distinct_states=1)
SAME = replace(SURVIVED, name="c", fate=Fate.EQUIVALENT)
OPEN = replace(SURVIVED, name="d", fate=Fate.UNDECIDED, distinct_states=None, stopped_by=StopReason.STATES)
NOT_TRIED = replace(OPEN, name="e", stopped_by=StopReason.INTERRUPT)
MUTATED = MutationResult("lamp", BOUNDS, ("dark", "type_ok"), ("old",), 1, (KILLED, SURVIVED, SAME, OPEN), 1.5)


def mutation(**other: object) -> list[str]:
    return MutationDocument(replace(MUTATED, **other), find_model("kip101")()).text(Style(width=WIDTH)).splitlines()  # type: ignore[arg-type]


LEFT_OUT = "left out, as they fail for the unchanged model already: old"


def test_what_became_of_a_mutant() -> None:
    assert [mutant_line(one) for one in (KILLED, SURVIVED, SAME, OPEN)] == [
        "killed      press() without it: by dark (trace of 1 state), whole (trace of 3 states), ends (not reached)",
        "survived    b: with 1 state",
        "equivalent  c",
        "undecided   d, stopped by the limit on the states (--max-states)",
    ]


def test_mutants_stand_by_what_became_of_them_those_that_matter_first() -> None:
    assert mutation() == [
        f"{HEAD}   1 state",
        "judged by dark, type_ok",
        LEFT_OUT,
        "",
        "1 survived",
        f"  {mutant_line(SURVIVED)}",
        "",
        "1 undecided",
        f"  {mutant_line(OPEN)}",
        "",
        "1 killed",
        f"  {mutant_line(KILLED)}",
        "",
        "1 equivalent: from every reachable state the same steps",
        "  c",
        "",
        "score 50%: 1 of 2 noticed, in 1.50 s",
    ]
    assert mutation(failing=(), mutants=(SAME,), within=("near",), warnings=("It is odd.",))[1:4] == [
        "judged by dark, type_ok",
        "  within near: no step is taken from states outside",
        "warning: It is odd.",
    ]
    assert mutation(mutants=(SAME,))[-1] == "no score: no mutant was killed and none survived, in 1.50 s"
    assert mutation(mutants=())[1:] == [
        "judged by dark, type_ok",
        LEFT_OUT,
        "",
        "no score: no mutant was killed and none survived, in 1.50 s",
    ]


def test_mutants_that_were_not_tried_are_counted_alone() -> None:
    assert mutation(mutants=(KILLED, NOT_TRIED, NOT_TRIED), stopped_by=StopReason.INTERRUPT)[3:] == [
        "",
        "1 killed",
        f"  {mutant_line(KILLED)}",
        "",
        "2 not tried, stopped by Ctrl-C",
        "",
        "score 100%: 1 of 1 noticed, in 1.50 s",
    ]
    assert mutation(mutants=(), stopped_by=StopReason.TIME, failing=())[1:5] == [
        "no mutant was judged by dark, type_ok",
        "",
        "no mutant was tried, stopped by the limit on the time (--max-seconds)",
        "The unchanged model was not searched to its end; take smaller bounds or larger limits.",
    ]


def test_mutants_for_scripts() -> None:
    found = MutationDocument(
        replace(MUTATED, within=("near",), warnings=("It is odd.",)), find_model("kip101")()
    ).data()
    assert {name: value for name, value in found.items() if name != "mutants"} == {
        "model": "lamp", "bounds": BOUNDS, "properties": ["dark", "type_ok"], "left_out": ["old"], "within": ["near"],
        "distinct_states": 1, "stopped_by": None, "score": 0.5, "warnings": ["It is odd."], "seconds": 1.5,
    }  # fmt: skip
    assert found["mutants"][::3] == [
        {"name": "press() without it", "action": "press", "change": "without", "without": "it", "fate": "killed",
         "killed_by": {"dark": 1, "whole": 3, "ends": 0}, "distinct_states": None, "stopped_by": None},
        {"name": "d", "action": "press", "change": "without", "without": "it", "fate": "undecided",
         "killed_by": {}, "distinct_states": None, "stopped_by": "states"},
    ]  # fmt: skip
