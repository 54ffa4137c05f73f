"""The search of representatives against the search of all states: counts, verdicts, lengths of traces."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from insync.explorer import Limits, check
from insync.explorer.results import CheckResult
from insync.model import (
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Implies,
    Model,
    Not,
    Set,
    State,
    StateView,
    action,
    initial,
    invariant,
    require,
    step_invariant,
)
from insync.model.evaluator import Evaluator
from insync.runtime.errors import ModelError, UserError
from insync_symmetric import Gossip, Links, Messages, Node, Partial, TwoPhase

MODELS: list[Model] = [
    TwoPhase(managers=1),
    TwoPhase(managers=3),
    TwoPhase(managers=5),
    Gossip(nodes=2),
    Gossip(nodes=3),
    Links(nodes=2, others=2),
    Partial(nodes=4),
    Messages(managers=4),
]


def both(model: Model, **options: object) -> tuple[CheckResult, CheckResult]:
    found = [check(model, symmetry=used, threads=2, **options) for used in (True, False)]  # type: ignore[arg-type]
    return found[0], found[1]


def named(model: Model) -> str:
    return f"{model.name}-{'-'.join(map(str, model.identity.values()))}"


@pytest.mark.slow_for("two_phase-5", "gossip-3")
@pytest.mark.parametrize("model", MODELS, ids=named)
def test_counts_are_those_of_all_states(model: Model) -> None:
    found, plain = both(model, keep_going=True)
    assert (found.levels, found.transitions, found.actions) == (plain.levels, plain.transitions, plain.actions)
    assert found.properties == plain.properties
    assert [(v.property, v.trace_length) for v in found.violations] == [
        (v.property, v.trace_length) for v in plain.violations
    ]
    assert plain.representatives is None
    assert (found.representatives is None) == (model.program.symmetry is None)


def test_two_phase_commit_has_the_states_that_tlc_counts() -> None:
    found = check(TwoPhase(managers=3))
    assert (found.distinct_states, found.depth, found.representatives) == (288, 11, 80)
    for model in (TwoPhase(managers=6), Messages(managers=6)):
        found = check(model)
        assert (found.distinct_states, found.representatives) == (50816, 553)


def test_ten_managers() -> None:
    found = check(TwoPhase(managers=10))
    assert found.verdict == "holds"
    assert (found.representatives, found.distinct_states, found.depth) == (3300, 61_515_776, 32)


@pytest.mark.parametrize(
    ("model", "broken"),
    [(TwoPhase(), "nobody_commits"), (TwoPhase(managers=5), "nobody_commits"), (Gossip(), "never_followed")],
    ids=["three managers", "five managers", "gossip"],
)
def test_a_trace_takes_real_steps(model: Model, broken: str) -> None:
    found, plain = both(model, properties=[broken])
    (violation,), (other,) = found.violations, plain.violations
    assert violation.trace_length == other.trace_length
    states = [model.encode(step.state) for step in violation.trace.steps]
    evaluator = Evaluator(model.program)
    assert states[0] in model.program.initials
    for (before, after), step in zip(pairwise(states), violation.trace.steps[1:], strict=True):
        number = model.program.action_number(step.action or "", dict(step.parameters))
        assert number is not None
        assert evaluator.step(number, before) == after


def test_a_trace_does_not_depend_on_threads() -> None:
    first, *others = [
        check(Gossip(), properties=["never_followed"], threads=threads, partitions=parts).violations[0].trace
        for threads, parts in ((1, 1), (2, 2), (2, 5))
    ]
    assert others == [first, first]


@pytest.mark.parametrize("model", [Gossip(nodes=3), Gossip(nodes=2)], ids=named)
def test_a_refused_step(model: Model) -> None:
    """`follow` may count beyond its field: the state that it is refused in is traced as any other."""
    found, plain = both(model, properties=["type_ok"])
    assert [(v.property, v.trace_length) for v in found.violations] == [
        (v.property, v.trace_length) for v in plain.violations
    ]
    assert (found.verdict, found.levels) == (plain.verdict, plain.levels)


def test_a_limit_of_states_counts_all() -> None:
    found, plain = both(TwoPhase(managers=6), limits=Limits(states=1000))
    assert (found.levels, found.stopped_by, found.frontier) == (plain.levels, plain.stopped_by, plain.frontier)
    assert found.stopped_by == "states"


class Tokens(Model):
    """Begins with a token at any node, or at the first alone; a token never goes back to whom it was with."""

    bounds = Bounds(nodes=Bound(4, 1, 6, "nodes"), first=Bound(0, 0, 1, "whether the first begins"))

    def declare(self, b: BoundValues) -> State:
        return State(holder=Node, seen=Set(Node))

    @initial
    def anywhere(self, s: StateView, node: Node) -> None:
        require(not self.b.first or node == 0 or node == 1)
        s.holder = node

    @action
    def give(self, s: StateView, node: Node, other: Node) -> None:
        require(s.holder == node, Not(s.seen.contains(other)), node != other)
        s.holder = other
        s.seen |= {node}

    @invariant
    def few_seen(self, s: StateView) -> Condition:
        few: Condition = s.seen.count() < 2
        return few

    @step_invariant
    def moves(self, before: StateView, after: StateView, node: Node) -> Condition:
        return Implies(before.holder == node, Not(after.holder == node))

    @step_invariant
    def stays_in_sight(self, before: StateView, after: StateView) -> Condition:
        """Fails."""
        few: Condition = after.seen.count() < 2
        return few


def test_initial_states_that_are_permutations_of_one_another() -> None:
    found, plain = both(Tokens(), properties=["moves"])
    assert (found.levels, found.actions, found.verdict) == (plain.levels, plain.actions, plain.verdict)
    assert found.levels[0] == 4
    assert found.representatives == found.depth == 4


def test_initial_states_that_are_not() -> None:
    with pytest.raises(ModelError, match="tokens begins with a member singled out: holder is another, in a state"):
        check(Tokens(first=1))


def test_the_search_counts_them_where_they_are_too_many_to_compare(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path))  # what is shown here must not be kept for others
    monkeypatch.setattr("insync.explorer.symmetry._MOST_INITIALS", 0)
    with pytest.raises(ModelError, match="its initial states single a member out"):
        check(Tokens(first=1))


def test_step_invariants() -> None:
    found, plain = both(Tokens(), properties=["moves", "stays_in_sight"])
    assert found.properties == plain.properties
    assert [(v.property, v.trace_length) for v in found.violations] == [("stays_in_sight", 3)]
    assert [(v.property, v.trace_length) for v in plain.violations] == [("stays_in_sight", 3)]


@pytest.mark.slow_for("two_phase-4")
@pytest.mark.parametrize("model", [Gossip(nodes=3), Tokens(), TwoPhase(managers=4)], ids=named)
def test_states_without_a_step_and_states_outside_are_all_counted(model: Model) -> None:
    within = {"gossip": ["never_followed"], "tokens": ["few_seen"], "two_phase": ["nobody_commits"]}[model.name]
    found, plain = both(model, within=within, properties=[])
    assert (found.levels, found.actions) == (plain.levels, plain.actions)
    assert (found.deadlocks, found.outside) == (plain.deadlocks, plain.outside)
    assert found.outside
    assert both(model, properties=[])[0].deadlocks == both(model, properties=[])[1].deadlocks


def test_a_search_within_what_singles_a_member_out() -> None:
    with pytest.raises(UserError, match="first_first, which the search is within, is not the same with n1 and n2 swap"):
        check(Partial(), within=["first_first"])
