"""What a broker has to tell of its directories, where only the newest is told: each case under its own condition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from insync.conformance.classes.observation import ControllerSeen, DirectorySeen
from insync.conformance.classes.subject import Answer
from insync.conformance.correspondence.known_differences import NotSchedulable, Unlike
from insync.conformance.steps.commands import Commands
from insync.conformance.steps.directory_gaps import would_be_late
from insync.conformance.steps.directory_steps import DirectorySteps
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState

CONTROLLER = ControllerSeen(1, 3, 7, (1, 2), (1, 2), (), (), (), (), (), 20, ())
B2 = {"replica": "b2"}
Step = Callable[[DirectorySteps, dict[str, str], ReadableState], None]


class Telling:
    """Kafka with a broker that has something to tell, and with what its controller knows; it keeps the commands."""

    def __init__(self, to_assign: str | None, applied: int = 20, copied: int | None = 0, **known: Any) -> None:
        self.seen = SimpleNamespace(controller=replace(CONTROLLER, **known))
        directory = DirectorySeen(False, copied, None, to_assign, assigned=False, tells=True)
        self.b2 = SimpleNamespace(directory=directory, applied=applied)
        self.given: list[str] = []

    def broker(self, number: int) -> SimpleNamespace:
        return self.b2

    def give(self, command: str, **arguments: object) -> Answer:
        self.given.append(command)
        return cast(Answer, SimpleNamespace(said="NONE"))

    def give_accepted(self, what: str, command: str, **arguments: object) -> None:
        self.give(command)


def steps_of(kafka: Telling) -> DirectorySteps:
    model = Cluster(release="4.1", log_dir_moves=1, log_dir_failures=1)
    return DirectorySteps(cast(Commands, kafka), model, [10, 20])


def state(asked: tuple[str, ...] = (), leader: dict[str, object] | None = None, **values: object) -> ReadableState:
    b2 = {"directory_to_hear": True, "directory": "LOG", "promotion": "NONE", "future_leo": None, **values}
    epoch = {"leader": "b1", "epoch": "0"}
    changes = [{**epoch, "configuration": True}, {**epoch, "configuration": False}, {**epoch, "configuration": False}]
    brokers = {"b1": {"image_lag": 0, "pending_isr": [], **(leader or {})}, "b2": b2}
    return cast(ReadableState, {"broker": brokers, "alter_partition": {"isr": list(asked)}, "registrations": changes})


ELSEWHERE: dict[str, Any] = {"directory": "FUTURE_LOG"}
ASTRAY: dict[str, Any] = {**ELSEWHERE, "failed_log_dir": "FUTURE_LOG"}
ONLY_THE_NEWEST = "only the newest that is to be told of a directory is told"
BEFORE_THE_COPY = "what is to be told of a log comes before its copy"
CATCHES_UP = "a copy that catches up takes the place of what is to be told of the log"
NOTHING_TO_TELL = "a broker has nothing to tell any more of its directory"
LATE = "a directory that is named makes the AlterPartition late"


@pytest.mark.parametrize(
    ("step", "kafka", "before", "kind"),
    [
        (DirectorySteps.hear, Telling("elsewhere"), state(), ONLY_THE_NEWEST),
        (DirectorySteps.hear, Telling("copy"), state(**ELSEWHERE), ONLY_THE_NEWEST),
        (
            DirectorySteps.hear,
            Telling("copy", applied=10),
            state(**ELSEWHERE, isr_from_response=True),
            ONLY_THE_NEWEST,
        ),
        (DirectorySteps.copy_record, Telling("log"), state(), CATCHES_UP),
        (DirectorySteps.accept_copy, Telling("log"), state(), BEFORE_THE_COPY),
        (DirectorySteps.name, Telling(None), state(), NOTHING_TO_TELL),
        (DirectorySteps.name, Telling("copy"), state(future_leo=0), NOTHING_TO_TELL),
        (DirectorySteps.report, Telling("log"), state(asked=("b1",)), LATE),
        (DirectorySteps.report, Telling("log"), state(asked=("b1",), **ELSEWHERE), LATE),
        (DirectorySteps.report, Telling("log"), state(leader={"isr_from_response": True}), LATE),
        (DirectorySteps.report, Telling("log"), state(leader={"image_lag": 1}), LATE),
        (DirectorySteps.report, Telling("log"), state(leader={"image_lag": 2}), LATE),
    ],
)
def test_what_is_newer_takes_the_place_of_what_was_to_be_told(
    step: Step, kafka: Telling, before: ReadableState, kind: str
) -> None:
    with pytest.raises(NotSchedulable) as refused:
        step(steps_of(kafka), B2, before)
    assert refused.value.kind == kind
    assert kafka.given == []


@pytest.mark.parametrize(
    ("step", "kafka", "before", "given"),
    [
        (DirectorySteps.hear, Telling("copy"), state(), []),
        (DirectorySteps.hear, Telling("copy", applied=19), state(**ELSEWHERE), ["apply"]),
        (DirectorySteps.hear, Telling("copy", applied=9), state(**ELSEWHERE, isr_from_response=True), ["apply"]),
        (DirectorySteps.hear, Telling("log"), state(**ELSEWHERE), ["assign_directory", "hear_directory"]),
        (DirectorySteps.copy_record, Telling("copy"), state(), ["copy_to_directory"]),
        (DirectorySteps.copy_record, Telling(None), state(), ["copy_to_directory"]),
        (DirectorySteps.accept_copy, Telling("copy"), state(), ["assign_directory"]),
        (DirectorySteps.accept_copy, Telling(None), state(), ["copy_to_directory", "assign_directory"]),
        (DirectorySteps.name, Telling("log"), state(), ["assign_directory", "hear_directory"]),
        (DirectorySteps.report, Telling("copy"), state(), ["report_directory"]),
        (DirectorySteps.report, Telling("copy"), state(asked=("b1",)), ["report_directory"]),
        (DirectorySteps.report, Telling("log"), state(), ["report_directory"]),
        (DirectorySteps.report, Telling("log"), state(isr_from_response=True), ["report_directory"]),
        (
            DirectorySteps.report,
            Telling("log"),
            state(**ASTRAY),
            ["report_directory"],
        ),
    ],
)
def test_anything_else_is_told(step: Step, kafka: Telling, before: ReadableState, given: list[str]) -> None:
    step(steps_of(kafka), B2, before)
    assert kafka.given == given


@pytest.mark.parametrize("known", [{"elsewhere": (2,)}, {"without_directory": (2,)}])
def test_a_broker_that_has_told_nothing_of_its_new_directory_is_a_difference(known: dict[str, Any]) -> None:
    with pytest.raises(Unlike, match="what b2 has to tell of its directory"):
        steps_of(Telling(None, **known)).name(B2, state())


@pytest.mark.parametrize(
    ("step", "to_assign"), [(DirectorySteps.name, "log"), (DirectorySteps.accept_copy, "copy")], ids=["log", "copy"]
)
def test_a_broker_that_tells_nothing_any_more_is_not_asked(step: Step, to_assign: str) -> None:
    kafka = Telling(to_assign)
    kafka.b2.directory = replace(kafka.b2.directory, silent=True)
    with pytest.raises(NotSchedulable) as raised:
        step(steps_of(kafka), B2, state())
    assert raised.value.kind == "before 3.9 AssignmentsManager ends with an answer about a copy that is gone"
    assert kafka.given == []


def test_a_broker_that_tells_of_a_copy_where_the_model_has_none_is_a_difference() -> None:
    with pytest.raises(Unlike, match="what b2 has to tell of its directory"):
        steps_of(Telling("copy")).name(B2, state())


def start(steps: DirectorySteps, *, failed: bool, anew: bool) -> None:
    before, after = (dict[str, Any](failed_log_dir="LOG") if off else {} for off in (failed, failed and not anew))
    steps.note_start("b2", state(**before), state(**after))


@pytest.mark.parametrize(
    "left_alone",
    [lambda steps: steps.lose(B2, state()), lambda steps: start(steps, failed=True, anew=True)],
    ids=["taken out", "failed, and began anew"],
)
def test_with_one_directory_left_a_broker_ends_with_it_and_moves_nothing(left_alone: Callable[..., None]) -> None:
    kafka = Telling(None)
    steps = steps_of(kafka)
    start(steps, failed=False, anew=False)
    start(steps, failed=True, anew=False)
    for step in (steps.fail, steps.start_move):
        step(B2, state())
    assert kafka.given == ["fail_directory", "move_to_directory"]
    left_alone(steps)
    for step, kind in (
        (steps.fail, "a broker ends with its last"),
        (steps.lose, "a broker ends with its last"),
        (steps.start_move, "a broker has no other"),
    ):
        with pytest.raises(NotSchedulable) as refused:
            step(B2, state())
        assert refused.value.kind.startswith(kind)


def test_a_copy_that_outlives_the_directory_of_its_log_is_one_only_there() -> None:
    steps = steps_of(Telling(None))
    steps.end_former_copy("b2", state())
    steps.lose(B2, state())
    with pytest.raises(NotSchedulable, match="the directory of b2's log is gone"):
        steps.end_former_copy("b2", state())
    steps.end_former_copy("b2", state(future_leo=0))
    gone = steps_of(Telling(None, copied=None))
    gone.lose(B2, state())
    gone.end_former_copy("b2", state())


@pytest.mark.parametrize(
    ("replicas", "asked", "kind"),
    [
        ((1, 2), ["b1"], LATE),
        ((1,), [], "the controller takes no directory of who is a replica no more"),
        ((1, 2), [], None),
    ],
    ids=["a request is on its way", "no replica", "neither"],
)
def test_of_a_copy_that_is_told_with_the_swap_the_controller_must_hear(
    replicas: tuple[int, ...], asked: list[str], kind: str | None
) -> None:
    kafka = Telling(None, copied=None, replicas=replicas)
    steps = DirectorySteps(cast(Commands, kafka), Cluster(release="4.1", log_dir_moves=1), [10, 20])
    before = cast(ReadableState, {**state(), "alter_partition": {"isr": asked}})
    if kind is None:
        steps.swap(B2, before)
        return
    with pytest.raises(NotSchedulable) as refused:
        steps.swap(B2, before)
    assert refused.value.kind == kind


def told(lag: int, pending: list[str], *changes: dict[str, object]) -> ReadableState:
    """A leader, so many changes late, that waits for an answer; the changes, the newest first."""
    all_ = [{"leader": "b1", "epoch": "0", "isr": ["b1", "b2"], **change} for change in changes]
    broker = {"b1": {"image_lag": lag, "pending_isr": pending}}
    return cast(ReadableState, {"alter_partition": {"isr": []}, "registrations": all_, "broker": broker})


REPLIED: dict[str, object] = {"is_response": True}
SET: dict[str, object] = {"configuration": True}


@pytest.mark.parametrize(
    ("state", "late"),
    [
        (told(1, ["b2", "b1"], REPLIED, {}), True),
        (told(2, ["b1", "b2"], SET, REPLIED, {}), True),
        (told(2, ["b1", "b2"], {}, REPLIED, {}), False),
        (told(1, ["b1"], REPLIED, {}), False),
        (told(1, ["b1", "b2"], {}, {}), False),
        (told(1, ["b1", "b2"], {**REPLIED, "epoch": "1"}, {}), False),
        (told(1, ["b1", "b2"], REPLIED, {"leader": "b2"}), False),
        (told(0, ["b1", "b2"], REPLIED), False),
        (told(1, [], SET, {}), True),
        (told(2, [], SET, {}, {}), True),
        (told(2, [], {}, SET, {}), False),
        (told(0, [], SET), False),
        (told(1, [], {}, {}), False),
    ],
)
def test_a_reply_that_is_on_its_way_lets_a_leader_make_a_request_that_would_be_late(
    state: ReadableState, late: bool
) -> None:
    assert would_be_late(state) is late
