"""What servers of `kraft` do with pre-votes: who asks, who would vote, who stands, and what that does not prevent."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import pytest

from insync.explorer import check
from insync.kafka.quorum.kraft import Kraft
from insync_walk import Walk

quorum = cache(Kraft)
"""The quorum under these bounds and settings, which is traced once."""

ELECTED = (
    "n1 requests pre-votes",
    "n2 answers the pre-vote request of n1",
    "n1 gets the pre-vote of n2",
    "n2 answers the vote request of n1@2",
    "n1 gets the vote of n2",
    "n1 leads",
)
FOLLOWED = (
    "n2 learns that n1 leads epoch 2",
    "n2 fetches from n1",
    "n1 answers n2's fetch of epoch 2 from 0@0",
    "n2 takes what it has fetched",
)


def walk(*labels: str) -> Walk:
    return Walk(quorum(servers=2, elections=2, restarts=1), *labels)


def server(walk: Walk, name: str) -> dict[str, Any]:
    return cast(dict[str, dict[str, Any]], walk.state["server"])[name]


def test_who_would_be_elected_stands_at_once_in_the_next_epoch() -> None:
    asking = walk(*ELECTED[:2])
    assert (server(asking, "n1")["state"], server(asking, "n1")["epoch"]) == ("PROSPECTIVE", 1)
    assert asking.cells["n1"].startswith("P1")
    asking.take(ELECTED[2])
    assert (server(asking, "n1")["state"], server(asking, "n1")["epoch"]) == ("CANDIDATE", 2)
    assert asking.state["elections"] == 1


def test_who_asks_in_vain_follows_its_leader_again_and_waits_for_a_fetch_to_succeed() -> None:
    asking = walk(*ELECTED, *FOLLOWED)
    assert server(asking, "n2")["has_fetched"]
    asking.take("n2 requests pre-votes", "n1 answers the pre-vote request of n2")
    asking.take("n2 is refused the pre-vote of n1")
    assert (server(asking, "n2")["state"], server(asking, "n2")["leader"]) == ("FOLLOWER", "n1")
    assert not server(asking, "n2")["has_fetched"]


def test_a_late_pre_vote_request_of_a_later_epoch_is_what_remains_of_one_that_was_given_up() -> None:
    asking = walk(*ELECTED[:3], "n1 requests pre-votes", "n1 stops waiting for pre-votes")
    assert server(asking, "n1")["state"] == "VOTED"
    asking.take("n2 answers the pre-vote request of n1")
    assert server(asking, "n2")["epoch"] == 2
    assert cast(dict[str, Any], asking.state["vote_responses"])["n1"]["n2"] is None


def test_without_them_nothing_of_it_is_in_the_state() -> None:
    state = Walk(quorum(servers=2, release="3.9")).state
    assert "pre_vote_requests" not in state
    assert not {"refused", "has_fetched"} & set(cast(dict[str, dict[str, Any]], state["server"])["n1"])


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_with_them_all_holds_but_that_nobody_throws() -> None:
    """A follower that was a candidate is one again when it restarts, and has records of its epoch (see the guide)."""
    held = check(Kraft())
    assert held.verdict == "holds"
    model = Kraft(servers=3, records=0, elections=2, restarts=1)
    found = check(model, properties=["no_illegal_state"])
    assert [one.trace_length for one in found.violations] == [17]
    (violation,) = found.violations
    assert violation.trace.steps[-1].action == "handle_invalid"


@pytest.mark.parametrize(("fixed", "state", "leader"), [("off", "CANDIDATE", None), ("on", "FOLLOWER", "n3")])
def test_as_what_a_follower_restarts_that_was_a_candidate(fixed: str, state: str, leader: str | None) -> None:
    bounds: dict[str, int | str] = {"servers": 3, "records": 0, "elections": 2, "restarts": 1, "defect": "Q-6"}
    restarted = Walk(
        quorum(**bounds, fixed=fixed),
        "n1 requests pre-votes",
        "n2 answers the pre-vote request of n1",
        "n3 requests pre-votes",
        "n1 answers the pre-vote request of n3",
        "n3 gets the pre-vote of n1",
        "n2 answers the vote request of n3@2",
        "n3 gets the vote of n2",
        "n3 leads",
        "n1 gets the pre-vote of n2",
        "n1 learns that n3 leads epoch 2",
        "n1 restarts",
    )
    its = server(restarted, "n1")
    assert (its["state"], its["leader"], its["voted_for"]) == (state, leader, "n1")
