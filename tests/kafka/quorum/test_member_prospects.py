"""What servers do with pre-votes where voters come and go, and what becomes of who has stood and is started again."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import pytest

from insync.conformance.quorum.beside_kafka import AS_KAFKA as STAYING
from insync.conformance.quorum.beside_kafka import MEMBERS_AS_KAFKA, quorum_model
from insync.explorer import check, liveness
from insync.explorer.stepping.stepper import Stepper, claims_of
from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.kraft_853 import Kraft853
from insync.model import Model, UserError
from insync_led_again import LED_AGAIN, LED_AGAIN_BOUNDS, PARTED, REMOVED, REMOVED_BOUNDS
from insync_walk import Walk

AS_KAFKA: dict[str, int | str] = {**MEMBERS_AS_KAFKA, "pre_votes": "on"}
TWO: dict[str, int | str] = {"servers": 2, "spares": 0, "records": 0, "additions": 0, "epochs": 2, **AS_KAFKA}


@cache
def two(**more: int | str) -> Kraft853:
    """Two voters, of which one may be removed, traced once."""
    return Kraft853(**{**TWO, **more})


@cache
def three(bounds: tuple[tuple[str, int | str], ...]) -> Model:
    """Three voters beside Kafka 4.1, traced once."""
    return quorum_model("4.1.2", dict(bounds))


def server(walk: Walk, name: str) -> dict[str, Any]:
    return cast(dict[str, dict[str, Any]], walk.state["server"])[name]


def broken(walk: Walk, name: str) -> bool:
    (claim,) = claims_of(walk.model, [name])
    return not Stepper(walk.model).holds(claim, walk.codes)


def test_who_follows_a_leader_that_answers_would_not_vote() -> None:
    walk = Walk(two(), "n1 resigns", "n2 asks whether it would be elected")
    assert (server(walk, "n2")["state"], server(walk, "n2")["leader"]) == ("PROSPECTIVE", "n1")
    walk.take("n1 tells n2 whether it would vote for it", "n2 gets the pre-vote of n1")
    assert (server(walk, "n2")["state"], server(walk, "n2")["epoch"]) == ("CANDIDATE", 2)
    walk = Walk(two(), "n2 asks whether it would be elected", "n1 tells n2 whether it would vote for it")
    walk.take("n2 hears that n1 would not vote for it")
    assert (server(walk, "n2")["state"], server(walk, "n2")["fetched_in"]) == ("FOLLOWER", 0)


def test_a_voter_that_has_resigned_goes_on_to_the_next_epoch() -> None:
    walk = Walk(two(), "n1 resigns", "n1 has resigned long enough")
    assert (server(walk, "n1")["state"], server(walk, "n1")["epoch"]) == ("UNATTACHED", 2)


def test_the_only_voter_stands_at_once_also_when_it_is_started_again() -> None:
    removed = ["n1 removes n2 from the voters", "n1 resigns"]
    assert "n1 asks whether it would be elected" not in Walk(two(removals=1), *removed).enabled
    walk = Walk(two(removals=1, restarts=1), *removed, "n1 restarts")
    assert (server(walk, "n1")["state"], server(walk, "n1")["epoch"]) == ("CANDIDATE", 2)
    walk.take("n1 leads")
    assert server(walk, "n1")["high_watermark"] == 3


def test_pre_votes_take_the_rules_of_kafka() -> None:
    with pytest.raises(UserError, match=r"pre_votes=on is what Kafka does since 4\.0, and leaving is as published"):
        Kraft853(**{**TWO, "leaving": "published"})


def test_without_them_nothing_of_it_is_in_the_state() -> None:
    state = Walk(two(pre_votes="off")).state
    assert not {"pre_vote_requests", "pre_ballots", "invalid", "too_early"} & set(state)
    assert not {"refused", "fetched_in"} & set(cast(dict[str, dict[str, Any]], state["server"])["n1"])


def test_with_them_all_holds_where_one_of_two_voters_goes() -> None:
    found = check(two(removals=1, restarts=1))
    assert (found.verdict, found.distinct_states, found.depth) == ("holds", 5_607, 29)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_with_them_all_holds_where_one_server_comes_and_one_goes() -> None:
    found = check(Kraft853(servers=3, records=0, additions=1, removals=1, **AS_KAFKA))
    assert (found.verdict, found.distinct_states, found.transitions, found.depth) == ("holds", 1_049_643, 7_051_447, 45)


@pytest.mark.slow
def test_who_has_stood_and_is_no_voter_any_more_throws_when_it_is_started_again() -> None:
    walk = Walk(three(tuple(REMOVED_BOUNDS.items())), *REMOVED)
    assert server(walk, "n2")["state"] == "ILLEGAL"
    assert broken(walk, "no_illegal_state")


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_who_has_stood_and_is_the_only_voter_leads_the_epoch_of_another_one() -> None:
    walk = Walk(three(tuple(LED_AGAIN_BOUNDS.items())), *LED_AGAIN)
    leads = [(server(walk, name)["state"], server(walk, name)["epoch"]) for name in ("n2", "n3")]
    assert leads == [("LEADER", 2), ("LEADER", 2)]
    assert broken(walk, "never_two_leaders_in_an_epoch")


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_server_has_another_committed_record_then_and_nothing_parts_their_logs() -> None:
    walk = Walk(three(tuple(LED_AGAIN_BOUNDS.items())), *PARTED)
    assert walk.cells["n1"] == "F3 o [*@1 *@2 -n1@2 -n3@2 v1@2 v2@2 *@3 |]"
    assert walk.cells["n2"] == "L3 [*@1 *@2 -n1@2 -n3@2 *@2 v3@2 *@3 |]"
    assert walk.state["written"] == {"v1": "ASKED", "v2": "ASKED", "v3": "ACKNOWLEDGED"}
    assert broken(walk, "no_log_divergence")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("course", "bounds"),
    [(REMOVED, REMOVED_BOUNDS), (LED_AGAIN, LED_AGAIN_BOUNDS)],
)
def test_with_the_fix_it_follows_or_begins_another_epoch(course: tuple[str, ...], bounds: dict[str, int | str]) -> None:
    restart = course.index("n2 restarts")
    walk = Walk(three((*bounds.items(), ("restart_as", "follower"))), *course[: restart + 1])
    its = server(walk, "n2")
    alone = its["members"] == ["n2"]
    assert (its["state"], its["epoch"]) == (("CANDIDATE", 3) if alone else ("FOLLOWER", 2))
    assert not broken(walk, "no_illegal_state")


ELECTED = ["a_leader_is_elected_again"]


@pytest.mark.parametrize(
    ("bounds", "states"),
    [
        pytest.param({}, 581, id="two"),
        pytest.param({"removals": 1}, 1_530, id="one is removed", marks=pytest.mark.slow),
        pytest.param({"spares": 1, "additions": 1}, 1_696, id="one is added", marks=pytest.mark.slow),
        pytest.param({"restarts": 1}, 2_097, id="one restarts", marks=pytest.mark.slow),
    ],
)
def test_a_leader_is_elected_again_unless_its_time_is_over_first(bounds: dict[str, int | str], states: int) -> None:
    found = liveness(two(**bounds), properties=ELECTED)
    assert (found.verdict, found.distinct_states) == ("holds", states)


@pytest.mark.slow
@pytest.mark.parametrize(("restarts", "states"), [(0, 2_305), (1, 11_301)])
def test_so_it_is_where_voters_stay(restarts: int, states: int) -> None:
    settings: dict[str, int | str] = {**STAYING, "pre_votes": "on", "servers": 2, "elections": 2, "restarts": restarts}
    found = liveness(Kraft(**settings), properties=ELECTED)
    assert (found.verdict, found.distinct_states) == ("holds", states)
