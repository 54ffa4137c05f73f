"""What servers of the quorum do, step by step, and how many states they reach."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import pytest

from insync.explorer import check, liveness
from insync.kafka.defects import QUORUM_DEFECTS
from insync.kafka.quorum.fetching import Fetching
from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.sorts import Voter
from insync.kafka.quorum.state import KraftState
from insync.kafka_questions.defects import search_defect
from insync.model import UserError, part
from insync.model.catalogue import find_model
from insync.properties.registry import invariants_of
from insync.properties.temporal import Fairness
from insync_walk import Walk

BEFORE: dict[str, int | str] = {"release": "3.9"}
"""Before pre-votes."""
ONCE: dict[str, int | str] = {"elections": 1, "restarts": 0}
"""One election, and nobody restarts."""


@cache
def quorum(**chosen: int | str) -> Kraft:
    """The quorum before pre-votes under these bounds and settings, which is traced once."""
    return Kraft(**{**BEFORE, **ONCE, **chosen})


ELECTED = (
    "n1 stands for election",
    "n2 answers the vote request of n1@2",
    "n1 gets the vote of n2",
    "n1 leads",
    "n2 learns that n1 leads epoch 2",
)
FIRST_FETCH = ("n2 fetches from n1", "n1 answers n2's fetch of epoch 2 from 0@0", "n2 takes what it has fetched")


def server(walk: Walk, name: str) -> dict[str, Any]:
    return cast(dict[str, dict[str, Any]], walk.state["server"])[name]


def test_a_value_is_acknowledged_when_the_leader_hears_that_a_majority_has_it() -> None:
    walk = Walk(quorum(servers=2, restarts=1), *ELECTED, "client sends v1 to n1", *FIRST_FETCH)
    walk.take("n2 fetches from n1", "n1 answers n2's fetch of epoch 2 from 1@2", "n2 takes what it has fetched")
    assert walk.state["written"] == {"v1": "ASKED"}
    walk.take("n2 fetches from n1", "n1 answers n2's fetch of epoch 2 from 2@2")
    assert walk.state["written"] == {"v1": "ACKNOWLEDGED"}
    assert server(walk, "n2")["high_watermark"] == 1
    walk.take("n2 takes what it has fetched")
    assert server(walk, "n2")["high_watermark"] == 2


def test_a_server_votes_once_in_an_epoch_and_only_what_is_awaited_is_kept() -> None:
    walk = Walk(quorum(servers=3, elections=2, records=0), "n1 stands for election", "n2 stands for election")
    walk.take("n3 answers the vote request of n1@2", "n3 answers the vote request of n2@2")
    assert server(walk, "n3")["voted_for"] == "n1"
    answers = cast(dict[str, dict[str, Any]], walk.state["vote_responses"])
    assert answers["n1"]["n3"] == {"result": "GRANTED", "epoch": 2, "leader": None}
    assert answers["n2"]["n3"] is None, "it would tell the candidate nothing"


def test_a_candidate_that_begins_another_epoch_ignores_the_answer_to_its_former_request() -> None:
    walk = Walk(quorum(servers=2, elections=3))
    walk.take("n1 stands for election", "n2 stands for election", "n1 stands for election")
    assert "n1 is refused the vote of n2" not in walk.take("n2 answers the vote request of n1@2").enabled


def test_a_leader_that_restarts_has_resigned() -> None:
    walk = Walk(quorum(servers=2, restarts=1), *ELECTED, "n1 restarts")
    assert (server(walk, "n1")["state"], server(walk, "n1")["leader"]) == ("RESIGNED", "n1")


def test_what_is_not_flushed_may_be_lost() -> None:
    steps = (*ELECTED, "client sends v1 to n1")
    flushed, lossy = (
        Walk(quorum(servers=2, elections=2, restarts=1, **defect), *steps) for defect in ({}, {"defect": "Q-4"})
    )
    assert {label for label in flushed.enabled if "n1 restarts" in label} == {"n1 restarts"}
    assert {"n1 restarts with 0 records", "n1 restarts with 2 records"} <= lossy.enabled


def test_a_trace_shows_who_is_what_and_what_is_committed() -> None:
    walk = Walk(quorum(servers=2, restarts=1), *ELECTED, "client sends v1 to n1", *FIRST_FETCH)
    assert (walk.cells["n1"], walk.cells["n2"], walk.cells["clients"]) == ("L2 [| *@2 v1@2]", "F2 [| *@2]", "v1 asked")


N2_LEADS_AFTER_N1 = (
    *ELECTED,
    *FIRST_FETCH,
    "n2 fetches from n1",
    "n1 answers n2's fetch of epoch 2 from 1@2",
    "n2 takes what it has fetched",
    "n2 stands for election",
    "n3 answers the vote request of n2@3",
    "n2 gets the vote of n3",
    "n2 leads",
)


def test_a_new_leader_knows_no_high_watermark_and_that_of_a_follower_does_not_fall() -> None:
    walk = Walk(quorum(servers=3, elections=2), *N2_LEADS_AFTER_N1)
    assert (server(walk, "n1")["high_watermark"], server(walk, "n2")["high_watermark"]) == (1, 0)
    walk.take("n1 learns that n2 leads epoch 3", "n1 fetches from n2", "n2 answers n1's fetch of epoch 3 from 1@2")
    assert server(walk.take("n1 takes what it has fetched"), "n1")["high_watermark"] == 1


def test_a_fix_needs_a_defect_and_a_voter_must_be_there() -> None:
    with pytest.raises(UserError, match="fixed=on needs a defect to fix"):
        Kraft(fixed="on")
    with pytest.raises(UserError, match="spare_servers 2 is too many: one of the 2 servers must be a voter"):
        Kraft(servers=2, spare_servers=2)


SPACES: list[tuple[dict[str, int | str], int, int]] = [
    ({}, 11_301, 36),
    ({"restarts": 0}, 2_305, 29),
    ({"restarts": 0, "resignations": 1}, 12_356, 36),
    ({"restarts": 0, **BEFORE}, 531, 27),
    (BEFORE, 2_556, 28),
    ({"servers": 3, **ONCE, **BEFORE}, 4_996, 29),
    ({"removals": 1, **ONCE}, 366, 18),
    ({"spare_servers": 1, "additions": 1, **ONCE, **BEFORE}, 314, 30),
    ({"records": 0, "removals": 1, **BEFORE}, 4_237, 32),
]
"""Bounds, and states and levels: those of the models of before, but for what these kept that nobody reads."""


@pytest.mark.slow_for("{'servers': 3...")
@pytest.mark.parametrize(("chosen", "states", "depth"), SPACES, ids=str)
def test_as_many_states_as_there_were(chosen: dict[str, int | str], states: int, depth: int) -> None:
    found = check(Kraft(**chosen), symmetry=False)
    assert (found.verdict, found.distinct_states, found.depth) == ("holds", states, depth)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_three_servers_with_pre_votes_by_symmetry() -> None:
    found = check(Kraft(servers=3, **ONCE), properties=["type_ok"])
    assert (found.distinct_states, found.transitions, found.depth) == (4_160_327, 28_207_821, 45)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", list(QUORUM_DEFECTS))
def test_an_entry_of_the_catalogue_is_found_and_its_fix_holds(name: str) -> None:
    entry = QUORUM_DEFECTS[name]
    broken, fixed = search_defect(entry), search_defect(entry, entry.fixed_witness)
    assert [trace.length for trace in broken.traces] == [entry.length]
    assert (broken.verdict, fixed.verdict) == ("violated", "holds")


def test_an_entry_names_settings_and_a_property_that_exist() -> None:
    for entry in QUORUM_DEFECTS.values():
        kind = find_model(entry.model)
        assert kind(**entry.witness).identity != kind(**entry.fixed_witness).identity
        assert entry.breaks in invariants_of(kind(servers=2))


class CommitsNothing(Fetching):
    """A leader that commits nothing."""

    def commit(self, s: KraftState, i: Voter, within: object = None) -> None: ...


class Forgetful(Kraft):
    """Whose leaders commit nothing."""

    fetching = part(CommitsNothing)


@pytest.mark.parametrize("chosen", [{}, BEFORE], ids=["with pre-votes", "before pre-votes"])
def test_what_a_leader_has_written_is_acknowledged_in_the_end(chosen: dict[str, int | str]) -> None:
    names = ["written_values_are_acknowledged"]
    kinds = (Kraft, Forgetful)
    good, broken = (liveness(kind(**ONCE, **chosen), properties=names) for kind in kinds)
    assert (good.verdict, broken.verdict) == ("holds", "violated")


ELECTED_AGAIN = ["a_leader_is_elected_again"]


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param({"restarts": 0}, id="two"),
        pytest.param({"restarts": 0, **BEFORE}, id="two before pre-votes"),
        pytest.param(BEFORE, id="one restarts"),
        pytest.param({"records": 0, "removals": 1, **ONCE}, id="one is removed"),
        pytest.param({"records": 0, "spare_servers": 1, "additions": 1, **ONCE}, id="one is added"),
        pytest.param({}, id="one restarts with pre-votes", marks=pytest.mark.slow),
    ],
)
def test_a_leader_is_elected_again_unless_its_time_is_over_first(chosen: dict[str, int | str]) -> None:
    assert liveness(Kraft(**chosen), properties=ELECTED_AGAIN).verdict == "holds"


def test_nobody_is_elected_where_votes_are_put_off_for_ever() -> None:
    model = Kraft(restarts=0, **BEFORE)
    late = Fairness(weak=("handle_vote_request(i, candidate, epoch)", "become_leader(i)"))
    assert liveness(model, properties=ELECTED_AGAIN, fairness=late).verdict == "violated"
