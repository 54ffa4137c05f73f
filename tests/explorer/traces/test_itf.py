from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from insync.explorer.traces.itf import itf_text, write_itf
from insync.explorer.traces.trace import RefusedStep, Trace, TraceStep
from insync.model import Int, State
from insync.model.evaluator import Evaluator
from insync_lamp import Lamp
from insync_post import Post


def _trace(refused: RefusedStep | None = None) -> Trace:
    model = Lamp()
    codes = Evaluator(model.program).step(1, model.program.initials[0])
    steps = (
        TraceStep(None, {}, model.decode(model.program.initials[0])),
        TraceStep("press", {"switch": "s2"}, model.decode(codes), "s2 is pressed"),
    )
    return Trace("lamp", dict(model.b), "never_on", steps, "light is ON.", refused)


def _export(refused: RefusedStep | None = None) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(itf_text(_trace(refused), Lamp().state))
    return parsed


def test_what_is_not_in_ascii_is_written_as_it_is() -> None:
    assert "pressé" in itf_text(replace(_trace(), reason="light is pressé."), Lamp().state)


@pytest.mark.parametrize("names", [("start",), ("action",), ("action_taken",), ("action", "action_taken")])
def test_whatever_fields_are_called_each_has_its_value_and_the_step_another_name(names: tuple[str, ...]) -> None:
    fields = {name: Int(0, place + 1) for place, name in enumerate(names)}
    steps = (TraceStep(None, {}, dict.fromkeys(names, 0)), TraceStep("go", {}, dict.fromkeys(names, 1), "goes"))
    exported = json.loads(itf_text(Trace("names", {}, "never", steps, "it is."), State(**fields)))
    (step,) = set(exported["vars"]) - set(names)
    assert len(exported["vars"]) == len(names) + 1
    for number, state in enumerate(exported["states"]):
        assert [state[name] for name in names] == [{"#bigint": str(number)}] * len(names)
        assert state[step]["name"] == ("start", "go")[number]


def test_the_keys_are_in_the_order_of_the_format() -> None:
    exported = _export()
    assert list(exported) == ["#meta", "vars", "states"]
    assert exported["vars"] == sorted(exported["vars"])
    assert exported["#meta"]["format"] == "ITF"
    assert list(exported["#meta"]["varTypes"]) == exported["vars"]
    for index, state in enumerate(exported["states"]):
        assert list(state) == ["#meta", *exported["vars"]]
        assert state["#meta"] == {"index": index}


@pytest.mark.parametrize(("back_to", "first_again"), [(0, 1), (1, 1)])
def test_a_run_that_never_ends_goes_on_behind_the_state_that_it_is_back_in(back_to: int, first_again: int) -> None:
    """The last state is that of step 0 again, so step 1 follows; where the last state stays, it follows itself."""
    looping = replace(_trace(), loop=back_to)
    assert json.loads(itf_text(looping, Lamp().state))["loop"] == first_again
    assert "loop" not in _export()


def test_each_domain_has_its_expression() -> None:
    none = {"tag": "Nothing", "value": "U_OF_UNIT"}
    first, second = _export()["states"]
    assert first == {
        "#meta": {"index": 0},
        "action": {"name": "start", "parameters": {"#map": []}},
        "broken": False,
        "count": {"#bigint": "0"},
        "history": [none, none],
        "last": none,
        "light": "OFF",
        "pressed": {"#set": []},
        "presses": {"#map": [["s1", {"#bigint": "0"}], ["s2", {"#bigint": "0"}]]},
    }
    assert second == {
        "#meta": {"index": 1},
        "action": {"name": "press", "parameters": {"#map": [["switch", "s2"]]}},
        "broken": False,
        "count": {"#bigint": "1"},
        "history": [{"tag": "Some", "value": {"by": "s2", "light": "ON"}}, none],
        "last": {"tag": "Some", "value": "s2"},
        "light": "ON",
        "pressed": {"#set": ["s2"]},
        "presses": {"#map": [["s1", {"#bigint": "0"}], ["s2", {"#bigint": "1"}]]},
    }


def test_each_domain_has_its_type() -> None:
    assert _export()["#meta"]["varTypes"] == {
        "action": "{ name: Str, parameters: Str -> Str }",
        "broken": "Bool",
        "count": "Int",
        "history": "Seq(Nothing(UNIT) | Some({ by: Str, light: Str }))",
        "last": "Nothing(UNIT) | Some(Str)",
        "light": "Str",
        "pressed": "Set(Str)",
        "presses": "Str -> Int",
    }


def test_a_refused_step_is_told_in_the_description() -> None:
    refused = RefusedStep("press", {"switch": "s1"}, "s1 is pressed", "count is 3.")
    assert _export(refused)["#meta"]["refused"] == "s1 is pressed: count is 3."


def test_the_file_is_the_text(tmp_path: Path) -> None:
    write_itf(tmp_path / "t.itf.json", _trace(), Lamp().state)
    assert (tmp_path / "t.itf.json").read_text() == itf_text(_trace(), Lamp().state)


def test_sequences_bags_and_sets_are_those_of_tla() -> None:
    model = Post()
    letter = {"kind": "ANSWER", "to": "home1", "page": None}
    state = {"queue": [letter], "bag": [letter, letter], "asked": ["home1"], "heard": [letter, letter | {"page": 2}]}
    assert model.decode(model.encode(state)) == state
    trace = Trace("post", dict(model.b), "nothing_is_lost", (TraceStep(None, {}, state),), "lost.")
    exported = json.loads(itf_text(trace, model.state))
    nothing, two = {"tag": "Nothing", "value": "U_OF_UNIT"}, {"tag": "Some", "value": {"#bigint": "2"}}
    assert {name: exported["states"][0][name] for name in state} == {
        "queue": [letter | {"page": nothing}],
        "bag": {"#map": [[letter | {"page": nothing}, {"#bigint": "2"}]]},
        "asked": {"#set": ["home1"]},
        "heard": {"#set": [letter | {"page": nothing}, letter | {"page": two}]},
    }
    element = "{ kind: Str, to: Str, page: Nothing(UNIT) | Some(Int) }"
    types = exported["#meta"]["varTypes"]
    assert {name: types[name] for name in state} == {
        "queue": f"Seq({element})",
        "bag": f"({element}) -> Int",
        "asked": "Set(Str)",
        "heard": f"Set({element})",
    }
