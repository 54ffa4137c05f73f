from __future__ import annotations

import json
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import Limits, Trace, Verdict, check
from insync.explorer.liveness import LivenessResult, RunResult, liveness
from insync.explorer.replay import ReplayError, replay
from insync.explorer.runs.state_graph import StateGraph, build_graph, graph_within
from insync.explorer.traces.grid import render_grid
from insync.explorer.traces.itf import itf_text
from insync.explorer.traces.trace_file import read_trace, trace_text
from insync.kafka.published import Kip101, Kip279, Kip320, Kip320FirstTry
from insync.model import (
    Bool,
    BoundValues,
    Condition,
    InternalError,
    Model,
    Not,
    Or,
    State,
    StateView,
    UserError,
    action,
)
from insync.properties import Fairness, eventually, sometimes
from insync.properties.kafka.replication_runs import PUBLISHED
from insync.properties.temporal import fair_sets
from insync.runtime.watch import StopReason
from insync_lamp import Lamp
from insync_runs import Crossing, Round

STARVING = Fairness(("become_leader", "become_follower(follower)"), strong=("leader_expand_isr", "leader_shrink_isr"))
"""A follower that is caught up may join and be dropped for ever while another one waits."""


def decided(model: Model, name: str, fairness: Fairness | None = None) -> RunResult:
    (found,) = liveness(model, properties=[name], fairness=fairness).properties
    return found


def trace_of(model: Model, name: str, fairness: Fairness | None = None) -> Trace:
    found = decided(model, name, fairness)
    assert found.trace is not None
    assert replay(found.trace, model=model, place="t.json") == found.trace
    return found.trace


def labels(trace: Trace) -> list[str]:
    return [step.label for step in trace.steps]


# ---------------------------------------------------------------------------------------------------------- a toy


def test_a_witness_is_a_shortest_trace() -> None:
    trace = trace_of(Crossing(), "everybody_waits")
    assert labels(trace) == ["start", "p1 asks", "p2 asks"]
    assert trace.witness
    assert trace.loop is None
    assert "everybody_waits is reached after 2 steps" in render_grid(trace, Crossing().grid)
    assert trace.reason == "everybody_waits is reached: All people wait at once."


def test_no_trace_is_shown_whose_steps_the_evaluator_does_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(*given: Any, **named: Any) -> StateGraph:
        graph = graph_within(*given, **named)
        return replace(graph, action=(graph.action + 1) % len(graph.actions))

    monkeypatch.setattr(sys.modules["insync.explorer.liveness"], "graph_within", mistaken)
    with pytest.raises(InternalError, match="the evaluator takes no such step"):
        decided(Crossing(), "everybody_waits")


def test_what_cannot_be_reached_is_said_so() -> None:
    found = decided(Crossing(), "somebody_waits_twice")
    assert (found.verdict, found.trace, found.instances) == (Verdict.VIOLATED, None, 2)


def test_without_fairness_a_run_may_stay_where_it_is() -> None:
    trace = trace_of(Crossing(), "turns_green", Fairness())
    assert (trace.length, trace.loop) == (1, 0)
    assert trace.reason == (
        "turns_green is due from the start, but after the start the run stays as it is for ever; "
        "no action that is fair is enabled there."
    )
    assert "(stays like this for ever)" in render_grid(trace, Crossing().grid)
    assert decided(Crossing(), "turns_green").verdict is Verdict.HOLDS


def test_of_two_runs_the_one_that_repeats_earlier_is_shown_though_it_is_the_longer_one() -> None:
    trace = trace_of(Round(), "comes_by")
    assert (labels(trace)[:4], trace.loop) == (["start", "go", "go", "go"], 0)
    assert "comes_by for out = true is due" in trace.reason


def test_weak_fairness_does_not_help_where_the_light_changes_meanwhile() -> None:
    weak = Fairness(weak=("change", "cross(who)"))
    trace = trace_of(Crossing(), "gets_across", weak)
    assert labels(trace) == ["start", "p1 asks", "change", "change"]
    assert trace.loop == 1
    assert trace.reason == (
        "gets_across for who = p1 is due after step 1, but the steps 2 and 3 repeat for ever without it. "
        "The loop is fair: cross(who=p1) is not enabled after step 1."
    )
    assert "(back to the state after step 1, and so on for ever)" in render_grid(trace, Crossing().grid)
    assert decided(Crossing(), "gets_across").verdict is Verdict.HOLDS


class Rooms(Model):
    """Two lights that may be switched for ever."""

    def declare(self, b: BoundValues) -> State:
        return State(hall=Bool, attic=Bool)

    @action
    def switch_hall(self, s: StateView) -> None:
        s.hall = Not(s.hall)

    @action
    def switch_attic(self, s: StateView) -> None:
        s.attic = Not(s.attic)


@eventually(Rooms)
def hall_is_lit(model: Rooms, s: StateView) -> Condition:
    """The hall is lit some time."""
    return s.hall


@eventually(Rooms)
def some_light(model: Rooms, s: StateView) -> Condition:
    """Some light is on some time."""
    return Or(s.hall, s.attic)


def test_fairness_of_a_union_asks_for_any_of_its_actions() -> None:
    either, both = Fairness(weak=("switch_hall | switch_attic",)), Fairness(weak=("switch_hall", "switch_attic"))
    assert decided(Rooms(), "some_light", either).verdict is Verdict.HOLDS
    assert decided(Rooms(), "some_light", Fairness()).verdict is Verdict.VIOLATED
    trace = trace_of(Rooms(), "hall_is_lit", either)
    assert set(labels(trace)[1:]) == {"switch attic"}
    assert decided(Rooms(), "hall_is_lit", both).verdict is Verdict.HOLDS


def test_strong_fairness_of_the_whole_action_lets_one_person_starve() -> None:
    model = Crossing(trips=2)
    assert decided(model, "gets_across").verdict is Verdict.HOLDS
    assert decided(model, "gets_across", Fairness(("change",), ("cross",))).verdict is Verdict.HOLDS
    assert decided(Crossing(trips=3), "gets_across").verdict is Verdict.VIOLATED  # works begin, and the light is red
    trace = trace_of(Crossing(trips=3), "gets_across")
    assert labels(trace)[trace.loop :] == ["close"]


def test_a_step_that_changes_nothing_is_no_step() -> None:
    assert decided(Crossing(), "turns_green", Fairness(weak=("look",))).verdict is Verdict.VIOLATED


def test_a_search_that_was_stopped_proves_nothing_and_may_refute() -> None:
    model = Crossing(people=3)
    few = liveness(
        model, properties=["turns_green", "everybody_waits", "gets_across"], fairness=None, limits=Limits(states=2)
    )
    assert few.verdict is Verdict.INCOMPLETE
    assert few.stopped_by == "states"
    assert {found.name: (found.verdict, found.undecided) for found in few.properties} == {
        "everybody_waits": (Verdict.INCOMPLETE, "not reached in the part that was explored"),
        "turns_green": (Verdict.INCOMPLETE, "no run breaks it in the part that was explored"),
        "gets_across": (Verdict.INCOMPLETE, "no run breaks it in the part that was explored"),
    }
    refuted = liveness(model, properties=["turns_green"], fairness=Fairness(), limits=Limits(states=2))
    assert refuted.verdict is Verdict.VIOLATED


def interrupted(monkeypatch: pytest.MonkeyPatch, properties: Sequence[str] | None = None) -> LivenessResult:
    """What is known of a crossing when Ctrl-C has ended the exploration after 12 states."""
    stop = threading.Event()

    def explored(model: Model, *given: Any) -> StateGraph:
        stop.set()
        return replace(build_graph(model, limits=Limits(states=12)), stopped_by=StopReason.INTERRUPT)

    monkeypatch.setattr(sys.modules["insync.explorer.liveness"], "graph_within", explored)
    result = liveness(Crossing(), properties=properties, stop=stop)
    assert (result.verdict, result.stopped_by) == (Verdict.INCOMPLETE, StopReason.INTERRUPT)
    return result


def test_where_nothing_was_decided_it_is_not_said_that_something_was_not_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {found.name: found for found in interrupted(monkeypatch).properties}
    assert found["everybody_waits"].verdict is Verdict.HOLDS, "a witness is one wherever the exploration ended"
    assert found["everybody_waits"].undecided is None
    assert found["somebody_waits_twice"].undecided == "not reached in the part that was explored"
    assert found["turns_green"].undecided == "not decided: the exploration was stopped"
    assert {found[name].verdict for name in ("somebody_waits_twice", "turns_green")} == {Verdict.INCOMPLETE}


def test_after_the_end_a_witness_is_looked_for_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["insync.explorer.liveness"], "_OVERTIME_SECONDS", 0.0)
    (found,) = interrupted(monkeypatch, properties=["everybody_waits"]).properties
    assert (found.verdict, found.undecided) == (Verdict.INCOMPLETE, "not decided: the exploration was stopped")


def test_a_model_whose_steps_leave_a_domain_has_no_runs() -> None:
    class Pressed(Lamp):
        """A lamp with a property of runs."""

    @sometimes(Pressed)
    def on(model: Pressed, s: StateView) -> Condition:
        return True

    found = liveness(Pressed(switches=1, presses=1))
    assert found.verdict is Verdict.VIOLATED
    assert [(one.verdict, one.undecided) for one in found.properties] == [
        (Verdict.INCOMPLETE, "not decided: type_ok fails")
    ]
    (violation,) = check(Pressed(switches=1, presses=1), properties=[]).violations
    assert found.refused == violation.trace, "the same shortest trace"


def test_without_properties_there_is_nothing_to_decide() -> None:
    with pytest.raises(
        UserError, match=r"^lamp has no properties of runs, so there is nothing to decide\. Declare one"
    ):
        liveness(Lamp())
    with pytest.raises(UserError, match=r"^properties=\[\] names no property of runs, so there is nothing to decide\."):
        liveness(Crossing(), properties=[])
    with pytest.raises(UserError, match="Fairness: lamp has no action 'prees'"):
        liveness(Lamp(), fairness=Fairness(weak=("prees",)))


def test_what_is_due_from_the_start_may_be_there_at_the_start() -> None:
    class Lit(Crossing):
        """A crossing for which the property below is registered."""

    @eventually(Lit)
    def nobody_waits(model: Lit, s: object) -> bool:
        """Trivially so."""
        return True

    assert decided(Lit(), "nobody_waits").verdict is Verdict.HOLDS


def test_what_is_due_from_the_start_is_asked_of_the_runs_from_the_start_alone() -> None:
    class Evening(Rooms):
        """The hall is lit at first."""

        def initial(self, s: StateView) -> None:
            s.hall = True

    @eventually(Evening)
    def hall_was_lit(model: Evening, s: StateView) -> Condition:
        """The hall is lit some time."""
        return s.hall

    assert decided(Evening(), "hall_was_lit", Fairness()).verdict is Verdict.HOLDS


# ----------------------------------------------------------------------------------------------------------- Kafka


@pytest.mark.parametrize(
    "bounds",
    [
        {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 2},
        {"replicas": 3, "log_size": 1, "max_records": 1, "max_leader_epoch": 1},
    ],
)
def test_kip320_heals(bounds: dict[str, int]) -> None:
    names = ["back_in_isr", "accepted_is_settled", "acknowledged_is_everywhere"]
    result = liveness(Kip320(**bounds), properties=names)
    assert {found.name: found.verdict for found in result.properties} == dict.fromkeys(names, Verdict.HOLDS)


@pytest.mark.parametrize("name", ["back_in_isr", "accepted_is_settled", "acknowledged_is_everywhere"])
def test_under_the_fairness_of_the_published_module_followers_need_not_fetch(name: str) -> None:
    model = Kip320(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    trace = trace_of(model, name, PUBLISHED)
    assert trace.loop == trace.length - 1
    healed = replace(PUBLISHED, weak=(*PUBLISHED.weak, "follower_fetch(follower)"))
    assert decided(model, name, healed).verdict is Verdict.HOLDS


def test_the_controller_of_the_module_may_empty_the_isr() -> None:
    trace = trace_of(Kip320(replicas=2, log_size=1, max_records=1), "partition_gets_a_leader")
    assert labels(trace) == ["start", "controller drops b1", "controller drops b2"]


def test_in_kip101_a_follower_may_be_stuck() -> None:
    model = Kip101(replicas=2)
    assert decided(model, "accepted_is_settled").verdict is Verdict.VIOLATED


@pytest.mark.slow
def test_in_kip279_a_record_may_hang_in_the_air() -> None:
    trace = trace_of(Kip279(log_size=1, max_records=1), "accepted_is_settled")
    assert (trace.length, trace.loop) == (11, 10)


def test_the_first_try_heals_if_truncation_is_fair_too() -> None:
    model = Kip320FirstTry(replicas=2)
    found = decided(model, "accepted_is_settled")
    assert found.verdict is Verdict.HOLDS
    assert "follower_truncate(follower)" in found.fairness.weak
    without = tuple(name for name in found.fairness.weak if not name.startswith("follower_truncate"))
    assert decided(model, "accepted_is_settled", replace(found.fairness, weak=without)).verdict is Verdict.VIOLATED


def starving() -> Trace:
    model = Kip320(log_size=1, max_records=1, max_leader_epoch=1)
    return trace_of(model, "back_in_isr", STARVING)


def test_a_loop_is_told_as_one_and_is_written_and_read(tmp_path: Path) -> None:
    trace = starving()
    assert labels(trace)[-2:] == ["b2 drops b3 from the ISR", "b2 adds b3 to the ISR"]
    assert trace.loop == 6
    assert trace.steps[-1].state == trace.steps[6].state
    path = tmp_path / "t.json"
    path.write_text(trace_text(trace))
    model = Kip320(**trace.bounds)
    assert replay(read_trace(path), model=model, place=str(path)) == trace
    itf = json.loads(itf_text(trace, model.state))
    assert itf["loop"] == 7
    before, again = itf["states"][6], itf["states"][-1]
    assert {k: v for k, v in before.items() if k not in ("#meta", "action")} == {
        k: v for k, v in again.items() if k not in ("#meta", "action")
    }
    still = trace_of(model, "partition_gets_a_leader", Fairness())
    assert json.loads(itf_text(still, model.state))["loop"] == 0


TAMPERED = {
    "the last state is not that of step 3, so the loop does not close": lambda t: replace(t, loop=3),
    "the loop is not fair: it neglects follower_fetch, whose fairness is weak": lambda t: replace(
        t, fairness=Fairness(weak=("follower_fetch",))
    ),
    "neglects leader_write, whose fairness is strong": lambda t: replace(
        t, fairness=Fairness(strong=("leader_write",)), steps=t.steps[:4], loop=3
    ),
    "accepted_is_settled holds in this run": lambda t: replace(
        t, property="accepted_is_settled", steps=t.steps[:3], loop=2, fairness=Fairness()
    ),
    "a trace of back_in_isr has a loop and is not a witness": lambda t: replace(t, loop=None),
    "a trace of two_leaders is a witness and has no loop": lambda t: replace(t, property="two_leaders"),
    "two_leaders does not hold in the last state, which must be a witness": lambda t: replace(
        t, property="two_leaders", loop=None, witness=True
    ),
    "strong_isr is not a property of runs: its trace cannot have a loop or witness": lambda t: replace(
        t, property="strong_isr"
    ),
}


@pytest.mark.slow_for(
    "the loop is not fair: it neglects follower_fetch, whose fairness is weak",
    "two_leaders does not hold in the last state, which must be a witness",
)
@pytest.mark.parametrize("sentence", TAMPERED)
def test_a_run_that_proves_nothing_is_refused(sentence: str) -> None:
    trace = TAMPERED[sentence](starving())
    with pytest.raises(ReplayError) as raised:
        replay(trace, model=Kip320(**trace.bounds), place="t.json")
    assert sentence in str(raised.value)


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("loop", 9, "loop is 9; expected the number of a step, from 0 to 8."),
        ("loop", True, "loop is true; expected the number of a step"),
        ("witness", False, "witness is false; expected true, or no such key."),
        ("fairness", {"weak": []}, "the key 'strong' is missing in fairness."),
        ("fairness", {"weak": "x", "strong": []}, 'fairness.weak is "x"; expected a list of actions.'),
    ],
)
def test_a_trace_file_with_a_mistake_in_its_loop(tmp_path: Path, key: str, value: object, sentence: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps(json.loads(trace_text(starving())) | {key: value}))
    with pytest.raises(UserError) as raised:
        read_trace(path)
    assert sentence in str(raised.value)


def test_what_is_weak_and_what_is_strong_stays_so() -> None:
    sets = fair_sets(Crossing(), Fairness(("change", "ask(who)"), ("cross(*)", "look | change")))
    assert [(one.name, one.strong, len(one.numbers)) for one in sets] == [
        ("change", False, 1), ("ask(who=p1)", False, 1), ("ask(who=p2)", False, 1),
        ("cross(who=p1)", True, 1), ("cross(who=p2)", True, 1), ("look | change", True, 2),
    ]  # fmt: skip
