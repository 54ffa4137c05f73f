from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import pytest

from insync.explorer.traces.grid import Tone, describe_chosen, render_grid
from insync.explorer.traces.state_diff import state_cells
from insync.explorer.traces.trace import RefusedStep, Trace, TraceStep
from insync.model import BoundValues, Int, Model, Option, ReadableState, Record, Seq, Set, SetOf, State
from insync.model.catalogue import find_model
from insync.model.language.presentation import Demand, GridCell, Hardness

BOUNDS = {"replicas": 2, "log_size": 1}


def _columns(state: Mapping[str, object]) -> dict[str, str]:
    return {name: str(text) for name, text in state.items()}


def _trace(*rows: tuple[str, Mapping[str, object]], refused: RefusedStep | None = None) -> Trace:
    steps = [
        TraceStep(None if number == 0 else "act", {}, dict(state), label) for number, (label, state) in enumerate(rows)
    ]
    return Trace(
        "kip279", BOUNDS, "strong_isr", tuple(steps), "b1 believes it leads, but b2 has no record at offset 0.", refused
    )


SHORT = _trace(
    ("start", {"b1": "-  [|]", "b2": "-  [|]", "controller": "no leader"}),
    ("elect b1", {"b1": "-  [|]", "b2": "-  [|]", "controller": "b1 @0"}),
    ("b1 writes r0", {"b1": "L0 [| r0@0]", "b2": "-  [|]", "controller": "b1 @0"}),
    ("b1 becomes leader @0", {"b1": "L0 [| r0@0]", "b2": "-  [|]", "controller": ""}),
)


def test_a_cell_is_filled_only_when_it_changed() -> None:
    assert render_grid(SHORT, _columns) == (
        "strong_isr fails after 3 steps    kip279   replicas 2, log_size 1\n"
        "\n"
        " #  step                  b1           b2      controller\n"
        " 0  start                 -  [|]       -  [|]  no leader\n"
        " 1  elect b1                                   b1 @0\n"
        " 2  b1 writes r0          L0 [| r0@0]\n"
        " 3  b1 becomes leader @0                       -\n"
        "\n"
        "b1 believes it leads, but b2 has no record at offset 0."
    )


def test_the_header_names_the_bounds_that_are_no_default() -> None:
    model = find_model("kip279")()
    usual, other = model.identity, {**model.identity, "log_size": 1}
    assert describe_chosen(usual, model) == "at its defaults"
    assert describe_chosen(other, model) == "log_size 1"
    assert describe_chosen({}, model) == ""
    assert describe_chosen({"size": 1}, None) == "size 1"
    assert describe_chosen(find_model("cluster")().identity, find_model("cluster")()) == "release 4.1"


@pytest.mark.parametrize(
    ("rows", "header"), [(1, "fails in the initial state  "), (2, "fails after 1 step  "), (3, "fails after 2 steps  ")]
)
def test_the_header_counts_the_steps(rows: int, header: str) -> None:
    assert f"strong_isr {header}" in render_grid(_trace(*[("x", {"a": "1"})] * rows), _columns)


def test_a_refused_step_has_a_row_of_its_own() -> None:
    refused = RefusedStep("write", {}, "b1 writes r1", "leo is 2")
    rows = render_grid(_trace(("start", {"b1": "[|]"}), refused=refused), _columns).splitlines()
    assert rows[4] == " !  b1 writes r1 (refused)"


def test_columns_that_appear_later_are_shown() -> None:
    grid = render_grid(_trace(("start", {"a": "1"}), ("x", {"a": "1", "b": "2"})), _columns)
    assert grid.splitlines()[2:5] == [" #  step   a  b", " 0  start  1", " 1  x         2"]


LONG_LOGS = {f"b{i}": "L3 [r0@3 r1@3 | r2@3 r3@3 r4@3] ~1" for i in range(1, 5)}
LONG_TRACE = _trace(("start", LONG_LOGS), ("b1 becomes follower of b2 @12", {**LONG_LOGS, "b1": "F12 [|]"}))


@pytest.mark.parametrize(("width", "grids"), [(66, 3), (80, 3), (120, 2), (180, 1)])
def test_lines_keep_to_the_width_and_tear_no_log_and_no_word(width: int, grids: int) -> None:
    text = render_grid(LONG_TRACE, _columns, width=width)
    table = text.splitlines()[2:-2]
    assert max(map(len, table)) <= width
    assert text.count("[r0@3 r1@3 | r2@3 r3@3 r4@3]") == 4
    assert sum(line.startswith(" #") for line in table) == grids
    words = {word for line in table for word in line.split()}
    assert {"L3", "~1", "F12", "[|]", "follower", "@12", *LONG_LOGS} <= words


@pytest.mark.parametrize("width", [66, 120, 180])
@pytest.mark.parametrize(("loop", "said"), [(0, "(back to the start, and so on)"), (1, "(stays like this for ever)")])
def test_where_a_run_goes_on_is_said_once_below_its_steps_however_narrow_the_grid(
    loop: int, said: str, width: int
) -> None:
    lines = render_grid(replace(LONG_TRACE, loop=loop), _columns, width=width).splitlines()
    (place,) = [at for at, line in enumerate(lines) if said in line]
    assert sum(line.startswith(" #") for line in lines[:place]) == 1, "before the columns that do not fit"


def test_columns_below_the_grid_have_rows_for_what_changes_alone() -> None:
    lines = render_grid(LONG_TRACE, _columns, width=80).splitlines()
    assert [line.split()[:3] for line in lines[2:-2]] == [
        ["#", "step", "b1"],
        ["0", "start", "L3"],
        ["1", "b1", "becomes"],
        [],
        ["#", "b2", "b3"],
        ["0", "L3", "[r0@3"],
        [],
        ["#", "b4"],
        ["0", "L3", "[r0@3"],
    ]


def test_the_column_of_the_steps_gives_way_first() -> None:
    cell = "L0 [r0@0 r1@0 |] ~1 -b3"
    trace = _trace(("start", {"b1": cell}), ("b1 becomes follower of b2 @12", {"b1": f"{cell} +b2"}))
    narrow = render_grid(trace, _columns, width=58).splitlines()
    assert narrow[5:7] == [f" 1  b1 becomes follower of b2  {cell} +b2", "    @12"]
    narrower = render_grid(trace, _columns, width=46).splitlines()
    assert narrower[6:8] == [f" 1  b1 becomes follower   {cell[:16]} ~1", "    of b2 @12             -b3 +b2"]


def test_a_row_that_just_fits_is_in_one_line() -> None:
    trace = _trace(("start", {"b1": "[|]"}), ("b1 becomes leader @0", {"b1": "L0 [r0@0 r1@0 |]"}))
    row = " 1  b1 becomes leader @0  L0 [r0@0 r1@0 |]"
    assert row in render_grid(trace, _columns, width=len(row)).splitlines()
    assert row not in render_grid(trace, _columns, width=len(row) - 1).splitlines()


def test_a_log_that_is_wider_than_a_line_is_broken_between_records_and_keeps_the_bar_beside_one() -> None:
    lines = [line.strip() for line in render_grid(LONG_TRACE, _columns, width=40).splitlines()]
    assert "[r0@3 r1@3 |" in lines
    assert not any(line.startswith("|") for line in lines)


def test_no_line_ends_in_spaces() -> None:
    assert all(line == line.rstrip() for line in render_grid(SHORT, _columns).splitlines())


def test_colours_change_nothing_but_the_colours() -> None:
    def paint(text: str, tone: Tone) -> str:
        return f"<{tone.value}>{text}</>"

    painted = render_grid(SHORT, _columns, paint=paint)
    for tone in Tone:
        painted = painted.replace(f"<{tone.value}>", "")
    assert painted.replace("</>", "") == render_grid(SHORT, _columns)


def test_each_line_has_its_tone() -> None:
    def tones(trace: Trace) -> list[set[str]]:
        grid = render_grid(trace, _columns, paint=lambda text, tone: f"<{tone.value}>{text}")
        return [set(re.findall("<(.*?)>", line)) for line in grid.splitlines()]

    refused = RefusedStep("write", {}, "b1 writes r1", "leo is 2")
    rows = (("start", {"b1": "[|]"}), ("elect b1", {"b1": "!"}), ("! b1", {"b1": "L0 [|]"}))
    failing = [{"bad"}, set(), {"heading"}, {"number", "label"}, {"number", "label"}, {"number", "label"}]
    assert tones(_trace(*rows)) == [*failing, set(), {"reason"}]
    assert tones(_trace(*rows, refused=refused)) == [*failing, {"number", "refused"}, set(), {"reason"}]
    assert tones(replace(_trace(*rows), loop=1)) == [*failing, {"label"}, set(), {"reason"}]
    assert tones(replace(_trace(*rows), witness=True))[0] == {"good"}


def test_of_a_cell_with_parts_those_are_shown_that_changed() -> None:
    def columns(state: Mapping[str, object]) -> dict[str, GridCell]:
        return {"node": {name: str(value) for name, value in state.items()}}

    states = [{"a": 1, "b": 2}, {"a": 1, "b": 3}, {"a": 1}, {"a": 1}]
    grid = render_grid(_trace(*[("x", state) for state in states]), columns)
    assert grid.splitlines()[2:7] == [" #  step  node", " 0  x     a=1 b=2", " 1  x     b=3", " 2  x     b=-", " 3  x"]


LONG = {letter: letter * 30 for letter in "abcd"}


@pytest.mark.parametrize(
    ("before", "now", "shown"),
    [
        ("", "a", "{a}"),
        ("a", "a", ""),
        ("a", "ab", "+ {b}"),
        ("abcd", "ab", "{a, b}"),
        ("abcd", "abc", "without {d}"),
        ("abc", "abd", "+ {d} without {c}"),
        ("aab", "ab", "without {a}"),
        ("a", "", "{}"),
    ],
)
def test_of_a_set_or_bag_is_shown_what_came_and_went_where_that_is_shorter(before: str, now: str, shown: str) -> None:
    def columns(state: ReadableState) -> dict[str, GridCell]:
        return {"sent": tuple(LONG[letter] for letter in state["sent"])}

    grid = render_grid(_trace(("x", {"sent": before}), ("y", {"sent": now})), columns, width=500).splitlines()
    for letter, long in LONG.items():
        shown = shown.replace(letter, long)
    assert grid[4] == f" 1  y     {shown}".rstrip()


@pytest.mark.parametrize(("gone", "whole"), [(19, False), (20, False), (21, True)])
def test_what_went_is_shown_as_long_as_the_whole_is_not_shorter(gone: int, whole: bool) -> None:
    (cell,) = state_cells(["sent"], {"sent": ("g" * gone, "s" * 28)}, {"sent": ("s" * 28,)}, {})
    assert cell.shown == (f"{{{'s' * 28}}}" if whole else f"without {{{'g' * gone}}}")


def test_a_short_set_is_shown_as_a_whole() -> None:
    def columns(state: ReadableState) -> dict[str, GridCell]:
        return {"sent": tuple(state["sent"])}

    grid = render_grid(_trace(("x", {"sent": "a"}), ("y", {"sent": "ab"})), columns).splitlines()
    assert grid[4] == " 1  y     {a, b}"


class Shop(Model):
    legend: ClassVar[Mapping[str, str]] = {}

    def declare(self, b: BoundValues) -> State:
        return State(boss=Option(Int(1, 2)), on=Set(Int(0, 1)), queue=Seq(Int(0, 1), 2))


class Post(Model):
    legend: ClassVar[Mapping[str, str]] = {}

    def declare(self, b: BoundValues) -> State:
        return State(sent=SetOf(Record(to=Int(0, 1))))


class Boss(Shop):
    legend: ClassVar[Mapping[str, str]] = {"*": "the boss", "+": "never there"}

    def grid(self, state: ReadableState) -> dict[str, GridCell]:
        return {"people": "*" if state["boss"] else "-"}


@pytest.mark.parametrize(
    ("model", "states", "legend"),
    [
        (
            Shop(),
            [{"boss": None, "on": [], "queue": []}, {"boss": 1, "on": [], "queue": []}],
            ["    (- none; {} empty; [] empty)"],
        ),
        (Shop(), [{"boss": 1, "on": [], "queue": [0]}], ["    ({} empty)"]),
        (Shop(), [{"boss": 1, "on": [0], "queue": [1, 0]}], []),
        (Post(), [{"sent": [{"to": 10**30}]}, {"sent": [{"to": 10**30}, {"to": 9}]}], ["    (+ is new)"]),
        (Boss(), [{"boss": None}, {"boss": 1}], ["    (* the boss)"]),
        (Boss(), [{"boss": None}], []),
    ],
)
def test_the_marks_that_occur_are_explained(model: Model, states: list[ReadableState], legend: list[str]) -> None:
    grid = render_grid(_trace(*[("x", state) for state in states]), model.grid, header=False).splitlines()
    assert grid[1 + len(states) : -2] == legend


class Succession(Boss):
    def step_marks(self, before: ReadableState, after: ReadableState) -> dict[str, str]:
        return {"people": "+"} if before["boss"] and after["boss"] else {}


def test_a_step_has_the_mark_that_the_model_gives_it_beside_a_cell_and_where_none_has_changed() -> None:
    states: list[ReadableState] = [{"boss": None}, {"boss": 1}, {"boss": 2}, {"boss": None}]
    grid = render_grid(_trace(*[("x", state) for state in states]), Succession().grid, header=False).splitlines()
    assert [line.split()[2:] for line in grid[1:5]] == [["-"], ["*"], ["+"], ["-"]]
    assert grid[5].strip() == "(* the boss; + never there)"


@pytest.mark.parametrize(("size", "shown"), [(18, "{{a, {}}}"), (19, "{{a, {}}}"), (20, "+ {{{}}}")])
def test_a_set_that_is_written_in_24_characters_is_shown_as_a_whole(size: int, shown: str) -> None:
    cells: dict[str, GridCell] = {"before": ("a",), "after": ("a", "p" * size)}
    grid = render_grid(
        _trace(("start", {"set": "before"}), ("add", {"set": "after"})), lambda s: {"set": cells[s["set"]]}
    )
    assert shown.format("p" * size) in grid
    assert grid.count("{a, ") == ("a, " in shown)


def _demanded(trace: Trace, shown: int) -> list[str]:
    lines = render_grid(trace, _columns, shown=shown).splitlines()
    return [line for line in lines if line.startswith("  step ")]


@pytest.mark.parametrize("shown", [1, 2, 3, 4])
def test_of_a_trace_that_is_shown_in_two_parts_each_demand_and_each_step_is_told_once(shown: int) -> None:
    steps = [(f"step {number}", {"a": str(number)}) for number in range(5)]
    demands = tuple(Demand(step, Hardness.RACE, f"what happens at {step}") for step in (0, 1, 1, 2, 3, 4))
    whole = replace(_trace(*steps), demands=demands)
    begun = replace(whole, steps=whole.steps[: shown + 1], demands=tuple(d for d in demands if d.step <= shown))
    assert len(_demanded(whole, 0)) == len(demands)
    assert [*_demanded(begun, 0), *_demanded(whole, shown)] == _demanded(whole, 0)
