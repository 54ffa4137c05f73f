from __future__ import annotations

import pytest

from insync.explorer import check
from insync.explorer.breadth_first.backtrack import least_predecessor, traced_back
from insync.machine.kernels import compile_kernels
from insync.machine.packed import PackedRows, Words
from insync.model import Bound, Bounds, BoundValues, Condition, Int, Model, State, StateView, action, invariant
from insync.model.catalogue import find_model
from insync.model.errors import InternalError
from insync.model.evaluator import Evaluator
from insync_machine import reachable_states
from insync_toys import Clock, DieHard, Ledger, TokenRing

MODELS = [Clock(), DieHard(), TokenRing(two_tokens=1), Ledger(), find_model("async_isr")(max_offset=1, max_version=1)]


def predecessors(model: Model, states: list[Words]) -> dict[Words, list[Words]]:
    """The states that have a step to each state, by the evaluator."""
    schema, evaluator = model.program.schema, Evaluator(model.program)
    found: dict[Words, list[Words]] = {state: [] for state in states}
    for state in states:
        codes = schema.unpack(state)
        for number in evaluator.enabled(codes):
            if evaluator.failing_check(number, codes) is None:
                found[schema.pack(evaluator.step(number, codes))].append(state)
    return found


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_the_least_predecessor_is_that_of_the_evaluator(model: Model) -> None:
    kernels = compile_kernels(model.program)
    states = reachable_states(model)
    memory, size = PackedRows(states), kernels.sizes.row_bytes
    third = len(states) // 3
    ranges = [(memory.address, third), (memory.address + third * size, len(states) - third)]
    for target, leading in list(predecessors(model, states).items())[::5]:
        assert least_predecessor(kernels, ranges, target) == min(leading, default=None)


def test_more_states_than_are_expanded_at_once() -> None:
    model = find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=1)
    kernels = compile_kernels(model.program)
    states = reachable_states(model)
    assert len(states) > 512
    memory = PackedRows(states)
    wanted = predecessors(model, states)
    for target in states[1 :: len(states) // 20]:
        assert least_predecessor(kernels, [(memory.address, memory.count)], target) == min(wanted[target])


def test_a_state_that_nothing_leads_to_is_our_mistake() -> None:
    model = DieHard()
    target = model.program.schema.pack((3, 0))
    with pytest.raises(InternalError, match=r"No state of level 1 leads to"):
        traced_back(model, target, 2, lambda state, level: None)


def test_a_way_that_does_not_begin_at_the_start_is_our_mistake() -> None:
    model = DieHard()
    pack = model.program.schema.pack
    with pytest.raises(InternalError, match="not the initial state"):
        traced_back(model, pack((3, 0)), 2, lambda state, level: pack((3, 5)))
    with pytest.raises(InternalError, match="knows no such step"):
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


def test_of_several_actions_with_one_effect_the_first_is_shown() -> None:
    (violation,) = check(Stairs(), properties=["stays_low"]).violations
    assert [step.action for step in violation.trace.steps] == [None, "walk", "walk"]
