"""A quorum of controllers: what brokers hear, what is lost with a controller, and that nothing else comes of it."""

from __future__ import annotations

import inspect

import pytest

from insync.explorer import check
from insync.explorer.liveness import liveness
from insync.kafka.cluster.controller.quorum_controller import QuorumController
from insync.kafka.cluster.controller.single_controller import SingleController
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.defects import DEFECTS
from insync.kafka.replica import Replica
from insync.model import And, If, Not, Or, action, require
from insync.properties.kafka import cluster
from insync_inclusion import inclusion
from insync_walk import Walk, shared_cluster

SMALL: dict[str, int | str] = {
    "replicas": 2,
    "records": 1,
    "min_insync_replicas": 1,
    "power_failures": 0,
    "fencings": 1,
    "isr_shrinks": 1,
    "metadata_lag": 1,
}
FAILS: dict[str, int | str] = {"controller_failovers": 1}
COMMITTED, LOSES, NEXT = (
    "controllers commit what is decided",
    "the active controller loses its leadership",
    "another controller becomes active",
)
REFUSES = "stale controller refuses the ISR"


def pair(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**SMALL, **FAILS, **bounds}), *labels)


class Unheard(Cluster):
    """One controller that never fails, and brokers whose requests to it are lost, or refused for no reason."""

    name = "unheard"

    @action(label="the ISR is refused")
    def refuse_for_nothing(self, s: ClusterState) -> None:
        """Any proposal is refused. Kafka: ReplicationControlManager.validateAlterPartitionData."""
        require(self.replication_control.awaits_proposal(s))
        self.replication_control.answer_refusal(s)

    @action(label="{replica} asks to stop, and nobody hears")
    def ask_to_stop_unheard(self, s: ClusterState, replica: Replica) -> None:
        """A broker wants to stop, and the controller does not know. Kafka: BrokerLifecycleManager."""
        b = s.broker[replica]
        require(b.running, Not(b.in_controlled_shutdown), s.spent.controlled_shutdowns < self.b.controlled_shutdowns)
        s.spent.controlled_shutdowns += 1
        b.in_controlled_shutdown = True

    @action(label="{replica} asks to stop")
    def begin_stop(self, s: ClusterState, replica: Replica) -> None:
        """It asks once more. Kafka: ReplicationControlManager.handleBrokerInControlledShutdown."""
        b = s.broker[replica]
        unheard = And(b.in_controlled_shutdown, Not(s.controller.fenced.contains(replica)))
        require(
            b.running,
            Or(unheard, And(Not(b.in_controlled_shutdown), s.spent.controlled_shutdowns < self.b.controlled_shutdowns)),
        )
        s.spent.controlled_shutdowns += If(unheard, 0, 1)
        self.replication_control.leave_isr(s, replica)
        b.in_controlled_shutdown = True


# --------------------------------------------------------------------------------------------------------- the steps


def test_brokers_hear_of_a_decision_when_it_is_committed() -> None:
    walk = pair("controller fences b1")
    assert walk.cells["controller"] == "b2@1 ISR b2 fenced b1 not committed"
    assert "b2 applies metadata" not in walk.enabled
    walk.take(COMMITTED)
    assert walk.cells["controller"] == "b2@1 ISR b2 fenced b1"
    assert walk.take("b2 applies metadata").cells["b2"] == "L1 [|]"
    assert COMMITTED not in walk.enabled


def test_what_is_not_committed_is_lost_with_the_active_controller() -> None:
    before = pair().state
    walk = pair("controller fences b1", LOSES)
    assert walk.cells["controller"] == "b1@0 ISR b1 b2 no active one"
    assert walk.state["registrations"] == before["registrations"]
    assert walk.state["broker"] == before["broker"]
    assert walk.state["controller"] == before["controller"]
    assert walk.state["spent"]["fencings"] == 1, "a session has ended, whoever knows it"


def test_what_is_committed_is_not_lost() -> None:
    walk = pair("controller fences b1", COMMITTED, LOSES)
    assert walk.cells["controller"] == "b2@1 ISR b2 fenced b1 no active one"
    assert walk.cells["b2"] == "F0 [|] ~1"


def test_nobody_decides_while_no_controller_is_active_and_brokers_go_on() -> None:
    walk = pair("b1 drops b2 from the ISR", LOSES, crashes=1, fencings=0)
    assert not [label for label in walk.enabled if label.startswith("controller") or "registers" in label]
    walk.take("b1 appends a record", "b2 crashes, its log ends at 0")
    assert "b2 starts and registers" not in walk.enabled
    walk.take(NEXT)
    assert {"b2 starts and registers", "controller fences b2", "controller accepts the ISR"} <= walk.enabled
    assert LOSES not in walk.enabled, "once is what the budget says"


def test_a_request_whose_decision_is_lost_comes_again() -> None:
    accepted = ("b1 drops b2 from the ISR", "controller accepts the ISR")
    walk = pair(*accepted)
    assert "controller accepts the ISR" not in walk.enabled
    walk.take(LOSES, NEXT)
    assert walk.cells["b1"] == "L0 [|] -b2"
    assert "controller accepts the ISR" in walk.enabled
    assert "controller accepts the ISR" not in pair(*accepted, COMMITTED, LOSES, NEXT).enabled


def test_a_request_that_only_the_lost_decision_made_late_is_in_time_again() -> None:
    late = pair("controller fences b1", "b1 drops b2 from the ISR")
    assert "controller accepts the ISR" not in late.enabled
    assert "controller accepts the ISR" in pair("controller fences b1", "b1 drops b2 from the ISR", LOSES, NEXT).enabled
    assert "controller accepts the ISR" not in late.take(COMMITTED).enabled


def test_a_broker_runs_again_when_its_registration_is_committed() -> None:
    walk = pair("b2 crashes, its log ends at 0", "controller fences b1", crashes=1, metadata_lag=2)
    assert "not committed" in walk.cells["controller"]
    walk.take("b2 starts and registers")
    assert "not committed" not in walk.cells["controller"]
    kept = walk.cells["controller"]
    assert walk.take(LOSES).cells["controller"] == f"{kept} no active one"


def test_a_broker_that_stops_asks_the_next_controller_again() -> None:
    walk = pair("b2 asks to stop", LOSES, NEXT, controlled_shutdowns=1)
    assert walk.state["controller"]["fenced"] == []
    assert walk.take("b2 asks to stop").state["controller"]["fenced"] == ["b2"]
    assert walk.state["spent"]["controlled_shutdowns"] == 1


def test_who_has_asked_to_stop_in_vain_leaves_the_isr_when_it_registers() -> None:
    """Else it would be the leader, and fenced; its log has lost nothing, so where there is an ELR it is in that."""
    walk = pair("b1 asks to stop", "b1 stops cleanly", LOSES, NEXT, "b1 starts and registers", controlled_shutdowns=1)
    assert walk.cells["controller"] == "b2@1 ISR b2 fenced b1"


def test_a_reply_waits_for_the_commit() -> None:
    walk = pair("b1 drops b2 from the ISR", "controller accepts the ISR", late_alter_partition_responses="on")
    told = "b1 receives the AlterPartition response"
    assert told not in walk.enabled
    assert told in walk.take(COMMITTED).enabled


def test_a_refusal_waits_for_what_it_rests_on() -> None:
    asked = ("b1 drops b2 from the ISR", "controller accepts the ISR", COMMITTED, "b1 applies metadata")
    fenced = (*asked, "b2 fetches from b1", "b1 adds b2 to the ISR", "controller fences b2")
    walk = pair(*fenced)
    assert "controller refuses the ISR" not in walk.enabled
    assert "controller refuses the ISR" in walk.take(COMMITTED).enabled


def test_a_deposed_controller_refuses_what_the_next_one_would_accept() -> None:
    walk = pair("b1 drops b2 from the ISR")
    assert REFUSES not in walk.enabled
    walk.take(LOSES)
    assert REFUSES in walk.enabled
    assert walk.take(REFUSES).cells["b1"] == "L0 [|]"
    assert "controller accepts the ISR" not in walk.take(NEXT).enabled


# ------------------------------------------------------------------------------------------------- what comes of them


@pytest.mark.parametrize(
    ("bounds", "states", "depth"),
    [
        ({}, 2_227, 24),
        pytest.param({"metadata_lag": 2, "controller_failovers": 2}, 4_564, 22, marks=pytest.mark.slow),
        pytest.param({"crashes": 1, "metadata_lag": 2}, 37_512, 26, marks=pytest.mark.slow),
        pytest.param({"controlled_shutdowns": 1}, 32_298, 33, marks=pytest.mark.slow),
        pytest.param({"preferred_elections": 1}, 8_546, 29, marks=pytest.mark.slow),
        pytest.param({"lost_alter_partition_responses": 1, "crashes": 1}, 48_129, 30, marks=pytest.mark.slow),
        pytest.param({"delete_records": 1, "crashes": 1}, 64_511, 33, marks=pytest.mark.slow),
    ],
)
def test_all_that_holds_of_one_controller_holds_of_a_quorum(
    bounds: dict[str, int | str], states: int, depth: int
) -> None:
    model = Cluster(**{**SMALL, **FAILS, **bounds})
    result = check(model, properties=list(cluster.__all__))
    assert (result.verdict, result.distinct_states, result.depth) == ("holds", states, depth)


@pytest.mark.parametrize(
    "bounds",
    [
        {"fencings": 0, "preferred_elections": 1},
        pytest.param({}, marks=pytest.mark.slow),
        pytest.param({"fencings": 0, "controlled_shutdowns": 1}, marks=pytest.mark.slow),
        pytest.param({"fencings": 0, "config_changes": 1, "min_insync_replicas": 2}, marks=pytest.mark.slow),
        pytest.param({"metadata_lag": 2, "controller_failovers": 2}, marks=pytest.mark.slow),
        pytest.param({"metadata_lag": 2, "crashes": 1}, marks=pytest.mark.slow),
        pytest.param(
            {"metadata_lag": 2, "preferred_elections": 1, "late_alter_partition_responses": "on"},
            marks=pytest.mark.slow,
        ),
        pytest.param({"unclean_leader_election": "on", "power_failures": 1}, marks=pytest.mark.slow),
        pytest.param({"release": "3.9", "power_failures": 1}, marks=pytest.mark.slow),
        pytest.param({"lost_alter_partition_responses": 1}, marks=pytest.mark.slow),
        pytest.param({"reassignments": 1, "spares": 1, "isr_shrinks": 0}, marks=pytest.mark.slow),
        pytest.param({"delete_records": 1, "fencings": 0, "crashes": 1}, marks=pytest.mark.slow),
        pytest.param(
            {"log_dir_failures": 1, "log_dir_moves": 1, "fencings": 0, "isr_shrinks": 0}, marks=pytest.mark.slow
        ),
        pytest.param({"log_dir_moves": 1, "release": "4.2"}, marks=pytest.mark.slow),
        pytest.param({"log_dir_failures": 1, "isr_shrinks": 0, "crashes": 1}, marks=pytest.mark.slow),
        pytest.param({"replicas": 3, "min_insync_replicas": 2, "isr_shrinks": 0}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_brokers_and_clients_see_nothing_but_what_lost_and_refused_requests_show(bounds: dict[str, int | str]) -> None:
    """Each trace of the quorum is one of a controller that never fails, as far as brokers and clients see it."""
    chosen = {**SMALL, **bounds}
    chosen.pop("controller_failovers", None)
    assert inclusion(Cluster(**{**chosen, **FAILS, **bounds}), Unheard(**chosen)).only == ()


def test_a_refusal_for_no_reason_is_what_they_see_besides() -> None:
    calm = {**SMALL, "fencings": 0}
    found = inclusion(Cluster(**calm, **FAILS), Cluster(**calm))
    assert found.only == ("b1 drops b2 from the ISR", LOSES, REFUSES)


@pytest.mark.slow_for("M-19")
@pytest.mark.parametrize("name", ["M-19", *(pytest.param(name, marks=pytest.mark.slow) for name in ("M-18", "M-20"))])
def test_without_a_rule_of_the_quorum_they_see_more(name: str) -> None:
    """Else the comparison would say nothing. (Of M-21 they see nothing at its bounds.)"""
    broken, alone = (
        Cluster(**DEFECTS[name].witness),
        {**DEFECTS[name].fixed_witness, "controller_failovers": 0},
    )
    assert inclusion(broken, Unheard(**alone)).only


@pytest.mark.slow
def test_who_runs_is_back_in_the_isr_in_the_end() -> None:
    pytest.importorskip("scipy")
    model = Cluster(**{**SMALL, **FAILS, "isr_shrinks": 1})
    (found,) = liveness(model, properties=["running_is_back_in_isr"]).properties
    assert found.verdict == "holds"


# ------------------------------------------------------------------------------------------------------- the setting


def test_both_classes_of_controllers_answer_the_same_questions() -> None:
    def questions(kind: type) -> dict[str, inspect.Signature]:
        steps = vars(kind).keys() & {*Cluster.action_order}
        public = {name: one for name, one in vars(kind).items() if not name.startswith("_") and name not in steps}
        return {name: inspect.signature(one) for name, one in public.items() if inspect.isfunction(one)}

    single, quorum = questions(SingleController), questions(QuorumController)
    assert len(single) >= 15
    assert single == {name: found for name, found in quorum.items() if name != "knows_committed"}


ATOMIC = "With metadata_lag 0 brokers learn of a change as it is made, so nothing waits for a quorum of controllers."


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (FAILS, []),
        ({**FAILS, "metadata_lag": 0}, [ATOMIC]),
        ({**FAILS, "release": "3.2"}, []),
    ],
    ids=str,
)
def test_what_a_setting_means_less_than_it_says_is_said(chosen: dict[str, int | str], said: list[str]) -> None:
    assert [line for line in Cluster(**chosen).remarks() if "controller" in line or "quorum" in line] == said


def test_a_quorum_is_there_from_3_3_on_alone() -> None:
    for release, there in (("3.2", False), ("3.3", True)):
        model = Cluster(controller_failovers=1, release=release)
        assert ("quorum" in model.decode(model.program.initials[0])) == there
    assert "quorum" not in Cluster().decode(Cluster().program.initials[0])
