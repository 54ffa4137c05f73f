"""Models with several initial states: every engine on one machine, and the counts that TLC has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from insync.explorer import Limits, agree, check, simulate
from insync.explorer.liveness import liveness
from insync.explorer.replay import ReplayError, replay
from insync.explorer.results import Verdict
from insync.explorer.runs.state_graph import dot_text, graph
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.explorer.stepping.difference import first_difference
from insync.explorer.traces.trace_file import read_trace, write_trace
from insync.model import (
    ANY,
    And,
    BoundValues,
    Condition,
    Int,
    Model,
    Not,
    State,
    StateView,
    action,
    for_all,
    initial,
    invariant,
)
from insync.properties import eventually, leads_to, sometimes
from insync_initials import Cabinet, Colour, Drawer, Probe, RingNode, SelfStabilizing

TLC = [
    # TLC with one worker; what it generates counts the initial states, and a step once for each disjunct that allows it
    pytest.param(Probe(), 302, 9, None, id="ewd840"),
    pytest.param(Probe(nodes=4), 1566, 12, None, id="ewd840-4"),
    pytest.param(SelfStabilizing(), 46_656, 1, 248_832, id="ewd426"),
]


@pytest.mark.parametrize(("model", "distinct", "depth", "generated"), TLC)
def test_the_counts_are_those_of_tlc(model: Model, distinct: int, depth: int, generated: int | None) -> None:
    result = check(model)
    assert result.verdict is Verdict.HOLDS
    assert (result.distinct_states, result.depth) == (distinct, depth)
    assert result.levels[0] == len(model.program.initials)
    assert generated in (None, result.transitions + result.levels[0])


@pytest.mark.parametrize(("threads", "partitions"), [(1, 1), (2, 2), (3, 5)])
def test_machine_code_and_evaluator_have_the_same_result(threads: int, partitions: int) -> None:
    machine = check(Cabinet(), threads=threads, partitions=partitions, keep_going=True)
    evaluator = check_by_evaluator(Cabinet(), keep_going=True)
    assert machine.levels == evaluator.levels == (45, 59, 78, 97, 75, 49, 26, 3)
    assert machine.actions == evaluator.actions
    assert machine.violations == evaluator.violations


def test_a_trace_begins_in_the_least_initial_state_that_leads_on() -> None:
    (violation,) = check(Cabinet()).violations
    first, *rest = violation.trace.steps
    assert first.label == "start: two are low"
    assert first.state == {"inside": {"d1": 2, "d2": 0, "d3": 3}, "last": "d3", "note": None}
    assert [step.action for step in rest] == ["put"] * 4


def test_all_engines_agree() -> None:
    result = agree(Cabinet())
    assert result.agreed
    assert result.compared == 4
    assert first_difference(Cabinet(), properties=["nearly_full"], depth=3) is None


def test_a_limit_may_end_the_search_at_the_initial_states() -> None:
    result = check(SelfStabilizing(), limits=Limits(depth=1))
    assert (result.levels, result.frontier, result.verdict) == ((46_656,), 46_656, Verdict.INCOMPLETE)
    result = check(SelfStabilizing(), limits=Limits(states=100))
    assert result.levels == (46_656,)


def test_a_walk_begins_in_a_state_that_its_seed_draws() -> None:
    # The least number that walks lose depends on where they begin, and one thread walks as three do.
    results = [
        simulate(Cabinet(), walks=500, depth=4, seed=seed, threads=threads) for seed in (1, 2) for threads in (1, 3)
    ]
    traces = [result.violation.trace for result in results if result.violation is not None]
    assert traces[0] == traces[1]
    assert traces[2] == traces[3]
    assert len({str(trace.steps[0].state) for trace in traces}) == 2
    for trace in traces:
        assert replay(trace, model=Cabinet()) == trace


def test_walks_begin_in_all_of_them() -> None:
    model = SelfStabilizing(nodes=2, most=3)
    kept = simulate(model, properties=[], walks=900, depth=1)
    # From 3 of the 9 states node 0 makes a token, from the others node 1 passes it on.
    assert sum(kept.actions.values()) == 900
    assert 200 < kept.actions["create_token"] < 400


def test_replay_begins_where_the_trace_does(tmp_path: Path) -> None:
    (violation,) = check(Cabinet()).violations
    file = tmp_path / "trace.json"
    write_trace(file, violation.trace)
    assert replay(read_trace(file), model=Cabinet()) == violation.trace
    first = violation.trace.steps[0]
    changed = replace(first, state={**first.state, "last": None})
    with pytest.raises(ReplayError, match=r"step 0 \(an initial state\): the state in the trace is none of the 45 in"):
        replay(replace(violation.trace, steps=(changed, *violation.trace.steps[1:])), model=Cabinet())


def test_the_graph_has_several_roots() -> None:
    found = graph(Cabinet())
    assert found.starts[:3] == (0, 45, 104)
    assert found.initial == 45
    assert [found.level_of(state) for state in (0, 44, 45)] == [1, 1, 2]
    assert dot_text(found).count("penwidth=2") == 45


@leads_to(Probe, weak=("initiate_probe", "pass_token"))
def termination_is_detected(model: Probe, s: StateView) -> tuple[Condition, Condition]:
    """If all are at rest, it is noticed."""
    detected = And(s.token == 0, s.token_colour == Colour.WHITE, s.colour[0] == Colour.WHITE, Not(s.active[0]))
    return for_all(model.all(RingNode), lambda n: Not(s.active[n])), detected


@eventually(Cabinet, weak=("put",))
def full_some_time(model: Cabinet, s: StateView) -> Condition:
    """All drawers are full."""
    return for_all(model.all(Drawer), lambda d: s.inside[d] == 3)


@eventually(Cabinet, weak=("put",))
def looked_at(model: Cabinet, s: StateView) -> Condition:
    """Somebody looks at the note."""
    return And(s.last.is_none())


@sometimes(Cabinet)
def begins_full(model: Cabinet, s: StateView) -> Condition:
    """The first drawer is full, and the note is seen with number 2."""
    return And(s.inside[0] == 3, s.note.is_some(), s.note.value.seen, s.note.value.number == 2)


def test_properties_of_runs_are_of_those_from_every_initial_state() -> None:
    assert [found.verdict for found in liveness(Probe()).properties] == [Verdict.HOLDS]  # as TLC finds
    found = {one.name: one for one in liveness(Cabinet()).properties}
    assert found["full_some_time"].verdict is Verdict.HOLDS
    assert found["looked_at"].verdict is Verdict.VIOLATED
    assert found["begins_full"].verdict is Verdict.HOLDS
    broken, witness = found["looked_at"].trace, found["begins_full"].trace
    assert broken is not None
    assert witness is not None
    assert (witness.length, witness.steps[0].label) == (1, "start: d1 is full")
    for trace in (broken, witness):
        assert replay(trace, model=Cabinet()) == trace


def test_an_initial_state_may_be_stuck_or_wrong() -> None:
    class Stuck(Cabinet):
        put = None  # type: ignore[assignment]

        @invariant
        def empty(self, s: StateView) -> Condition:
            return And(s.inside[0] == 0)

    for engine in (check, check_by_evaluator):
        stuck = engine(Stuck(), properties=["deadlock_free", "empty"])
        assert {one.property: one.trace_length for one in stuck.violations} == {"deadlock_free": 1, "empty": 1}
        least = next(one.trace.steps[0].state for one in stuck.violations if one.property == "empty")
        assert least == {"inside": {"d1": 3, "d2": 0, "d3": 0}, "last": "d1", "note": None}
    walked = simulate(Stuck(), properties=["empty"], walks=10)
    assert (walked.walks, walked.failed_walk, walked.failed_walk_length) == (1, 0, 1)
    assert walked.violation is not None
    assert walked.violation.trace.steps[0].state == least


def test_walks_look_at_very_many_initial_states_in_machine_code() -> None:
    class Uneven(SelfStabilizing):
        @invariant
        def even(self, s: StateView) -> Condition:
            return Not(And(s.c[0] == 5, s.c[1] == 4, s.c[5] == 3))

    found = simulate(Uneven(), properties=["even"], walks=10).violation
    assert found is not None
    assert found.trace.steps[0].state == {"c": {"n0": 5, "n1": 4, "n2": 0, "n3": 0, "n4": 0, "n5": 3}}


class Crowd(Model):
    """It begins in any of 400 states, which are too many to be looked at one by one."""

    def declare(self, b: BoundValues) -> State:
        return State(a=Int(0, 19), b=Int(0, 19))

    @initial
    def anywhere(self, s: StateView) -> None:
        s.a = s.b = ANY

    @action
    def stay(self, s: StateView) -> None:
        """Stay there."""

    @invariant
    def not_both_are_high(self, s: StateView) -> Condition:
        return Not(And(s.a > 14, s.b > 14))

    @invariant
    def not_both_are_one(self, s: StateView) -> Condition:
        return Not(And(s.a == 1, s.b == 1))


@pytest.mark.parametrize(
    "names", [["not_both_are_high", "not_both_are_one"], ["not_both_are_one", "not_both_are_high"]]
)
def test_of_many_states_that_are_wrong_at_first_walks_show_the_least(names: list[str]) -> None:
    violation = simulate(Crowd(), properties=names, walks=1, depth=1, threads=1).violation
    assert violation is not None
    assert (violation.property, violation.trace.steps[0].state) == ("not_both_are_one", {"a": 1, "b": 1})
