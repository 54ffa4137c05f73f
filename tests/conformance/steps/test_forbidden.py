"""What the model forbids is asked all the same, where it is forbidden, and must change nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from insync.conformance.classes.observation import (
    BrokerSeen,
    ControllerSeen,
    KnownEnd,
    LeadingSeen,
    LogSeen,
    Observation,
)
from insync.conformance.classes.subject import Argument, Subject
from insync.conformance.comparing.conform import Conforming, conform_walks
from insync.conformance.comparing.coverage import Coverage
from insync.conformance.comparing.walks import KafkaWalks
from insync.conformance.steps.forbidden import _CONDITIONS, forbidden_of
from insync.explorer.stepping.stepper import Stepper
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState
from insync_fake_kafka import FakeKafka, FakePair
from insync_walk import Walk, shared_cluster

MODEL = Cluster(
    release="4.1",
    replicas=2,
    records=2,
    min_insync_replicas=2,
    controlled_shutdowns=1,
    delete_records=1,
    flush="sometimes",
)
STEPPER = Stepper(MODEL)


class AskedPair(FakePair):
    """A pair whose Kafka refuses what it is asked, as far as `does` does not say otherwise."""

    does: str = ""  # the command at which a high watermark moves

    def __init__(self, stepper: Stepper, subject: Subject) -> None:
        super().__init__(stepper, subject)
        self.asked: list[tuple[str, dict[str, Argument]]] = []
        self.moved = False
        self.told = "NOT_LEADER_OR_FOLLOWER"

    def probe(self, command: str, **arguments: Argument) -> str:
        self.asked.append((command, arguments))
        self.moved |= command == self.does
        return "NONE"

    @property
    def seen(self) -> Observation:
        state = self.taken[-1].state
        brokers = {int(name[1:]): self._broker(name, state) for name in state["broker"]}
        controller = ControllerSeen(-1, 0, 0, (), (), (), (), (), (), (), 0, (), order=(1, 2))
        return Observation(controller, brokers)

    def _broker(self, name: str, state: ReadableState) -> BrokerSeen:
        broker = state["broker"][name]
        view = state["registrations"][broker["image_lag"]]
        log = LogSeen((), broker["log_start"], broker["leo"], broker["hw"], ())
        leading = None
        if view["leader"] == name:
            known = {
                int(n[1:]): KnownEnd(one["leo"], one["broker_epoch_is_current"], True)
                for n, one in broker["remote_replicas"].items()
            }
            leading = LeadingSeen(tuple(int(n[1:]) for n in view["isr"]), (), (), 0, known)
        return BrokerSeen(broker["running"], 0, {"forbidden": self.told}, (), False, None, None, leading, log)

    def kafka_state(self) -> ReadableState:
        state: dict[str, Any] = dict(super().kafka_state())
        if self.moved:
            state["broker"]["b1"]["hw"] += 1
        return state


def at(*actions: str) -> AskedPair:
    """The pair after some actions, each written as in `Program.actions`."""
    pair = AskedPair(STEPPER, FakeKafka(STEPPER))
    named = {str(action): number for number, action in enumerate(STEPPER.actions)}
    for action in actions:
        pair.take(named[action])
    return pair


def forbidden_in(pair: AskedPair) -> set[tuple[str, str]]:
    return {(one.action, one.broker) for one in forbidden_of(MODEL) if one.is_forbidden(pair)}


AT_THE_START = {
    ("write", "b2"),
    ("elect", "b1"),
    ("delete_record", "b1"),
    ("delete_record", "b2"),
    ("flush", "b1"),
    ("flush", "b2"),
    ("register_twice", "b1"),
    ("register_twice", "b2"),
    ("cancel_reassignment", "b1"),
    ("check_leaders", "b1"),
}


def test_what_is_forbidden_at_the_start() -> None:
    # Nothing is known of b2's log, so b1 may find it slow; b2 may fetch, and be elected.
    assert forbidden_in(at()) == AT_THE_START


def test_what_is_forbidden_changes_with_the_state() -> None:
    written = forbidden_in(at("write(leader=b1)"))
    assert written == AT_THE_START - {("flush", "b1")}
    fenced = forbidden_in(at("fence(replica=b2)"))
    assert ("elect", "b2") in fenced
    assert ("register_twice", "b2") not in fenced, "its session is over"
    assert ("write", "b1") not in fenced, "b1 has not learned of its smaller ISR"
    heard = forbidden_in(at("fence(replica=b2)", "apply_metadata(replica=b1, place=0)"))
    assert {("write", "b1"), ("shrink_isr", "b1")} <= heard
    assert ("fetch", "b2") in forbidden_in(at("fence(replica=b1)", "apply_metadata(replica=b1, place=0)"))
    crashed = forbidden_in(at("crash(replica=b2, spared=0)"))
    assert not {action for action, broker in crashed if broker == "b2"} - {"elect"}


def test_whoever_waits_for_an_answer_does_not_look_for_slow_followers() -> None:
    """b2 has not fetched all, and is slow; while the leader's request is on its way it asks for nothing."""
    assert ("shrink_isr", "b1") not in forbidden_in(at("write(leader=b1)"))
    asked = at("write(leader=b1)", "shrink_isr(leader=b1, follower=b2)")
    assert asked.taken[-1].state["broker"]["b1"]["pending_isr"] == ["b1"]
    assert ("shrink_isr", "b1") in forbidden_in(asked)


@pytest.mark.parametrize(("adding", "removing", "forbidden"), [((), (), True), ((3,), (), False), ((), (3,), False)])
def test_a_reassignment_can_be_taken_back_while_somebody_is_to_come_or_to_go(
    adding: tuple[int, ...], removing: tuple[int, ...], forbidden: bool
) -> None:
    class Reassigned(AskedPair):
        @property
        def seen(self) -> Observation:
            seen = super().seen
            return replace(seen, controller=replace(seen.controller, adding=adding, removing=removing))

    pair = Reassigned(STEPPER, FakeKafka(STEPPER))
    pair.take(next(number for number, one in enumerate(STEPPER.actions) if str(one) == "write(leader=b1)"))
    assert (("cancel_reassignment", "b1") in forbidden_in(pair)) == forbidden


@pytest.mark.parametrize(("isr", "forbidden"), [((3,), False), ((1,), True), ((1, 3), False), ((), True)])
def test_an_election_that_elects_nobody_ends_a_reassignment_that_is_otherwise_done(
    isr: tuple[int, ...], forbidden: bool
) -> None:
    class Reassigned(AskedPair):
        @property
        def seen(self) -> Observation:
            seen = super().seen
            moved = replace(seen.controller, isr=isr, replicas=(3, 1), adding=(3,), removing=(1,))
            return replace(seen, controller=moved)

    pair = Reassigned(STEPPER, FakeKafka(STEPPER))
    pair.open()
    assert (("elect", "b1") in forbidden_in(pair)) == forbidden


def test_who_leads_in_a_directory_that_is_gone_may_lose_the_lead_as_another_is_to_be_elected() -> None:
    pair = at("fence(replica=b2)")
    state = pair.taken[-1].state
    gone = {**state, "controller": {**state["controller"], "offline_replicas": ["b1"]}}
    assert [_CONDITIONS["elect"]("b2", each, pair) for each in (state, gone)] == [True, False]


def test_a_fetch_is_not_asked_for_where_sessions_are_noted() -> None:
    model = Cluster(release="4.1", replicas=2, records=1, delete_records=1, fetch_sessions="on")
    stepper = Stepper(model)
    pair = AskedPair(stepper, FakeKafka(stepper))
    pair.take(next(number for number, one in enumerate(stepper.actions) if str(one) == "fence(replica=b1)"))
    apply = "apply_metadata(replica=b2, place=0)"
    pair.take(next(number for number, one in enumerate(stepper.actions) if str(one) == apply))
    asked = {one.action for one in forbidden_of(model) if one.is_forbidden(pair)}
    assert "write" in asked
    assert "fetch" not in asked


def test_of_a_log_the_first_record_that_is_there_is_to_be_deleted() -> None:
    steps = ("write(leader=b1)", "fetch(follower=b2, leader=b1)", "fetch(follower=b2, leader=b1)")
    (asked,) = (one for one in forbidden_of(MODEL) if (one.action, one.broker) == ("delete_record", "b2"))
    for more, below in (((), 1), (("delete_record(leader=b1)", "fetch(follower=b2, leader=b1)"), 2)):
        pair = at(*steps, *more)
        asked.ask(pair)
        assert pair.asked == [("delete_records", {"broker": 2, "wait": 0, "below": below})]


def test_a_refusal_is_what_must_come() -> None:
    pair = at()
    for one in forbidden_of(MODEL):
        if one.is_forbidden(pair):
            assert one.ask(pair) == []
    asked = {command for command, _ in pair.asked}
    decided = {"elect_in_order", "cancel_reassignment", "register", "check_leaders"}
    assert asked == {"write", "delete_records", "flush", *decided}


@pytest.mark.parametrize("told", ["NONE", "waiting"])
def test_a_write_must_be_refused(told: str) -> None:
    pair = at()
    pair.told = told
    (write,) = (one for one in forbidden_of(MODEL) if (one.action, one.broker) == ("write", "b2"))
    (difference,) = write.ask(pair)
    assert (difference.field, difference.model, difference.kafka) == (
        "the answer to b2 is given a record",
        "a refusal",
        told,
    )


@dataclass
class Moving:
    """Makes pairs whose Kafka moves a high watermark at a command."""

    command: str
    made: list[AskedPair] = field(default_factory=list)

    def __call__(self, stepper: Stepper, subject: Subject) -> AskedPair:
        pair = AskedPair(stepper, subject)
        pair.does = self.command
        self.made.append(pair)
        return pair


def test_a_walk_asks_now_and_then_and_counts_it() -> None:
    made = Moving("nothing")
    found = conform_walks(MODEL, FakeKafka(STEPPER), walks=12, depth=25, forbidden=True, new_pair=made)
    assert found.verdict is Conforming.AGREES
    assert sum(found.coverage.refused.values()) == sum(len(pair.asked) for pair in made.made) > 40
    assert {"write", "elect", "delete_record", "flush"} <= set(found.coverage.refused)


def test_what_changes_something_is_a_difference_and_shortened() -> None:
    made = Moving("flush")
    found = conform_walks(MODEL, FakeKafka(STEPPER), walks=12, depth=25, forbidden=True, new_pair=made)
    assert found.difference is not None
    assert [one.field for one in found.difference.differences] == ["b1.hw"]
    assert found.difference.steps == 0, "it is forbidden at the start already"
    assert "Asked of Kafka, though the model forbids it: b" in found.difference.trace.reason
    assert found.difference.trace.reason.endswith(" flushes its log (after step 0).")


def test_what_is_not_forbidden_any_more_is_passed_over() -> None:
    kafka = FakeKafka(STEPPER)
    asked = forbidden_of(MODEL)
    flush = next(-1 - number for number, one in enumerate(asked) if (one.action, one.broker) == ("flush", "b1"))
    write = next(number for number, action in enumerate(STEPPER.actions) if str(action) == "write(leader=b1)")
    made = Moving("flush")
    walks = KafkaWalks(STEPPER, lambda: made(STEPPER, kafka), Coverage.of(STEPPER), 25, asked)
    assert walks.failing([write, flush]) is None
    found = walks.failing([flush, write])
    assert found is not None
    assert found.actions == [flush]


def test_who_is_fenced_and_in_the_isr_all_the_same_must_not_be_elected() -> None:
    """Before 4.0 one that registers after a crash stays in the ISR."""
    bounds: dict[str, int | str] = {"release": "3.9", "replicas": 3, "power_failures": 1}
    walk = Walk(shared_cluster(**bounds), "b2 crashes, its log ends at 0", "b2 starts and registers")
    pair = AskedPair(STEPPER, FakeKafka(STEPPER))
    assert walk.state["registrations"][0]["isr"] == ["b1", "b2", "b3"]
    assert [name for name in ("b1", "b2", "b3") if _CONDITIONS["elect"](name, walk.state, pair)] == ["b1", "b2"]
