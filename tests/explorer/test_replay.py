from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from insync.explorer.replay import ReplayError, replay
from insync.explorer.traces.trace import RefusedStep, Trace, TraceStep
from insync.model import Model
from insync.model.evaluator import Evaluator
from insync.model.language.presentation import Demand, Hardness, Taken
from insync_lamp import Lamp

CAUSE = "The trace was changed by hand, or the model has changed since it was written."
Call = tuple[str, dict[str, str]]


def _claim(model: Model, name: str, *calls: Call, refused: Call | None = None) -> Trace:
    """The trace of these calls as the search would claim it, with labels and reason still to come."""
    program = model.program
    codes = program.initials[0]
    steps = [TraceStep(None, {}, model.decode(codes))]
    for action, parameters in calls:
        number = program.action_number(action, parameters)
        assert number is not None
        codes = Evaluator(program).step(number, codes)
        steps.append(TraceStep(action, parameters, model.decode(codes), action))
    last = None if refused is None else RefusedStep(refused[0], refused[1], "", "")
    return Trace("lamp", dict(model.b), name, tuple(steps), "", last)


PRESS_1: Call = ("press", {"switch": "s1"})
PRESS_2: Call = ("press", {"switch": "s2"})
ON = _claim(Lamp(), "never_on", PRESS_1, ("go_off", {}), PRESS_2)
THREE = _claim(Lamp(), "type_ok", PRESS_1, PRESS_2, refused=PRESS_1)


def _with_step(trace: Trace, number: int, **changes: Any) -> Trace:
    steps = list(trace.steps)
    steps[number] = replace(steps[number], **changes)
    return replace(trace, steps=tuple(steps))


def _with_state(trace: Trace, number: int, **changes: object) -> Trace:
    return _with_step(trace, number, state={**trace.steps[number].state, **changes})


def _without(state: Mapping[str, object], name: str) -> dict[str, object]:
    return {key: value for key, value in state.items() if key != name}


class Rated(Lamp):
    """A lamp of which it is said what it takes to press a switch."""

    name = "lamp"

    def demands(self, steps: Sequence[Taken]) -> list[Demand]:
        return [
            Demand(n, Hardness.OPERATION, "somebody presses") for n, one in enumerate(steps) if one.action == "press"
        ]


@pytest.mark.parametrize("claimed", [(), (Demand(2, Hardness.FAILURE, "the bulb burns out"),)])
def test_what_a_trace_takes_is_what_the_model_says_and_not_what_a_file_says(claimed: tuple[Demand, ...]) -> None:
    pressed = [Demand(step, Hardness.OPERATION, "somebody presses") for step in (1, 3)]
    assert list(replay(replace(ON, demands=claimed), model=Rated(), place="t.json").demands) == pressed
    assert replay(replace(ON, demands=claimed), model=Lamp(), place="t.json").demands == ()


def test_a_replayed_trace_has_labels_and_a_reason() -> None:
    replayed = replay(ON, model=Lamp(), place="t.json")
    assert [step.label for step in replayed.steps] == ["start", "s1 is pressed", "the lamp goes off", "s2 is pressed"]
    assert [step.state for step in replayed.steps] == [step.state for step in ON.steps]
    assert "light" in replayed.reason
    assert replay(replayed, model=Lamp(), place="t.json") == replayed


def test_a_refused_step_is_refused_again() -> None:
    replayed = replay(THREE, model=Lamp(), place="t.json")
    assert replayed.refused is not None
    assert replayed.refused.label == "s1 is pressed"
    assert replayed.refused.message.endswith(
        "the value assigned to count is not a whole number from 0 to 2. "
        "Widen the domain, or require(...) first that it fits."
    )
    assert replayed.reason == replayed.refused.message


BAD: dict[str, tuple[Trace, str]] = {
    "unknown action": (
        _with_step(ON, 1, action="pres"),
        "step 1: lamp has no action 'pres'. Did you mean 'press'?",
    ),
    "unknown parameter": (
        _with_step(ON, 1, parameters={"swich": "s1"}),
        "step 1: press has no parameter 'swich'. Did you mean 'switch'?",
    ),
    "missing parameter": (
        _with_step(ON, 1, parameters={}),
        "step 1: the parameter 'switch' of press is missing; it is one of s1, s2.",
    ),
    "parameter out of range": (
        _with_step(ON, 1, parameters={"switch": "s3"}),
        "step 1: the parameter 'switch' of press is 's3'; it must be one of s1, s2.",
    ),
    "parameter of an action without any": (
        _with_step(ON, 2, parameters={"switch": "s1"}),
        f"step 2: go_off(switch=s1) is never enabled, whatever the state. {CAUSE}",
    ),
    "not enabled": (
        _with_step(ON, 3, action="breaks", parameters={"really": "true"}),
        f"step 3: breaks(really=true) is not enabled in the state after step 2. {CAUSE}",
    ),
    "leaves a domain": (
        replace(ON, steps=(*ON.steps, replace(ON.steps[3], action="press"))),
        "step 4: press(switch=s2) leaves a domain: ",
    ),
    "another initial state": (
        _with_state(ON, 0, count=1),
        f"step 0 (the initial state): count is 1 in the trace and 0 when the step is executed. {CAUSE}",
    ),
    "another state": (
        _with_state(ON, 1, presses={"s1": 1, "s2": 4}),
        f"step 1: presses.s2 is 4 in the trace and 0 when the step is executed. {CAUSE}",
    ),
    "a number for a truth value": (
        _with_state(ON, 1, broken=0),
        f"step 1: broken is 0 in the trace and false when the step is executed. {CAUSE}",
    ),
    "another length": (
        _with_state(ON, 1, pressed=["s1", "s2"]),
        f'step 1: pressed is ["s1", "s2"] in the trace and ["s1"] when the step is executed. {CAUSE}',
    ),
    "inside a list": (
        _with_state(ON, 1, history=[{"by": "s1", "light": "OFF"}, None]),
        f'step 1: history[0].light is "OFF" in the trace and "ON" when the step is executed. {CAUSE}',
    ),
    "a field that is missing": (
        _with_step(ON, 1, state=_without(ON.steps[1].state, "last")),
        f"step 1: the field last is missing from the state in the trace. {CAUSE}",
    ),
    "a field too many": (
        _with_state(ON, 1, lst="s1"),
        f"step 1: the state in the trace has a field lst that is not one of the model. {CAUSE}",
    ),
    "no violation": (
        replace(ON, steps=ON.steps[:3]),
        f"step 2: never_on holds in the last state of the trace, which must violate it. {CAUSE}",
    ),
    "no refused step": (
        replace(THREE, refused=None),
        f"the end of the trace: a trace of type_ok must end with the key 'refused'. {CAUSE}",
    ),
    "a refused step of another property": (
        replace(ON, refused=THREE.refused),
        f"the end of the trace: a trace of never_on has no key 'refused'. {CAUSE}",
    ),
    "a refused step that is allowed": (
        replace(THREE, steps=THREE.steps[:2]),
        f"refused: press(switch=s1) leaves no domain, so type_ok is not violated. {CAUSE}",
    ),
    "a refused step that is not enabled": (
        replace(THREE, refused=RefusedStep("breaks", {"really": "false"}, "", "")),
        f"refused: breaks(really=false) is not enabled in the last state. {CAUSE}",
    ),
}


@pytest.mark.parametrize(("trace", "expected"), BAD.values(), ids=BAD.keys())
def test_a_trace_that_the_model_does_not_confirm(trace: Trace, expected: str) -> None:
    with pytest.raises(ReplayError) as caught:
        replay(trace, model=Lamp(), place="t.json")
    message = caught.value.args[0]
    assert message.startswith(f"t.json: {expected}")
    assert "\n" not in message


@pytest.mark.parametrize("kind", [lambda: Lamp(presses=1), lambda: Lamp(switches=3)])
def test_bounds_changed_by_hand(kind: Callable[[], Model]) -> None:
    with pytest.raises(ReplayError, match=r"t\.json: step"):
        replay(ON, model=kind(), place="t.json")


def test_a_trace_that_lacks_a_bound_is_refused() -> None:
    with pytest.raises(ReplayError, match=r"out\.json: bounds: switches, presses are missing"):
        replay(replace(ON, bounds={}), model=Lamp(), place="out.json")
