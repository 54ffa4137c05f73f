"""Processes that take walks beside Kafka: what they compare, what they give up, and that nothing of them is left."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from insync.conformance.classes.harness import Harness
from insync.conformance.comparing.conform import WALKS, Conforming, conform_walks
from insync.conformance.comparing.walking_process import AskedWalks, WalkingProcess
from insync.kafka.cluster.model import Cluster
from insync.runtime.errors import InternalError
from insync.runtime.watch import Stopped, StopReason
from insync_classes import JarsOf

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

MODEL = Cluster(**{"release": "4.1.1", **WALKS})
OTHER = Cluster(
    release="3.9.1", replicas=2, records=1, min_insync_replicas=1, crashes=1, power_failures=0, fencings=0, elr="on"
)


def asked(model: Cluster, depth: int) -> AskedWalks:
    return AskedWalks(model.identity, 0, depth, forbidden=True)


def test_with_processes_the_same_is_compared_and_the_first_difference_is_the_same(jars_of: JarsOf) -> None:
    jars = jars_of("4.1.2")
    with Harness(jars) as harness, WalkingProcess(jars) as process:
        together = conform_walks(MODEL, harness, walks=6, seed=1, beside=[process], forbidden=True)
        shared = process.steps
        alone = conform_walks(MODEL, harness, walks=6, seed=1, forbidden=True)
        differs = conform_walks(OTHER, harness, walks=20, depth=30, beside=[process])
        again = conform_walks(OTHER, harness, walks=20, depth=30)
    assert (together.verdict, together.walks) == (alone.verdict, alone.walks) == (Conforming.AGREES, 6)
    for counted in ("steps", "own_steps", "fields", "opened", "refused", "transitions", "gaps"):
        assert getattr(together.coverage, counted) == getattr(alone.coverage, counted), counted
    assert 0 < shared <= together.coverage.steps
    assert (differs.verdict, differs.walks, differs.repeats) == (Conforming.DIVERGES, again.walks, True)
    assert differs.difference is not None
    assert again.difference is not None
    assert differs.difference.trace == again.difference.trace


def test_a_walk_is_given_up_and_the_next_one_can_be_taken(jars_of: JarsOf) -> None:
    with WalkingProcess(jars_of("4.1.2")) as process:
        process.begin(asked(MODEL, 1_000_000))
        seen = threading.Event()

        def stopped() -> StopReason | None:
            if process.steps:
                seen.set()
            return StopReason.TIME if seen.is_set() else None

        with pytest.raises(Stopped) as given_up:
            process.take(0, stopped)
        assert given_up.value.reason is StopReason.TIME
        process.begin(asked(MODEL, 5))
        assert process.take(0, lambda: None) is None
        counted = process.coverage()
        assert counted is not None
        assert counted.opened == 1


def test_an_interrupt_is_not_for_it(jars_of: JarsOf) -> None:
    with WalkingProcess(jars_of("4.1.2")) as process:
        os.kill(process.process_id, signal.SIGINT)  # while it starts
        process.begin(asked(MODEL, 3))
        assert process.take(0, lambda: None) is None
        os.kill(process.process_id, signal.SIGINT)
        assert process.take(1, lambda: None) is None


def test_it_ends_with_its_block_and_who_waits_for_one_that_was_killed_is_told(jars_of: JarsOf) -> None:
    with WalkingProcess(jars_of("4.1.2")) as process:
        process.begin(asked(MODEL, 5))
        number = process.process_id
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
    with WalkingProcess(jars_of("4.1.2")) as process:
        process.begin(asked(MODEL, 1_000_000))
        threading.Timer(1.0, lambda: os.kill(process.process_id, signal.SIGKILL)).start()
        with pytest.raises(InternalError, match="has ended"):
            process.take(0, lambda: None)
