"""What an operator is told who has deleted records, and where Kafka's leader is known to answer otherwise."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from insync.conformance.classes.observation import ControllerSeen, Observation
from insync.conformance.correspondence.known_differences import NotSchedulable, Unlike
from insync.conformance.steps.deletion_gaps import require_same_answer
from insync.conformance.steps.isr_expansions import Registrations
from insync.model import ReadableState

END = 9


def deleting(
    waits: int, *, fenced: tuple[str, ...] = (), stopping: bool = False, up: bool = True, start: int = 0, **view: Any
) -> ReadableState:
    """The model after b1 has deleted a record; of b2 it knows a log start."""
    leader = {
        "deleting": waits,
        "image_lag": 0,
        "running": True,
        "in_controlled_shutdown": False,
        "remote_replicas": {"b2": {"log_start": start}},
        **view,
    }
    other = {"running": up, "in_controlled_shutdown": stopping}
    state = {
        "broker": {"b1": leader, "b2": other},
        "registrations": [{"leader": "b1"}, {"leader": "b1"}],
        "controller": {"fenced": list(fenced)},
    }
    return cast(ReadableState, state)


def controller(fenced: tuple[int, ...], stopping: tuple[int, ...] = (), end: int = END) -> ControllerSeen:
    return ControllerSeen(1, 0, 0, (1, 2), (1, 2), (), (), (), (), fenced, end, stopping)


def answer(
    model: ReadableState,
    answered: bool,
    *,
    fenced: tuple[int, ...] = (),
    stopping: tuple[int, ...] = (),
    applied: int = END,
    before: tuple[int, ...] | None = None,
) -> None:
    """Compare the answers: who is fenced at the end of metadata, and before it, of which b1 has applied so much."""
    registered = Registrations()
    if before is not None:
        registered.note(controller(before, end=END - 2))
    registered.note(controller(fenced, stopping))
    brokers = {1: SimpleNamespace(applied=applied)}
    seen = cast(Observation, SimpleNamespace(controller=controller(fenced, stopping), brokers=brokers))
    require_same_answer("b1", model, seen, registered, answered=answered)


@pytest.mark.parametrize(("waits", "answered"), [(0, True), (1, False)])
def test_an_operator_is_answered_as_in_the_model(waits: int, answered: bool) -> None:
    answer(deleting(waits, image_lag=1), answered, fenced=(2,), stopping=(2,))


@pytest.mark.parametrize(("waits", "answered", "kafka"), [(1, True, "answered"), (0, False, "not answered yet")])
@pytest.mark.parametrize("stopping", [(), (2,)])
def test_another_answer_is_a_difference(waits: int, answered: bool, kafka: str, stopping: tuple[int, ...]) -> None:
    with pytest.raises(Unlike) as unlike:
        answer(deleting(waits), answered, stopping=stopping)
    assert (unlike.value.what, unlike.value.kafka) == ("the deletion at b1", kafka)
    assert unlike.value.model != kafka


B2 = ("b2",)
LATE: dict[str, Any] = {"fenced": (2,)}
BACK: dict[str, Any] = {"applied": END - 1, "before": (2,)}
GONE: dict[str, Any] = {"applied": END - 1, "before": (), "fenced": (2,)}
DIES: dict[str, Any] = {"stopping": (2,)}
HEARS: dict[str, Any] = {"directory_to_hear": True}
STOPS: dict[str, Any] = {"fenced": B2, "stopping": True}


@pytest.mark.parametrize(
    ("model", "answered", "kafka", "said"),
    [
        (
            deleting(1, image_lag=1, fenced=B2),
            True,
            LATE,
            "b1 has learned who is fenced, though not of the newest change",
        ),
        (
            deleting(1, isr_from_response=1, fenced=B2),
            True,
            LATE,
            "b1 has learned who is fenced, though not of the newest change",
        ),
        (deleting(1, **HEARS), True, BACK, "b1 is to learn of a directory first, and then who is back"),
        (
            deleting(0, **HEARS, fenced=B2),
            False,
            GONE,
            "b1 is to learn of a directory first, and then that b2",
        ),
        (deleting(1, **STOPS), True, {"fenced": (2,)}, "b1 does not wait for b2, which is fenced as it asks to stop"),
        (
            deleting(0, up=False, fenced=B2),
            False,
            {"stopping": (2,)},
            "b1 waits for b2, which has died while it stopped",
        ),
        (deleting(0, future_leo=0), False, {}, "b1 waits until the copy of its log has deleted the records too"),
    ],
)
def test_what_the_leader_knows_of_others_may_decide_the_answer(
    model: ReadableState, answered: bool, kafka: dict[str, Any], said: str
) -> None:
    with pytest.raises(NotSchedulable, match=said):
        answer(model, answered, **kafka)


@pytest.mark.parametrize(
    ("model", "answered", "kafka"),
    [
        (deleting(1, image_lag=1), True, {}),
        (deleting(1, image_lag=1, start=1), True, LATE),
        (deleting(1, **HEARS), True, {"before": (2,)}),
        (deleting(1), True, BACK),
        (deleting(1, **STOPS), True, {}),
        (deleting(1, fenced=B2), True, {"fenced": (2,)}),
        (deleting(1, future_leo=0), True, {}),
        (deleting(0, image_lag=1), False, LATE),
        (deleting(0, up=False, fenced=B2), False, {"stopping": (2,), "fenced": (2,)}),
        (deleting(0, up=False), False, {"stopping": (2,)}),
        (deleting(0, fenced=B2), False, GONE),
        (deleting(0, **HEARS, fenced=B2), False, {**GONE, "applied": END}),
        (deleting(0, **HEARS), False, GONE),
    ],
)
def test_a_leader_that_has_heard_all_waits_as_in_the_model(
    model: ReadableState, answered: bool, kafka: dict[str, Any]
) -> None:
    with pytest.raises(Unlike):
        answer(model, answered, **kafka)
