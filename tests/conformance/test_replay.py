"""Traces beside Kafka, with Kafka's part on record: what agrees, what differs, and what cannot be brought about."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from insync.conformance.classes.observation import Observation
from insync.conformance.classes.subject import Answer, Argument, KafkaRaised
from insync.conformance.correspondence.facts import Difference
from insync.conformance.given_trace import given_trace
from insync.conformance.replay import KafkaReplay, KafkaVerdict, replay_on_kafka
from insync.conformance.steps.schedule import Schedule
from insync_kafka import Recording, replayed

Json = dict[str, Any]


@pytest.mark.slow_for(
    "N-01-4.3.1-13",
    "N-02-4.3.1-10",
    "N-03-4.3.1-6",
    "R-46-4.4.0-7",
    "N-07-4.1.2-4",
    "N-09-4.3.1-2",
    "N-12-4.3.1-11",
    "N-14-4.3.1-8",
    "N-04-4.3.1-12",
    "N-11-4.3.1-10",
)
@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("N-01-4.3.1", 13),
        ("N-02-4.3.1", 10),
        ("N-03-4.3.1", 6),
        ("R-26-3.9.2", 5),
        ("R-46-4.4.0", 7),
        ("N-07-4.1.2", 4),
        ("N-08-4.4.0", 6),
        ("N-09-4.3.1", 2),
        ("N-12-4.3.1", 11),
        ("N-13-4.3.1", 5),
        ("N-14-4.3.1", 8),
        ("N-04-4.3.1", 12),
        ("N-10-4.3.1", 9),
        ("N-11-4.3.1", 10),
        ("C-18-4.3.1", 7),
    ],
)
def test_a_defect_of_a_release_is_reproduced_on_it(name: str, steps: int) -> None:
    found = replayed(name)
    assert (found.verdict, found.steps, found.differences) == (KafkaVerdict.REPRODUCED, steps, ())
    assert f"{name.rpartition('-')[0]}-{found.kafka}" == name
    assert found.trace == Recording.read(name).trace()[1]


def test_what_kafka_has_not_got_to_tell_is_a_difference() -> None:
    assert replayed("walk-dropped-3.7.1").verdict is KafkaVerdict.AGREES
    found = replayed("walk-dropped-3.7.0")  # without KAFKA-16297
    assert (found.verdict, found.steps) == (KafkaVerdict.DIVERGES, 4)
    told = Difference("what b2 has to tell of its directory", "where its log is", "nothing")
    assert found.differences == (told,)


def test_a_defect_that_is_fixed_diverges_where_the_fix_acts() -> None:
    found = replayed("R-26-4.1.2")
    assert (found.verdict, found.steps, found.trace.steps[-1].action) == (KafkaVerdict.DIVERGES, 5, "register")
    assert found.differences[:3] == (
        Difference("controller.leader", "b1", "b2"),
        Difference("controller.epoch", "0", "1"),
        Difference("controller.isr", ["b1", "b2"], ["b2"]),
    )
    assert {one.field.partition(".")[0] for one in found.differences} == {"controller", "b1", "b2"}


def test_a_log_is_not_replaced_by_a_copy_that_is_not_finished() -> None:
    found = replayed("M-11-4.3.1")
    assert (found.verdict, found.steps, found.trace.steps[-1].action) == (KafkaVerdict.DIVERGES, 5, "swap_log")
    assert found.differences[0] == Difference("b2.log", [], ["r0@0"])


def test_a_session_does_not_go_on_after_a_reply_that_was_lost() -> None:
    found = replayed("M-12-4.3.1")
    assert (found.verdict, found.steps, found.trace.steps[-1].action) == (
        KafkaVerdict.DIVERGES,
        4,
        "lose_fetch_response",
    )
    assert found.differences == (
        Difference("b2.session", True, False),
        Difference("b2.session_high_watermark", 1, None),
    )


def test_what_a_consumer_has_read_is_compared() -> None:
    def taken_back(number: int, state: Json) -> None:
        state["consumer"]["got"] = dict.fromkeys(state["consumer"]["got"], "r9")

    recording = Recording.read("N-11-4.3.1")
    recording.change = taken_back
    model, trace = recording.trace()
    found = replay_on_kafka(trace, model, recording)
    assert (found.verdict, found.differences) == (
        KafkaVerdict.DIVERGES,
        (Difference("consumer.got", ["r1"], ["r9"]),),
    )


def commands(name: str, answers: list[Json]) -> list[str]:
    return [answer["said"] for answer in answers if answer["command"] == name]


@pytest.mark.slow_for(
    "walk-late-4.1.2-34",
    "walk-reassign-4.1.2-32",
    "walk-atomic-3.9.2-37",
    "walk-minimum-4.1.2-22",
    "walk-deletions-4.1.2-37",
    "walk-again-4.3.1-8",
    "walk-start-3.9.2-10",
    "walk-all-4.1.2-34",
)
@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("walk-late-4.1.2", 34),
        ("walk-reassign-4.1.2", 32),
        ("walk-two-4.1.2", 36),
        ("walk-atomic-3.9.2", 37),
        ("walk-minimum-4.1.2", 22),
        ("walk-deletions-4.1.2", 37),
        ("walk-again-4.3.1", 8),
        ("walk-end-4.4.0", 8),
        ("walk-start-3.9.2", 10),
        ("walk-forgets-3.9.2", 5),
        ("walk-joins-4.4.0", 8),
        ("walk-copied-4.1.2", 8),  # a replica is added again of which the controller had accepted a future log
        ("walk-unready-3.9.0", 8),
        ("walk-forgotten-3.9.0", 19),
        ("walk-duplicate-4.1.2", 10),
        ("walk-cut-4.3.1", 15),
        ("walk-all-4.1.2", 34),
        ("walk-all-3.9.2", 40),
        ("walk-out-of-range-3.9.2", 14),  # a former leader answers FENCED_LEADER_EPOCH to ListOffsets
        ("walk-out-of-range-4.3.1", 14),
    ],
)
def test_random_walks_agree(name: str, steps: int) -> None:
    found = replayed(name)
    assert (found.verdict, found.steps) == (KafkaVerdict.AGREES, steps)


def test_within_a_fetch_the_leader_waits_for_who_may_join() -> None:
    # Kafka's leader asks for b1 within the fetch, and then moves its high watermark no further than b1 has come.
    found = replayed("walk-minimum-4.1.2")
    assert found.own[-1] == 22
    assert [step.action for step in found.trace.steps[-2:]] == ["fetch", "expand_isr"]


@pytest.mark.slow
def test_who_was_cleared_from_the_elr_leaves_the_isr_twice_when_it_registers() -> None:
    found = replayed("walk-cleared-4.1.2")
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, "b3 starts and registers")
    assert "so that it takes b3 out twice when it registers, with one leader epoch more" in (found.reason or "")


@pytest.mark.slow
def test_two_changes_at_once_are_no_excuse_for_who_was_not_in_the_elr() -> None:
    recording = Recording.read("walk-cleared-4.1.2")
    model, trace = recording.trace()
    schedule = Schedule(recording, model)
    schedule.open()
    for before, step in itertools.pairwise(trace.steps[:-1]):
        if step.action != "expand_isr":
            schedule.take(step.action or "", step.parameters, before.state, step.state)
    assert schedule._cleared == {3}
    schedule._cleared.clear()  # as if it had never been in it
    schedule._register({"replica": "b3"}, trace.steps[-1].state)
    assert schedule.seen.controller.leader_epoch == 3


@pytest.mark.slow
def test_a_leader_asks_for_who_fetches_before_its_high_watermark_moves() -> None:
    found = replayed("walk-asks-4.1.2")
    assert (found.verdict, found.trace.steps[-1].action) == (KafkaVerdict.AGREES, "expand_isr")


def test_its_high_watermark_moves_no_further() -> None:
    last = len(Recording.read("walk-asks-4.1.2").content["answers"]) - 1

    def change(number: int, state: Json) -> None:
        if number == last:
            state["brokers"]["3"]["log"].update(high_watermark=2)

    found = replayed("walk-asks-4.1.2", change)
    assert found.verdict is KafkaVerdict.DIVERGES
    assert "b3.hw" in [one.field for one in found.differences]


@pytest.mark.slow
def test_who_is_to_go_is_elected_last() -> None:
    found = replayed("walk-order-4.1.2")
    assert (found.verdict, found.trace.steps[-1].label) == (KafkaVerdict.AGREES, "b1 starts and registers")


@pytest.mark.parametrize(
    ("values", "field"), [({"leader": 1}, "controller.leader"), ({"leader_epoch": 2}, "controller.epoch")], ids=str
)
def test_nobody_else_is_elected_and_in_no_other_epoch(values: dict[str, object], field: str) -> None:
    answers = Recording.read("walk-order-4.1.2").content["answers"]
    registered = max(number for number, answer in enumerate(answers) if answer["command"] == "register")

    def change(number: int, state: Json) -> None:
        if number >= registered:
            state["controller"].update(values)

    found = replayed("walk-order-4.1.2", change)
    assert found.verdict is KafkaVerdict.DIVERGES
    assert field in [one.field for one in found.differences]


@pytest.mark.slow
def test_who_asks_for_the_ends_of_a_log_gets_them_as_they_are_then() -> None:
    found = replayed("walk-ends-4.4.0")
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, "b2 receives the response")
    assert found.reason == "b2 asks b1 where its log begins and ends when the response arrives, and that has changed"


def test_the_walks_take_what_is_rare() -> None:
    names = ("late", "reassign", "two", "deletions")
    late, moved, two, deleted = (Recording.read(f"walk-{name}-4.1.2").content["answers"] for name in names)
    assert "OFFSET_OUT_OF_RANGE" in commands("fetch", deleted)
    assert "INVALID_UPDATE_VERSION" in commands("deliver_request", late)  # a request that its sender had given up
    assert len(commands("receive_fetch", late)) > 5
    assert "NEW_LEADER_ELECTED" in commands("deliver_request", moved)  # the new ISR ended a reassignment
    crashed = next(number for number, answer in enumerate(two) if answer["command"] == "crash")
    assert "STALE_BROKER_EPOCH" in commands("deliver_request", two[crashed:])  # a request that outlived its sender
    assert commands("stop", two) == ["NONE"]


@pytest.mark.parametrize("name", ["walk-unready-3.9.0", "walk-forgotten-3.9.0"])
def test_a_reply_that_the_model_has_dropped_arrives_before_the_next_fetch_and_is_dropped_by_kafka(name: str) -> None:
    *_, applied, arrived, _, received = Recording.read(name).content["answers"]
    assert [applied["command"], arrived["command"], received["command"]] == ["apply", "receive_fetch", "receive_fetch"]
    assert arrived["brokers"]["2"]["log"]["records"] == []
    assert len(received["brokers"]["2"]["log"]["records"]) == 1


def test_what_kafka_does_by_itself_is_a_step_of_the_model_too() -> None:
    found = replayed("R-40-4.1.2")
    assert found.own == (6,)
    assert found.trace.steps[6].action == "expand_isr"
    assert found.steps == 7  # the same step is not taken again when its turn comes
    assert (found.verdict, found.differences[0].field) == (KafkaVerdict.DIVERGES, "controller.leader")


# ----------------------------------------------------------------------------- a change in Kafka's answer is noticed


def controller(**values: object) -> Callable[[Json], None]:
    return lambda state: state["controller"].update(values)


def broker(name: str, *path: str, **values: object) -> Callable[[Json], None]:
    def change(state: Json) -> None:
        part = state["brokers"][name]
        for key in path:
            part = part[key]
        part.update(values)

    return change


CHANGES = {
    "controller.leader": controller(leader=3),
    "controller.epoch": controller(leader_epoch=5),
    "controller.isr": controller(isr=[1]),
    "controller.fenced": controller(fenced=[2]),
    "controller.elr": controller(elr=[2]),
    "controller.last_known_leader": controller(last_known_elr=[2]),
    "b1.running": broker("1", running=False),
    "b1.has_replica": broker("1", leader=None, leader_epoch=None),
    "b2.leader": broker("2", leader=3),
    "b2.epoch": broker("2", leader_epoch=7),
    "b2.log": broker("2", "log", records=[{"record": "r0", "offset": 0, "epoch": 9}], epochs=[9]),
    "b2.hw": broker("2", "log", high_watermark=1),
    "b2.latest_epoch": broker("2", "log", epochs=[0, 3]),
    "b1.isr": broker("1", "leading", isr=[1, 2]),
    "b1.pending_isr": broker("1", "leading", proposed=[1]),
    "b1.leader_epoch_start": broker("1", "leading", epoch_start=1),
    "b1.remote_replicas.b2": broker("1", "leading", known={"2": {"end": 1, "current": True, "may_join": True}}),
    "clients.acked": broker("1", acknowledgements={"r0": "NONE"}),
}
SECOND_FETCH = 3  # the commands before it: open, write, fetch


@pytest.mark.parametrize("field", CHANGES)
def test_each_field_is_compared(field: str) -> None:
    def change(number: int, state: Json) -> None:
        if number == SECOND_FETCH - 1:
            CHANGES[field](state)

    found = replayed("N-01-4.3.1", change)
    assert (found.verdict, found.steps) == (KafkaVerdict.DIVERGES, 2)
    assert field in [one.field for one in found.differences]


@pytest.mark.parametrize(
    ("field", "change"),
    [("controller.replicas", controller(replicas=[1])), ("controller.adding", controller(adding=[2]))],
)
def test_a_reassignment_is_compared_where_there_can_be_one(field: str, change: Callable[[Json], None]) -> None:
    found = replayed("N-02-4.3.1", lambda number, state: change(state) if number == 0 else None)
    assert (found.verdict, found.steps) == (KafkaVerdict.DIVERGES, 0)
    assert [one.field for one in found.differences] == [field]


# ------------------------------------------------------------------------------------------- what Kafka refuses, or is


class Refusing(Recording):
    """Answers the first command of a name with an error, or with an exception."""

    refused: str = ""
    error: str | Exception = ""

    def take(self, command: str, **arguments: Argument) -> Answer:
        answer = super().take(command, **arguments)
        if command == self.refused:
            if isinstance(self.error, Exception):
                raise self.error
            return answer._replace(said=self.error)
        return answer


def refusing(name: str, command: str, error: str | Exception) -> KafkaReplay:
    recording = Refusing.read(name)
    assert isinstance(recording, Refusing)
    recording.refused, recording.error = command, error
    model, trace = recording.trace()
    return replay_on_kafka(trace, model, recording)


def test_an_error_where_the_model_has_none_is_a_difference() -> None:
    found = refusing("N-01-4.3.1", "fetch", "FENCED_LEADER_EPOCH")
    assert (found.verdict, found.steps) == (KafkaVerdict.DIVERGES, 2)
    assert found.differences == (Difference("b2's fetch", "NONE", "FENCED_LEADER_EPOCH"),)


def test_an_exception_of_kafka_is_a_difference() -> None:
    found = refusing("N-01-4.3.1", "elect", KafkaRaised("some.Exception: why", "its trace"))
    assert (found.verdict, found.steps) == (KafkaVerdict.DIVERGES, 4)
    assert found.differences == (Difference("what Kafka's classes throw", "nothing", "some.Exception: why"),)


def test_what_a_release_has_not_got_is_told_without_an_exception() -> None:
    thrown = "insync.harness.Reflect$NoSuchElement: this release of Kafka has not got wings"
    found = refusing("N-01-4.3.1", "elect", KafkaRaised(thrown, "its trace"))
    assert (found.verdict, found.reason) == (KafkaVerdict.NOT_SCHEDULABLE, "this release of Kafka has not got wings")


def test_a_step_that_kafka_has_not_got_is_not_schedulable() -> None:
    recording = Recording.read("N-01-4.3.1")
    model, trace = recording.trace()
    asked = replace(trace.steps[1], action="flush", parameters={"replica": "b1"}, label="b1 flushes its log")
    found = replay_on_kafka(replace(trace, steps=(trace.steps[0], asked)), model, recording)
    assert (found.verdict, found.steps, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, 0, "b1 flushes its log")


def test_a_trace_of_no_violation_agrees() -> None:
    recording = Recording.read("N-01-4.3.1")
    model, trace = recording.trace()
    found = replay_on_kafka(replace(trace, witness=True), model, recording)
    assert (found.verdict, found.steps) == (KafkaVerdict.AGREES, 13)


def test_a_property_of_which_kafka_is_not_asked_agrees_at_most() -> None:
    recording = Recording.read("N-01-4.3.1")
    model, trace = recording.trace()
    found = replay_on_kafka(replace(trace, property="watermark_never_goes_back"), model, recording)
    assert (found.verdict, found.steps) == (KafkaVerdict.AGREES, 13)


def test_a_recording_that_does_not_fit_is_noticed() -> None:
    model, trace = Recording.read("N-02-4.3.1").trace()
    with pytest.raises(AssertionError):
        replay_on_kafka(trace, model, Recording.read("R-26-4.1.2"))


def test_an_observation_of_a_recording_is_whole() -> None:
    recording = Recording.read("N-02-4.3.1")
    first = recording.content["answers"][0]
    answer = recording.take(first["command"], **first["arguments"])
    assert isinstance(answer.state, Observation)
    assert set(answer.state.brokers) == {1, 2}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["N-02", "n-02"])
def test_a_defect_is_named_as_in_the_catalogue(name: str) -> None:
    model, trace = given_trace(name)
    assert (trace.property, trace.length) == ("no_acknowledged_record_is_lost", 11)
    assert model.identity["defect"] == "N-02"
