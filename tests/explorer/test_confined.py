"""Confined searches, and states without a step: counts by hand, the same on every engine of this machine."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event
from typing import Any

import pytest
from hypothesis import find, given, settings
from hypothesis.errors import NoSuchExample
from hypothesis.stateful import run_state_machine_as_test

from insync.explorer import CheckResult, Limits, agree, bounded_check, check, liveness, mutate, prove, simulate
from insync.explorer.agree import Opinion, evaluator_engine, local_engine, z3_engine
from insync.explorer.hypothesis import model_based_test, reachable_states, state_machine
from insync.explorer.replay import replay
from insync.explorer.runs.state_graph import graph
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.explorer.testing import PropertyViolated
from insync.model import (
    And,
    Bool,
    BoundValues,
    Condition,
    Int,
    Model,
    ModelError,
    Not,
    State,
    StateView,
    UserError,
    action,
    always_eventually,
    invariant,
)
from insync.model.tracing.program import whole_of
from insync.properties import Fairness
from insync.properties.registry import confined, invariants_of, judge, select
from insync_confined import Ladder, Mail, Plane
from insync_random_models import Written, random_model, written

QUICK = settings(max_examples=30, stateful_step_count=9, deadline=None, database=None, derandomize=True)


class PlaneFromOrigin(Plane):
    """The plane, with an invariant that fails after every step."""

    @invariant
    def at_origin(self, s: StateView) -> Condition:
        """Both numbers are 0."""
        return And(s.x == 0, s.y == 0)


ENGINES: list[Callable[..., CheckResult]] = [check, check_by_evaluator]


def timeless(result: CheckResult) -> CheckResult:
    return replace(result, engine="", seconds={}, peak_memory_bytes=0)


@pytest.mark.parametrize("engine", ENGINES)
def test_states_outside_are_checked_and_counted_and_not_expanded(engine: Callable[..., CheckResult]) -> None:
    """Ten states within, from each of which both steps are taken; five just outside, where the sum is 4."""
    found = engine(Plane())
    assert (found.verdict, found.within, found.warnings) == ("holds", ("near",), ())
    assert [entry.name for entry in found.properties] == ["below_five"], "what it is confined to is not checked"
    assert (found.distinct_states, found.levels, found.depth, found.outside) == (10, (1, 2, 3, 4), 4, 5)
    assert (found.transitions, found.deadlocks, found.frontier) == (20, 0, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_fails_outside_is_found(engine: Callable[..., CheckResult]) -> None:
    found = engine(Plane(), properties=["x_below_four", "near", "not_to_four"], keep_going=True)
    assert {violation.property: violation.trace_length for violation in found.violations} == {
        "x_below_four": 5,
        "near": 5,
        "not_to_four": 5,
    }
    assert (found.distinct_states, found.outside) == (10, 5)
    for violation in found.violations:
        assert replay(violation.trace, model=Plane()) == violation.trace
    (ended,) = engine(Plane(), properties=["not_to_four"]).violations
    assert [sum(step.state.values()) for step in ended.trace.steps] == [0, 1, 2, 3, 4]


def test_a_name_that_is_given_twice_confines_once() -> None:
    assert check(Plane(), within=["near", "near"]).within == ("near",)


@pytest.mark.parametrize("engine", ENGINES)
def test_within_may_be_chosen_or_left_out(engine: Callable[..., CheckResult]) -> None:
    both = engine(Plane(), within=["flat", "near"])
    assert (both.within, both.levels, both.outside) == (("flat", "near"), (1, 2, 2, 2), 5)
    everything = engine(Plane(), within=(), properties=[])
    assert (everything.within, everything.distinct_states, everything.outside) == ((), 49, 0)
    assert engine(Plane(), within=[]).violations[0].property == "near", "it is a property of the headline again"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_refused_step_is_found_from_states_within_alone(engine: Callable[..., CheckResult]) -> None:
    """A message that is sent at 7 is one too many; at (5, 3) two are under way, and (6, 3) is outside."""
    found = engine(Mail(), keep_going=True)
    assert [violation.property for violation in found.violations] == ["type_ok"]
    states = [step.state for step in found.violations[0].trace.steps]
    assert all(state["sent"] - state["lost"] <= 2 for state in states)
    assert (found.distinct_states, found.outside) == (8 + 7 + 6, 5)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_search_that_ends_early_counts_the_states_outside_of_its_last_level_as_outside(
    engine: Callable[..., CheckResult],
) -> None:
    limited = engine(Mail(), limits=Limits(depth=4))
    assert (limited.verdict, limited.levels, limited.outside, limited.frontier) == ("incomplete", (1, 1, 2, 1), 1, 1)
    by_states = engine(Mail(), limits=Limits(states=6))
    assert timeless(replace(by_states, stopped_by=limited.stopped_by)) == timeless(limited), "six were found"
    violated = engine(Plane(), properties=["x_below_four"])
    assert (violated.verdict, violated.levels, violated.outside, violated.frontier) == ("violated", (1, 2, 3, 4), 5, 0)
    later = engine(Mail(), limits=Limits(depth=5))
    assert (later.levels, later.outside) == ((1, 1, 2, 1, 2), 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_states_without_a_step_are_counted(engine: Callable[..., CheckResult]) -> None:
    """The number ends at 4, and where it is closed at 2; within `low` at the latter alone."""
    found = engine(Ladder())
    assert (found.distinct_states, found.deadlocks) == (6, 2)
    inside = engine(Ladder(), within=["low"])
    assert (inside.distinct_states, inside.outside, inside.deadlocks) == (4, 1, 1)
    (shortest,) = engine(Ladder(), properties=["deadlock_free"], within=["low"]).violations
    assert [step.label for step in shortest.trace.steps] == ["start", "climb", "climb", "close"]
    assert engine(Plane(), properties=["deadlock_free"]).verdict == "holds", "outside there is no deadlock"
    assert engine(Ladder(), limits=Limits(depth=4)).deadlocks == 0, "the fourth level was not expanded"


@given(written())
@settings(max_examples=15, deadline=None)
def test_machine_code_is_confined_as_the_evaluator_is(parts: Written) -> None:
    model = random_model(parts)
    options: dict[str, Any] = {"within": ["low"], "properties": ["kept", "deadlock_free"], "keep_going": True}
    try:
        by_evaluator = check_by_evaluator(model, **options)
    except UserError:
        with pytest.raises(UserError, match="the initial state is outside low, so no step would be taken"):
            check(model, **options)
        return
    assert timeless(check(model, **options)) == timeless(by_evaluator)
    expanded = check_by_evaluator(model, within=(), properties=[], keep_going=True)
    assert by_evaluator.distinct_states + by_evaluator.outside <= expanded.distinct_states + expanded.outside


def test_several_threads_and_partitions_count_the_same() -> None:
    whole = timeless(check(Mail(), keep_going=True, threads=1, partitions=1))
    assert timeless(check(Mail(), keep_going=True, threads=2, partitions=3)) == whole


def test_walks_end_outside() -> None:
    found = simulate(Plane(), walks=60, depth=9, properties=["near"])
    assert found.within == ("near",)
    assert found.violation is not None
    assert found.violation.trace_length == 5
    quiet = simulate(Plane(), walks=60, depth=9)
    assert (quiet.lengths.shortest, quiet.lengths.longest, quiet.lengths.stuck) == (4, 4, 60)
    assert simulate(Plane(), walks=60, depth=9, within=(), properties=[]).lengths.shortest == 9


def test_a_hypothesis_state_machine_takes_no_step_outside() -> None:
    run_state_machine_as_test(state_machine(Plane()), settings=QUICK)


@pytest.mark.slow
def test_a_hypothesis_state_machine_is_confined_as_its_caller_says() -> None:
    """The second number may be 1 at most within `flat`, so that the sum never comes to 5 there but through `near`."""
    run_state_machine_as_test(state_machine(Plane(), within=["near", "flat"]), settings=QUICK)
    everywhere = state_machine(Plane(), properties=["below_five"], within=())
    with pytest.raises(PropertyViolated, match="below_five violated"):
        run_state_machine_as_test(everywhere, settings=QUICK)


class PlaneOnPaper:
    """A system that does what `Plane` does, and notes how far it got."""

    furthest = 0

    def __init__(self) -> None:
        self.x, self.y = 0, 0

    def right(self) -> None:
        self.x += 1

    def up(self) -> None:
        self.y += 1

    def observe(self) -> dict[str, int]:
        PlaneOnPaper.furthest = max(PlaneOnPaper.furthest, self.x + self.y)
        return {"x": self.x, "y": self.y}


@pytest.mark.parametrize(("within", "furthest"), [(None, 4), (["at_origin"], 1)])
def test_a_model_based_test_takes_no_step_outside(within: list[str] | None, furthest: int) -> None:
    PlaneOnPaper.furthest = 0
    machine = model_based_test(PlaneFromOrigin(), adapter=PlaneOnPaper, within=within)
    run_state_machine_as_test(machine, settings=QUICK)
    assert PlaneOnPaper.furthest == furthest


def test_states_that_walks_reach_are_confined() -> None:
    def beyond(state: dict[str, int]) -> bool:
        return state["x"] + state["y"] > 1

    inside = reachable_states(PlaneFromOrigin(), within=["at_origin"])
    with pytest.raises(NoSuchExample):
        find(inside, beyond, settings=QUICK)
    assert beyond(find(reachable_states(PlaneFromOrigin()), beyond, settings=QUICK))


def test_the_graph_has_the_states_outside_without_steps() -> None:
    pytest.importorskip("networkx")
    found = graph(Plane())
    assert (len(found), len(found.source)) == (15, 20)
    fewer = graph(PlaneFromOrigin(), within=["at_origin"])
    assert (len(fewer), len(fewer.source)) == (3, 2)


def test_runs_that_stay_within_are_decided_and_the_others_are_said_to_be_left_out() -> None:
    """Four states are on the diagonal, from which both steps lead outside."""
    pytest.importorskip("scipy")
    found = liveness(Plane())
    assert (found.verdict, found.within, found.distinct_states) == ("violated", ("near",), 15)
    assert found.warnings[-1] == (
        "plane is confined to near, and from 4 states steps lead outside. Runs that take one are not considered: a run "
        "that breaks a property is real, but a property that holds may fail in a run that leaves."
    )
    everywhere = liveness(Plane(), within=[])
    assert (everywhere.within, everywhere.distinct_states, everywhere.warnings) == ((), 49, ())
    (trace,) = (one.trace for one in found.properties)
    assert trace is not None
    assert replay(trace, model=Plane(), place="t.json") == trace


def test_a_property_that_holds_as_fairness_demands_to_leave_is_told_apart() -> None:
    """A run to the right comes to the diagonal, where fairness demands one more step: TLC says that `far` holds."""
    pytest.importorskip("scipy")
    found = liveness(Plane(), fairness=Fairness(weak=("right",)))
    assert found.verdict == "holds"
    assert found.warnings[-1] == (
        "far holds only because no fair run stays within near: fairness demands a step that leads outside. Bound the "
        "model by the guards of its actions, or assume less fairness."
    )
    assert len(liveness(Plane(), fairness=Fairness()).warnings) == 1


class Counting(Model):
    """A number that only `within` bounds, beside a lamp."""

    within = ("small",)

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 1000), on=Bool)

    @action
    def count(self, s: StateView) -> None:
        s.n += 1

    @action
    def switch(self, s: StateView) -> None:
        s.on = Not(s.on)

    @invariant
    def small(self, s: StateView) -> Condition:
        """The number is at most 4."""
        small: Condition = s.n <= 4
        return small

    @always_eventually(weak=("switch",))
    def shines_again(self, s: StateView) -> Condition:
        """It shines again and again."""
        return And(s.on)

    @always_eventually(weak=("count",))
    def counted(self, s: StateView) -> Condition:
        """The number is 1000 again and again, which within nothing breaks."""
        return And(s.n == 1000)


def test_a_counter_that_is_bounded_by_a_confinement_alone_has_properties_of_runs() -> None:
    pytest.importorskip("scipy")
    found = liveness(Counting())
    assert {one.name: str(one.verdict) for one in found.properties} == {"shines_again": "holds", "counted": "holds"}
    assert found.refused is None
    assert [text.split(",")[0] for text in found.warnings] == [
        "counting is confined to small",
        (
            "counted holds only because no fair run stays within small: fairness demands a step that leads outside. "
            "Bound the model by the guards of its actions"
        ),
    ]
    assert liveness(Counting(), within=[]).refused is not None


def test_proofs_are_about_what_is_reached_within() -> None:
    pytest.importorskip("z3")
    assert prove(Plane()).verdict == "holds"
    assert prove(Plane(), within=(), properties=["below_five"]).verdict == "incomplete"
    (trace,) = bounded_check(Plane(), depth=6, properties=["x_below_four"]).traces
    assert trace.length == 5
    assert bounded_check(Plane(), depth=7).verdict == "incomplete"
    inferred = prove(Plane(), properties=["below_five"], infer=True)
    assert inferred.verdict == "holds"


def test_a_saved_proof_says_what_it_is_confined_to(tmp_path: Any) -> None:
    pytest.importorskip("z3")
    file = tmp_path / "proof.json"
    prove(Plane(), within=["near", "x_below_four"], properties=["below_five"]).save(file)
    again = prove(Plane(), proof=file)
    assert (again.verdict, again.model.program.within == whole_of(again.model).program.within) == ("holds", False)
    assert len(again.model.program.within) == 2
    assert prove(Plane(), proof=file, within=()).verdict == "incomplete"


def test_all_engines_agree_within() -> None:
    pytest.importorskip("z3")
    engines = {"evaluator": evaluator_engine, "local": local_engine(2), "z3": z3_engine(7)}
    for properties in (None, ["x_below_four"], ["not_to_four"]):
        found = agree(Plane(), properties=properties, engines=engines)
        assert found.agreed, found.differences
        assert found.within == ("near",)


@pytest.mark.parametrize("depth", range(1, 9))
def test_an_engine_that_was_stopped_is_compared_up_to_its_last_level(depth: int) -> None:

    def shallow(model: Model, properties: Sequence[str], limits: Limits, stop: Event | None = None) -> Opinion:
        return evaluator_engine(model, properties, Limits(depth=depth), stop)

    for engines in ({"shallow": shallow, "whole": local_engine(1)}, {"whole": local_engine(1), "shallow": shallow}):
        found = agree(Mail(), engines=engines, properties=[])
        assert found.differences == ()
        lengths = {opinion.engine: opinion.depth for opinion in found.opinions}
        assert lengths["shallow"] < lengths["whole"]


def test_mutants_are_confined_too_and_none_is_made_of_the_confinement() -> None:
    result = mutate(Plane())
    assert result.within == ("near",)
    assert result.properties == ("below_five", "type_ok")
    assert [mutant.name for mutant in result.mutants] == [
        "right does not require x < 6",
        "right does not assign x",
        "up does not require y < 6",
        "up does not assign y",
    ]
    fates = {mutant.name: str(mutant.fate) for mutant in result.mutants}
    assert fates["right does not require x < 6"] == "equivalent", "6 is never reached within"
    assert fates["up does not assign y"] == "survived"


def test_a_model_is_confined_once_and_its_whole_is_as_it_was() -> None:
    model = Plane()
    inner = confined(model)
    assert confined(inner) is inner
    assert confined(inner, ()).program.within == ()
    assert whole_of(inner) is model
    assert model.program.within == ()
    assert all(len(action.guard) == 1 for action in model.program.actions)
    assert select(inner) == select(model) == ("below_five",)
    assert judge(inner, ["near"]).nodes == judge(model, ["near"]).nodes
    assert confined(Ladder(), ()).program.within == ()


class Unknown(Plane):
    within = ("neer",)


class Deep(Ladder):
    name = "ladder"

    @invariant
    def deep(self, s: StateView) -> Condition:
        deep: Condition = s.n > 0
        return deep


@pytest.mark.parametrize(
    ("model", "within", "message"),
    [
        (Plane(), ["neer"], "plane has no invariant 'neer' to be within. Did you mean 'near'?"),
        (
            Unknown(),
            None,
            "test_confined.py:{line}: class Unknown: unknown has no invariant 'neer' to be within. Did you mean",
        ),
        (Plane(), ["not_to_four"], "plane: within names 'not_to_four', which is about steps; name an invariant of its"),
        (Plane(), ["deadlock_free"], "plane: within names 'deadlock_free', which is about every model; name an invar"),
        (Plane(), ["type_ok"], "plane: within names 'type_ok', which is about every model; name an invariant of its"),
        (Plane(), "near", "within='near' is one string; give a list of names: within=['near']."),
        (Plane(), [7], "within=[7] is not a list of names; write within=['name', ...]."),
    ],
)
def test_a_mistake_in_within_is_answered_in_a_sentence(model: Model, within: Any, message: str) -> None:
    for engine in ENGINES:
        with pytest.raises(UserError) as raised:
            engine(model, within=within)
        line = inspect.getsourcelines(type(model))[1]
        assert message.replace("{line}", str(line)) in str(raised.value)


def test_a_class_that_names_a_string_is_refused_with_its_place() -> None:
    with pytest.raises(
        ModelError, match=r"test_confined\.py:\d+: class OneString: within is the string 'near'\. Write"
    ):

        class OneString(Plane):
            within = "near"  # type: ignore[assignment]


def test_an_initial_state_outside_is_refused() -> None:
    assert "near" in invariants_of(Plane())
    with pytest.raises(
        UserError, match=r"ladder: the initial state is outside deep, so no step would be taken\. Name in"
    ):
        check(Deep(), within=["deep"])
