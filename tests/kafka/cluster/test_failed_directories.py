"""A directory that fails while its broker runs: who leads then, what the controller hears, and the next start."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.model import Condition, invariant
from insync.properties.kafka import cluster, cluster_availability, cluster_directories
from insync_walk import Walk, shared_cluster

CALM: dict[str, int | str] = {
    "replicas": 2, "power_failures": 0, "fencings": 0, "isr_shrinks": 0, "records": 1, "log_dir_failures": 1
}  # fmt: skip
PROMISED = (*cluster.__all__, *cluster_directories.__all__, "running_replicas_have_a_leader")


class NoDiskIsLost(Cluster):
    """The directories that fail do so while their broker runs, and come back with what they had."""

    @invariant
    def no_disk_is_lost(self, s: ClusterState) -> Condition:
        """No log is gone for good."""
        return s.spent.log_dir_losses == 0


def pair(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**CALM, **bounds}), *labels)


WRITTEN = ("b1 appends a record", "b2 fetches from b1", "b2 fetches from b1")
FAILED = (*WRITTEN, "b1's directory fails")
HEARD = (*FAILED, "controller learns of b1's failed directory")


def test_a_leader_without_its_directory_serves_nobody_and_stays_the_leader_until_the_controller_hears() -> None:
    walk = pair(*FAILED, records=2)
    assert walk.cells["b1"] == "offline [r0@0 |]"
    assert walk.cells["controller"] == "b1@0 ISR b1 b2"
    assert {"b1 appends a record", "b2 fetches from b1"} & walk.enabled == set()


def test_the_controller_hears_of_it_and_another_one_leads() -> None:
    walk = pair(*HEARD, "b2 applies metadata")
    assert walk.cells["controller"] == "b2@1 ISR b2 ELR b1 offline b1"
    assert walk.cells["b2"] == "L1 [| r0@0]"
    assert walk.state["broker"]["b1"]["running"], "the broker goes on with its other directories"
    assert {
        "controller learns of b1's failed directory",
        "b1 fetches from b2",
        "b1's directory fails",
    } & walk.enabled == set()


def test_a_running_broker_hears_of_nothing_about_a_log_in_a_failed_directory() -> None:
    walk = pair(*HEARD)
    assert not [label for label in walk.enabled if label.startswith("b1 applies")]
    assert walk.state["broker"]["b1"]["image_lag"] == 0


def test_who_is_in_a_failed_directory_is_not_elected_by_any_election() -> None:
    for unclean in ("off", "on"):
        walk = pair(
            *HEARD, "b2 applies metadata", "b2 crashes, its log ends at 1", crashes=1, unclean_leader_election=unclean
        )
        walk.take("controller fences b2")
        assert walk.cells["controller"].startswith("none@2"), unclean
    assert "controller elects b1" not in pair(*HEARD, preferred_elections=1).enabled


RESTARTED = (*HEARD, "b2 applies metadata", "b1 crashes, its log ends at 1")


def test_a_directory_that_is_still_away_at_the_next_start_keeps_the_replica_offline() -> None:
    walk = pair(*RESTARTED, "b1 starts and registers", crashes=1)
    assert walk.cells["b1"] == "offline [r0@0 |]"
    assert walk.cells["controller"] == "b2@1 ISR b2 fenced b1 offline b1"


def test_a_directory_that_works_again_has_its_log_and_the_stop_does_not_count_as_clean() -> None:
    stopped = (*HEARD, "b2 applies metadata", "b1 asks to stop", "b1 stops cleanly")
    walk = pair(*stopped, controlled_shutdowns=1, min_insync_replicas=2)
    assert walk.cells["controller"] == "b2@1 ISR b2 ELR b1 fenced b1 offline b1"
    walk.take("b1's directory works again", "b1 starts and registers")
    assert walk.cells["b1"] == "F1 [r0@0 |]"
    assert walk.cells["controller"] == "b2@1 ISR b2 fenced b1"
    walk.take(
        "b2 applies metadata",
        "controller unfences b1",
        "b1 fetches from b2",
        "b2 adds b1 to the ISR",
        "controller accepts the ISR",
    )
    assert walk.cells["controller"] == "b2@1 ISR b1 b2"


def test_a_stop_with_a_failed_directory_is_not_clean_where_that_is_still_away() -> None:
    stopped = (*HEARD, "b2 applies metadata", "b1 asks to stop", "b1 stops cleanly", "b1 starts and registers")
    assert (
        pair(*stopped, controlled_shutdowns=1, min_insync_replicas=2).cells["controller"]
        == "b2@1 ISR b2 fenced b1 offline b1"
    )


@pytest.mark.slow
def test_a_failed_directory_that_is_taken_out_of_the_configuration_makes_the_stop_clean_which_is_n_04() -> None:
    bounds: dict[str, int | str] = {"controlled_shutdowns": 1, "min_insync_replicas": 2}
    stopped = (*HEARD, "b2 applies metadata", "b1 asks to stop", "b1 stops cleanly", "b1 loses its directory")
    walk = pair(*stopped, "b1 starts and registers", **bounds)
    assert walk.cells["b1"] == "F1 [|]"
    assert walk.cells["controller"] == "b2@1 ISR b2 ELR b1 fenced b1 offline b1"
    (violation,) = check(
        shared_cluster(**{**CALM, **bounds}), properties=["electable_replicas_are_complete"]
    ).violations
    assert violation.trace_length == 8
    fixed = Cluster(**{**CALM, **bounds}, defect="N-04", fixed="on")
    assert check(fixed, properties=["electable_replicas_are_complete"]).verdict == "holds"


def test_a_failed_directory_that_is_gone_at_the_start_is_one_failure_with_that_which_takes_a_log_for_good() -> None:
    walk = pair(*FAILED, "b1 crashes, its log ends at 1", "b1 loses its directory", crashes=1)
    spent = walk.state["spent"]
    assert (spent["log_dir_failures"], spent["log_dir_losses"]) == (0, 1)
    assert "b2's directory fails" not in walk.enabled
    again = pair(*FAILED, "b1 crashes, its log ends at 1", "b1's directory works again", crashes=1)
    assert "b1 loses its directory" not in again.enabled, "that would be another one"


def test_with_zookeeper_a_directory_counts_as_there_at_a_start_until_the_controller_has_asked() -> None:
    walk = pair(*RESTARTED, "controller fences b1", "b1 starts and registers", crashes=1, release="2.8")
    assert walk.cells["controller"] == "b2@1 ISR b2 fenced b1"
    assert "controller learns of b1's failed directory" in walk.enabled


def test_before_1_0_a_broker_ends_with_its_directory() -> None:
    model = Cluster(**CALM, release="0.11")
    assert not model.features.directories_fail
    assert [said for said in model.remarks() if "a broker ends when a directory fails" in said]


@pytest.mark.parametrize("release", ["3.3", "3.6"])
def test_with_kraft_nobody_tells_of_a_failed_directory_before_3_7(release: str) -> None:
    walk = pair(*FAILED, release=release, elr="off")
    assert "controller learns of b1's failed directory" not in walk.enabled
    (violation,) = check(walk.model, properties=cluster_directories.__all__).violations
    assert violation.trace_length == 2


@pytest.mark.slow_but("bounds4")
@pytest.mark.parametrize(
    "bounds",
    [
        {"crashes": 1},
        {"controlled_shutdowns": 1, "fencings": 1, "isr_shrinks": 1},
        {"replicas": 3, "power_failures": 1, "fencings": 1, "metadata_lag": 1, "min_insync_replicas": 2},
        {"release": "1.1", "crashes": 1, "fencings": 1, "isr_shrinks": 1},
        {"release": "3.2", "preferred_elections": 1, "isr_shrinks": 1, "late_fetch_responses": "on"},
        {"spares": 1, "reassignments": 1, "replicas": 3, "defect": "N-18", "fixed": "on"},
    ],
)
def test_with_directories_that_fail_all_that_holds_without_them_holds(bounds: dict[str, int | str]) -> None:
    properties = [name for name in PROMISED if name != "isr_and_elr_are_sound" or "reassignments" not in bounds]
    properties.remove("isr_members_have_directories")  # which is N-14
    old = ["watermark_never_goes_back", "isr_and_elr_are_sound", "electable_replicas_are_complete"]
    kept = [name for name in properties if name not in (old if "release" in bounds else ())]
    result = check(NoDiskIsLost(**{**CALM, **bounds}), properties=kept, within=["no_disk_is_lost"])
    assert result.verdict == "holds"


def test_when_writes_stop_a_failed_directory_that_is_known_counts_as_a_broker_that_is_down() -> None:
    model = Cluster(**{**CALM, "log_dir_failures": 2})
    found = check(model, properties=cluster_availability.__all__)
    assert "running_replicas_have_a_leader" not in {violation.property for violation in found.violations}
    (violation,) = check(model, properties=["a_leader_is_there"]).violations
    assert violation.trace_length == 5, "both directories fail, and the controller hears of both"


def test_the_controller_decides_anew_when_a_directory_fails_in_which_nobody_of_the_isr_is() -> None:
    started = ("b1 crashes, its log ends at 0", "b2 asks to stop", "b2's directory fails", "b1 starts and registers")
    walk = pair(*started, crashes=1, controlled_shutdowns=1, release="3.9")
    assert walk.cells["controller"] == "b1@0 ISR b1 fenced b1 b2", "who registers is not fenced before, and leads on"
    walk.take("controller learns of b2's failed directory")
    assert walk.cells["controller"] == "none@1 ISR b1 fenced b1 b2 offline b2"


BACK = ("controller fences b2", "b1 applies metadata", "controller unfences b2", "b2 fetches from b1")
JOINED = (*BACK, "b1 adds b2 to the ISR", "b2's directory fails", "controller learns of b2's failed directory")


def test_nothing_is_decided_when_the_directory_of_a_removed_replica_is_told_of() -> None:
    removed = pair(
        "b1's directory fails", "operator assigns the partition to {b2}", reassignments=1, min_insync_replicas=2
    )
    was, epoch = removed.state["controller"]["elr"], removed.state["registrations"][0]
    assert was == ["b1"], "who is a replica no more stays eligible (N-02) until the controller decides anew"
    removed.take("controller learns of b1's failed directory")
    assert (removed.state["controller"]["elr"], removed.state["registrations"][0]) == (was, epoch)
    assert "controller learns of b1's failed directory" not in removed.enabled


def test_who_is_known_to_have_no_directory_is_taken_into_the_isr_which_is_n_14() -> None:
    walk = pair(*JOINED, "controller accepts the ISR", fencings=1, min_insync_replicas=1)
    assert walk.cells["controller"] == "b1@0 ISR b1 b2 offline b2"
    walk = pair(*JOINED, fencings=1, min_insync_replicas=1, defect="N-14", fixed="on")
    assert "controller accepts the ISR" not in walk.enabled
    walk.take("controller refuses the ISR")
    assert walk.cells["b1"] == "L0 [|]"


@pytest.mark.slow_for("4.3")
@pytest.mark.parametrize("release", ["4.1", "4.3"])
def test_with_the_fix_of_n_14_every_member_of_the_isr_has_its_directory(release: str) -> None:
    bounds: dict[str, int | str] = {
        "fencings": 1,
        "crashes": 1,
        "controlled_shutdowns": 1,
        "release": release,
        "defect": "N-14",
    }
    fixed = Cluster(**{**CALM, **bounds}, fixed="on")
    assert check(fixed, properties=["isr_members_have_directories"]).verdict == "holds"
    (violation,) = check(Cluster(**{**CALM, **bounds}), properties=["isr_members_have_directories"]).violations
    assert violation.trace_length == 9


def test_a_leader_asks_for_a_follower_only_while_that_has_its_directory() -> None:
    assert "b1 adds b2 to the ISR" in pair(*BACK, fencings=1).enabled
    assert "b1 adds b2 to the ISR" not in pair(*BACK, "b2's directory fails", fencings=1).enabled


@pytest.mark.parametrize(("release", "known"), [("4.1", "none"), ("4.1.1", "b1"), ("4.3", "b1")])
def test_who_led_last_is_known_though_somebody_is_left_in_the_isr_from_4_1_1_on(release: str, known: str) -> None:
    joined = (*JOINED, "controller accepts the ISR", "b1 applies metadata", "controller fences b1")
    walk = pair(*joined, fencings=2, min_insync_replicas=1, release=release)
    assert walk.state["registrations"][0]["leader"] is None
    assert walk.state["registrations"][0]["isr"] == ["b2"]
    assert walk.state["controller"]["last_known_leader"] == (None if known == "none" else known)
    walk.take("controller unfences b1")
    assert walk.state["registrations"][0]["leader"] is None, "b1 is back, and b2 is in its way"


@pytest.mark.parametrize("failed", [True, False], ids=["its directory has failed", "it has not"])
def test_nobody_can_be_added_again_who_is_eligible_where_nobody_leads_whatever_of_its_directory(failed: bool) -> None:
    fails = ("b1's directory fails", "controller learns of b1's failed directory") if failed else ()
    removed = ("operator assigns the partition to {b2}", *fails[:1], "b2 asks to stop", *fails[1:])
    walk = pair(*removed, reassignments=2, metadata_lag=5, controlled_shutdowns=1, unclean_leader_election="off")
    assert walk.cells["controller"].startswith("none@2 ISR  of b2 ELR b1 b2 fenced b2")
    assert "operator assigns the partition to {b1, b2}" not in walk.enabled
