"""What `why` counts over whole spaces in machine code is what the evaluator counts state by state."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from insync.explorer import ActionCoverage, Limits, PropertyCoverage, StopReason, WhyResult, why
from insync.model import BoundValues, Condition, Implies, Int, Model, State, StateView, action, require, step_invariant
from insync.model.catalogue import find_model
from insync.model.evaluator import Codes, evaluate
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.source import Spot, noting
from insync.properties.invariants import names_within
from insync.properties.registry import confined, judge
from insync.runtime.errors import UserError
from insync_confined import Plane
from insync_plain_counts import Key, near_to_failing, plain_counts, states_of
from insync_random_models import Written, random_model, written
from insync_toys import Clock, Commit, DieHard, Ledger, TokenRing
from insync_worksite import Worksite

SMALL = [
    Clock(),
    TokenRing(two_tokens=1),
    DieHard(),
    Ledger(),
    Commit(),
    find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1),
    confined(find_model("kip101")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1), ["strong_isr"]),
]


def counted(result: WhyResult) -> Counter[Key]:
    found: Counter[Key] = Counter()
    for one in result.actions:
        found[one.name, "states"] = one.states
        found[one.name, "steps"] = one.steps
        found[one.name, "refused"] = one.refused
        for guard in one.guards:
            found[one.name, "false", guard.spot, guard.place] = guard.false
            found[one.name, "alone", guard.spot, guard.place] = guard.alone
        for branch in one.branches:
            found[one.name, True, branch.spot] = branch.true
            found[one.name, False, branch.spot] = branch.false
        for assignment in one.assignments:
            found[one.name, "assigned", assignment.spot] = assignment.steps
        for field, steps in one.changed.items():
            found[one.name, "changed", field] = steps
    return +found


@pytest.mark.slow_for("kip320", "kip101")
@pytest.mark.parametrize("model", SMALL, ids=lambda model: str(model.name))
def test_everything_is_counted_as_the_evaluator_counts_it(model: Model) -> None:
    result = why(model)
    states = states_of(model)
    assert result.states == len(states)
    assert counted(result) == plain_counts(model)
    for found, invariant, node in zip(
        result.properties, (judged := judge(model)).invariants, judged.nodes, strict=True
    ):
        assert found.name == invariant.name
        assert found.fails == sum(not evaluate(node, codes) for codes in states)
        assert found.near == sum(near_to_failing(node, codes) for codes in states)


@pytest.mark.slow_for("kip320", "kip101")
@pytest.mark.parametrize("model", SMALL, ids=lambda model: str(model.name))
def test_premises_and_comparisons_are_counted_as_the_evaluator_counts_them(model: Model) -> None:
    fresh = confined(type(model)(**model.identity), names_within(model))
    states = states_of(fresh)
    for found in why(model).properties:
        with noting() as notes:
            (node,) = judge(fresh, [found.name]).nodes
        true: dict[Spot, set[Codes]] = {}
        for premise in notes.premises:
            given = premise.condition
            holds = [codes for codes in states if (given if isinstance(given, bool) else evaluate(given, codes))]
            true.setdefault(premise.spot, set()).update(holds)
        assert {one.spot: one.true for one in found.premises} == {spot: len(codes) for spot, codes in true.items()}
        parts = {id(part): part for part in comparisons_in(node)}.values()
        settled = [part for part in parts if len({bool(evaluate(part, codes)) for codes in states}) == 1]
        assert (found.comparisons, len(found.settled)) == (len(parts), len(settled))


def comparisons_in(node: Node) -> Iterator[Node]:
    if node.op in (Op.AND, Op.OR, Op.NOT):
        for arg in node.args:
            yield from comparisons_in(arg)
    elif node.op is not Op.CONST:
        yield node


@settings(max_examples=12)
@given(parts=written())
def test_random_models_are_counted_as_the_evaluator_counts_them(parts: Written) -> None:
    model = random_model(parts)
    assert counted(why(model, properties=[])) == plain_counts(model)


def action_of(result: WhyResult, name: str) -> ActionCoverage:
    return next(action for action in result.actions if action.name == name)


def property_of(result: WhyResult, name: str) -> PropertyCoverage:
    return next(found for found in result.properties if found.name == name)


WORKSITE = why(Worksite)
"""Seven states: each depth from 0 to 3, and each from 1 to 3 at rest."""


def test_an_action_says_how_often_each_of_its_guards_decided() -> None:
    dig = action_of(WORKSITE, "dig")
    assert (WORKSITE.states, WORKSITE.depth, WORKSITE.stopped_by) == (7, 5, None)
    assert (dig.bindings, dig.chances, dig.states, dig.steps, dig.refused) == (1, 7, 5, 5, 0)
    assert [(guard.text, guard.false, guard.alone, guard.ruled_out) for guard in dig.guards] == [
        ("s.depth < self.b.depth", 2, 2, 0),
        ("Not(s.warned)", 0, 0, 0),
        ("self.all(Digger)[0] == digger", 0, 0, 1),
    ]
    assert [guard.text for guard in dig.never_false] == ["Not(s.warned)"]
    rest = action_of(WORKSITE, "rest")
    assert [(guard.text, guard.false, guard.alone) for guard in rest.guards] == [
        ("And(s.depth > 0, s.fallen.count() < 2)", 1, 1),
        ("s.depth >= 0", 0, 0),
    ]


def test_states_outside_what_the_model_is_within_are_not_counted() -> None:
    found = why(Plane(), properties=["x_below_four", "below_five"])
    assert (found.states, [one.states for one in found.actions]) == (10, [10, 10])
    assert [(one.name, one.fails) for one in found.properties] == [("x_below_four", 0), ("below_five", 0)]


@pytest.mark.slow
def test_a_guard_that_follows_from_another_is_never_alone() -> None:
    become = action_of(why("kip320", bounds={"replicas": 2, "log_size": 1, "max_records": 1}), "become_follower")
    assert [guard.text for guard in become.never_alone] == ["s.requests[epoch].leader == leader"]


def test_a_branch_counts_the_steps_on_both_sides_and_an_assignment_those_in_which_it_happens() -> None:
    dig = action_of(WORKSITE, "dig")
    assert [(branch.word, branch.text, branch.true, branch.false) for branch in dig.branches] == [
        ("If", "s.resting", 2, 3),
        ("when", "s.depth == 0", 0, 5),
    ]
    assert [branch.text for branch in dig.one_way] == ["s.depth == 0"]
    assert [(one.spot.source, one.steps) for one in dig.assignments] == [
        ("s.depth", 5),
        ("s.warned", 0),
        ("s.resting", 5),
    ]


def test_fields_that_no_step_changes_are_named_unless_some_actions_are_left_out() -> None:
    assert WORKSITE.unchanged == ("fallen", "warned")
    assert action_of(WORKSITE, "dig").changed == {"depth": 3, "resting": 2, "warned": 0}
    assert why(Worksite, actions=["rest"]).unchanged == ()
    assert [action.name for action in why(Worksite, actions=["rest"]).actions] == ["rest"]


def test_a_property_says_whether_it_was_put_to_the_test() -> None:
    fallen, warned = property_of(WORKSITE, "fallen_are_deep"), property_of(WORKSITE, "warned_in_time")
    assert [(one.word, one.text) for one in fallen.never_true] == [
        ("for_all", "for_all(s.fallen, lambda digger: s.depth > 0)")
    ]
    assert [(one.word, one.text, one.true) for one in warned.premises] == [("Implies", "s.warned", 0)]
    assert (warned.fails, warned.near, warned.comparisons) == (0, 6, 2)
    assert warned.settled == ("never warned == true",)
    deep = property_of(why(Worksite, bounds={"depth": 6}), "not_too_deep")
    assert (deep.fails, deep.near, deep.settled) == (2, 11, ())


def test_a_search_that_is_stopped_counts_the_levels_that_are_complete() -> None:
    found = why(Worksite, limits=Limits(depth=2))
    assert (found.stopped_by, found.states, found.depth) == (StopReason.DEPTH, 2, 2)
    assert action_of(found, "dig").chances == 2
    nothing = why(Worksite, limits=Limits(seconds=0))
    assert (nothing.stopped_by, nothing.states, nothing.actions) == (StopReason.TIME, 0, ())


def test_an_unknown_action_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"worksite has no action 'digg'\. Did you mean 'dig'\?"):
        why(Worksite, actions=["digg"])


SOURCE = """
from insync.model import *
import insync.model as words
from insync.model import require as need

class Odd(Model):
    def declare(self, b):
        return State(n=Int(0, 9), on=Bool)

    @action
    def go(self, s):
        "\\u00e9"; need(s.n < 9, Not(s.on)); need(
            *[s.n != 7],
        )
        with when(s.n == 1), words.when(s.n > 5): s.on = True
        with words.when(
            s.n == 3
        ):
            s.on = True
        s.n = s.n + words.If(
            s.n > 4, 1, 2
        )

    @invariant
    def never_nine(self, s):
        return words.Implies(
            s.n == 9, s.on
        )
"""


def test_conditions_are_quoted_however_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "odd.py"
    file.write_text(SOURCE, encoding="utf-8")
    result = why(f"{file}:Odd")
    (go,) = result.actions
    assert [guard.text for guard in go.guards] == ["s.n < 9", "Not(s.on)", "need(*[s.n != 7])"]
    assert [guard.spot.line for guard in go.guards] == [12, 12, 12]
    line = ["with when(s.n == 1), words.when(s.n > 5): s.on = True"]
    if sys.version_info >= (3, 13):  # which tells the places of the two apart
        line = ["s.n == 1", "s.n > 5"]
    assert [branch.text for branch in go.branches] == [*line, "s.n == 3", "s.n > 4"]
    assert [premise.text for premise in result.properties[0].premises] == ["s.n == 9"]
    assert result.properties[0].premises[0].word == "Implies"


class Climbing(Model):
    """Climbs to three, and may wait anywhere, which changes nothing."""

    headline = ("by_one", "from_the_top", "to_two")

    def declare(self, b: BoundValues) -> State:
        return State(x=Int(0, 3))

    @action
    def up(self, s: StateView) -> None:
        require(s.x < 3)
        s.x += 1

    @action
    def wait(self, s: StateView) -> None:
        s.x = s.x + 0

    @step_invariant
    def by_one(self, before: StateView, after: StateView) -> Condition:
        return Implies(before.x < 2, after.x == before.x + 1)

    @step_invariant
    def from_the_top(self, before: StateView, after: StateView) -> Condition:
        return Implies(before.x == 3, after.x < 3)

    @step_invariant
    def to_two(self, before: StateView, after: StateView) -> Condition:
        return Implies(after.x == 2, before.x == 1)


def test_a_premise_of_a_property_of_steps_is_true_where_a_step_begins_of_which_it_is() -> None:
    result = why(Climbing())
    assert result.states == 4
    assert [[(one.text, one.true) for one in found.premises] for found in result.properties] == [
        [("before.x < 2", 2)],
        [("before.x == 3", 0)],  # only waits, which change nothing
        [("after.x == 2", 1)],
    ]


def test_the_summary_counts_each_guard_that_decides_nothing_and_each_branch_that_goes_one_way() -> None:
    found = why(TokenRing)
    one, *others = found.actions
    guard, bare = one.guards[0], [replace(other, guards=(), branches=()) for other in others]
    idle, implied = replace(guard, false=0, decided=False), replace(guard, false=1, alone=0)
    assert one.chances > 1
    for guards, said in (
        ((), "0 guards"),
        ((idle,), "1 guard"),
        ((implied,), "1 guard"),
        ((idle, implied), "2 guards"),
    ):
        summary = replace(found, actions=(replace(one, guards=guards, branches=()), *bare)).summary()
        assert summary.endswith(f" states, {said} never decisive, 0 one-way branches")
