"""Fetchers that begin where the log ended before the one before was stopped, as in no release (KAFKA-13266)."""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync_walk import Walk, shared_cluster

BOUNDS: dict[str, int | str] = {
    "replicas": 2, "records": 1, "min_insync_replicas": 1, "power_failures": 0, "fencings": 0, "isr_shrinks": 2,
    "late_fetch_responses": "on", "defect": "L-10",
}  # fmt: skip
DROPPED = ("b1 drops b2 from the ISR", "controller accepts the ISR")
LATE = (*DROPPED, "b1 appends a record", "b2 fetches from b1", "b1 applies metadata", "b2 applies metadata")
ARRIVES, AGAIN, STOPS = (
    "b2 receives the response",
    "b2 fetches from b1 what it has already",
    "b2 stops its former fetcher",
)


def fetched(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**BOUNDS, **bounds}), *labels)


def test_what_the_former_fetcher_appends_the_next_one_fetches_again_and_gives_up() -> None:
    walk = fetched(*LATE, ARRIVES)
    assert walk.cells["b2"] == "F1 [| r0@0]"
    assert "b2 fetches from b1" not in walk.enabled
    walk.take(AGAIN)
    assert {"b2 fetches from b1", AGAIN} & walk.enabled == set()


def test_a_fetcher_that_is_stopped_first_leaves_the_next_one_at_the_end_of_the_log() -> None:
    walk = fetched(*LATE, STOPS)
    assert {ARRIVES, AGAIN, STOPS} & walk.enabled == set()
    walk.take("b2 fetches from b1", ARRIVES)
    assert walk.cells["b2"].startswith("F1 [")
    assert {AGAIN, STOPS} & walk.enabled == set()


def test_it_is_tried_again_in_the_next_epoch() -> None:
    anew = ("b2 crashes, its log ends at 1", "controller fences b2", "b2 starts and registers")
    walk = fetched(*LATE, ARRIVES, AGAIN, *anew, crashes=1)
    assert "b2 fetches from b1" in walk.enabled


def test_with_the_fix_what_comes_late_is_dropped_and_no_field_is_there() -> None:
    walk = fetched(*LATE, fixed="on")
    assert {ARRIVES, AGAIN, STOPS} & walk.enabled == set()
    for bounds in ({"fixed": "on"}, {"late_fetch_responses": "off"}):
        model = Cluster(**{**BOUNDS, **bounds})
        assert not {"fetch_offset", "fetch_failed"} & set(model.decode(model.program.initials[0])["broker"]["b1"])
        assert not {"fetch_again", "stop_former_fetcher"} & {action.name for action in model.program.actions}


def test_without_races_no_reply_comes_while_the_next_fetcher_is_made() -> None:
    assert {ARRIVES, AGAIN} & fetched(*LATE, races="off").enabled == set()
