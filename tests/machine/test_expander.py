"""The buffers of an expander take the steps of a whole batch, however small they were asked for."""

from __future__ import annotations

import pytest

from insync.machine.kernels import compile_kernels
from insync.machine.packed import BATCH, PackedRows
from insync.model import BoundValues, Index, Int, Model, State, StateView, action, require
from insync.runtime.memory import HUGE_PAGE


class Target(Index):
    """Where one may go."""

    label = "t"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 40


class Everywhere(Model):
    """From every place to some forty others, never to the same ones."""

    def declare(self, b: BoundValues) -> State:
        return State(at=Int(0, 40 * BATCH - 1))

    @action
    def go(self, s: StateView, to: Target) -> None:
        """Go on."""
        s.at = (s.at % BATCH) * 40 + int(to)


ROW = 8
STEPS = 40 * ROW * BATCH
"""The bytes of all steps of a batch."""


@pytest.mark.parametrize(
    ("asked", "given"), [(1, 2 * STEPS), (2 * STEPS, 2 * STEPS), (2 * STEPS + ROW, 2 * STEPS + ROW)]
)
def test_a_buffer_takes_two_batches_or_what_was_asked_for(asked: int, given: int) -> None:
    model = Everywhere()
    kernels = compile_kernels(model.program)
    expander = kernels.expander(1, asked, (2**64 - 1,))
    assert (expander.buffer_bytes, expander.batch_bytes) == (given, HUGE_PAGE + 2 * STEPS)
    states = PackedRows([model.program.schema.pack((at,)) for at in range(BATCH)])
    assert expander.expand(states.address, states.count) == BATCH
    found = {model.program.schema.unpack(state) for state in expander.states(0)}
    assert found == {(at,) for at in range(40 * BATCH)}
    assert expander.take_steps() == [BATCH] * 40
    assert expander.pending_bytes == STEPS
    assert expander.untouched_bytes == given
    expander.clear()
    assert (expander.pending_bytes, expander.untouched_bytes) == (0, given - STEPS)
    expander.close()


class Downhill(Model):
    """It ends at the foot of the hill."""

    def declare(self, b: BoundValues) -> State:
        return State(height=Int(0, 3))

    @action
    def descend(self, s: StateView) -> None:
        """Go down."""
        require(s.height > 0)
        s.height -= 1


def test_states_without_a_step_are_those_since_they_were_asked_for_last() -> None:
    model = Downhill()
    expander = compile_kernels(model.program).expander(1, 1, (2**64 - 1,))
    for heights, stuck in (((0, 1, 2), 1), ((3,), 0), ((0, 0), 2)):
        states = PackedRows([model.program.schema.pack((height,)) for height in heights])
        assert expander.expand(states.address, states.count) == len(heights)
        assert expander.take_stepless() == stuck
    expander.close()
