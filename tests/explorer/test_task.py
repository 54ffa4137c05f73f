"""What every verb does first: find the model, trace it, decide on symmetry and compile, as far as it is needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from insync.explorer import (
    CheckResult,
    Limits,
    StopReason,
    Verdict,
    agree,
    bounded_check,
    check,
    diff,
    liveness,
    mutate,
    prove,
    simulate,
    why,
)
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.explorer.task import Clock, Needs, Prepared, Task, model_of
from insync.model import Model
from insync.properties.registry import default_names
from insync.runtime.errors import UserError
from insync.runtime.watch import Stopped
from insync_lamp import Lamp
from insync_runs import Crossing
from insync_symmetric import Gossip
from insync_toys import DieHard, TokenRing


def stopped_by(task: Task, needs: Needs) -> tuple[StopReason, Prepared]:
    def work(prepared: Prepared) -> tuple[StopReason, Prepared]:
        raise AssertionError(prepared)

    return task.run(work, lambda prepared, reason: (reason, prepared), needs)


@pytest.mark.parametrize("needs", Needs)
def test_a_task_is_prepared_as_far_as_its_work_needs(needs: Needs) -> None:
    def work(prepared: Prepared) -> None:
        assert (prepared.model._program is not None) == (needs >= Needs.PROGRAM)
        assert bool(prepared.conditions) == (needs >= Needs.PROPERTIES)
        assert (prepared.symmetry is not None) == (needs >= Needs.SYMMETRY)
        if needs < Needs.KERNELS:
            with pytest.raises(AssertionError):
                _ = prepared.kernels
        else:
            assert prepared.kernels.sizes.symmetric

    Task(model=Gossip, properties=["one_leader"], symmetry=True).run(work, lambda *_: None, needs)


def test_symmetry_is_used_only_if_it_is_asked_for() -> None:
    kernels = Task(model=Gossip).run(lambda prepared: prepared.kernels.sizes, lambda *_: None)
    assert kernels is not None
    assert not kernels.symmetric


def test_a_task_that_is_stopped_before_it_is_traced_has_no_conditions() -> None:
    stop = threading.Event()
    stop.set()
    reason, prepared = stopped_by(Task(model=DieHard, stop=stop), Needs.KERNELS)
    assert (reason, prepared.names, prepared.conditions) == (StopReason.INTERRUPT, ("never_four",), {})
    reason, prepared = stopped_by(Task(model=DieHard, limits=Limits(seconds=0)), Needs.PROGRAM)
    assert (reason, prepared.model._program) == (StopReason.TIME, None)


def test_work_that_is_given_up_ends_with_the_task_as_it_was_prepared() -> None:
    def work(prepared: Prepared) -> Prepared:
        raise Stopped(StopReason.MEMORY)

    ended = list[StopReason]()

    def partial(prepared: Prepared, reason: StopReason) -> Prepared:
        ended.append(reason)
        return prepared

    prepared = Task(model=TokenRing).run(work, partial)
    assert ended == [StopReason.MEMORY]
    assert prepared.kernels.sizes.conditions == len(prepared.conditions) == 1


@pytest.mark.parametrize("verb", [check, simulate, liveness, mutate, why])
def test_no_verb_traces_a_model_beyond_its_limits(verb: Callable[..., Any]) -> None:
    if verb is liveness:
        pytest.importorskip("numpy")
    model = Crossing()
    stop = threading.Event()
    stop.set()
    result = verb(model, stop=stop)
    assert (result.stopped_by, model._program) == (StopReason.INTERRUPT, None)
    assert repr(result)


def test_a_mistake_is_found_before_the_limits_are_checked() -> None:
    with pytest.raises(UserError, match="no property 'never_five'"):
        stopped_by(Task(model=DieHard, properties=["never_five"], limits=Limits(seconds=0)), Needs.PROGRAM)
    assert model_of("kip320", {"replicas": 2}).identity["replicas"] == 2


def test_laps_add_up() -> None:
    clock = Clock()
    clock.lap("one")
    clock.lap("two")
    before = clock.seconds["one"]
    clock.lap("one")
    assert clock.seconds["one"] > before
    assert list(clock.seconds) == ["one", "two"]
    assert all(0 <= spent < 60 for spent in clock.seconds.values())


def _stopped_at_once() -> threading.Event:
    stop = threading.Event()
    stop.set()
    return stop


VERBS: dict[str, Callable[[Model, threading.Event], object]] = {
    "evaluator": lambda model, stop: check_by_evaluator(model, stop=stop).stopped_by,
    "prove": lambda model, stop: prove(model, stop=stop).result.stopped_by,
    "bounded_check": lambda model, stop: bounded_check(model, depth=2, stop=stop).result.stopped_by,
    "agree": lambda model, stop: agree(model, stop=stop).stopped_by,
    "mutate": lambda model, stop: mutate(model, stop=stop).stopped_by,
    "diff": lambda model, stop: diff(model, type(model)(), stop=stop).stopped_by,
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_that_is_stopped_traces_nothing_more(verb: str) -> None:
    model = Lamp()
    assert VERBS[verb](model, _stopped_at_once()) is StopReason.INTERRUPT
    assert model._program is None


@pytest.mark.parametrize("verb", ["evaluator", "prove", "bounded_check"])
def test_seconds_that_are_spent_end_the_tracing(verb: str) -> None:
    model, limits = Lamp(), Limits(seconds=1e-9)
    made: dict[str, Callable[[], Any]] = {
        "evaluator": lambda: check_by_evaluator(model, limits=limits),
        "prove": lambda: prove(model, limits=limits),
        "bounded_check": lambda: bounded_check(model, depth=2, limits=limits),
    }
    found = made[verb]()
    stopped = found.stopped_by if isinstance(found, CheckResult) else found.result.stopped_by
    assert (stopped, found.verdict, model._program) == (StopReason.TIME, Verdict.INCOMPLETE, None)
    assert [one.name for one in found.properties] == list(default_names(model))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bounds": [3]}, r"bounds=\[3\] is not a dictionary; give the value of each bound by its name\."),
        ({"stop": True}, r"stop=True is not an event; give a threading.Event, or leave it out\."),
    ],
)
def test_an_argument_of_another_type_is_a_mistake_in_a_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        check(DieHard, **given)
