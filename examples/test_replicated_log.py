"""Hypothesis drives the replicated log: the example of docs/guide/hypothesis.md."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis.stateful import run_state_machine_as_test
from replicated_log import FixedAdapter, LogAdapter, ReplicatedLog, offset_appended

from insync.explorer import InsyncTour
from insync.explorer.hypothesis import Disagreement, model_based_test, reachable_states, state_machine
from insync.model import ReadableState

BOUNDS = {"brokers": 3, "records": 3}
OUTPUTS = {"append": offset_appended}

TestModel = state_machine(ReplicatedLog, bounds=BOUNDS).TestCase
TestModel.settings = settings(max_examples=10, deadline=None)

TestFixedLog = model_based_test(ReplicatedLog, bounds=BOUNDS, adapter=FixedAdapter, outputs=OUTPUTS).TestCase
TestFixedLog.settings = settings(max_examples=10, deadline=None)


def test_the_defect_is_found() -> None:
    """Followers keep records that were never committed."""
    machine = model_based_test(ReplicatedLog, bounds=BOUNDS, adapter=LogAdapter, outputs=OUTPUTS)
    with pytest.raises(Disagreement, match="takes over` system and model disagree: log"):
        run_state_machine_as_test(machine, settings=settings(deadline=None, database=None))


def test_the_fixed_log_takes_every_transition(insync_tour: InsyncTour) -> None:
    """It does what the model does in every state of three brokers and three records."""
    assert insync_tour(ReplicatedLog, FixedAdapter, bounds=BOUNDS, outputs=OUTPUTS).verdict == "holds"


@given(state=reachable_states(ReplicatedLog, bounds=BOUNDS))
@settings(max_examples=10, deadline=None)
def test_logs_are_prefixes_of_the_leaders(state: ReadableState) -> None:
    """No follower has a record that the leader lacks."""
    leader = [record for record in state["log"][state["leader"]] if record is not None]
    for log in state["log"].values():
        records = [record for record in log if record is not None]
        assert records == leader[: len(records)]
