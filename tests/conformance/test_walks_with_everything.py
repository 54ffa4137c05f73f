"""What walks with everything at once have differed by: each on record, as it agrees now or is named."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest

from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.replay import KafkaVerdict
from insync.conformance.steps.checkpoint_steps import CheckpointSteps
from insync.conformance.steps.commands import Commands
from insync.conformance.steps.directory_gaps import require_same_elr
from insync.conformance.steps.directory_steps import DirectorySteps
from insync.kafka.cluster.model import Cluster
from insync_kafka import Recording, replayed

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("back-4.1.2", 7),  # who stops in the ISR into which a cancellation has put it leaves that as it ends
        ("rejoins-4.1.2", 7),  # or as it registers
        ("looks-3.9.2", 9),  # the controller looks at who may lead as the last member of the ISR ends
        ("last-4.1.2", 12),  # who is elected while nobody leads leaves no last leader
        ("noted-4.1.2", 10),  # a record that is there already gives its epoch to a log that a copy has replaced
        ("named-4.1.2", 15),  # a leader learns of its directory before it learns of the ISR that a reply has told it
        ("removed-4.0.2", 6),  # of who is no replica nothing is compared that is of a log
        ("checkpoint-4.1.2", 9),  # a copy in place of a log has an older checkpoint too
        ("astray-4.1.2", 7),  # it is later that a broker says where its log is, as its copy's directory has failed
        ("held-4.1.2", 18),  # a minimum that waits with a directory comes before the election, not with it
        ("gone-4.1.2", 14),  # nobody misses the directory of an added replica that is gone before it was named
        ("cleared-at-start-4.1.2", 10),  # a replica that names its directory as it starts clears the ELR up to 4.2
        ("reckons-4.3.1", 3),  # from 4.3 on a directory that is named has the ELR reckoned anew
        ("reply-4.3.1", 16),  # no directory is named while a leader knows its ISR by a reply alone
        ("configured-4.1.2", 13),  # nor while it knows all but configuration
        ("forgot-4.1.2", 9),  # a leader that has forgotten its request waits for nobody, as it cannot ask again yet
        ("twice-told-4.1.2", 17),  # older configuration comes after the ISR before it, which a reply has brought too
        ("failed-before-4.1.2", 16),  # a directory that has failed before the last start keeps a stop from counting
        ("idle-4.1.2", 5),  # who is taken out begins another fetch session when it is added again
        ("late-name-4.3.1", 16),  # no directory is named while the reply to an accepted AlterPartition is on its way
        ("taken-out-3.9.2", 13),  # a directory is taken out in which a replica is that has never named it
        ("refused-ends-4.4.0", 18),  # a follower whose question for the ends of the log is refused keeps its session
        ("back-again-4.1.2", 3),  # who is taken out and added again before it learns of either names its directory
    ],
)
def test_what_walks_have_differed_by_agrees(name: str, steps: int) -> None:
    found = replayed(f"walk-{name}")
    assert (found.verdict, found.steps) == (KafkaVerdict.AGREES, steps)


def test_a_record_that_is_found_again_may_be_another_than_the_one_seen_first() -> None:
    found = replayed("walk-seen-4.0.2")
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, "b2 starts and registers")
    assert "b2 finds a record again that was deleted, at an offset where another one was seen" in (found.reason or "")


@pytest.mark.parametrize("values", [{"records": [], "start": 1}, {"records": [{"record": "r0", "epoch": 2}]}], ids=str)
def test_nothing_else_is_found_instead(values: dict[str, object]) -> None:
    last = len(Recording.read("walk-seen-4.0.2").content["answers"]) - 1

    def change(number: int, state: Json) -> None:
        if number == last:
            state["brokers"]["2"]["log"].update(values)

    assert replayed("walk-seen-4.0.2", change).verdict is KafkaVerdict.DIVERGES


def test_a_replica_is_not_added_where_kafka_s_controller_knows_its_directory() -> None:
    found = replayed("walk-known-4.1.2")
    step = "operator assigns the partition to {b1, b2, b3}"
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, step)
    assert "the controller knows of one directory of b1" in (found.reason or "")


def test_a_fetch_whose_reply_is_lost_shows_a_leader_nothing_new_either() -> None:
    found = replayed("walk-lost-news-4.1.2")
    assert (found.verdict, found.step) == (
        KafkaVerdict.NOT_SCHEDULABLE,
        "b1 answers a fetch of b3, and the response is lost",
    )
    assert "b1 knows the log end of b3 from an earlier leadership" in (found.reason or "")


def test_a_directory_that_is_named_while_the_leader_is_to_hear_of_its_own_lets_another_be_named_late() -> None:
    found = replayed("walk-moving-4.1.2")
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, "b3 starts and registers")
    assert "b1 names its own only when it learns of that" in (found.reason or "")


def test_a_clean_stop_that_one_directory_does_not_say_counts_once_that_is_taken_out() -> None:
    found = replayed("walk-unnoted-4.1.2")
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, "b2 loses its directory")
    assert "b2 was stopped cleanly, which is noted in all directories but the one" in (found.reason or "")


def test_a_broker_may_tell_where_its_log_was_after_that_directory_has_failed() -> None:
    found = replayed("walk-tells-3.9.2")
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, "b2's directory fails")
    assert "b2 has learned with a later change where its log is to be" in (found.reason or "")


class Brokers:
    """A broker, as far as the steps about directories ask; it keeps what it is told."""

    def __init__(self, to_assign: str | None, replicas: tuple[int, ...] = (1, 2)) -> None:
        self.seen = SimpleNamespace(controller=SimpleNamespace(replicas=replicas, elr=()))
        self.directory = SimpleNamespace(to_assign=to_assign, assigned=False, tells=True)
        self.given: list[str] = []

    def broker(self, number: int) -> SimpleNamespace:
        return SimpleNamespace(directory=self.directory)

    def give(self, command: str, **arguments: object) -> None:
        self.given.append(command)


STOPS: Mapping[str, int] = {"controlled_shutdowns": 1, "log_dir_failures": 1, "log_dir_moves": 1}
B2 = {"replica": "b2"}
ELSEWHERE = {"directory": "FUTURE_LOG"}
ASTRAY = {"directory": "FUTURE_LOG", "failed_log_dir": "FUTURE_LOG"}


def taken(kafka: Brokers) -> DirectorySteps:
    return DirectorySteps(cast(Commands, kafka), Cluster(release="4.1", **STOPS), [])


def state(**values: bool | str) -> Json:
    return {"broker": {"b2": {"directory_to_hear": False, "directory": "LOG", "promotion": "NONE", **values}}}


def test_it_does_so_only_of_what_the_model_has_not_heard_yet() -> None:
    late = state(directory_to_hear=True, **ELSEWHERE)
    with pytest.raises(NotSchedulable):
        taken(Brokers("log")).fail(B2, late)
    for to_assign, before in (("log", state(**ELSEWHERE)), ("log", state(directory_to_hear=True)), (None, late)):
        kafka = Brokers(to_assign)
        taken(kafka).fail(B2, before)
        assert kafka.given == ["fail_directory"]


def test_a_stop_counts_so_only_if_it_was_clean_and_until_the_next_start() -> None:
    kafka = Brokers(None)
    steps = taken(kafka)
    steps.repair(B2, state(clean_shutdown=True))
    with pytest.raises(NotSchedulable):
        steps.lose(B2, state())
    steps.note_start("b2", state(), state())
    steps.lose(B2, state())
    crashed = taken(kafka)
    crashed.repair(B2, state(clean_shutdown=False))
    crashed.lose(B2, state())
    assert kafka.given == ["repair_directory", "take_out_directory", "repair_directory", "take_out_directory"]


def test_a_log_is_not_opened_at_a_start_while_metadata_has_it_in_a_failed_directory() -> None:
    found = replayed("walk-unopened-4.1.2")
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, "b2 starts and registers")
    assert "b2 does not open its log at the start" in (found.reason or "")


@pytest.mark.parametrize(
    ("running", "values", "replicas"),
    [
        (True, ASTRAY, (1, 2)),
        (False, ELSEWHERE, (1, 2)),
        (False, {"failed_log_dir": "FUTURE_LOG"}, (1, 2)),
        (False, ASTRAY, (1,)),
    ],
)
def test_any_other_log_is_opened(running: bool, values: Mapping[str, str], replicas: tuple[int, ...]) -> None:
    steps = taken(Brokers("log", replicas))
    steps.require_log_that_is_opened("b2", state(running=running), state(**values))
    with pytest.raises(NotSchedulable):
        taken(Brokers("log")).require_log_that_is_opened("b2", state(running=False), state(**ASTRAY))


@pytest.mark.parametrize(
    ("told", "kafka", "epochs", "named"),
    [(1, 3, (5,), True), (3, 3, (5,), False), (1, 3, (1, 5), False), (4, 3, (5,), False)],
)
def test_an_answer_may_be_of_the_epoch_of_a_deleted_record_that_is_found_again(
    told: int, kafka: int, epochs: tuple[int, ...], named: bool
) -> None:
    log = SimpleNamespace(records=(("r1", 1),), start=0, epochs=epochs)
    seen = SimpleNamespace(consumer=SimpleNamespace(last_epoch=kafka))
    commands = SimpleNamespace(broker=lambda number: SimpleNamespace(log=log), seen=seen, give=lambda *a, **b: None)
    steps, after = CheckpointSteps(cast(Commands, commands)), cast(Json, {"consumer": {"last_epoch": told}})
    steps.require_same_end_of_epoch("b2", after)
    steps.take("find_older_start", B2, cast(Json, {"broker": {"b2": {"log_start": 1}}}))
    with pytest.raises(NotSchedulable) if named else nullcontext():
        steps.require_same_end_of_epoch("b2", after)


def test_a_start_is_not_told_where_that_makes_a_request_late() -> None:
    found = replayed("walk-unasked-4.1.2")
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, "b1 starts and registers")
    assert "b1 names its directory as it starts, by which fewer are eligible to lead" in (found.reason or "")


@pytest.mark.parametrize(
    ("mine", "elr", "unassigned", "of_model", "to_assign", "named"),
    [
        ([], (3,), (1,), [], "log", True),
        (["b3"], (3,), (1,), [], "log", False),
        (["b2"], (3,), (1,), [], "log", False),
        ([], (3,), (), [], "log", False),
        ([], (3,), (1,), ["b1"], "log", False),
        ([], (3,), (1,), [], None, False),
    ],
    ids=["told in the model", "the same", "others", "known", "not told in the model", "nothing to tell"],
)
def test_any_other_elr_while_a_directory_waits_is_compared(
    mine: list[str],
    elr: tuple[int, ...],
    unassigned: tuple[int, ...],
    of_model: list[str],
    to_assign: str | None,
    named: bool,
) -> None:
    controller = SimpleNamespace(elr=elr, unassigned=unassigned)
    brokers = {1: SimpleNamespace(directory=SimpleNamespace(to_assign=to_assign))}
    of_them = {name: {"directory": "UNASSIGNED"} for name in of_model}
    after = cast(Json, {"controller": {"elr": mine}, "broker": of_them})
    with pytest.raises(NotSchedulable) if named else nullcontext():
        require_same_elr(after, cast(Any, SimpleNamespace(controller=controller, brokers=brokers)))


def test_a_follower_that_diverges_by_that_epoch_alone_ends_a_walk() -> None:
    found = replayed("walk-diverges-4.1.2")
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, "b1 fetches from b2")
    assert "the model alone answers b1 where their epoch ends" in (found.reason or "")


@pytest.mark.parametrize(
    ("epochs", "reply", "named"),
    [
        ((5,), {"diverging": True, "epoch": "1"}, True),
        ((5,), {"diverging": False, "epoch": "1"}, False),
        ((5,), {"diverging": True, "epoch": "4"}, False),
        ((1, 5), {"diverging": True, "epoch": "1"}, False),
    ],
    ids=["of that epoch", "it does not", "of another", "known"],
)
def test_of_any_other_epoch_it_diverges_on_both_sides(
    epochs: tuple[int, ...], reply: Mapping[str, object], named: bool
) -> None:
    log = SimpleNamespace(records=(("r1", 1),), start=0, epochs=epochs)
    commands = SimpleNamespace(broker=lambda number: SimpleNamespace(log=log), give=lambda *a, **b: None)
    steps, fetch = CheckpointSteps(cast(Commands, commands)), {"leader": "b2", "follower": "b1"}
    after = cast(Json, {"broker": {"b1": {"fetch_response": {"end": 1, **reply}, "latest_epoch": 5, "leo": 1}}})
    steps.require_same_divergence(fetch, after)
    steps.take("find_older_start", B2, cast(Json, {"broker": {"b2": {"log_start": 1}}}))
    with pytest.raises(NotSchedulable) if named else nullcontext():
        steps.require_same_divergence(fetch, after)


@pytest.mark.parametrize(
    ("follower", "epochs", "reply", "named"),
    [
        ({"latest_epoch": 0, "leo": 1}, (2,), {"diverging": True, "end": 0}, True),
        ({"latest_epoch": 0, "leo": 2}, (2,), {"diverging": True, "end": 0}, False),
        ({"latest_epoch": 2, "leo": 1}, (2,), {"diverging": True, "end": 0}, False),
        ({"latest_epoch": 0, "leo": 1}, (3,), {"diverging": True, "end": 0}, False),
        ({"latest_epoch": 0, "leo": 1}, (1, 2), {"diverging": True, "end": 0}, False),
        ({"latest_epoch": 0, "leo": 1}, (2,), {"diverging": True, "end": 1}, False),
        ({"latest_epoch": 0, "leo": 1}, (2,), {"diverging": False, "end": 0}, False),
    ],
    ids=[
        "before it",
        "beyond them",
        "of that epoch",
        "which it does not know",
        "not the first",
        "elsewhere",
        "it does not",
    ],
)
def test_only_an_epoch_that_begins_with_such_records_begins_later_in_kafka(
    follower: Mapping[str, object], epochs: tuple[int, ...], reply: Mapping[str, object], named: bool
) -> None:
    log = SimpleNamespace(records=(("r1", 2), ("r2", 2)), start=0, epochs=epochs)
    commands = SimpleNamespace(broker=lambda number: SimpleNamespace(log=log), give=lambda *a, **b: None)
    steps, fetch = CheckpointSteps(cast(Commands, commands)), {"leader": "b2", "follower": "b1"}
    after = cast(Json, {"broker": {"b1": {**follower, "fetch_response": {"epoch": "0", **reply}}}})
    steps.require_same_divergence(fetch, after)
    steps.take("find_older_start", B2, cast(Json, {"broker": {"b2": {"log_start": 1}}}))
    with pytest.raises(NotSchedulable) if named else nullcontext():
        steps.require_same_divergence(fetch, after)
