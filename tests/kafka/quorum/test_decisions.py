"""The quorum of `cluster --controller-failovers 1` abstracts `kraft`: each of its steps is one of those few."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync_decisions import WatchedQuorum

ABSTRACTED = "all_steps_are_of_the_abstraction"


def watched(**bounds: int | str) -> WatchedQuorum:
    return WatchedQuorum(**{"release": "3.9", "restarts": 0, **bounds})


@pytest.mark.parametrize(
    ("bounds", "states", "depth"),
    [
        ({"servers": 2, "elections": 1, "records": 1}, 49, 21),
        pytest.param({"servers": 2, "elections": 2, "records": 1}, 429, 33, marks=pytest.mark.slow),
        pytest.param({"servers": 2, "elections": 2, "records": 2}, 1_513, 40, marks=pytest.mark.slow),
        pytest.param({"servers": 2, "elections": 2, "records": 2, "restarts": 1}, 8_066, 41, marks=pytest.mark.slow),
        pytest.param({"servers": 2, "elections": 3, "records": 2}, 13_797, 52, marks=pytest.mark.slow),
        pytest.param({"servers": 3, "elections": 2, "records": 1}, 920_836, 51, marks=pytest.mark.slow),
    ],
)
def test_every_step_is_one_of_the_abstraction(bounds: dict[str, int | str], states: int, depth: int) -> None:
    result = check(watched(**bounds), properties=[ABSTRACTED], symmetry=False)
    assert (result.verdict, result.distinct_states, result.depth) == ("holds", states, depth)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "length"), [("no_decision_is_lost", 25), ("no_decision_outlives_its_maker", 26)])
def test_what_the_abstraction_allows_happens(name: str, length: int) -> None:
    """Else all steps could be of it because none of them decides anything."""
    (found,) = check(watched(servers=3, elections=2, records=1), properties=[name], symmetry=False).violations
    assert found.trace_length == length


@pytest.mark.slow
def test_where_a_disk_is_lost_some_step_is_none_of_it() -> None:
    """Else the monitor would see nothing."""
    model = watched(servers=3, elections=2, records=1, restarts=1, defect="Q-3")
    assert check(model, properties=[ABSTRACTED], symmetry=False).verdict == "violated"
