from __future__ import annotations

from dataclasses import replace

import pytest

from insync.explorer import CheckResult, Limits, Verdict, check
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.explorer.task import model_of
from insync.model import Model, ReadableState
from insync.runtime.errors import UserError
from insync.runtime.watch import StopReason, Watch
from insync_lamp import Lamp

SMALL = {"replicas": 2, "log_size": 1, "max_records": 2, "max_leader_epoch": 1}


def timeless(result: CheckResult) -> CheckResult:
    return replace(result, engine="", seconds={}, peak_memory_bytes=0)


@pytest.mark.slow_for(
    "model0-None-False", "model0-None-True", "model1-None-False", "model1-None-True", "model4-properties4-False"
)
@pytest.mark.parametrize("keep_going", [False, True])
@pytest.mark.parametrize(
    ("model", "properties"),
    [
        (model_of("kip101", SMALL), None),
        (model_of("truncate_to_high_watermark", {**SMALL, "max_leader_epoch": 2}), None),
        (model_of("async_isr", {"replicas": 2}), None),
        (model_of("kip320", SMALL), ["leader_in_isr"]),
        (model_of("kip320", SMALL), ["type_ok", "strong_isr"]),
        (Lamp(), None),
        (Lamp(), ["broken_lamps_are_dark"]),
        (Lamp(switches=1), []),
    ],
)
def test_it_finds_what_machine_code_finds_to_the_very_trace(
    model: Model, properties: list[str] | None, keep_going: bool
) -> None:
    by_evaluator = check_by_evaluator(model, properties=properties, keep_going=keep_going)
    assert timeless(by_evaluator) == timeless(
        check(model, properties=properties, keep_going=keep_going, symmetry=False)
    )
    assert by_evaluator.engine == "evaluator"


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(depth=3), StopReason.DEPTH),
        (Limits(states=9), StopReason.STATES),
        (Limits(seconds=1e-9), StopReason.TIME),
        (Limits(memory_bytes=1 << 60), StopReason.MEMORY),
    ],
)
def test_a_limit_makes_it_incomplete(monkeypatch: pytest.MonkeyPatch, limits: Limits, reason: StopReason) -> None:
    if reason is StopReason.MEMORY:
        monkeypatch.setattr(Watch, "may_use", lambda *_: False)  # as if others had taken it meanwhile
    result = check_by_evaluator(model_of("kip101", SMALL), limits=limits)
    assert (result.verdict, result.stopped_by) == (Verdict.INCOMPLETE, reason)
    assert result.frontier == (result.levels or (0,))[-1]


def never_pressed_twice(state: ReadableState) -> bool:
    """No switch is pressed twice."""
    return all(times < 2 for times in state["presses"].values())


def test_a_function_of_the_readable_state_is_a_property() -> None:
    result = check_by_evaluator(Lamp(), properties=[never_pressed_twice])
    (violation,) = result.violations
    assert (violation.property, violation.trace_length) == ("never_pressed_twice", 3)
    assert violation.trace.reason == "never_pressed_twice is false in the last state: No switch is pressed twice."


def test_a_function_must_answer_yes_or_no() -> None:
    def says_nothing(state: ReadableState) -> bool:
        return None  # type: ignore[return-value]

    with pytest.raises(UserError, match=r"The property says_nothing returns None \(NoneType\); .* returns True where"):
        check_by_evaluator(Lamp(), properties=[says_nothing])


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ("never_on", r"properties='never_on' is one string; give a list of names: properties=\['never_on'\]"),
        (len, r"is not a list of names; write properties=\["),
        ([lambda state: True], "has no name to be reported by; write it with `def name"),
        ([7], "7 is not a property; give the name of one, or a function"),
        (["never_onn"], "lamp has no property 'never_onn'. Did you mean 'never_on'?"),
        (["never_on", type("T", (), {"__call__": 1, "__name__": "never_on"})()], "two different properties are named"),
    ],
)
def test_what_is_no_property_is_refused(properties: object, message: str) -> None:
    with pytest.raises(UserError, match=message):
        check_by_evaluator(Lamp(), properties=properties)  # type: ignore[arg-type]


def test_a_property_that_is_named_twice_is_one() -> None:
    found = check_by_evaluator(Lamp(), properties=["never_on", "broken_lamps_are_dark", "never_on"], keep_going=True)
    assert [one.name for one in found.properties] == ["never_on", "broken_lamps_are_dark", "type_ok"]


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(UserError, match="7 is not a model; give a subclass of Model, or the name of one"):
        model_of(7)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"lamp: the model was made with the bounds .*'switches': 2.* is given too"):
        model_of(Lamp(), {"switches": 3})
    assert model_of(Lamp(switches=3), {"switches": 3}).b.switches == 3
