"""Those whom a shrink leaves in the ISR fetch before it, so that Kafka finds the others slow alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from insync.conformance.slow_alone import with_one_slow
from insync.explorer import check
from insync.explorer.traces.trace import Trace
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS


def shortest(name: str) -> tuple[Cluster, Trace]:
    model = Cluster(**DEFECTS[name].witness)
    return model, check(model, properties=[DEFECTS[name].breaks]).violations[0].trace


@pytest.mark.slow
def test_who_stays_fetches_before_the_shrink() -> None:
    model, trace = shortest("R-12")
    found = with_one_slow(trace, model)
    place = next(number for number, step in enumerate(found.steps) if step.action == "shrink_isr")
    dropped = found.steps[place].parameters["follower"]
    state = found.steps[place - 1].state
    leader = state["broker"]["b1"]
    others = [name for name in state["registrations"][0]["isr"] if name not in ("b1", dropped)]
    assert [leader["remote_replicas"][name]["leo"] for name in others] == [leader["leo"]] * len(others)
    assert (found.property, found.steps[-1].action) == (trace.property, trace.steps[-1].action)


def test_a_trace_without_a_shrink_stays_as_it_is() -> None:
    model, trace = shortest("R-26")
    assert with_one_slow(trace, model) is trace


@pytest.mark.slow
def test_a_trace_that_is_no_counterexample_any_more_stays_as_it_is() -> None:
    model, trace = shortest("N-06")
    cut = replace(trace, steps=trace.steps[:2])
    assert with_one_slow(trace, model).length == trace.length + 1
    assert with_one_slow(cut, model) is cut


def test_where_nobody_can_fetch_the_trace_stays_as_it_is() -> None:
    model, trace = shortest("N-06")
    step = trace.steps[1]
    other = replace(step, parameters={**step.parameters, "leader": "b2"})  # who does not lead
    assert with_one_slow(replace(trace, steps=(trace.steps[0], other)), model).length == 2
