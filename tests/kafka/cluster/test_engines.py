"""The evaluator, which is the definition, and the machine code search the same space of a cluster."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.model.evaluator import Evaluator
from insync_evaluator import successors


def levels(model: Cluster) -> list[int]:
    """Return how many states each level has, by the evaluator."""
    evaluator = Evaluator(model.program)
    seen = {model.program.initials[0]}
    frontier, sizes = [model.program.initials[0]], list[int]()
    while frontier:
        sizes.append(len(frontier))
        found = []
        for codes in frontier:
            for _, after in successors(evaluator, codes):
                if after not in seen:
                    seen.add(after)
                    found.append(after)
        frontier = found
    return sizes


BOUNDS: list[dict[str, int | str]] = [
    {"release": "4.1", "isr_shrinks": 0},
    {"release": "3.9", "isr_shrinks": 0, "min_insync_replicas": 1},
    {"release": "2.1", "power_failures": 0, "preferred_elections": 1},
    {"release": "3.0", "power_failures": 0, "fencings": 0, "preferred_elections": 1, "late_fetch_responses": "on"},
    {
        "release": "4.1",
        "power_failures": 0,
        "fencings": 0,
        "log_dir_failures": 1,
        "log_dir_moves": 1,
        "controlled_shutdowns": 1,
    },
    {"release": "2.8", "power_failures": 0, "crashes": 1, "fencings": 0, "log_dir_failures": 1},
    {"release": "0.10.2", "power_failures": 0, "fencings": 0, "preferred_elections": 2},
]


@pytest.mark.slow
@pytest.mark.timeout(600)  # with directories the evaluator has 215,229 states
@pytest.mark.parametrize("bounds", BOUNDS)
def test_both_engines_find_the_same_states(bounds: dict[str, int | str]) -> None:
    model = Cluster(**{"replicas": 2, "records": 1, "fencings": 1, **bounds})
    assert list(check(model, properties=[]).levels) == levels(model)
