"""What servers of the quorum do about elections since KIP-996, step by step."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import pytest

from insync.explorer import Limits, check, liveness
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.kafka.quorum.elections import Ballot
from insync.kafka.quorum.kraft_996 import Kraft996
from insync.kafka.quorum.kraft_996_published import Kraft996Published
from insync.kafka.quorum.voter import Voter
from insync.model import RecordView
from insync_walk import Walk

quorum = cache(Kraft996)
"""The quorum under these bounds and settings, which is traced once."""

BACK = "n3 waits for no answer to its fetch any more"
"""What a server does that was cut off and is back."""


LEGAL = ["no_illegal_state", "states_are_consistent"]


def server(walk: Walk, name: str) -> dict[str, Any]:
    return cast(dict[str, dict[str, Any]], walk.state["server"])[name]


def test_who_asks_in_vain_follows_its_leader_again() -> None:
    walk = Walk(quorum(records=0, epochs=2, restarts=0), "n2 waits for no answer to its fetch any more")
    assert walk.cells["n2"].startswith("P1")
    walk.take("n1 tells n2@1 whether it would vote for it", "n2 hears of n1 no pre-vote, epoch 1, n1 leads")
    walk.take("n2 does not stand for election")
    assert (server(walk, "n2")["state"], server(walk, "n2")["leader"]) == ("FOLLOWER", "n1")
    assert server(walk, "n1")["state"] == "LEADER"


def test_only_a_follower_waits_for_answers_to_fetches() -> None:
    walk = Walk(quorum(records=0, epochs=2, restarts=0))
    timeouts = {label for label in walk.enabled if label.endswith("waits for no answer to its fetch any more")}
    assert timeouts == {"n2 waits for no answer to its fetch any more"}, "n1 leads"
    assert not walk.take(*timeouts).enabled & timeouts, "n2 asks for pre-votes now"


def test_no_server_comes_to_an_illegal_state_soon() -> None:
    found = check_by_evaluator(quorum(records=0, epochs=2, restarts=0), limits=Limits(states=250), properties=LEGAL)
    assert (found.verdict, found.stopped_by) == ("incomplete", "states")


def test_who_may_hope_stands_for_election_and_begins_an_epoch() -> None:
    walk = Walk(quorum(records=0, epochs=2, restarts=0), "n1 resigns", "n2 fetches from n1")
    walk.take("n1 answers n2's fetch from 1@1, epoch 1", "n2 hears of n1 that n1 leads, epoch 1, HW 1")
    walk.take("n2 waits for no answer to its fetch any more", "n1 tells n2@1 whether it would vote for it")
    walk.take("n2 gets the pre-vote of n1 for epoch 1, who knows that n1 leads", "n2 stands for election")
    assert (server(walk, "n2")["state"], server(walk, "n2")["epoch"]) == ("CANDIDATE", 2)
    walk.take("n1 answers the vote request of n2@2", "n2 gets the vote of n1 for epoch 2", "n2 leads")
    assert walk.cells["n2"] == "L2 [*@1 | *@2]"


@pytest.mark.slow
def test_with_pre_votes_who_was_cut_off_deposes_nobody() -> None:
    walk = Walk(quorum(servers=3, records=0), BACK)
    walk.take("n1 tells n3@1 whether it would vote for it", "n2 tells n3@1 whether it would vote for it")
    walk.take("n3 hears of n1 no pre-vote, epoch 1, n1 leads", "n3 hears of n2 no pre-vote, epoch 1, n1 leads")
    assert "n3 stands for election" not in walk.enabled
    walk.take("n3 does not stand for election")
    assert [walk.cells[name][:2] for name in ("n1", "n2", "n3")] == ["L1", "F1", "F1"]


@pytest.mark.slow
def test_without_them_it_deposes_a_working_leader() -> None:
    walk = Walk(quorum(servers=3, records=0, pre_votes="off"), BACK, "n1 answers the vote request of n3@2")
    assert [walk.cells[name][:2] for name in ("n1", "n2", "n3")] == ["U2", "F1", "C2"]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("pre_votes", "lengths"), [("on", []), ("off", [2])])
def test_pre_votes_are_what_keeps_a_working_leader(pre_votes: str, lengths: list[int]) -> None:
    """With them there are more states than are searched here."""
    model = Kraft996(servers=3, records=0, answers="awaited", pre_votes=pre_votes)
    found = check(model, properties=["working_leader_is_not_deposed"], limits=Limits(states=100_000))
    assert [one.trace_length for one in found.violations] == lengths


@pytest.mark.slow
def test_answers_that_nobody_awaits_are_dropped() -> None:
    every, awaited = (check(Kraft996(answers=answers)) for answers in ("all", "awaited"))
    assert (every.verdict, awaited.verdict) == ("holds", "holds")
    assert awaited.distinct_states < every.distinct_states


def test_as_published_the_record_of_the_first_voters_is_committed_at_first() -> None:
    published = Kraft996Published(records=0)
    state = published.decode(published.program.initials[0])
    assert {one["config_committed"] for one in cast(dict[str, dict[str, Any]], state["server"]).values()} == {True}


class Deaf(Kraft996):
    """Whose candidates count no votes, only pre-votes."""

    def count_vote(self, me: RecordView, i: Voter, voter: Voter, ballot: Ballot, *, pre_vote: bool) -> None:
        if pre_vote:
            super().count_vote(me, i, voter, ballot, pre_vote=True)


@pytest.mark.slow
@pytest.mark.parametrize("pre_votes", ["on", "off"])
def test_a_leader_is_elected_again_unless_votes_count_for_nothing(pre_votes: str) -> None:
    good, broken = (
        liveness(kind(records=0, answers="awaited", pre_votes=pre_votes), properties=["a_leader_is_elected_again"])
        for kind in (Kraft996, Deaf)
    )
    assert (good.verdict, broken.verdict) == ("holds", "violated")
