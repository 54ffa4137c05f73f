"""How many states, steps and levels small clusters have: a rule that is changed by a hair changes one of them."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster

CALM: dict[str, int | str] = {"replicas": 2, "records": 1, "lossy_crashes": 0, "fencings": 0, "shrinks": 0}

RELEASES = {
    "0.10.2": (13_779, 30_107, 26),
    "0.11": (16_909, 36_472, 27),
    "2.0": (16_909, 36_472, 27),
    "2.1": (17_227, 37_009, 27),
    "2.7": (24_741, 60_555, 31),
    "3.0": (21_715, 53_174, 30),
    "3.3": (23_280, 56_364, 30),
    "3.5": (22_990, 55_610, 30),
    "3.7": (17_963, 44_047, 27),
    "3.8": (17_963, 44_047, 27),
    "4.0": (12_787, 31_893, 26),
    "4.1": (21_808, 57_925, 26),
}
"""For each release the states, the steps and the levels with one crash and one fencing."""

SPACES: list[tuple[dict[str, int | str], tuple[int, int, int]]] = [
    ({"shrinks": 1, "fencings": 1, "elections": 1, "late_replies": "on"}, (9_606, 31_676, 31)),
    ({"shrinks": 1, "fencings": 1, "crashes": 1, "unclean": "on"}, (19_944, 68_601, 24)),
    ({"stops": 1, "fencings": 1, "elections": 1, "acks": "1"}, (17_821, 56_421, 23)),
    ({"stops": 1, "crashes": 1, "release": "2.7"}, (5_016, 13_503, 26)),
    ({"pauses": 1, "shrinks": 1, "throttles": 1, "records": 2}, (1_856, 6_862, 17)),
    (
        {"moves": 1, "flushing": "sometimes", "lossy_crashes": 1, "elections": 1, "records": 2},
        (354_965, 1_624_624, 26),
    ),
    (
        {"deletions": 1, "records": 2, "fencings": 1, "min_insync": 1, "unclean": "on", "crashes": 1},
        (56_212, 184_209, 22),
    ),
    ({"minimum_changes": 2, "fencings": 1, "crashes": 1}, (44_103, 173_034, 26)),
    ({"replicas": 3, "crashes": 1, "fencings": 1, "metadata_lag": 1}, (47_954, 205_569, 25)),
    ({"replicas": 3, "spares": 1, "reassignments": 2, "metadata_lag": 1}, (9_602, 28_098, 32)),
    (
        {"replicas": 3, "spares": 1, "reassignments": 2, "metadata_lag": 1, "fencings": 1, "release": "3.7"},
        (208_971, 769_225, 40),
    ),
    (
        {"replicas": 3, "lossy_crashes": 1, "fencings": 1, "metadata_lag": 0, "unclean": "on", "elr": "on"},
        (28_994, 122_051, 20),
    ),
    ({"late_replies": "on", "release": "2.1", "elections": 2, "records": 2}, (3_659, 6_872, 23)),
    (
        {"late_replies": "on", "release": "3.0", "elections": 1, "records": 2, "fencings": 1, "deletions": 1,
         "min_insync": 1},
        (72_253, 239_246, 30),
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
