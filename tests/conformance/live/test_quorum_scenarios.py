"""What an operator and the network do to three controllers: one ends by it, and with a patch none does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest

from insync.conformance.jars.distribution import distribution_jars
from insync.conformance.live.live_quorum import LiveQuorum
from insync.conformance.live.nodes.controller_files import (
    ControllerPorts,
    ElectionOnDisk,
    QuorumPlan,
    election_on_disk,
    write_controller,
)
from insync.conformance.live.nodes.node_files import logging_files
from insync.conformance.live.scenarios import removed_candidate
from insync.conformance.live.scenarios.contested_election import LOSER, WINNER
from insync.conformance.live.scenarios.known import QUORUM_SCENARIOS, any_scenario, scenario_named
from insync.conformance.live.scenarios.quorum_scenario import QuorumOutcome, removed
from insync.conformance.patches.patched_jars import patched_kafka, read_patch
from insync.runtime.errors import UserError
from insync_classes import JarsOf

SAID = {
    "q-6": "java.lang.IllegalStateException: Received unexpected invalid request error",
    "q-7": "java.lang.IllegalArgumentException: Unexpected acknowledgement from non-voter",
    "q-17": "java.lang.IllegalArgumentException: Local replica (1,",
}
PATCHES = {"q-6": "q-6", "q-7": "q-7", "q-17": "q-6", "q-18": "q-6"}
PORTS = {1: ControllerPorts(20001, 20002), 2: ControllerPorts(20003, 20004)}


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", SAID)
def test_a_controller_ends(cluster_jars_of: JarsOf, name: str) -> None:
    scenario = QUORUM_SCENARIOS[name]
    with LiveQuorum(cluster_jars_of("4.3.1"), scenario.plan) as quorum:
        made = scenario.run(quorum, lambda said: None)
    assert made.code == 1
    assert made.said.startswith(SAID[name])
    assert made.led is (name != "q-7"), "without its leader, one voter of two elects nobody"


@pytest.mark.kafka
@pytest.mark.timeout(400)
def test_two_controllers_lead_one_epoch(cluster_jars_of: JarsOf) -> None:
    scenario = QUORUM_SCENARIOS["q-18"]
    with LiveQuorum(cluster_jars_of("4.3.1"), scenario.plan) as quorum:
        made = scenario.run(quorum, lambda said: None)
    assert (made.leaders, made.shown) == ((1, 2), ("controller 1", "controller 2"))


@pytest.mark.slow_but("q-7")
@pytest.mark.kafka
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", QUORUM_SCENARIOS)
def test_with_its_patch_none_does(cluster_jars_of: JarsOf, name: str) -> None:
    scenario, jars = QUORUM_SCENARIOS[name], cluster_jars_of("4.3.1")
    patched = patched_kafka(read_patch(PATCHES[name], jars.version), jars)
    with LiveQuorum(distribution_jars(patched.libs), scenario.plan) as quorum:
        made = scenario.run(quorum, lambda said: None)
    assert (made.code, made.led, made.leaders) == (None, True, ())


def test_a_scenario_of_controllers_is_found_in_any_case() -> None:
    assert any_scenario("Q-7", "3.9.2") is QUORUM_SCENARIOS["q-7"]
    assert any_scenario("n-01", "4.3.1").name == "n-01"


class Refusing:
    """A quorum whose leader refuses to remove a voter."""

    def remove_voter(self, leader: int, node: int) -> int:
        return 42


def test_a_leader_that_refuses_to_remove_a_voter_is_said() -> None:
    with pytest.raises(UserError, match=r"^Controller 1 refuses to remove 2, with error 42\."):
        removed(cast(LiveQuorum, Refusing()), leader=1, node=2)


class Ending:
    """A quorum in which a controller ends as often as it is started."""

    def __init__(self) -> None:
        self.started: list[int] = []

    def start(self, node: int) -> None:
        self.started.append(node)

    def kill(self, node: int) -> None:
        """It has been running."""

    def leader(self) -> int:
        return WINNER


@pytest.mark.parametrize(("code", "times"), [(1, 3), (None, 1)])
def test_a_removed_candidate_that_ends_is_started_again(
    monkeypatch: pytest.MonkeyPatch, code: int | None, times: int
) -> None:
    for name in ("contested_election", "removed", "wait_for_copy"):
        monkeypatch.setattr(removed_candidate, name, lambda *given: None)
    monkeypatch.setattr(removed_candidate, "ending", lambda quorum, node: (code, ""))
    quorum, told = Ending(), list[str]()
    made = removed_candidate.REMOVED_CANDIDATE.run(cast(LiveQuorum, quorum), told.append)
    assert (quorum.started, made.code) == ([LOSER] * times, code)
    then = "runs" if code is None else "has ended"
    assert told[1:] == [f"{LOSER} is started{again}, and {then}" for again in ("", " again", " again")[:times]]


def test_a_scenario_that_a_release_cannot_have_is_said() -> None:
    with pytest.raises(UserError, match=r"^q-6 is about pre-votes, which Kafka 3\.9\.2 has not got\."):
        any_scenario("q-6", "3.9.2")
    with pytest.raises(UserError, match=r"^q-6 runs controllers without brokers"):
        scenario_named("Q-6")


def test_what_shows_something_is_a_controller_that_has_ended() -> None:
    assert QuorumOutcome(2, 1, "", led=False).shown == ("controller 2",)
    assert QuorumOutcome(2, None, "", led=True).shown == ()
    assert QuorumOutcome(2, None, "", led=True, leaders=(1, 2)).shown == ("controller 1", "controller 2")


@pytest.mark.parametrize(
    ("dynamic", "known"),
    [
        (True, "controller.quorum.bootstrap.servers=127.0.0.1:20002,127.0.0.1:20004"),
        (False, "controller.quorum.voters=1@127.0.0.1:20002,2@127.0.0.1:20004"),
    ],
)
def test_controllers_know_one_another_by_what_stands_before_them(tmp_path: Path, dynamic: bool, known: str) -> None:
    plan = QuorumPlan(2, dynamic, {"a": "for all", "b": "for all"}, {2: {"b": "for one"}})
    for node in plan.numbers:
        write_controller(tmp_path, node, plan, PORTS)
    first, second = ((tmp_path / f"node-{node}.properties").read_text().splitlines() for node in plan.numbers)
    assert {known, "a=for all", "b=for all", "listeners=CONTROLLER://127.0.0.1:20001"} < set(first)
    assert {known, "a=for all", "b=for one", "advertised.listeners=CONTROLLER://127.0.0.1:20004"} < set(second)
    assert all("log-2" in file.read_text() for file in logging_files(tmp_path, 2))


def test_what_a_controller_has_written_down_of_elections(tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    told = {"leaderId": 2, "leaderEpoch": 3, "votedId": 1, "data_version": 1}
    (folder / "quorum-state").write_text(json.dumps(told))
    assert election_on_disk(tmp_path) == ElectionOnDisk(epoch=3, leader=2, voted=1)
