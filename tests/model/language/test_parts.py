"""Parts: objects that contribute actions, initial methods and properties to the model that holds them."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from insync.explorer import check, liveness, mutate, prove, why
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.model import (
    ANY,
    Bound,
    Bounds,
    BoundValues,
    Index,
    Int,
    Model,
    ModelError,
    State,
    action,
    bound,
    eventually,
    initial,
    invariant,
    part,
    require,
    sometimes,
    step_invariant,
)
from insync.model.language.declarations import action_specs
from insync.properties.registry import invariants_of, run_properties_of


class Node(Index):
    size = bound("nodes")


class Timer:
    """Counts, and expires when it has reached its limit."""

    def __init__(self, model: Model) -> None:
        self.model, self.limit = model, model.b.limit

    @action(label="{node} sees a tick")
    def tick(self, s: Any, node: Node) -> None:
        require(s.clock < self.limit)
        s.clock += 1

    @invariant
    def within_the_limit(self, s: Any) -> Any:
        """The clock never passes the limit."""
        return s.clock <= self.limit

    @step_invariant
    def never_back(self, before: Any, after: Any) -> Any:
        """The clock never goes back."""
        return before.clock <= after.clock

    @eventually(weak=("tick",))
    def expires(self, s: Any) -> Any:
        """The clock reaches its limit."""
        return s.clock == self.limit


class Resets:
    def __init__(self, model: Model) -> None:
        self.model = model

    @action
    def reset(self, s: Any) -> None:
        require(s.clock == self.model.timer.limit)  # type: ignore[attr-defined]
        s.clock = 0

    @invariant
    def begins_at_zero(self, s: Any) -> Any:
        """A reset puts the clock to zero."""
        return s.clock >= 0

    @sometimes
    def begins_again(self, s: Any) -> Any:
        """The clock is at zero after it expired."""
        return s.clock == 0


class Begins:
    def __init__(self, model: Model) -> None:
        pass

    @initial
    def anywhere(self, s: Any) -> None:
        s.clock = ANY
        require(s.clock < 2)


class Clock(Model):
    bounds = Bounds(nodes=Bound(2, 1, 3), limit=Bound(3, 1, 8), resets=Bound(0, 0, 1), beginnings=Bound(0, 0, 1))
    timer = part(Timer)
    resets: Resets | None = part(Resets, which=lambda model: Resets if model.b.resets else None)
    begins: Begins | None = part(Begins, which=lambda model: Begins if model.b.beginnings else None)

    def declare(self, b: BoundValues) -> State:
        return State(clock=Int(0, b.limit + 1))

    @action
    def stay(self, s: Any) -> None:
        require(s.clock == s.clock)


def counts(model: Model) -> tuple[int, int]:
    found = check(model)
    assert found.verdict == "holds"
    return found.distinct_states, found.depth


def test_a_part_contributes_its_actions_and_properties() -> None:
    assert counts(Clock()) == (4, 4)
    assert [action.name for action in Clock().program.actions] == ["tick", "tick", "stay"]
    assert check(Clock(limit=5)).distinct_states == 6
    assert set(invariants_of(Clock())) == {"within_the_limit", "never_back", "deadlock_free"}
    found = invariants_of(Clock())["within_the_limit"]
    assert found.sentence == "The clock never passes the limit."
    assert found.place.endswith(f"test_parts.py:{inspect.getsourcelines(Timer.within_the_limit)[1]}")


def test_what_a_model_has_not_contributes_nothing() -> None:
    without, with_resets = Clock(), Clock(resets=1)
    assert without.resets is None
    assert "reset" not in {action.name for action in without.program.actions}
    assert "reset" in {action.name for action in with_resets.program.actions}
    assert "begins_at_zero" not in invariants_of(without)
    assert "begins_at_zero" in invariants_of(with_resets)
    assert "begins_again" not in run_properties_of(without)
    assert "begins_again" in run_properties_of(with_resets)
    assert "reset" in action_specs(Clock), "commands and other actions can name it"


def test_a_part_contributes_initial_methods() -> None:
    assert len(list(Clock().program.initials)) == 1
    assert len(list(Clock(beginnings=1).program.initials)) == 2


def test_a_part_is_made_once_for_each_model() -> None:
    one, other = Clock(), Clock(limit=7)
    assert one.timer is one.timer
    assert (one.timer.limit, other.timer.limit) == (3, 7)
    assert isinstance(Clock(resets=1).resets, Resets)


def test_every_verb_takes_them() -> None:
    assert liveness(Clock(), properties=["expires"]).verdict == "holds"
    assert liveness(Clock(resets=1), properties=["begins_again"]).verdict == "holds"
    assert prove(Clock(), properties=["within_the_limit"]).verdict == "holds"
    assert [one.name for one in why(Clock(resets=1)).actions] == ["tick", "reset", "stay"]
    assert {one.action for one in mutate(Clock(), actions=["tick"], threads=1).mutants} == {"tick"}
    assert check_by_evaluator(Clock()).distinct_states == 4


def test_the_place_of_a_violation_is_in_the_part() -> None:
    class Hasty(Timer):
        @action
        def tick(self, s: Any, node: Node) -> None:
            s.clock += 1

    class HastyClock(Clock):
        timer = part(Hasty)

    found = check(HastyClock(), properties=["within_the_limit"])
    (violation,) = found.violations
    assert violation.property == "within_the_limit"
    assert violation.trace_length == 5


def test_a_subclass_replaces_a_part_and_removes_one() -> None:
    class Quick(Timer):
        @action
        def tick(self, s: Any, node: Node) -> None:
            require(s.clock == 0)
            s.clock = self.limit

    class QuickClock(Clock):
        timer = part(Quick)

    class Other:
        def __init__(self, model: Model) -> None:
            pass

        @action
        def other(self, s: Any) -> None:
            s.clock = 1

    class OtherClock(Clock):
        timer = part(Other)  # type: ignore[assignment]

    class NoClock(Clock):
        timer = None  # type: ignore[assignment]

    assert counts(QuickClock()) == (2, 2)
    assert list(action_specs(QuickClock)) == list(action_specs(Clock))
    assert list(action_specs(OtherClock)) == ["reset", "stay", "other"]
    assert list(action_specs(NoClock)) == ["reset", "stay"]
    assert check(NoClock(), properties=["type_ok"]).distinct_states == 1


def test_an_action_of_the_subclass_takes_the_place_of_that_of_a_part() -> None:
    class Careful(Clock):
        @action
        def tick(self, s: Any, node: Node) -> None:
            require(s.clock == 0)
            self.timer.tick(s, node)

    assert counts(Careful()) == (2, 2)


def test_alternatives_share_names() -> None:
    class Slow:
        def __init__(self, model: Model) -> None:
            pass

        @action(label="{node} waits")
        def tick(self, s: Any, node: Node) -> None:
            require(s.clock == 0)
            s.clock = 1

    class Either(Clock):
        timer = part(Timer, Slow, which=lambda model: Slow if model.b.limit == 8 else Timer)

    assert counts(Either()) == (4, 4)
    slow = check(Either(limit=8), properties=["type_ok"])
    assert slow.distinct_states == 2
    assert {action.label for action in Either(limit=8).program.actions if action.name == "tick"} == {
        "node1 waits",
        "node2 waits",
    }


def test_the_class_names_the_order_of_its_actions() -> None:
    class Ordered(Clock):
        action_order = ("stay", "tick")

    assert list(action_specs(Ordered)) == ["stay", "tick", "reset"]
    assert [action.name for action in Ordered().program.actions] == ["stay", "tick", "tick"]


def test_mistakes_are_named() -> None:
    class Takes:
        def __init__(self, model: Any) -> None:
            self.other = model.needs

    class Circular(Model):
        takes = part(Takes)
        needs = part(Takes)

    class Wrong(Model):
        timer = part(Timer, which=lambda _: Resets)

    with pytest.raises(ModelError, match="the part 'needs' is used while it is made; use it in methods only"):
        _ = Circular().takes
    with pytest.raises(ModelError, match=r"`which` of the part .timer. returns .*Resets.*; it must return Timer or"):
        _ = Wrong().timer
    with pytest.raises(ModelError, match=r"part\(3\) takes classes, such as"):
        part(3)  # type: ignore[call-overload]
    with pytest.raises(ModelError, match="part is given 2 classes; say which one a model has"):
        part(Timer, Resets)  # type: ignore[call-overload]
    with pytest.raises(ModelError, match=r"action_order names 'tack', which is no action of it. Did you mean 'tick'"):

        class _Unknown(Clock):
            action_order = ("tack",)

    with pytest.raises(ModelError, match="the model that holds this part has another 'tick' in its class; rename one"):

        class _Twice(Model):
            timer = part(Timer)

            @action
            def tick(self, s: Any) -> None:
                s.clock = 1

    class Unlike:
        @action
        def tick(self, s: Any) -> None:
            s.clock = 1

    with pytest.raises(ModelError, match=r"'tick' differs from the method at .*; give both the same decorator"):

        class _Unlike(Model):
            timer = part(Timer, Unlike, which=lambda _: Timer)


class Level(Model):
    bounds = Bounds(limit=Bound(2, 1, 8))
    unbounded = ("limit",)

    def declare(self, b: BoundValues) -> State:
        return State(clock=Int(0, b.limit))

    @action
    def rest(self, s: Any) -> None:
        require(s.clock == 0)


class Nodeless:
    def __init__(self, model: Model) -> None:
        self.limit = model.b.limit

    @action
    def tick(self, s: Any) -> None:
        require(s.clock < self.limit)
        s.clock += 1

    @invariant
    def within_the_limit(self, s: Any) -> Any:
        return s.clock <= self.limit


def test_a_part_is_made_again_for_bounds_that_are_open() -> None:
    class Limited(Level):
        timer = part(Nodeless)

    model = Limited()
    assert model.timer.limit == 2
    assert prove(model, properties=["within_the_limit"], unbounded=True).verdict == "holds"
