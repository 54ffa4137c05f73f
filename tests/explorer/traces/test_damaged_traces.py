"""A trace file with anything else in any place is refused with that place, or has what it says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from insync.explorer.traces.trace import RefusedStep, Trace, TraceStep
from insync.explorer.traces.trace_file import parse_trace, trace_text
from insync.properties.temporal import Fairness
from insync.runtime.errors import UserError
from insync_damaged import damaged

FULL = Trace(
    model="lamp",
    bounds={"switches": 2, "mode": "slow"},
    property="never_on",
    steps=(
        TraceStep(None, {}, {"on": False}, "start"),
        TraceStep("press", {"switch": "s1"}, {"on": True}, "press"),
    ),
    reason="The lamp is on.",
    refused=RefusedStep("press", {"switch": "s1"}, "s1 is pressed", "count is 3."),
    loop=1,
    fairness=Fairness(("press",), ("rest",)),
    witness=True,
)


def test_anything_else_anywhere_is_refused_there_or_stays_what_it_is() -> None:
    taken = 0
    for key, changed in damaged(json.loads(trace_text(FULL))):
        try:
            trace = parse_trace("here", json.dumps(changed))
        except UserError as error:
            (message,) = error.args
            assert message.startswith("here: "), message
            assert key in message or f"[{key}]" in message, (key, message)
        else:
            taken += 1
            assert json.dumps(json.loads(trace_text(trace)), sort_keys=True) == json.dumps(changed, sort_keys=True)
    assert taken


@pytest.mark.parametrize("loop", [0, 1])
def test_a_run_may_go_back_to_any_of_its_steps(loop: int) -> None:
    parsed: dict[str, Any] = json.loads(trace_text(FULL))
    assert parse_trace("here", json.dumps({**parsed, "loop": loop})).loop == loop
    with pytest.raises(UserError, match="loop is 2; expected the number of a step, from 0 to 1"):
        parse_trace("here", json.dumps({**parsed, "loop": 2}))
