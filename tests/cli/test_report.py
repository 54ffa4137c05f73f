from __future__ import annotations

import io
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from insync.cli.progress import progress_line
from insync.cli.terminal import grid_width, has_status_line, painter, wants_colour
from insync.explorer.documents.check import CheckDocument
from insync.explorer.documents.document import Style
from insync.explorer.progress import Phase, Progress
from insync.explorer.results import CheckResult, PropertyResult, Verdict, Violation
from insync.explorer.traces.trace import RefusedStep, Trace, TraceStep
from insync.runtime.memory import HugePages
from insync.runtime.watch import StopReason


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


HOLDS = CheckResult(
    model="kip320",
    bounds={"replicas": 3, "log_size": 2},
    engine="local",
    storage="exact",
    verdict=Verdict.HOLDS,
    stopped_by=None,
    distinct_states=737_794,
    transitions=1_929_153,
    depth=26,
    levels=(1, 6, 737_787),
    frontier=0,
    properties=(PropertyResult("weak_isr", Verdict.HOLDS), PropertyResult("strong_isr", Verdict.HOLDS)),
    violations=(),
    actions={"fetch": 12_345, "elect": 1_916_808, "drop": 0},
    never_enabled=("drop",),
    not_enabled_yet=(),
    deadlocks=0,
    within=(),
    outside=0,
    warnings=(),
    seconds={"compile": 0.4, "search": 0.2, "trace": 0.0},
    peak_memory_bytes=120 << 20,
)

TRACE = Trace(
    "kip320",
    HOLDS.bounds,
    "strong_isr",
    (TraceStep(None, {}, {"b1": "-"}), TraceStep("elect", {"leader": "b1"}, {"b1": "L0"}, "elect b1")),
    "b1 believes it leads.",
)

VIOLATED = replace(
    HOLDS,
    verdict=Verdict.VIOLATED,
    properties=(PropertyResult("weak_isr", Verdict.INCOMPLETE), PropertyResult("strong_isr", Verdict.VIOLATED)),
    violations=(Violation("strong_isr", 2, TRACE),),
)

INCOMPLETE = replace(
    HOLDS,
    verdict=Verdict.INCOMPLETE,
    stopped_by=StopReason.MEMORY,
    frontier=1,
    properties=(PropertyResult("weak_isr", Verdict.INCOMPLETE),),
    never_enabled=(),
    not_enabled_yet=("drop",),
)


def _columns(state: dict[str, object]) -> dict[str, str]:
    return {name: str(text) for name, text in state.items()}


def _report(result: CheckResult, *files: Path | None) -> list[str]:
    return CheckDocument(result, _columns, files).text(Style()).splitlines()


def test_a_proof() -> None:
    assert _report(HOLDS) == [
        "kip320   replicas 3, log_size 2",
        "holds: weak_isr, strong_isr in all 737,794 states, depth 26",
        "",
        "1,929,153 steps taken",
        "  elect  1,916,808",
        "  fetch     12,345",
        "never enabled: drop",
        "",
        "compile 0.40 s, search 0.20 s, trace 0.00 s, 3.7 million states/s, memory 120 MiB",
    ]


def test_as_what_states_were_kept_is_said_where_that_is_not_as_a_whole() -> None:
    times = _report(HOLDS)[-1]
    assert _report(replace(HOLDS, kept="codes"))[-1] == f"{times}, states kept as codes"
    few = _report(replace(HOLDS, kept="files", representatives=9))[-1]
    assert few.endswith(", memory 120 MiB, representatives kept in sorted files")


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        (None, ""),
        (HugePages(0, 31), ""),
        (HugePages(0, 32), "warning: The states had no huge pages: this machine gives none, and large searches take"),
        (HugePages(100, 99), ""),
        (
            HugePages(100, 100),
            "warning: Of the memory of the states 100 huge pages were granted and 100 were not: memory",
        ),
    ],
)
def test_a_large_search_without_huge_pages_gets_a_sentence(pages: HugePages | None, said: str) -> None:
    lines = _report(replace(HOLDS, huge_pages=pages))
    assert lines[: len(_report(HOLDS))] == _report(HOLDS)
    rest = lines[len(_report(HOLDS)) :]
    assert " ".join(rest).startswith(said)
    assert bool(rest) == bool(said)
    assert all(len(line) <= 120 for line in rest)


def test_no_property_is_no_proof() -> None:
    assert _report(replace(HOLDS, properties=()))[1] == (
        "holds: type_ok, which is always checked, in all 737,794 states, depth 26"
    )


def test_a_violation_ends_with_its_grid_and_reason() -> None:
    lines = _report(VIOLATED, Path("out.json"))
    assert lines[1] == (
        "violated: strong_isr (trace of 2 states); no violation of weak_isr up to there; 737,794 states seen, depth 26"
    )
    assert lines[-8:] == [
        "strong_isr fails after 1 step    kip320   replicas 3, log_size 2",
        "",
        " #  step      b1",
        " 0  start     -",
        " 1  elect b1  L0",
        "",
        "b1 believes it leads.",
        "Replay: insync replay out.json",
    ]
    assert _report(VIOLATED, None)[-1] == "b1 believes it leads."


def test_a_property_that_holds_beside_a_violation() -> None:
    """With --keep-going the whole space was searched."""
    held = (PropertyResult("weak_isr", Verdict.HOLDS), PropertyResult("strong_isr", Verdict.VIOLATED))
    assert _report(replace(VIOLATED, properties=held), None)[1] == (
        "violated: strong_isr (trace of 2 states); weak_isr held in every state; 737,794 states seen, depth 26"
    )


def test_two_properties_that_fail_in_one_state_share_a_grid() -> None:
    other = replace(TRACE, property="weak_isr", reason="b2 has nothing.")
    both = replace(VIOLATED, violations=(*VIOLATED.violations, Violation("weak_isr", 2, other)))
    assert _report(both, None, Path("my out.json"))[-5:] == [
        "",
        "weak_isr fails after the same steps as strong_isr",
        "",
        "b2 has nothing.",
        "Replay: insync replay 'my out.json'",
    ]


def test_a_step_that_is_refused_is_shown_though_the_steps_to_it_were_shown_above() -> None:
    refused = RefusedStep("drop", {}, "drop b1", "log_size has no room.")
    other = replace(TRACE, property="type_ok", reason="log_size has no room.", refused=refused)
    both = replace(VIOLATED, violations=(*VIOLATED.violations, Violation("type_ok", 2, other)))
    lines = _report(both, None, None)
    assert not any("after the same steps" in line for line in lines)
    assert sum("elect b1" in line for line in lines) == 2
    assert any("drop b1" in line for line in lines)


def test_incomplete_never_says_holds() -> None:
    lines = _report(INCOMPLETE)
    assert lines[1:4] == [
        "incomplete: stopped by the limit on the memory (--memory) after 737,794 states; nothing is proved",
        "  complete up to depth 26; 1 state left to expand",
        "  no violation so far of weak_isr",
    ]
    for reason in StopReason:
        assert "holds" not in "\n".join(_report(replace(INCOMPLETE, stopped_by=reason)))


def test_what_the_bounds_rule_out_is_told_apart() -> None:
    never = _report(replace(HOLDS, never_enabled=("drop", "move"), impossible=("move",)))
    assert [line for line in never if "drop" in line or "move" in line] == [
        "never enabled: drop",
        "impossible at these bounds: move",
    ]
    so_far = _report(replace(INCOMPLETE, not_enabled_yet=("move",), impossible=("move",)))
    assert [line for line in so_far if "move" in line or "enabled" in line] == ["impossible at these bounds: move"]


def test_only_a_search_of_all_states_says_that_each_has_a_step() -> None:
    own = replace(HOLDS, model="lock.py:Lock")
    assert "every state has a step" in _report(own)
    assert "every state has a step" not in _report(replace(own, frontier=3))
    assert "every state has a step" not in _report(HOLDS)


def test_only_a_complete_search_says_never() -> None:
    assert "not enabled so far: drop" in _report(INCOMPLETE)
    ended = replace(VIOLATED, frontier=7, never_enabled=(), not_enabled_yet=("drop",))
    assert "not enabled so far: drop" in _report(ended, None)
    assert "never enabled: drop" in _report(VIOLATED, None), "with --keep-going the whole space was searched"
    unexpanded = replace(INCOMPLETE, transitions=0, actions={"drop": 0})
    assert "enabled" not in "\n".join(_report(unexpanded))
    stands = replace(HOLDS, transitions=0, actions={"drop": 0})
    assert "never enabled: drop" in _report(stands), "no action at all is enabled, and all was searched"


def test_a_limit_is_named_beside_a_violation() -> None:
    assert _report(replace(VIOLATED, stopped_by=StopReason.STATES, frontier=7), None)[2] == (
        "  stopped by the limit on the states (--max-states); the rest was not searched"
    )


def test_itf_is_not_offered_for_replay() -> None:
    assert _report(VIOLATED, Path("z.itf.json"))[-1] == (
        "Trace: z.itf.json (ITF, for other tools; `insync replay` reads insync's own JSON)"
    )


def test_colours_only_where_they_are_wanted() -> None:
    coloured = CheckDocument(VIOLATED, _columns, [None]).text(Style(painter("always")))
    assert "\x1b" in coloured
    assert "\x1b" not in CheckDocument(VIOLATED, _columns, [None]).text(Style(painter("never")))
    assert "\x1b" not in CheckDocument(VIOLATED, _columns, [None]).text(Style(painter("auto")))


def test_json_is_one_stable_object() -> None:
    text = json.dumps(CheckDocument(VIOLATED, _columns, [Path("out.json")]).data())
    assert "\n" not in text
    assert json.loads(text) == {
        "model": "kip320",
        "bounds": {"replicas": 3, "log_size": 2},
        "engine": "local",
        "storage": "exact",
        "kept": "states",
        "verdict": "violated",
        "stopped_by": None,
        "distinct_states": 737_794,
        "representatives": None,
        "transitions": 1_929_153,
        "depth": 26,
        "levels": [1, 6, 737_787],
        "frontier": 0,
        "properties": [{"name": "weak_isr", "verdict": "incomplete"}, {"name": "strong_isr", "verdict": "violated"}],
        "violations": [
            {
                "property": "strong_isr",
                "trace_length": 2,
                "reason": "b1 believes it leads.",
                "demands": [],
                "trace": "out.json",
            }
        ],
        "actions": {"fetch": 12_345, "elect": 1_916_808, "drop": 0},
        "never_enabled": ["drop"],
        "impossible": [],
        "not_enabled_yet": [],
        "deadlocks": 0,
        "within": [],
        "outside": 0,
        "warnings": [],
        "seconds": {"compile": 0.4, "search": 0.2, "trace": 0.0},
        "peak_memory_bytes": 120 << 20,
    }
    assert CheckDocument(INCOMPLETE, _columns).data()["stopped_by"] == "memory"


def test_progress_of_a_compilation() -> None:
    progress = Progress(
        level=0,
        frontier=0,
        distinct_states=0,
        states_per_second=0.0,
        memory_bytes=200 << 20,
        seconds=3.2,
        phase=Phase.COMPILE,
    )
    assert progress_line(progress, "2026-01-02 03:04:05") == (
        "Progress(0) at 2026-01-02 03:04:05: compiling the model for 3.20 s, 200 MiB of memory."
    )


def test_progress_reads_like_the_line_of_tlc() -> None:
    progress = Progress(
        level=12, frontier=34_567, distinct_states=1_234_567, states_per_second=5.4e6, memory_bytes=3 << 29, seconds=2.0
    )
    assert progress_line(progress, "2026-01-02 03:04:05") == (
        "Progress(12) at 2026-01-02 03:04:05: 1,234,567 distinct states found (5.4 million states/s), "
        "34,567 states left on queue, 1.50 GiB of memory."
    )


def test_representatives_stand_beside_all_states() -> None:
    found = replace(HOLDS, distinct_states=4_093_531, representatives=683_278, seconds={"compile": 0.4, "search": 2.0})
    _, verdict, visited, *rest = CheckDocument(found, lambda state: {}).text(Style(width=100)).splitlines()
    assert verdict.endswith("in all 4,093,531 states, depth 26")
    assert visited == "  visited 683,278 representatives of 4,093,531 states"
    assert rest[-1] == "compile 0.40 s, search 2.00 s, 341,639 representatives/s, memory 120 MiB"


def test_where_every_action_is_enabled_nothing_is_said_of_it() -> None:
    quiet = replace(HOLDS, never_enabled=(), not_enabled_yet=())
    assert not [line for line in _report(quiet) if "enabled" in line]
    begun = replace(INCOMPLETE, transitions=0)
    assert not [line for line in _report(begun) if "enabled" in line], "without a step that is nothing to wonder at"
    assert "not enabled so far: drop" in _report(INCOMPLETE)


@pytest.mark.parametrize(("columns", "width"), [("20", 40), ("40", 40), ("80", 80), ("200", 200)])
@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()], ids=["terminal", "pipe"])
def test_the_grid_is_as_wide_as_columns_says_and_at_least_40(
    stream: io.StringIO, columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("sys.stdout", stream)
    assert grid_width() == width


@pytest.mark.parametrize("columns", ["", "0", "-5", "wide", "²"])
def test_where_there_is_no_terminal_and_columns_says_nothing_the_grid_is_120_wide(
    columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert grid_width() == 120


def test_the_grid_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("sys.stdout", Terminal())
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((93, 24)))
    assert grid_width() == 93


@pytest.mark.parametrize(("spent", "shown"), [(0.09, False), (0.1, True), (0.2, True)])
def test_a_rate_is_said_of_a_search_that_takes_some_time(spent: float, shown: bool) -> None:
    result = replace(HOLDS, seconds={"compile": 0.4, "search": spent, "trace": 0.0})
    said = CheckDocument(result, lambda _: {}).text(Style())
    assert ("states/s" in said) == shown


@pytest.mark.parametrize(
    ("choice", "terminal", "environment", "wanted"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", True, {"TERM": "xterm"}, True),
        ("always", False, {"NO_COLOR": "1", "TERM": "dumb"}, True),
        ("never", True, {}, False),
    ],
)
def test_colours_are_for_terminals_that_have_them(
    choice: str, terminal: bool, environment: dict[str, str], wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", Terminal() if terminal else io.StringIO())
    monkeypatch.setattr("sys.stderr", Terminal() if terminal else io.StringIO())
    assert wants_colour(choice) == wanted
    assert has_status_line() == (terminal and environment.get("TERM") != "dumb")
