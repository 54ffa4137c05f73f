"""What Kafka does otherwise about directories: each under its own condition, and no wider."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from insync.conformance.classes.observation import (
    BrokerSeen,
    ControllerSeen,
    DirectorySeen,
    KnownEnd,
    LeadingSeen,
    LogSeen,
    Observation,
)
from insync.conformance.classes.subject import Answer, Argument, KafkaRaised
from insync.conformance.correspondence.known_differences import NotSchedulable, Unlike
from insync.conformance.steps.commands import Commands
from insync.conformance.steps.directory_gaps import (
    require_change_of_directory_alone,
    require_epochs_of_copy,
    require_watermark_of_copy,
    require_watermarks,
)
from insync.conformance.steps.directory_steps import DirectorySteps
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import ReassignmentEnd, ReleaseRules
from insync.model import ReadableState

LEADS = ControllerSeen(1, 3, 7, (1, 2), (1, 2, 3), (), (), (3,), (), (3,), 20, ())
NAMED = replace(LEADS, partition_epoch=8, end=21)


def refused(named: object, why: str = "") -> AbstractContextManager[Any]:
    return pytest.raises(NotSchedulable, match=why) if named else nullcontext()


def named(
    was: ControllerSeen,
    now: dict[str, Any],
    rules: ReleaseRules,
    *,
    elr: bool = True,
    minimum: int = 2,
    unnamed: bool = False,
) -> None:
    """Have b2 name its directory, which changes the epoch of the partition and what is given."""
    after = replace(was, partition_epoch=8, end=21, **now)
    require_change_of_directory_alone(2, was, after, rules, elr=elr, minimum=minimum, unnamed=unnamed)


CALM = replace(LEADS, elr=(), order=(1, 2, 3))
OVER = {"adding": (), "removing": ()}
LEFT = {**OVER, "isr": (2,), "replicas": (2, 3), "leader": 2, "leader_epoch": 4}


@pytest.mark.parametrize(
    ("was", "now", "rule", "ends"),
    [
        ({"adding": (2,)}, OVER, ReassignmentEnd.ADDED, True),
        (
            {"removing": (1,)},
            LEFT,
            ReassignmentEnd.ADDED,
            True,
        ),
        ({"removing": (3,)}, {**OVER, "replicas": (1, 2), "leader_epoch": 4}, ReassignmentEnd.TARGETS, True),
        ({"removing": (3,)}, {**OVER, "replicas": (1, 2), "leader_epoch": 4}, ReassignmentEnd.ADDED_UNLESS_FEWER, True),
        ({"adding": (3,)}, OVER, ReassignmentEnd.ADDED, False),
        ({"removing": (1, 2)}, {**OVER, "isr": ()}, ReassignmentEnd.ADDED, False),
        ({"adding": (2,)}, {}, ReassignmentEnd.ADDED, False),
        ({"adding": (2,)}, {**OVER, "isr": (1,)}, ReassignmentEnd.ADDED, False),
        ({"adding": (2,)}, {**OVER, "leader": 2, "leader_epoch": 4}, ReassignmentEnd.ADDED, False),
        ({"adding": (2,)}, {**OVER, "leader_epoch": 4}, ReassignmentEnd.ADDED, False),
        ({"adding": (2,)}, {**OVER, "elr": (3,)}, ReassignmentEnd.ADDED, False),
        ({"removing": (3,)}, {**OVER, "leader_epoch": 4}, ReassignmentEnd.TARGETS, False),
        ({"removing": (3,)}, {**OVER, "replicas": (1, 2)}, ReassignmentEnd.TARGETS, False),
        ({}, {}, ReassignmentEnd.ADDED, False),
        ({"adding": (2,)}, OVER, ReassignmentEnd.TARGETS, False),
        (
            {"removing": (1,)},
            LEFT,
            ReassignmentEnd.ADDED_UNLESS_FEWER,
            False,
        ),
    ],
    ids=str,
)
def test_a_directory_may_end_a_reassignment_that_is_otherwise_done(
    was: dict[str, Any], now: dict[str, Any], rule: ReassignmentEnd, ends: bool
) -> None:
    with refused(ends, "b2 that is named ends the reassignment"):
        named(replace(CALM, **was), now, replace(ReleaseRules(), reassignment_ends=rule), minimum=1)


OTHER = {"leader": 2, "leader_epoch": 4}
NOBODY = {"leader": -1, "isr": (2,)}
LAST = {"leader": -1, "isr": (), "last_known_elr": (2,)}
ALONE = {**OTHER, "isr": (2,), "last_known_elr": ()}
KEEPING, CLEARING = (replace(ReleaseRules(), named_directory_keeps_elr=keeps) for keeps in (True, False))


@pytest.mark.parametrize(
    ("was", "now", "rules", "looks"),
    [
        ({"fenced": (1, 3)}, OTHER, CLEARING, True),
        ({"stopping": (1,)}, OTHER, CLEARING, True),
        ({"without_directory": (1,)}, OTHER, CLEARING, True),
        ({"fenced": (1, 2, 3)}, {"leader": -1, "leader_epoch": 4}, CLEARING, True),
        (NOBODY, OTHER, CLEARING, True),
        ({"leader": -1, "isr": (), "elr": (2,)}, {**OTHER, "isr": (2,), "elr": ()}, KEEPING, True),
        (LAST, ALONE, KEEPING, True),
        ({"fenced": (1, 3)}, {"leader": 2}, CLEARING, False),
        ({}, OTHER, CLEARING, False),
        ({"fenced": (1, 2)}, OTHER, CLEARING, False),
        ({"fenced": (1,), "without_directory": (2,)}, OTHER, CLEARING, False),
        ({"fenced": (1,), "stopping": (2,)}, OTHER, CLEARING, False),
        ({**NOBODY, "isr": (1, 2)}, OTHER, CLEARING, False),
        ({**NOBODY, "isr": (1,)}, OTHER, CLEARING, False),
        ({**NOBODY, "fenced": (2,)}, OTHER, CLEARING, False),
        (LAST, ALONE, CLEARING, False),
        (LAST, {**ALONE, "isr": ()}, KEEPING, False),
        ({**LAST, "last_known_elr": (1, 2)}, ALONE, KEEPING, False),
        ({**LAST, "fenced": (2,)}, ALONE, KEEPING, False),
        ({**LAST, "isr": (1,), "fenced": (1,)}, ALONE, KEEPING, False),
    ],
    ids=str,
)
def test_a_directory_may_make_the_controller_look_at_a_leader_that_may_not_lead(
    was: dict[str, Any], now: dict[str, Any], rules: ReleaseRules, looks: bool
) -> None:
    with refused(looks, "makes the controller elect"):
        named(replace(CALM, **was), now, rules, minimum=1)


@pytest.mark.parametrize(
    ("was", "elr", "minimum", "why"),
    [
        ({}, (), 2, "reckons the eligible leader replicas anew"),
        ({"elr": (3,), "isr": (1,)}, (3,), 2, ""),
        ({"elr": (3,), "isr": (1,)}, (), 1, "reckons the eligible leader replicas anew"),
        ({"elr": (3,), "isr": (1,)}, (), 2, ""),
        ({}, (2,), 3, ""),
        ({}, (3,), 2, ""),
    ],
    ids=["large enough", "too small", "one is enough", "cleared all the same", "another one", "kept all the same"],
)
def test_from_4_3_on_a_directory_may_have_the_eligible_replicas_reckoned_anew(
    was: dict[str, Any], elr: tuple[int, ...], minimum: int, why: str
) -> None:
    with refused(why, why):
        named(replace(LEADS, **was), {"elr": elr}, KEEPING, minimum=minimum, unnamed=True)
    named(replace(LEADS, **was), {"elr": elr}, KEEPING, minimum=minimum)


@pytest.mark.parametrize(("elr", "why"), [((), "forgets the eligible leader replicas"), ((3,), ""), ((2,), "")])
def test_up_to_4_2_a_directory_clears_all_who_are_eligible(elr: tuple[int, ...], why: str) -> None:
    with refused(why, why):
        named(LEADS, {"elr": elr}, CLEARING, unnamed=True)
    named(LEADS, {"elr": elr}, CLEARING)


def test_without_eligible_leader_replicas_who_leaves_with_a_reassignment_is_none() -> None:
    """b1 has left the ISR as it is removed, with too small an ISR."""
    for elr, ends in ((False, True), (True, False)):
        with refused(ends, "ends the reassignment"):
            rules = replace(KEEPING, reassignment_ends=ReassignmentEnd.ADDED)
            named(replace(CALM, removing=(1,)), LEFT, rules, elr=elr)


class Naming:
    """Kafka, whose controller forgets the eligible leader replicas when b2 tells it what is to be told."""

    def __init__(
        self,
        to_assign: str | None,
        *,
        elsewhere: bool,
        copied: int | None = None,
        offline: bool = False,
        isr: tuple[int, ...] = (1, 2),
    ) -> None:
        controller = replace(LEADS, elsewhere=(2,) if elsewhere else (), isr=isr)
        self.directory = DirectorySeen(offline, copied, None, to_assign, assigned=False, tells=True)
        self.applied = 30
        self.seen = SimpleNamespace(controller=controller, brokers={n: self.broker(n) for n in (1, 2, 3)})

    def broker(self, number: int) -> SimpleNamespace:
        return SimpleNamespace(directory=self.directory, applied=self.applied)

    def give(self, command: str, **arguments: object) -> None:
        if command == "assign_directory":
            self.seen.controller = replace(self.seen.controller, elr=())

    def give_accepted(self, what: str, command: str, **arguments: object) -> None:
        self.give(command)


B2 = {"replica": "b2"}


def moving(kafka: Naming, release: str = "4.1", *, moved: bool = True) -> DirectorySteps:
    steps = DirectorySteps(cast(Commands, kafka), Cluster(release=release, log_dir_moves=1, log_dir_failures=1), [])
    if moved:
        steps.start_move(B2, cast(ReadableState, {}))
    return steps


QUIET = cast(
    ReadableState,
    {
        "alter_partition": {"isr": []},
        "registrations": [{"leader": None}],
        "controller": {},
        "broker": {"b2": {"directory": "LOG", "promotion": "NONE"}},
    },
)


@pytest.mark.parametrize(
    "dropped", [{}, {"copied": 0, "offline": True}], ids=["the copy is gone", "the directory of the log is"]
)
def test_a_copy_that_was_dropped_is_told_once_more_and_clears_the_eligible_replicas(dropped: dict[str, Any]) -> None:
    with refused(True, "forgets the eligible leader replicas as b2 names a directory"):
        moving(Naming("log", elsewhere=False, **dropped)).tell_where_log_is(QUIET)


@pytest.mark.parametrize(
    ("kafka", "release", "moved"),
    [
        (Naming("log", elsewhere=False, isr=(1,)), "4.3", True),
        (Naming("log", elsewhere=False), "4.1", False),
        (Naming("log", elsewhere=True), "4.1", True),
        (Naming("log", elsewhere=False, copied=0), "4.1", True),
    ],
    ids=["from 4.3 on", "no copy", "another directory", "the copy is there"],
)
def test_whatever_else_clears_them_is_compared(kafka: Naming, release: str, moved: bool) -> None:
    moving(kafka, release, moved=moved).tell_where_log_is(QUIET)
    assert kafka.seen.controller.elr == ()


@pytest.mark.parametrize(
    "forget",
    [lambda steps: steps.note_start("b2", QUIET, QUIET), lambda steps: steps._note_swap(2)],
    ids=["a start", "a swap"],
)
def test_neither_a_start_nor_a_swap_leaves_a_copy_that_was_dropped(forget: Callable[[DirectorySteps], None]) -> None:
    steps = moving(Naming("log", elsewhere=False))
    forget(steps)
    steps.tell_where_log_is(QUIET)


ACCEPTED = cast(ReadableState, {"broker": {"b2": {"directory": "FUTURE_LOG", "promotion": "ACCEPTED"}}})


@pytest.mark.parametrize(
    ("unassigned", "elr", "release", "named"),
    [((2,), ["b3"], "4.1", True), ((2,), [], "4.1", False), ((3,), ["b3"], "4.1", False), ((2,), ["b3"], "4.3", False)],
    ids=["later", "at the start", "of another", "from 4.3 on"],
)
def test_what_is_told_of_a_start_after_a_later_step_clears_them_too(
    unassigned: tuple[int, ...], elr: list[str], release: str, named: bool
) -> None:
    kafka = Naming("log", elsewhere=True, isr=(1,))
    kafka.seen.controller = replace(kafka.seen.controller, unassigned=unassigned)
    with refused(named, "as b2 names a directory"):
        moving(kafka, release).tell_where_log_is(cast(ReadableState, {**QUIET, "controller": {"elr": elr}}))


@pytest.mark.parametrize(("unheard", "named"), [(1, True), (0, False), (None, False)])
def test_only_older_configuration_keeps_a_leader_from_its_directory(unheard: int | None, named: bool) -> None:
    before = cast(ReadableState, {"broker": {"b2": {"directory": "LOG", "configs_behind": unheard}}})
    with refused(named, "b2 has configuration to learn of first"):
        moving(Naming(None, elsewhere=False)).hear(B2, before)


def test_a_copy_that_is_asked_for_once_more_clears_them_too() -> None:
    with refused(True, "names a directory"):
        moving(Naming("copy", elsewhere=True, copied=0)).swap(B2, ACCEPTED)
    with pytest.raises(Unlike):
        moving(Naming("copy", elsewhere=True, copied=0, isr=(1,)), "4.3").swap(B2, ACCEPTED)


@pytest.mark.parametrize(
    ("to_assign", "applied", "named"),
    [("copy", 21, True), ("copy", 20, False), ("elsewhere", 21, False), (None, 21, False)],
    ids=["heard", "nothing later", "something else", "nothing to tell"],
)
def test_only_a_later_change_keeps_an_accepted_copy_from_the_place_of_the_log(
    to_assign: str | None, applied: int, named: bool
) -> None:
    kafka = Naming("copy", elsewhere=False, copied=0)
    steps = moving(kafka)
    steps.accept_copy(B2, ACCEPTED)
    kafka.directory, kafka.applied = replace(kafka.directory, to_assign=to_assign), applied
    with pytest.raises(NotSchedulable if named else Unlike):
        steps.swap(B2, ACCEPTED)


@pytest.mark.parametrize(("told", "tells", "error"), [(True, False, Unlike), (False, True, NotSchedulable)])
def test_only_a_model_of_another_release_tells_nothing_of_a_failed_directory(
    told: bool, tells: bool, error: type[Exception]
) -> None:
    kafka = Naming(None, elsewhere=False)
    kafka.directory = replace(kafka.directory, tells=tells)
    model = Cluster(log_dir_failures=1, **({} if told else {"defect": "R-50"}))
    assert model.rules.failed_directory_is_told is told
    with pytest.raises(error, match="tell"):
        DirectorySteps(cast(Commands, kafka), model, []).fail(B2, QUIET)


KNOWN = {2: KnownEnd(2, current=True, may_join=True), 3: KnownEnd(0, current=True, may_join=True)}
LEADING = LeadingSeen((1, 2), (1, 2), (), 0, KNOWN)


def marked(leader: int, follower: int = 0, leading: LeadingSeen | None = LEADING) -> Observation:
    """b1 leads, with a log of three records, and b2 follows."""
    log = LogSeen((), 0, 3, leader, ())
    one, other = BrokerSeen(running=True, leading=leading, log=log), replace(log, high_watermark=follower)
    return Observation(LEADS, {1: one, 2: BrokerSeen(running=True, log=other)})


@pytest.mark.parametrize(
    ("seen", "named"),
    [
        (marked(2), True),
        (marked(1), False),
        (marked(0), False),
        (marked(3), False),
        (marked(2, 1), False),
        (marked(2, leading=None), False),
        (marked(2, leading=replace(LEADING, isr=(1, 2, 3))), False),
    ],
    ids=["looked", "as before", "back", "beyond the ISR", "a follower's", "no leader", "not all have it"],
)
def test_a_directory_may_make_a_leader_look_at_its_high_watermark(seen: Observation, named: bool) -> None:
    with refused(named, "look at its high watermark"):
        require_watermarks({1: 1, 2: 0}, seen)


COPY = LogSeen((), 1, 3, 1, (0,))
TAKEN = {"future_leo": 2, "directory": "FUTURE_LOG"}
MINE = {"log_start": 1, "leo": 3, "hw": 2}


@pytest.mark.parametrize(
    ("was", "log", "named"),
    [
        (TAKEN, COPY, True),
        ({**TAKEN, "future_leo": None}, COPY, False),
        ({**TAKEN, "directory": "LOG"}, COPY, False),
        (TAKEN, replace(COPY, high_watermark=2), False),
        (TAKEN, replace(COPY, high_watermark=0), False),
        (TAKEN, replace(COPY, high_watermark=3), False),
        (TAKEN, replace(COPY, start=0, high_watermark=2), True),
        (TAKEN, replace(COPY, start=2, high_watermark=2), False),
        (TAKEN, replace(COPY, end=2), False),
        (TAKEN, None, False),
    ],
    ids=[
        *("older", "no copy", "not accepted", "the same", "before the start"),
        *("newer", "older start", "newer start", "other end", "no log"),
    ],
)
def test_a_copy_that_is_taken_at_a_start_may_have_an_older_high_watermark(
    was: dict[str, Any], log: LogSeen | None, named: bool
) -> None:
    before, after = ({"broker": {"b2": broker}} for broker in (was, MINE))
    with refused(named, "the copy that b2 takes"):
        require_watermark_of_copy("b2", cast(ReadableState, before), cast(ReadableState, after), log)


EMPTIED = {"latest_epoch": -1, "log_start": 2, "leo": 2}
KEEPS = LogSeen((), 2, 2, 2, (1,))


@pytest.mark.parametrize(
    ("broker", "log", "named"),
    [
        (EMPTIED, KEEPS, True),
        ({**EMPTIED, "latest_epoch": 1}, KEEPS, False),
        ({**EMPTIED, "leo": 3}, KEEPS, False),
        ({**EMPTIED, "log_start": 0, "leo": 0}, replace(KEEPS, start=0, end=0), False),
        (EMPTIED, replace(KEEPS, start=1), False),
        (EMPTIED, replace(KEEPS, end=3), False),
        (EMPTIED, replace(KEEPS, epochs=(2,)), False),
        (EMPTIED, replace(KEEPS, epochs=(0, 1)), False),
        (EMPTIED, replace(KEEPS, epochs=()), False),
        (EMPTIED, None, False),
    ],
)
def test_a_copy_may_keep_the_epoch_of_records_that_are_all_deleted(
    broker: dict[str, int], log: LogSeen | None, named: bool
) -> None:
    epochs = {"r0": "0", "r1": "1", "r2": "2"}
    after = cast(ReadableState, {"broker": {"b2": broker}, "written": 2, "epoch_of": epochs})
    with refused(named, "the copy that b2 takes for its log keeps the epoch"):
        require_epochs_of_copy("b2", after, log)


class Throwing:
    """Kafka's classes, which open, and throw after that."""

    version = "3.9.2"

    def __init__(self, *, offline: bool, thrown: str) -> None:
        directory = DirectorySeen(offline, None, None, None, assigned=False, tells=True)
        self.state = Observation(LEADS, {2: BrokerSeen(running=True, directory=directory)})
        self.thrown = thrown

    def take(self, command: str, **arguments: Argument) -> Answer:
        if command == "observe":
            return Answer("NONE", self.state, {})
        raise KafkaRaised("Uncaught exception", self.thrown)


NO_LOG = "Caused by: NotLeaderOrFollowerException: Log for partition t-0 is not available on broker 2"


@pytest.mark.parametrize(
    ("leads_without_log", "offline", "command", "thrown", "named"),
    [
        (True, True, "apply", NO_LOG, True),
        (False, True, "apply", NO_LOG, False),
        (True, False, "apply", NO_LOG, False),
        (True, True, "fetch", NO_LOG, False),
        (True, True, "apply", "Caused by: NullPointerException", False),
    ],
    ids=["N-16", "another release", "it has its log", "no metadata", "another exception"],
)
def test_before_4_0_a_broker_throws_that_is_to_lead_without_its_log(
    leads_without_log: bool, offline: bool, command: str, thrown: str, named: bool
) -> None:
    commands = Commands(Throwing(offline=offline, thrown=thrown), leads_without_log=leads_without_log)
    commands.give("observe")
    with pytest.raises(NotSchedulable if named else Unlike):
        commands.give(command, broker=2)


@pytest.mark.parametrize(
    ("kafka", "unassigned", "moved", "names"),
    [
        (Naming("log", elsewhere=False), ["b2"], True, True),
        (Naming("log", elsewhere=False, copied=0, offline=True), ["b2"], True, True),
        (Naming("log", elsewhere=False, isr=(1,)), [], True, False),
        (Naming("log", elsewhere=False), ["b2"], False, False),
        (Naming("log", elsewhere=True), ["b2"], True, False),
        (Naming("log", elsewhere=False, copied=0), ["b2"], True, False),
        (Naming(None, elsewhere=False), ["b2"], True, False),
    ],
    ids=["gone", "its log is offline", "known", "no copy", "another directory", "the copy is there", "tells nothing"],
)
def test_only_a_dropped_copy_of_which_it_has_told_makes_a_broker_name_what_was_not_known(
    kafka: Naming, unassigned: list[str], moved: bool, names: bool
) -> None:
    brokers = {"b2": {**QUIET["broker"]["b2"], "directory": "UNASSIGNED" if unassigned else "LOG"}}
    after = cast(ReadableState, {**QUIET, "broker": brokers})
    with refused(names, "b2 tells where its log is as it drops a copy"):
        moving(kafka, "4.3", moved=moved).tell_where_log_is(after)
