"""A broker that stops while a copy that the controller has accepted is behind its log: what is executed of N-12."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.broker_files import copy_on_disk
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.operator import Operator
from insync.conformance.live.runs.recorder import Recorder
from insync.conformance.live.runs.run_events import BrokerRun
from insync.conformance.live.runs.run_model import run_model
from insync.conformance.live.runs.validation import validate
from insync.conformance.live.scenarios.abandoned_copy import ABANDONED_COPY, accepted_copy, start_first
from insync.conformance.live.scenarios.scenario import Outcome, outcome
from insync.kafka.releases import release_of

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(400)]

_TRIES = 6
"""A broker that is done with its other logs before it has stopped loses nothing."""


def _once(jars: JarSet) -> tuple[Outcome, BrokerRun]:
    with LiveCluster(jars, ABANDONED_COPY.plan) as cluster:
        cluster.wait_for_brokers()
        operator = Operator(cluster)
        recorder = Recorder(operator)
        found = outcome(operator, ABANDONED_COPY.run(operator, lambda _: None))
        return found, recorder.run(min_insync=ABANDONED_COPY.min_insync)


@pytest.mark.slow
def test_a_broker_stopped_before_it_hears_of_the_assignment_leads_without_a_record(
    cluster_jars_of: Callable[[str], JarSet],
) -> None:
    runs = (_once(cluster_jars_of("4.3.1")) for _ in range(_TRIES))
    lost, run = next(((found, run) for found, run in runs if found.lost), (None, None))
    assert lost is not None, f"nothing was lost in {_TRIES} runs"
    assert run is not None
    assert validate(run, run_model(run, release_of("4.3.1"))).explained
    assert not validate(run, run_model(run, release_of("4.3.1"), "N-12")).explained
    assert (lost.acknowledged, lost.lost, lost.leader) == (("r0", "r1"), ("r1",), "b2")
    assert lost.logs == {"b1": ["r0"], "b2": ["r0"]}


def test_a_broker_stopped_after_it_has_taken_the_assignment_back_keeps_its_log(
    cluster_jars_of: Callable[[str], JarSet],
) -> None:
    with LiveCluster(cluster_jars_of("4.3.1"), ABANDONED_COPY.plan) as cluster:
        cluster.wait_for_brokers()
        operator = Operator(cluster)
        written, place, target = accepted_copy(operator, lambda _: None)
        cluster.until(lambda: operator.assigned(2) == place, "that b2 takes the assignment back")
        assert copy_on_disk(target, operator.topic) == ["r0"]
        operator.stop(2)
        start_first(operator, lambda _: None)
        assert (operator.now.leader, operator.log(2)) == (2, written)
