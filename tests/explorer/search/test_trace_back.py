from __future__ import annotations

from collections.abc import Iterable

import pytest

from insync.explorer import check
from insync.explorer.search.trace_back import traced_back
from insync.machine.kernels import Kernels, least_predecessor
from insync.machine.packed import Words
from insync.model import Bound, Bounds, BoundValues, Condition, Int, Model, State, StateView, action, invariant
from insync.runtime.errors import InternalError
from insync_toys import DieHard


def test_a_state_that_nothing_leads_to_is_our_mistake() -> None:
    model = DieHard()
    target = model.program.schema.pack((3, 0))
    with pytest.raises(InternalError, match=r"No state of level 1 leads to"):
        traced_back(model, target, 2, lambda state, level: None)


def test_a_way_that_does_not_begin_at_the_start_is_our_mistake() -> None:
    model = DieHard()
    pack = model.program.schema.pack
    with pytest.raises(InternalError, match="not an initial state"):
        traced_back(model, pack((3, 0)), 2, lambda state, level: pack((3, 5)))
    with pytest.raises(InternalError, match="has no such step"):
        traced_back(model, pack((1, 1)), 2, lambda state, level: pack((0, 0)))


class Stairs(Model):
    """Two ways to go one step up, and nothing tells them apart afterwards."""

    bounds = Bounds(top=Bound(3, 2, 9))

    def declare(self, b: BoundValues) -> State:
        return State(step=Int(0, b.top))

    @action
    def walk(self, s: StateView) -> None:
        """Go up."""
        s.step += 1

    @action
    def hop(self, s: StateView) -> None:
        """Go up on one leg."""
        s.step += 1

    @invariant
    def stays_low(self, s: StateView) -> Condition:
        """Nobody is on the second step."""
        low: Condition = s.step < 2
        return low


class Steep(Stairs):
    """The same with a landing."""

    @invariant
    def stays_lower(self, s: StateView) -> Condition:
        """Nobody is on the third step."""
        lower: Condition = s.step < 3
        return lower


def test_a_predecessor_that_several_traces_have_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_for: list[Words] = []

    def counted(kernels: Kernels, ranges: Iterable[tuple[int, int]], target: Words) -> Words | None:
        looked_for.append(target)
        return least_predecessor(kernels, ranges, target)

    monkeypatch.setattr("insync.explorer.search.trace_back.least_predecessor", counted)
    found = check(Steep(), properties=["stays_low", "stays_lower"], keep_going=True, threads=1)
    assert [one.trace_length for one in found.violations] == [3, 4, 4], "the last one steps beyond the top"
    assert len(looked_for) == len(set(looked_for)) == 3


def test_of_several_actions_with_one_effect_the_first_is_shown() -> None:
    (violation,) = check(Stairs(), properties=["stays_low"]).violations
    assert [step.action for step in violation.trace.steps] == [None, "walk", "walk"]
