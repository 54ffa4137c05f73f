"""The model beside Kafka's own classes: a whole tour, random walks, and what the model forbids."""

from __future__ import annotations

import threading
import time

import pytest

from insync.conformance.classes.harness import Harness
from insync.conformance.comparing.conform import TOUR, WALKS, Conforming, conform_tour, conform_walks
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import release_of
from insync.runtime.watch import Stopped, StopReason
from insync_classes import HarnessOf, JarsOf

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

VERSIONS = ("4.1.2", "4.4.0")
PASSED_OVER = "Kafka's leader asks for a larger ISR within the fetch, and is never in the state before that"
NOT_ASKED = "Kafka's leader asks within a fetch alone, and none has made it ask"
BEYOND = "only what is not schedulable leads to that state"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_whole_space_is_seen_but_for_gaps_that_have_names(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    model = Cluster(
        **{"release": release_of(version).value, **TOUR, "power_failures": 0, "fencings": 0, "metadata_lag": 1}
    )
    with harness_of(jars_of(version)) as harness:
        found = conform_tour(model, harness)
    assert found.verdict is Conforming.AGREES
    assert found.space is not None
    assert found.space.whole
    assert (found.space.open, found.space.taken + sum(found.gaps.values())) == (0, found.space.transitions)
    assert found.space.taken > 0.9 * found.space.transitions
    assert {why for _, why in found.gaps} <= {PASSED_OVER, NOT_ASKED, BEYOND}
    assert {action for action, why in found.gaps if why == NOT_ASKED} == {"expand_isr"}


@pytest.mark.parametrize("version", VERSIONS)
def test_random_walks_with_what_the_model_forbids_agree(jars_of: JarsOf, harness_of: HarnessOf, version: str) -> None:
    model = Cluster(**{"release": release_of(version).value, **WALKS})
    with harness_of(jars_of(version)) as harness:
        found = conform_walks(model, harness, walks=8, seed=1, forbidden=True)
    assert (found.verdict, found.walks) == (Conforming.AGREES, 8)
    assert {"crash", "elect", "reassign", "stop", "change_minimum"} <= set(found.coverage.transitions)
    assert {"write", "delete_record", "elect", "flush", "shrink_isr"} <= set(found.coverage.refused)


@pytest.mark.parametrize(
    ("version", "bounds", "taken"),
    [
        ("4.4.0", {"log_dir_moves": 1, "log_dir_failures": 1}, {"start_move", "fail_directory", "reassign"}),
        ("3.9.2", {"log_dir_failures": 1, "log_dir_moves": 1}, {"start_move", "copy_record", "reassign"}),
        ("4.3.1", {"fetch_sessions": "on", "lost_fetch_responses": 1}, {"evict_session", "fetch"}),
        ("4.1.2", {"consumer": "follower", "auto_offset_reset": "latest"}, {"consume", "validate_position"}),
        ("4.3.1", {"snapshots": 2, "spares": 1, "metadata_lag": 3}, {"load_snapshot", "reassign"}),
    ],
    ids=["directories that fail", "directories that are taken out", "fetch sessions", "a consumer", "snapshots"],
)
def test_walks_with_what_else_the_harness_has_agree(
    jars_of: JarsOf, harness_of: HarnessOf, version: str, bounds: dict[str, int | str], taken: set[str]
) -> None:
    model = Cluster(**{"release": release_of(version).value, **WALKS, **bounds})
    with harness_of(jars_of(version)) as harness:
        found = conform_walks(model, harness, walks=10, seed=4)
    assert (found.verdict, found.walks) == (Conforming.AGREES, 10)
    assert taken <= set(found.coverage.transitions)


def test_another_release_is_told_apart(jars_of: JarsOf, harness_of: HarnessOf) -> None:
    # A broker that registers again before it is fenced leads on in 3.9 (KAFKA-18106), and not in 4.1.
    model = Cluster(
        release="3.9.1", replicas=2, records=1, min_insync_replicas=1, crashes=1, power_failures=0, fencings=0, elr="on"
    )
    with harness_of(jars_of("4.1.2")) as harness:
        found = conform_walks(model, harness, walks=20, depth=30)
    assert found.verdict is Conforming.DIVERGES
    assert found.difference is not None
    assert found.difference.trace.steps[-1].action == "register"
    assert 2 <= found.difference.steps <= (found.failed_walk_length or 0)


def test_who_wants_the_end_gets_it_though_kafka_has_not_begun(jars_of: JarsOf) -> None:
    stop = threading.Event()
    with Harness(jars_of("4.1.2"), stop=stop) as harness:
        stop.set()
        began = time.perf_counter()
        with pytest.raises(Stopped) as given_up:
            harness.take("open", brokers=3, replicas=[1, 2, 3], elr=True, configuration={})
    assert given_up.value.reason is StopReason.INTERRUPT
    assert time.perf_counter() - began < 5
