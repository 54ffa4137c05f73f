"""Step invariants on the engines of this machine: the same verdicts and traces, by hand and at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis.stateful import run_state_machine_as_test

from insync.explorer import CheckResult, Limits, check, simulate
from insync.explorer.hypothesis import state_machine
from insync.explorer.mutate import mutate
from insync.explorer.replay import ReplayError, replay
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.explorer.testing import PropertyViolated
from insync.explorer.traces.itf import itf_text
from insync.model import (
    Array,
    Condition,
    Index,
    Int,
    Model,
    State,
    StateView,
    UserError,
    action,
    require,
    step_invariant,
)
from insync_random_models import Written, random_model, written
from insync_steps import Careful, Counter, Sealed, Votes

ENGINES: list[Callable[..., CheckResult]] = [check, check_by_evaluator]
FORGETS = ["start", "v1 votes", "v1 votes", "v1 forgets"]


def verdicts(result: CheckResult) -> dict[str, str]:
    return {found.name: str(found.verdict) for found in result.properties}


def timeless(result: CheckResult) -> CheckResult:
    return replace(result, engine="", seconds={}, peak_memory_bytes=0)


@pytest.mark.parametrize("engine", ENGINES)
def test_it_holds_when_every_step_was_looked_at(engine: Callable[..., CheckResult]) -> None:
    whole = engine(Careful(), properties=["terms_grow", "one_at_a_time", "moves_on"])
    assert set(verdicts(whole).values()) == {"holds"}
    assert (whole.verdict, whole.levels, whole.warnings) == ("holds", (1, 2, 3, 2, 1), ())
    some = engine(Careful(), limits=Limits(depth=4))
    assert (some.verdict, verdicts(some)) == ("incomplete", {"terms_grow": "incomplete"})


@pytest.mark.parametrize("engine", ENGINES)
def test_a_violation_ends_with_the_step_that_breaks_it(engine: Callable[..., CheckResult]) -> None:
    """Of the third level (2, 0) is the least state; the step from there leads to a state that was seen before."""
    ended = engine(Votes(), properties=["terms_grow", "one_at_a_time"])
    (violation,) = ended.violations
    assert [step.label for step in violation.trace.steps] == FORGETS
    assert (violation.trace_length, ended.levels, ended.frontier) == (4, (1, 2, 3), 3)
    assert verdicts(ended) == {"terms_grow": "violated", "one_at_a_time": "incomplete"}
    assert violation.trace.reason == (
        "terms_grow fails for voter = v1: before.term[v1] <= after.term[v1] does not hold, with before.term[v1] = 2, "
        "after.term[v1] = 0."
    )
    assert replay(violation.trace, model=Votes()) == violation.trace


@pytest.mark.parametrize("engine", ENGINES)
def test_several_are_told_apart_and_the_search_goes_on_if_it_is_asked_to(engine: Callable[..., CheckResult]) -> None:
    whole = engine(Votes(), properties=["one_at_a_time", "terms_grow", "low"], keep_going=True)
    assert verdicts(whole) == {"one_at_a_time": "holds", "terms_grow": "violated", "low": "violated"}
    assert [(found.property, found.trace_length) for found in whole.violations] == [("low", 3), ("terms_grow", 4)]
    assert whole.distinct_states == 9


@pytest.mark.parametrize("engine", ENGINES)
def test_a_step_that_changes_nothing_or_is_refused_breaks_nothing(engine: Callable[..., CheckResult]) -> None:
    """`rest` changes nothing; at 5 `leap` is refused, which is a violation of type_ok alone."""
    whole = engine(Counter(), keep_going=True)
    assert verdicts(whole) == {"by_one": "violated", "ordered": "holds", "type_ok": "violated"}
    by_one = whole.violations[0].trace
    assert [step.label for step in by_one.steps] == ["start", "up", "up", "up", "leap"]
    assert by_one.reason == "by_one fails: after.n == (before.n + 1) does not hold, with before.n = 3, after.n = 5."


@given(written())
@settings(max_examples=25, deadline=None)
def test_machine_code_finds_what_the_evaluator_finds(parts: Written) -> None:
    model = random_model(parts)
    for keep_going in (False, True):
        by_evaluator = check_by_evaluator(model, keep_going=keep_going)
        assert timeless(check(model, keep_going=keep_going)) == timeless(by_evaluator)
        for violation in by_evaluator.violations:
            assert replay(violation.trace, model=model) == violation.trace


def test_a_trace_whose_last_step_is_fine_is_not_confirmed() -> None:
    (violation,) = check(Votes()).violations
    shorter = replace(violation.trace, steps=violation.trace.steps[:-1])
    with pytest.raises(ReplayError, match="step 2: the last step of the trace keeps terms_grow, which it must break"):
        replay(shorter, model=Votes())
    with pytest.raises(ReplayError, match="step 0: the last step of the trace keeps"):
        replay(replace(violation.trace, steps=violation.trace.steps[:1]), model=Votes())


def test_both_states_are_in_what_is_exported() -> None:
    (violation,) = check(Votes()).violations
    last, before = violation.trace.steps[-1], violation.trace.steps[-2]
    assert (before.state, last.state) == ({"term": {"v1": 2, "v2": 0}}, {"term": {"v1": 0, "v2": 0}})
    assert itf_text(violation.trace, Votes().state).count('"#meta": {"index"') == 4


def test_random_walks_find_it_and_are_shortened() -> None:
    result = simulate(Votes(voters=1, top=4), walks=200, depth=12)
    assert result.violation is not None
    assert result.violation.trace_length == 4
    assert [step.label for step in result.violation.trace.steps] == FORGETS
    assert result.failed_walk_length == 4
    assert simulate(Careful(), walks=50, depth=12).violation is None


@pytest.mark.slow
def test_a_hypothesis_state_machine_fails_at_the_step() -> None:
    quick = settings(max_examples=60, stateful_step_count=8, deadline=None, database=None, derandomize=True)
    with pytest.raises(PropertyViolated, match=r"terms_grow fails for voter = v1") as raised:
        run_state_machine_as_test(state_machine(Votes(voters=1)), settings=quick)
    assert raised.value.trace is not None
    assert [step.label for step in raised.value.trace.steps] == FORGETS
    run_state_machine_as_test(state_machine(Careful(voters=1)), settings=quick)


def test_a_mutant_is_killed_by_a_step_invariant() -> None:
    """All six states are reached with and without the guard: no invariant of states could notice."""
    result = mutate(Sealed(), actions=["up"])
    assert result.properties == ("seal_is_kept", "type_ok")
    killed = {mutant.name: dict(mutant.killed_by) for mutant in result.mutants if mutant.killed_by}
    assert killed["up does not require not sealed == true"] == {"seal_is_kept": 3}


class Member(Index, symmetric=True):
    """Somebody like everybody."""

    size = 3


class Members(Model):
    """Members whose terms grow until one forgets."""

    def declare(self, b: object) -> State:
        return State(term=Array(Member, Int(0, 3)))

    @action
    def vote(self, s: StateView, member: Member) -> None:
        require(s.term[member] < 3)
        s.term[member] += 1

    @action
    def forget(self, s: StateView, member: Member) -> None:
        require(s.term[member] == 2)
        s.term[member] = 0

    @step_invariant
    def grow(self, before: StateView, after: StateView, member: Member) -> Condition:
        grow: Condition = after.term[member] >= before.term[member]
        return grow

    @step_invariant
    def last_grows(self, before: StateView, after: StateView) -> Condition:
        last = self.all(Member)[2]
        grows: Condition = after.term[last] >= before.term[last]
        return grows


def test_a_bad_step_is_found_among_representatives() -> None:
    found = check(Members(), properties=["grow"], keep_going=True)
    assert (found.distinct_states, found.representatives) == (64, 20)
    assert [step.action for step in found.violations[0].trace.steps] == [None, "vote", "vote", "forget"]
    every = check(Members(), properties=["grow", "last_grows"], keep_going=True, symmetry=False)
    assert {violation.property: violation.trace_length for violation in every.violations} == {
        "grow": 4,
        "last_grows": 4,
    }


def test_a_step_invariant_that_speaks_of_one_member_is_refused_where_all_are_alike() -> None:
    with pytest.raises(UserError, match="the property last_grows is not the same with "):
        check(Members(), properties=["last_grows"])
