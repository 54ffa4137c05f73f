"""The steps that a graph is made of: those of the evaluator, in order, each with its state and its action."""

from __future__ import annotations

import numpy as np
import pytest

from insync.machine.kernels import Part, compile_kernels
from insync.machine.packed import BATCH
from insync.model import Model
from insync.model.catalogue import find_model
from insync.model.evaluator import Evaluator
from insync.runtime.errors import DomainError
from insync_machine import reachable_states
from insync_suspicious import Inert
from insync_toys import TOYS

MODELS = [*TOYS, Inert(), find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model.name))
def test_the_steps_of_a_batch_are_the_evaluator_s_action_by_action(model: Model) -> None:
    schema, evaluator = model.program.schema, Evaluator(model.program)
    states = reachable_states(model, BATCH)
    edges = compile_kernels(model.program, parts=[Part.EDGES]).edges()
    expected, refused = [], []
    for place, state in enumerate(states):
        codes = schema.unpack(state)
        for number in evaluator.enabled(codes):
            try:
                expected.append((number, place, schema.pack(evaluator.step(number, codes))))
            except DomainError:
                refused.append(state)
        assert edges.of_one(state) == {number: after for number, source, after in expected if source == place}
    edges.take_refused()
    for _ in range(2):
        found = edges.of(np.array(states, dtype=np.uint64))
        rows = zip(found.action.tolist(), found.source.tolist(), map(tuple, found.target.tolist()), strict=True)
        assert list(rows) == sorted(expected)
        at_last = edges.take_refused()
        assert (at_last.count, at_last.least) == (len(refused), min(refused, default=None))
    edges.close()
