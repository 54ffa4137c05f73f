"""The evaluator, which is the definition, and the machine code search the same space of a cluster."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.model.evaluator import Evaluator
from insync_evaluator import successors


def levels(model: Cluster) -> list[int]:
    """The states of each level, by the evaluator."""
    evaluator = Evaluator(model.program)
    seen = {model.program.initial}
    frontier, sizes = [model.program.initial], []
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


@pytest.mark.parametrize(
    "bounds",
    [
        {"release": "4.1", "shrinks": 0},
        {"release": "3.9", "shrinks": 0, "min_insync": 1},
        {"release": "2.1", "lossy_crashes": 0, "elections": 1},
        {"release": "3.0", "lossy_crashes": 0, "fencings": 0, "elections": 1, "late_replies": "on"},
        {"release": "0.10.2", "lossy_crashes": 0, "fencings": 0, "elections": 2},
    ],
)
def test_both_engines_find_the_same_states(bounds: dict[str, int | str]) -> None:
    model = Cluster(**{"replicas": 2, "records": 1, "fencings": 1, **bounds})
    assert list(check(model, properties=[]).levels) == levels(model)
