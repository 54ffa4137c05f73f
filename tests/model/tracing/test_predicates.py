"""Step invariants as an author writes them, and what they ask of one action."""

# What mypy would find in these models is what the tests want to see refused.
# mypy: disable-error-code="type-var,arg-type,return-value,no-any-return,override,no-redef,misc"
from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings

from insync.explorer import check
from insync.model import Condition, Int, Model, ModelError, State, StateView, action, invariant, require, step_invariant
from insync.model.evaluator import Evaluator, evaluate
from insync.model.expressions.graph import Op
from insync.model.language.declarations import marked_specs
from insync.model.tracing.predicates import StepInvariantSpec, step_condition, trace_step_predicate
from insync.properties.invariants import StepInvariant
from insync.properties.registry import invariants_of
from insync.runtime.errors import DomainError
from insync_expressions import every_state
from insync_random_models import Written, random_model, written
from insync_steps import Counter, Votes


@given(written())
@settings(max_examples=60, deadline=None)
def test_the_condition_on_the_state_before_is_the_condition_on_the_step(parts: Written) -> None:
    """By the definition: an action that is enabled, is not refused and changes the state, and breaks the condition."""
    model = random_model(parts)
    kept = invariants_of(model)["kept"]
    assert isinstance(kept, StepInvariant)
    pair, evaluator = kept.pair(model), Evaluator(model.program)
    nodes = [step_condition(model.program, pair, action) for action in model.program.actions]
    for codes in every_state():
        bad = []
        for number in evaluator.enabled(codes):
            try:
                after = evaluator.step(number, codes)
            except DomainError:
                continue
            if after != codes and not evaluate(pair, (*codes, *after)):
                bad.append(number)
        assert [number for number, node in enumerate(nodes) if not evaluate(node, codes)] == bad
        assert bool(evaluate(kept.node(model), codes)) == (not bad)
        assert (kept.bad_step(model, codes) or (None,))[0] == (bad[0] if bad else None)


def test_the_cells_of_a_step_are_those_of_the_state_before_and_then_those_of_the_state_after() -> None:
    model = Votes()
    node = trace_step_predicate(model, lambda before, after: before.term[1] <= after.term[0], {})
    assert (node.op, [arg.arg for arg in node.args]) == (Op.LE, [1, 2])


def test_it_is_inherited_and_replaced_and_removed_like_an_invariant() -> None:
    class Replaced(Counter):
        @step_invariant
        def by_one(self, before: StateView, after: StateView) -> Condition:
            return after.n <= before.n + 2

        ordered = None  # type: ignore[assignment]

    assert list(marked_specs(Counter, StepInvariantSpec)) == ["by_one", "ordered"]
    assert list(marked_specs(Replaced, StepInvariantSpec)) == ["by_one"]
    assert check(Replaced(), properties=["by_one"]).violations[0].property == "type_ok"


class Base(Model):
    def declare(self, b: object) -> State:
        return State(x=Int(0, 3))

    @action
    def up(self, s: StateView) -> None:
        require(s.x < 3)
        s.x += 1


def without_after() -> type[Model]:
    class Wrong(Base):
        @step_invariant
        def grows(self, s: StateView) -> Condition:
            return s.x > 0

    return Wrong


def with_default() -> type[Model]:
    class Wrong(Base):
        @step_invariant
        def grows(self, before: StateView, after: StateView, least: int = 1) -> Condition:
            return after.x >= before.x + least

    return Wrong


def of_no_function() -> type[Model]:
    class Wrong(Base):
        grows = step_invariant(7)

    return Wrong


def of_a_number() -> type[Model]:
    class Wrong(Base):
        @step_invariant
        def grows(self, before: StateView, after: StateView, least: int) -> Condition:
            return after.x >= before.x + least

    return Wrong


def twice() -> type[Model]:
    class Wrong(Base):
        @invariant
        def grows(self, s: StateView) -> Condition:
            return s.x >= 0

        @step_invariant
        def grows(self, before: StateView, after: StateView) -> Condition:  # noqa: F811
            return after.x >= before.x

    return Wrong


def reserved() -> type[Model]:
    class Wrong(Base):
        @step_invariant
        def grid(self, before: StateView, after: StateView) -> Condition:
            return after.x >= before.x

    return Wrong


def hidden() -> type[Model]:
    class Wrong(Counter):
        def by_one(self) -> None:
            """An ordinary method."""

    return Wrong


@pytest.mark.parametrize(
    ("define", "message"),
    [
        (without_after, "the step invariant 'grows' must take self, the state before, the state after and then its "),
        (with_default, "and then its parameters, without *, ** and defaults."),
        (
            of_a_number,
            "the parameter 'least' of the step invariant 'grows' is annotated with 'int'; annotate it with a ",
        ),
        (of_no_function, "@step_invariant belongs directly above a method (def) of the model, not on 7."),
        (twice, "an invariant and a step invariant are named 'grows', the other at line "),
        (reserved, "a step invariant cannot be named 'grid': every model has that already; rename it."),
        (hidden, "'by_one' hides the step invariant at "),
    ],
)
def test_a_mistake_in_the_class_is_named_with_its_line(define: Callable[[], object], message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)) as raised:
        define()
    assert __file__ in str(raised.value)


def returned(what: Callable[[StateView, StateView], object]) -> str:
    class Wrong(Base):
        @step_invariant
        def grows(self, before: StateView, after: StateView) -> Condition:
            return what(before, after)

    with pytest.raises(ModelError) as raised:
        check(Wrong(), properties=["grows"])
    return str(raised.value)


def test_a_mistake_in_the_condition_is_named_when_it_is_asked_for() -> None:
    wanted = "it must return a condition on the state before and the one after."
    assert returned(lambda before, after: None).endswith(f": grows returns nothing; {wanted}")
    assert wanted in returned(lambda before, after: after.x)
    message = returned(lambda before, after: after.x > 0 and before.x > 0)
    assert message.endswith("Write And(a, b) for `a and b`.")
    assert "y" in returned(lambda before, after: after.y > 0)

    def assigns(before: StateView, after: StateView) -> Condition:
        after.x = 1
        return True

    assert "x cannot be assigned here; only an action (or `initial`) changes the state." in returned(assigns)


def test_a_comparison_of_an_option_by_is_is_suspicious_in_both_states() -> None:
    class Suspicious(Base):
        @step_invariant
        def grows(self, before: StateView, after: StateView) -> Condition:
            old = before.x is None
            new = after.x is None
            return after.x >= before.x or (old and new)

    warnings = check(Suspicious(), properties=[]).warnings
    lines = [int(re.findall(r":(\d+): Python decides", text)[0]) for text in warnings]
    assert [b - a for a, b in pairwise(lines)] == [1]


class Clumsy(Model):
    """The first action leaves the field, and the one behind it breaks the condition."""

    def declare(self, b: object) -> State:
        return State(n=Int(0, 2))

    @action
    def jump(self, s: StateView) -> None:
        s.n += 2

    @action
    def go_back(self, s: StateView) -> None:
        require(s.n > 0)
        s.n -= 1

    @step_invariant
    def grows(self, before: StateView, after: StateView) -> Condition:
        return after.n >= before.n


def test_a_step_that_cannot_be_taken_does_not_hide_one_that_is_bad() -> None:
    model = Clumsy()
    kept = invariants_of(model)["grows"]
    assert isinstance(kept, StepInvariant)
    assert [kept.bad_step(model, (n,)) for n in range(3)] == [None, (1, (0,)), (1, (1,))]
