"""How many states, steps and levels small clusters have: a rule that is changed by a hair changes one of them."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster

CALM: dict[str, int | str] = {"replicas": 2, "records": 1, "power_failures": 0, "fencings": 0, "isr_shrinks": 0}

RELEASES = {
    "0.10.2": (11_955, 26_030, 26),
    "0.11": (15_040, 32_212, 27),
    "2.0": (15_040, 32_212, 27),
    "2.0.1": (15_600, 33_282, 27),
    "2.1": (17_303, 37_242, 27),
    "2.5": (15_600, 33_282, 27),
    "2.6.1": (15_308, 32_670, 27),
    "2.7": (20_114, 47_794, 31),
    "2.8": (17_429, 41_453, 29),
    "2.8.1": (17_443, 41_474, 29),
    "3.0": (17_443, 41_474, 29),
    "3.3": (18_887, 44_449, 28),
    "3.4.1": (18_871, 44_408, 28),
    "3.5": (18_871, 44_408, 28),
    "3.6": (19_129, 47_091, 28),
    "3.7": (15_598, 36_544, 26),
    "3.8": (15_598, 36_544, 26),
    "4.0": (10_343, 24_812, 25),
    "4.1": (15_155, 36_276, 25),
    "4.3": (15_155, 36_276, 25),
}
"""For each release the states, the steps and the levels with one crash and one fencing."""

SPACES: list[tuple[dict[str, int | str], tuple[int, int, int]]] = [
    ({"isr_shrinks": 1, "fencings": 1, "preferred_elections": 1, "late_fetch_responses": "on"}, (6_772, 21_515, 29)),
    ({"isr_shrinks": 1, "fencings": 1, "crashes": 1, "unclean_leader_election": "on"}, (9_802, 29_712, 22)),
    ({"controlled_shutdowns": 1, "fencings": 1, "preferred_elections": 1, "acks": "1"}, (18_958, 61_516, 24)),
    ({"controlled_shutdowns": 1, "crashes": 1, "release": "2.7"}, (8_227, 23_060, 30)),
    ({"fetch_failures": 1, "isr_shrinks": 1, "throttles": 1, "records": 2}, (1_856, 6_862, 17)),
    (
        {"log_dir_moves": 1, "flush": "sometimes", "power_failures": 1, "preferred_elections": 1, "records": 2},
        (288_141, 1_438_802, 26),
    ),
    (
        {
            "delete_records": 1,
            "records": 2,
            "fencings": 1,
            "min_insync_replicas": 1,
            "unclean_leader_election": "on",
            "crashes": 1,
        },
        (61_482, 181_855, 22),
    ),
    ({"config_changes": 2, "fencings": 1, "crashes": 1}, (37_974, 147_392, 24)),
    ({"replicas": 3, "crashes": 1, "fencings": 1, "metadata_lag": 1}, (32_408, 128_659, 25)),
    ({"replicas": 3, "spares": 1, "reassignments": 2, "metadata_lag": 1}, (9_476, 28_113, 32)),
    (
        {"replicas": 3, "spares": 1, "reassignments": 2, "metadata_lag": 1, "fencings": 1, "release": "3.7"},
        (164_224, 581_731, 40),
    ),
    (
        {
            "replicas": 3,
            "power_failures": 1,
            "fencings": 1,
            "metadata_lag": 0,
            "unclean_leader_election": "on",
            "elr": "on",
        },
        (21_417, 82_854, 20),
    ),
    (
        {"records": 3, "retries": 2, "producer_restarts": 2, "preferred_elections": 1, "acks": "1"},
        (5_922, 10_331, 14),
    ),
    (
        {
            "isr_shrinks": 1,
            "fencings": 1,
            "crashes": 1,
            "lost_alter_partition_responses": 2,
            "late_alter_partition_responses": "on",
        },
        (29_410, 99_364, 27),
    ),
    ({"isr_shrinks": 1, "fencings": 1, "release": "3.5", "records": 2}, (2_931, 7_230, 26)),
    (
        {
            "delete_records": 2,
            "records": 2,
            "fencings": 1,
            "min_insync_replicas": 1,
            "isr_shrinks": 1,
        },
        (8_985, 22_921, 21),
    ),
    ({"late_fetch_responses": "on", "release": "2.1", "preferred_elections": 2, "records": 2}, (2_759, 5_134, 22)),
    ({"log_dir_failures": 1, "crashes": 1, "fencings": 1, "isr_shrinks": 1}, (54_428, 168_044, 27)),
    ({"log_dir_failures": 1, "crashes": 1, "fencings": 1, "release": "2.8"}, (21_472, 65_394, 27)),
    (
        {"log_dir_failures": 1, "log_dir_moves": 1, "crashes": 1, "release": "3.7", "elr": "on"},
        (71_097, 267_674, 27),
    ),
    (
        {
            "late_fetch_responses": "on",
            "release": "3.0",
            "preferred_elections": 1,
            "records": 2,
            "fencings": 1,
            "delete_records": 1,
            "min_insync_replicas": 1,
        },
        (55_296, 175_813, 29),
    ),
]
"""The same for what else may happen, in the newest release or the one that is named."""


def size(chosen: dict[str, int | str]) -> tuple[int, int, int]:
    result = check(Cluster(**{**CALM, **chosen}), properties=[])
    assert result.verdict == "holds"
    return result.distinct_states, result.transitions, result.depth


@pytest.mark.slow_for("0.11", "2.1", "2.7", "2.8", "3.5", "3.6", "4.0", "4.1", "4.3")
@pytest.mark.parametrize("release", list(RELEASES))
def test_a_release_has_so_many_states(release: str) -> None:
    chosen: dict[str, int | str] = {"release": release, "records": 2, "power_failures": 1, "fencings": 1}
    assert size({**chosen, "metadata_lag": 1}) == RELEASES[release]


@pytest.mark.slow
@pytest.mark.parametrize(("chosen", "expected"), SPACES, ids=lambda one: " ".join(one) if isinstance(one, dict) else "")
def test_a_cluster_to_which_this_may_happen_has_so_many_states(
    chosen: dict[str, int | str], expected: tuple[int, int, int]
) -> None:
    assert size(chosen) == expected
