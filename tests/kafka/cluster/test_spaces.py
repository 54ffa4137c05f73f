"""How many states, steps and levels small clusters have: a rule that is changed by a hair changes one of them."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster

CALM: dict[str, int | str] = {"replicas": 2, "records": 1, "lossy_crashes": 0, "fencings": 0, "shrinks": 0}

RELEASES = {
    "0.10.2": (11_955, 26_030, 26),
    "0.11": (15_040, 32_212, 27),
    "2.0": (15_040, 32_212, 27),
    "2.0.1": (15_308, 32_670, 27),
    "2.1": (16_999, 36_604, 27),
    "2.5": (15_308, 32_670, 27),
    "2.7": (22_032, 53_731, 31),
    "2.8": (19_189, 46_915, 29),
    "2.8.1": (19_203, 46_936, 29),
    "3.0": (19_203, 46_936, 29),
    "3.3": (20_945, 50_851, 28),
    "3.4.1": (20_921, 50_798, 28),
    "3.5": (20_659, 50_100, 28),
    "3.6": (21_114, 53_744, 28),
    "3.7": (18_041, 44_209, 26),
    "3.8": (18_041, 44_209, 26),
    "4.0": (12_825, 31_972, 25),
    "4.1": (21_795, 57_905, 25),
    "4.3": (21_795, 57_905, 25),
}
"""For each release the states, the steps and the levels with one crash and one fencing."""

SPACES: list[tuple[dict[str, int | str], tuple[int, int, int]]] = [
    ({"shrinks": 1, "fencings": 1, "elections": 1, "late_replies": "on"}, (9_298, 30_578, 29)),
    ({"shrinks": 1, "fencings": 1, "crashes": 1, "unclean": "on"}, (19_927, 68_468, 23)),
    ({"stops": 1, "fencings": 1, "elections": 1, "acks": "1"}, (18_063, 57_152, 23)),
    ({"stops": 1, "crashes": 1, "release": "2.7"}, (4_186, 11_270, 26)),
    ({"pauses": 1, "shrinks": 1, "throttles": 1, "records": 2}, (1_856, 6_862, 17)),
    (
        {"moves": 1, "flushing": "sometimes", "lossy_crashes": 1, "elections": 1, "records": 2},
        (354_836, 1_624_121, 26),
    ),
    (
        {"deletions": 1, "records": 2, "fencings": 1, "min_insync": 1, "unclean": "on", "crashes": 1},
        (59_504, 193_978, 22),
    ),
    ({"minimum_changes": 2, "fencings": 1, "crashes": 1}, (62_606, 261_758, 24)),
    ({"replicas": 3, "crashes": 1, "fencings": 1, "metadata_lag": 1}, (47_770, 204_832, 25)),
    ({"replicas": 3, "spares": 1, "reassignments": 2, "metadata_lag": 1}, (9_602, 28_098, 32)),
    (
        {"replicas": 3, "spares": 1, "reassignments": 2, "metadata_lag": 1, "fencings": 1, "release": "3.7"},
        (207_535, 763_805, 40),
    ),
    (
        {"replicas": 3, "lossy_crashes": 1, "fencings": 1, "metadata_lag": 0, "unclean": "on", "elr": "on"},
        (28_969, 121_934, 20),
    ),
    ({"late_replies": "on", "release": "2.1", "elections": 2, "records": 2}, (2_711, 5_076, 22)),
    (
        {"late_replies": "on", "release": "3.0", "elections": 1, "records": 2, "fencings": 1, "deletions": 1,
         "min_insync": 1},
        (39_846, 130_580, 29),
    ),
]  # fmt: skip
"""The same for what else may happen, in the newest release or the one that is named."""


def size(chosen: dict[str, int | str]) -> tuple[int, int, int]:
    result = check(Cluster(**{**CALM, **chosen}), properties=[])
    assert result.verdict == "holds"
    return result.distinct_states, result.transitions, result.depth


@pytest.mark.parametrize("release", list(RELEASES))
def test_a_release_has_so_many_states(release: str) -> None:
    chosen: dict[str, int | str] = {"release": release, "records": 2, "lossy_crashes": 1, "fencings": 1}
    assert size({**chosen, "metadata_lag": 1}) == RELEASES[release]


@pytest.mark.slow
@pytest.mark.parametrize(("chosen", "expected"), SPACES, ids=lambda one: " ".join(one) if isinstance(one, dict) else "")
def test_a_cluster_to_which_this_may_happen_has_so_many_states(
    chosen: dict[str, int | str], expected: tuple[int, int, int]
) -> None:
    assert size(chosen) == expected
