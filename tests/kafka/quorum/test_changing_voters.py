"""What servers do where voters come and go, and what becomes of who has stood and is started again."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

from insync.explorer import Limits, check
from insync.explorer.stepping.stepper import Stepper, claims_of
from insync.kafka.defects import QUORUM_DEFECTS
from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.pre_votes import PreVotes
from insync.kafka.quorum.restarts import Restarts
from insync.kafka.quorum.sorts import FIRST_EPOCH, Voter, VoterState
from insync.kafka.quorum.state import KraftState
from insync.model import Condition, Model, Or, StateView, action, invariant, part, require
from insync.model.evaluator import evaluate
from insync.properties.registry import judge
from insync_led_again import LED_AGAIN, LED_AGAIN_BOUNDS, PARTED, REMOVED, REMOVED_BOUNDS
from insync_walk import Walk

PAGE = Path(__file__).parents[3] / "docs" / "findings" / "Q-18.md"
ONCE: dict[str, int | str] = {"elections": 1, "restarts": 0}
"""One election, and nobody restarts."""


@cache
def two(**more: int | str) -> Kraft:
    """Two voters, traced once."""
    return Kraft(**{**ONCE, "records": 0, "removals": 1, "resignations": 1, **more})


@cache
def three(*bounds: tuple[str, int | str]) -> Model:
    """Three voters, traced once."""
    return Kraft(**{"resignations": 1, **dict(bounds)})


def server(walk: Walk, name: str) -> dict[str, Any]:
    return cast(dict[str, dict[str, Any]], walk.state["server"])[name]


def broken(walk: Walk, name: str) -> bool:
    (claim,) = claims_of(walk.model, [name])
    return not Stepper(walk.model).holds(claim, walk.codes)


ADDED = ("n2 is started", "n2 fetches from n1", "n1 answers n2's fetch of epoch 0 from 0@0")


def test_who_is_added_is_a_voter_once_its_log_says_so() -> None:
    walk = Walk(Kraft(**ONCE, spare_servers=1, records=0, additions=1), *ADDED)
    assert walk.cells["n2"] == "U0 o [|]"
    walk.take("n2 gets an error in response to its fetch", "n2 fetches from n1", "n1 adds n2 to the voters")
    assert (server(walk, "n1")["members"], server(walk, "n2")["members"]) == (["n1", "n2"], ["n1"])
    walk.take("n1 answers n2's fetch of epoch 1 from 0@0", "n2 takes what it has fetched", "n2 fetches from n1")
    walk.take("n1 answers n2's fetch of epoch 1 from 1@1", "n2 takes what it has fetched")
    assert (walk.cells["n2"], server(walk, "n2")["members"]) == ("F1 [*@1 | +n2@1]", ["n1", "n2"])


HEARD_LATE = (
    "n3 stands for election",
    "n2 answers the vote request of n3@2",
    "n3 gets the vote of n2",
    "n3 leads",
    "n1 learns that n3 leads epoch 2",
    "n1 fetches from n3",
    "n3 answers n1's fetch of epoch 2 from 1@1",
    "n1 takes what it has fetched",
    "n1 fetches from n3",
    "n3 answers n1's fetch of epoch 2 from 2@2",
    "n3 removes n2 from the voters",
)
"""Steps after which BeginQuorumEpoch is on its way to a voter that was removed."""


@pytest.mark.parametrize(("fixed", "cell"), [("off", "X0"), ("on", "L2")])
def test_a_leader_throws_when_a_removed_voter_answers_unless_that_is_mended(fixed: str, cell: str) -> None:
    walk = Walk(Kraft(**{**QUORUM_DEFECTS["Q-7"].bounds, "defect": "Q-7", "fixed": fixed}), *HEARD_LATE)
    walk.take("n2 learns that n3 leads epoch 2")
    assert walk.cells["n3"].startswith(f"{cell} ")
    assert broken(walk, "no_illegal_state") is (fixed == "off")


def test_a_request_of_an_epoch_that_is_over_is_dropped_so_its_answer_has_an_error() -> None:
    walk = Walk(Kraft(**{**QUORUM_DEFECTS["Q-7"].bounds, "elections": 2, "defect": "Q-7"}), *HEARD_LATE)
    assert "n2 learns that n3 leads epoch 2" in walk.enabled
    walk.take("n2 stands for election")
    assert "n2 learns that n3 leads epoch 2" not in walk.enabled


def test_a_leader_that_removes_itself_resigns_once_that_is_committed() -> None:
    walk = Walk(two(), "n1 removes n1 from the voters")
    assert walk.cells["n1"] == "L1 o [*@1 | -n1@1]"
    walk.take("n2 fetches from n1", "n1 answers n2's fetch of epoch 1 from 1@1", "n2 takes what it has fetched")
    walk.take("n2 fetches from n1", "n1 answers n2's fetch of epoch 1 from 2@1")
    assert (server(walk, "n1")["state"], server(walk, "n1")["leader"]) == ("RESIGNED", "n1")


def test_the_first_leader_says_that_it_has_resigned_also_to_a_voter_that_does_not_know_it() -> None:
    walk = Walk(two(servers=3, spare_servers=1, additions=1, removals=0), "n3 is started", "n3 fetches from n1")
    walk.take("n1 adds n3 to the voters", "n1 resigns", "n3 learns that n1 has resigned, which led epoch 1")
    assert walk.cells["n3"] == "F1 o [|]"


def test_the_only_voter_commits_by_itself_and_stands_at_once_also_when_it_is_started_again() -> None:
    walk = Walk(two(restarts=1), "n1 removes n2 from the voters")
    assert server(walk, "n1")["high_watermark"] == 2
    walk.take("n1 resigns", "n1 restarts")
    assert (server(walk, "n1")["state"], server(walk, "n1")["epoch"]) == ("CANDIDATE", 2)
    assert server(walk.take("n1 leads"), "n1")["high_watermark"] == 3


def test_who_has_lost_its_disk_is_nobody_any_more() -> None:
    walk = Walk(two(removals=0, lost_disks=1), "n2 fetches from n1", "n2 loses its disk for good")
    assert walk.cells["n2"] == "off [|]"
    assert not {label for label in walk.enabled if label.startswith("n2")}


def test_a_voter_that_is_removed_and_added_again_is_noticed() -> None:
    entry = QUORUM_DEFECTS["Q-19"]
    came_back = Kraft(**entry.witness)
    removed = "n1 removes n2 from the voters"
    holds = judge(came_back, [entry.breaks]).conditions[entry.breaks]
    assert evaluate(holds, Walk(came_back, removed).codes)
    assert not evaluate(holds, Walk(came_back, removed, "n1 adds n2 to the voters").codes)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("bounds", [{"servers": 2, "spare_servers": 1, "additions": 1}, {"servers": 3}])
def test_all_holds_where_a_server_comes_and_one_of_three_goes(bounds: dict[str, int | str]) -> None:
    assert check(Kraft(**ONCE, records=0, removals=1, **bounds)).verdict == "holds"


def test_who_has_stood_and_is_no_voter_any_more_throws_when_it_is_started_again() -> None:
    walk = Walk(three(*REMOVED_BOUNDS.items()), *REMOVED)
    assert server(walk, "n2")["state"] == "ILLEGAL"
    assert broken(walk, "no_illegal_state")
    _, _, section = PAGE.read_text(encoding="utf-8").partition("\n### Q-17: ")
    assert tuple(re.findall(r"^ *[1-9]\d*  (n\d .*?)(?:  .*)?$", section, re.MULTILINE)) == REMOVED
    assert f"  {walk.cells['n2']}\n" in section


@pytest.mark.slow
def test_who_has_stood_and_is_the_only_voter_leads_the_epoch_of_another_one() -> None:
    walk = Walk(three(*LED_AGAIN_BOUNDS.items()), *LED_AGAIN)
    leads = [(server(walk, name)["state"], server(walk, name)["epoch"]) for name in ("n2", "n3")]
    assert leads == [("LEADER", 2), ("LEADER", 2)]
    assert broken(walk, "never_two_leaders_in_an_epoch")


@pytest.mark.slow
def test_a_server_has_another_committed_record_then_and_nothing_parts_their_logs() -> None:
    walk = Walk(three(*LED_AGAIN_BOUNDS.items()), *PARTED)
    logs = "*@1 *@2 -n1@2 -n3@2 v1@2 v2@2 *@3", "*@1 *@2 -n1@2 -n3@2 *@2 v3@2 *@3"
    assert (walk.cells["n1"], walk.cells["n2"]) == (f"F3 o [{logs[0]} |]", f"L3 [{logs[1]} |]")
    assert all(f"`{log}`" in PAGE.read_text(encoding="utf-8") for log in logs)
    assert walk.state["written"] == {"v1": "ASKED", "v2": "ASKED", "v3": "ACKNOWLEDGED"}
    assert broken(walk, "no_log_divergence")


class TwoAsk(PreVotes):
    """Where the last two servers request pre-votes, in the first epoch alone, and wait for the responses."""

    pre_vote_timeout = None  # type: ignore[assignment]  # a step that it has not got

    @action(label="{i} requests pre-votes")
    def request_pre_votes(self, s: KraftState, i: Voter) -> None:
        require(i != 0, s.server[i].epoch == FIRST_EPOCH)
        super().request_pre_votes(s, i)


class OneRestarts(Restarts):
    """Where the second server restarts."""

    @action(label="{i} restarts")
    def restart(self, s: KraftState, i: Voter) -> None:
        require(i == 1)
        super().restart(s, i)


class Contested(Kraft):
    """Two stand in one epoch, and one of them is started again, so that the space can be searched."""

    name = "contested"
    pre_votes, restarts = part(TwoAsk), part(OneRestarts)

    @invariant
    def removed_voters_can_be_started(self, s: StateView, server: Voter) -> Condition:
        """No server has thrown that is no voter any more."""
        me = s.server[server]
        return Or(me.state != VoterState.ILLEGAL, me.members.contains(server))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("removals", "name", "length"),
    [(1, "removed_voters_can_be_started", 22), (2, "never_two_leaders_in_an_epoch", 30)],
    ids=["Q-17", "Q-18"],
)
def test_what_becomes_of_who_has_stood_is_found_by_search(removals: int, name: str, length: int) -> None:
    bounds: dict[str, int | str] = {"servers": 3, "records": 0, "removals": removals}
    (found,) = check(Contested(**bounds), properties=[name]).violations
    assert found.trace_length == length
    fixed = Contested(**bounds, defect="Q-18", fixed="on")
    assert check(fixed, properties=[name], limits=Limits(depth=length)).violations == ()


@pytest.mark.slow
@pytest.mark.parametrize(("course", "bounds"), [(REMOVED, REMOVED_BOUNDS), (LED_AGAIN, LED_AGAIN_BOUNDS)])
def test_with_the_fix_it_follows_or_begins_another_epoch(course: tuple[str, ...], bounds: dict[str, int | str]) -> None:
    restart = course.index("n2 restarts")
    walk = Walk(three(*bounds.items(), ("defect", "Q-18"), ("fixed", "on")), *course[: restart + 1])
    its = server(walk, "n2")
    alone = its["members"] == ["n2"]
    assert (its["state"], its["epoch"]) == (("CANDIDATE", 3) if alone else ("FOLLOWER", 2))
    assert not broken(walk, "no_illegal_state")
