"""What servers of the quorum do where voters come and go, step by step."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import pytest

from insync.conformance.quorum.beside_kafka import MEMBERS_AS_KAFKA
from insync.explorer import Limits, check, liveness
from insync.kafka.defects import QUORUM_DEFECTS
from insync.kafka.published.quorum.elections import Ballot
from insync.kafka.published.quorum.voter import Voter
from insync.kafka.quorum.kraft_853 import Kraft853
from insync.model import RecordView, UserError
from insync.model.evaluator import evaluate
from insync.properties.registry import judge
from insync_walk import Walk

quorum = cache(Kraft853)
"""The quorum under these bounds, which is traced once."""

TWO = {"servers": 2, "records": 0}
JOINING = (
    "n2 is started with the voters that n1 knows",
    "n1 adds n2 to the voters",
    "n2 hears that n1 leads epoch 1",
    "n2 fetches from n1",
    "n1 answers the fetch of n2, which has nothing yet, epoch 1",
    "n2 receives the first record of epoch 1 from LEADER n1, HW 1",
    "n2 fetches from n1",
    "n1 answers the fetch of OBSERVER n2 from 1@1, epoch 1",
    "n2 receives from LEADER n1 that n2 is added @1, HW 1",
)


def server(walk: Walk, name: str) -> dict[str, Any]:
    return cast(dict[str, dict[str, Any]], walk.state["server"])[name]


def test_who_is_added_is_a_voter_once_its_log_says_so_and_the_change_is_committed_when_it_has_it() -> None:
    walk = Walk(quorum(**TWO), *JOINING[:2])
    assert (server(walk, "n1")["members"], server(walk, "n2")["members"]) == (["n1", "n2"], ["n1"])
    assert walk.cells["n1"] == "L1 [*@1 | +n2@1]"
    walk.take(*JOINING[2:8])
    assert server(walk, "n2")["role"] == "OBSERVER"
    assert walk.cells["n2"] == "F1 o [*@1 |]"
    walk.take(*JOINING[8:])
    assert (server(walk, "n2")["role"], server(walk, "n2")["members"]) == ("VOTER", ["n1", "n2"])
    assert [server(walk, name)["committed"] for name in ("n1", "n2")] == [False, False]
    walk.take(
        "n2 fetches from n1",
        "n1 answers the fetch of VOTER n2 from 2@1, epoch 1",
        "n2 receives nothing new from LEADER n1, HW 2",
    )
    assert [server(walk, name)["committed"] for name in ("n1", "n2")] == [True, True]


def test_one_change_is_made_at_a_time() -> None:
    walk = Walk(quorum(servers=2, records=0, removals=1, additions=1), *JOINING)
    assert not any("removes" in label for label in walk.enabled)
    walk.take("n2 fetches from n1", "n1 answers the fetch of VOTER n2 from 2@1, epoch 1")
    assert {"n1 removes n1 from the voters", "n1 removes n2 from the voters"} <= walk.enabled


def test_a_leader_that_removes_itself_leads_as_an_observer_until_that_is_committed() -> None:
    walk = Walk(quorum(servers=2, spares=0, records=0, additions=0, removals=1), "n1 removes n1 from the voters")
    assert walk.cells["n1"] == "L1 o [*@1 | -n1@1]"
    walk.take("n2 fetches from n1", "n1 answers the fetch of VOTER n2 from 1@1, epoch 1")
    walk.take("n2 receives from LEADER n1 that n1 is removed @1, HW 1")
    assert server(walk, "n2")["members"] == ["n2"]
    walk.take("n2 fetches from n1", "n1 answers the fetch of VOTER n2 from 2@1, epoch 1")
    assert (server(walk, "n1")["state"], server(walk, "n1")["role"]) == ("UNATTACHED", "OBSERVER")
    assert server(walk, "n1")["leader"] is None


def test_who_has_lost_its_disk_is_nobody_any_more() -> None:
    walk = Walk(quorum(servers=3, spares=0, records=0, additions=0, crashes=1), "n2 fetches from n1")
    walk.take("n2 loses its disk for good")
    assert walk.cells["n2"] == "D [|]"
    assert not any("n2" in label for label in walk.enabled)


AS_KAFKA: dict[str, int | str] = {**MEMBERS_AS_KAFKA}
REMOVING: dict[str, int | str] = {
    "servers": 2,
    "spares": 0,
    "records": 1,
    "additions": 0,
    "removals": 1,
    "restarts": 1,
    **AS_KAFKA,
}


def test_as_kafka_a_leader_that_removed_itself_has_resigned_once_that_is_committed() -> None:
    walk = Walk(quorum(**REMOVING), "n1 removes n1 from the voters")
    assert walk.cells["n1"] == "L1 o [*@1 | -n1@1]"
    walk.take("n2 fetches from n1", "n1 answers the fetch of VOTER n2 from 1@1, epoch 1")
    walk.take("n2 receives from LEADER n1 that n1 is removed @1, HW 1")
    walk.take("n2 fetches from n1", "n1 answers the fetch of VOTER n2 from 2@1, epoch 1")
    assert (server(walk, "n1")["state"], server(walk, "n1")["leader"]) == ("RESIGNED", "n1")
    walk.take("n2 receives nothing new from LEADER n1, HW 2")
    assert server(walk, "n2")["high_watermark"] == 2


def test_as_kafka_a_leader_that_removed_itself_restarts_as_resigned_with_its_vote() -> None:
    walk = Walk(quorum(**{**REMOVING, "epochs": 2}), "n2 stands for election", "n1 answers the vote request of n2@2")
    walk.take("n2 gets the vote of n1 for epoch 2", "n2 leads", "n1 hears that n2 leads epoch 2", "n1 fetches from n2")
    walk.take("n2 answers the fetch of VOTER n1 from 1@1, epoch 2")
    walk.take("n1 receives the first record of epoch 2 from LEADER n2, HW 0", "n1 fetches from n2")
    walk.take("n2 answers the fetch of VOTER n1 from 2@2, epoch 2", "n2 removes n2 from the voters", "n2 restarts")
    me = server(walk, "n2")
    assert (me["state"], me["role"], me["voted_for"]) == ("RESIGNED", "OBSERVER", "n2")


def test_as_kafka_the_only_voter_that_is_left_commits_by_itself() -> None:
    walk = Walk(quorum(**REMOVING), "n1 removes n2 from the voters")
    assert (server(walk, "n1")["high_watermark"], server(walk, "n1")["committed"]) == (2, True)
    walk.take("client sends v1 to n1")
    assert walk.state["written"] == {"v1": "ACKNOWLEDGED"}
    walk.take("n2 fetches from n1", "n1 answers the fetch of VOTER n2 from 1@1, epoch 1")
    walk.take("n2 receives from LEADER n1 that n2 is removed @1, HW 2")
    assert (server(walk, "n2")["role"], server(walk, "n2")["high_watermark"]) == ("OBSERVER", 2)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_as_kafka_a_voter_that_is_removed_loses_nothing() -> None:
    found = check(Kraft853(**{**REMOVING, "epochs": 2}), limits=Limits(states=3_000_000))
    assert not found.violations


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("removals", "records", "counts"),
    [(0, 0, [2_059, 6_772, 28]), (1, 0, [25_565, 84_836, 38]), (1, 1, [179_225, 599_242, 45])],
)
def test_as_kafka_three_servers_of_which_one_is_added(removals: int, records: int, counts: list[int]) -> None:
    found = check(Kraft853(servers=3, records=records, additions=1, removals=removals, **AS_KAFKA))
    assert found.verdict == "holds"
    assert [found.distinct_states, found.transitions, found.depth] == counts


@pytest.mark.slow
def test_a_late_vote_request_takes_a_server_back_to_an_earlier_epoch() -> None:
    """As published: the module compares the epochs for the answer alone."""
    model = Kraft853(servers=3, spares=0, records=0, epochs=3, additions=0)
    found = check(model, properties=["epochs_grow"], limits=Limits(seconds=100))
    assert [one.trace_length for one in found.violations] == [7]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_voter_that_is_added_and_one_that_is_removed_lose_nothing() -> None:
    found = check(Kraft853(servers=2, records=1, additions=1, removals=1), limits=Limits(states=3_000_000))
    assert not found.violations


def test_there_must_be_a_first_voter() -> None:
    with pytest.raises(UserError, match="spares 2 is too many: one of the 2 servers must be a voter"):
        Kraft853(servers=2, spares=2)


class Deaf(Kraft853):
    """Whose candidates count no votes."""

    def count_vote(self, me: RecordView, i: Voter, voter: Voter, ballot: Ballot) -> None: ...


@pytest.mark.parametrize(
    ("bounds", "states"),
    [
        pytest.param({"spares": 0, "additions": 0, "removals": 1}, 895, id="one is removed"),
        pytest.param({"additions": 1}, 1_078, id="one is added"),
        pytest.param({"spares": 0, "additions": 0, "restarts": 1}, 698, id="one restarts"),
        pytest.param({"servers": 3, "spares": 0, "additions": 0}, 184_965, id="three", marks=pytest.mark.slow),
        pytest.param(
            {"servers": 3, "spares": 0, "additions": 0, "removals": 1},
            1_856_948,
            id="one of three is removed",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_leader_is_elected_again_among_voters_that_come_and_go(bounds: dict[str, int], states: int) -> None:
    model = Kraft853(**{**AS_KAFKA, "records": 0, "epochs": 2, **bounds})
    found = liveness(model, properties=["a_leader_is_elected_again"])
    assert (found.verdict, found.distinct_states) == ("holds", states)


def test_a_voter_that_is_removed_and_added_again_is_noticed() -> None:
    entry = QUORUM_DEFECTS["Q-19"]
    came_back = Kraft853(**entry.witness)
    removed = "n1 removes n2 from the voters"
    holds = judge(came_back, [entry.breaks]).conditions[entry.breaks]
    assert evaluate(holds, Walk(came_back, removed).codes)
    assert not evaluate(holds, Walk(came_back, removed, "n1 adds n2 to the voters").codes)


def test_as_published_a_single_voter_that_is_left_never_leads() -> None:
    model = Kraft853(spares=0, additions=0, removals=1, records=0, epochs=2, answers="awaited")
    (found,) = liveness(model, properties=["a_leader_is_elected_again"]).properties
    assert found.trace is not None
    assert [step.label for step in found.trace.steps[1:]] == [
        "n1 removes n2 from the voters",
        "n1 resigns",
        "n1 stands for election",
    ]


@pytest.mark.slow
def test_a_leader_is_elected_again_unless_votes_count_for_nothing() -> None:
    good, broken = (
        liveness(
            kind(spares=0, additions=0, records=0, epochs=2, answers="awaited"),
            properties=["a_leader_is_elected_again"],
        )
        for kind in (Kraft853, Deaf)
    )
    assert (good.verdict, broken.verdict) == ("holds", "violated")


def test_with_pre_votes_nobody_is_elected_where_votes_count_for_nothing() -> None:
    two: dict[str, int | str] = {"servers": 2, "spares": 0, "records": 0, "additions": 0, "epochs": 2}
    deaf = Deaf(**two, **AS_KAFKA, pre_votes="on")
    assert liveness(deaf, properties=["a_leader_is_elected_again"]).verdict == "violated"
