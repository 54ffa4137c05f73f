"""A value that its field cannot hold: the same exit code wherever it is assigned, at all bounds and by every verb."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import replay

Insync = Callable[..., Any]


COUNTER = '''
from insync.model import (
    ANY, Array, Bound, Bounds, Condition, Int, Model, Range, Set, Index, State, StateView,
    action, bound, eventually, initial, invariant, require, sometimes, when,
)


class Slot(Range):
    lo, hi = 0, bound("most")


class Counter(Model):
    """Counts beyond its bound."""

    bounds = Bounds(most=Bound(2, 0, 9), first=Bound(0, 0, 9))

    def declare(self, b) -> State:
        return State(count=Int(0, bound("most")), other=Int(0, 3), slots=Array(Slot, bool))

    def initial(self, s: StateView) -> None:
        s.count = self.b.first

    @action
    def up(self, s: StateView) -> None:
        BODY

    @invariant
    def small(self, s: StateView) -> Condition:
        return s.count < 9

    @sometimes
    def counted(self, s: StateView) -> Condition:
        return s.count == 1

    @eventually(weak=["up"])
    def is_counted(self, s: StateView) -> Condition:
        return s.count == 1


class FromAny(Counter):
    """The same, from several states, each of which counts from its number on."""

    def initial(self, s: StateView) -> None:
        """Nothing is counted yet."""

    @initial
    def some(self, s: StateView) -> None:
        s.other = ANY
        s.count = s.other + self.b.first


class Within(Counter):
    """The same, which is never taken within."""

    within = ("at_first",)

    @invariant
    def at_first(self, s: StateView) -> Condition:
        return s.count == 0

    @action
    def up(self, s: StateView) -> None:
        when_small = s.count < 2
        require(s.count < self.b.most)
        s.count += 1

    @action
    def over(self, s: StateView) -> None:
        require(s.count == 1)
        s.count += 9
'''

BODIES = {
    "computed": "s.count += 1",
    "a number of Python": "s.count = self.b.most + 1",
    "in a block": "s.count += 1\n        with when(s.other == 0):\n            s.other += 4",
    "at a place": "s.count += 1\n        s.slots[s.count] = True",
}
VERBS = {
    "check": ("check",),
    "check on two threads": ("check", "--threads", 2, "--partitions", 3),
    "simulate": ("simulate", "--walks", 50, "--depth", 12),
    "prove --bmc": ("prove", "--bmc", 5),
    "liveness": ("liveness",),
}


@pytest.fixture
def model(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / "counter.py"
    path.write_text(COUNTER.replace("BODY", BODIES[getattr(request, "param", "computed")]))
    return f"{path}:Counter"


@pytest.mark.parametrize("most", [0, 1, 2])
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("model", BODIES, indirect=True)
def test_an_overflow_is_a_violation_at_all_bounds(insync: Insync, model: str, verb: str, most: int) -> None:
    code, out, err = insync(*VERBS[verb][:1], model, *VERBS[verb][1:], "--most", most, "--quiet")
    assert (code, err) == (1, "")
    assert "type_ok" in out
    assert "(refused)" in out


@pytest.mark.parametrize("most", [0, 1])
def test_what_decides_nothing_is_done_with_it(insync: Insync, model: str, most: int) -> None:
    assert insync("why", model, "--most", most, "--quiet").code == 0
    assert insync("export", model, "--most", most, "--to", "tla").code == 0
    code, out, _ = insync("agree", model, "--most", most, "--engine", "evaluator", "--engine", "local-1", "--quiet")
    assert (code, "type_ok fails after" in out) == (0, True)
    code, out, err = insync("mutate", model, "--most", most, "--quiet")
    assert (code, out) == (2, "")
    assert "`insync check` with the same model, the same bounds and the same --within shows the trace." in err


@pytest.mark.parametrize("verb", ["check", "simulate", "prove", "liveness", "agree", "why", "explore", "mutate"])
@pytest.mark.parametrize("kind", ["Counter", "FromAny"])
def test_an_initial_state_that_cannot_be_is_a_mistake_in_the_model(
    insync: Insync, model: str, verb: str, kind: str
) -> None:
    """No state shows it, so nothing is searched: whatever the bounds, and by every verb."""
    text = ("--text",) if verb == "explore" else ()
    reference = model.replace(":Counter", f":{kind}")
    code, out, err = insync(verb, reference, "--most", 1, "--first", 2, "--quiet", *text)
    assert (code, out) == (2, "")
    assert "counter.py:" in err
    assert "assigned to count is not a whole number from 0 to 1" in err


def test_liveness_shows_the_shortest_trace_and_decides_nothing(insync: Insync, model: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    code, out, _ = insync("liveness", model, "--trace", trace, "--json", "--quiet")
    found = json.loads(out)
    assert (code, found["verdict"]) == (1, "violated")
    assert found["refused"]["trace_length"] == 3
    assert found["refused"]["trace"] == str(trace)
    assert {one["undecided"] for one in found["properties"]} == {"not decided: type_ok fails"}
    assert replay(trace).length == 3
    assert json.loads(insync("liveness", model, "--json", "--quiet", "--most", 2)[1])["refused"] is not None


def test_liveness_shows_a_trace_outside_of_what_check_stays_within(insync: Insync, model: str, tmp_path: Path) -> None:
    """`check` and `liveness` obey `within`; the trace that is found without it is shown, and replayed as it is."""
    reference, trace = model.replace(":Counter", ":Within"), tmp_path / "trace.json"
    assert insync("check", reference, "--quiet").code == 0
    assert insync("check", reference, "--within", "none", "--quiet").code == 1
    assert "over (refused)" not in insync("liveness", reference, "--quiet").out
    code, out, _ = insync("liveness", reference, "--within", "none", "--trace", trace, "--quiet")
    assert (code, "over (refused)" in out) == (1, True)
    assert "over (refused)" in insync("replay", trace, "--model", reference).out


def test_a_step_that_is_refused_at_first_is_not_said_to_fail_in_a_state(insync: Insync, model: str) -> None:
    out = insync("check", model, "--most", 0, "--quiet").out
    assert "type_ok fails in the first step" in out
    assert "in the initial state" not in out
    assert "type_ok fails after 1 step" in insync("check", model, "--most", 1, "--quiet").out
