from __future__ import annotations

from collections.abc import Sequence

import pytest

from insync.machine.kernels import CHUNK, compile_kernels, least_predecessor
from insync.machine.packed import PackedRows, Words
from insync.model import Model
from insync.model.catalogue import find_model
from insync.model.evaluator import Evaluator
from insync_machine import reachable_states
from insync_symmetric import Gossip, TwoPhase
from insync_toys import Clock, DieHard, Ledger, TokenRing

MODELS = [Clock(), DieHard(), TokenRing(two_tokens=1), Ledger(), find_model("async_isr")(max_offset=1, max_version=1)]


def predecessors(model: Model, states: Sequence[Words]) -> dict[Words, list[Words]]:
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


@pytest.mark.slow
def test_more_states_than_are_expanded_at_once() -> None:
    model = find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=1)
    kernels = compile_kernels(model.program)
    states = reachable_states(model)
    assert len(states) > CHUNK
    memory = PackedRows(states)
    wanted = predecessors(model, states)
    for target in states[1 :: len(states) // 20]:
        assert least_predecessor(kernels, [(memory.address, memory.count)], target) == min(wanted[target])


@pytest.mark.parametrize("model", [TwoPhase(), Gossip(nodes=2)], ids=lambda model: model.name)
def test_representatives_lead_to_representatives(model: Model) -> None:
    """To each whose members could be taken for others by one bit, too: `leader` n1 and n2 differ in one."""
    program = model.program
    kernels, schema = compile_kernels(program, symmetry=program.symmetry), program.schema
    led: dict[Words, set[Words]] = {}
    for state, leading in predecessors(model, reachable_states(model)).items():
        led.setdefault(kernels.representative(state), set()).update(map(kernels.representative, leading))
    for target, before in led.items():
        others = sorted(set(led) - {target})
        memory = PackedRows(others)
        found = least_predecessor(kernels, [(memory.address, memory.count)], target)
        assert found == min(before - {target}, default=None), schema.unpack(target)
