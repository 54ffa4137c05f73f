"""Records are read by the names of today, and traces counted by the first ones."""

from __future__ import annotations

import pytest

from insync.conformance.catalogue.catalogue_record import read_record
from insync.conformance.catalogue.vocabulary import first_action, first_facts, present_fact, present_steps
from insync.conformance.steps.likeness import facts_of
from insync.kafka.cluster.former_names import FORMER_STEPS
from insync.kafka.cluster.model import Cluster


def test_steps_on_record_are_those_of_the_model() -> None:
    traces = [trace.steps for entry in read_record().values() for trace in entry.traces.values()]
    assert {action for steps in traces for action, _ in steps} & FORMER_STEPS.keys(), "some are of before"
    assert {action for steps in traces for action, _ in present_steps(steps)} <= {*Cluster.action_order}


@pytest.mark.parametrize("action", [*FORMER_STEPS, "fetch"])
def test_a_step_has_its_first_name_back(action: str) -> None:
    ((now, parameters),) = present_steps([(action, {"place": "0"})])
    assert (first_action(now), parameters) == (action, {"place": "0"})
    assert first_action(None) is None


def test_facts_have_their_first_names_back() -> None:
    model = Cluster(fetch_sessions="on", log_dir_moves=1, log_dir_failures=1, delete_records=1, elr="on")
    facts = facts_of(model.decode(model.program.initials[0]))
    first = first_facts(facts)
    assert [present_fact(name) for name in first] == [*facts]
    assert {"b1.term", "b1.known.b2", "b1.end", "b1.start", "b1.told", "controller.last_leader"} <= {*first}
    assert [present_fact(name) for name in facts] == [*facts], "a new record has the names of today"
