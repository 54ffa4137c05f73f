from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from insync.explorer.traces.trace import RefusedStep, Trace, TraceStep
from insync.explorer.traces.trace_file import read_trace, trace_text, write_trace
from insync.runtime.errors import UserError

AGAIN = "Write the trace again with `insync check MODEL --trace FILE`."

TRACE = Trace(
    model="lamp",
    bounds={"switches": 2},
    property="never_on",
    steps=(
        TraceStep(None, {}, {"on": False, "by": None, "log": []}),
        TraceStep("press", {"switch": "s1"}, {"on": True, "by": "s1", "log": [1, "é"]}, "press"),
    ),
    reason="The lamp is on.",
)

REFUSED = Trace(
    "lamp",
    {},
    "type_ok",
    (TraceStep(None, {}, {"on": False}),),
    "count is 3.",
    RefusedStep("press", {"switch": "s1"}, "s1 is pressed", "count is 3."),
)


def _file(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "t.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def _changed(**changes: object) -> str:
    parsed: dict[str, Any] = json.loads(trace_text(TRACE))
    for name, value in changes.items():
        at: Any = parsed
        *path, last = name.split("__")
        for key in path:
            at = at[int(key) if key.isdigit() else key]
        if value is ...:
            del at[last]
        else:
            at[int(last) if last.isdigit() else last] = value
    return json.dumps(parsed)


@pytest.mark.parametrize("trace", [TRACE, REFUSED], ids=["steps", "refused"])
def test_a_trace_comes_back_as_it_was_written(tmp_path: Path, trace: Trace) -> None:
    path = tmp_path / "t.json"
    write_trace(path, trace)
    assert read_trace(path) == trace


def test_a_path_may_be_a_text_as_people_write_it_in_notebooks(tmp_path: Path) -> None:
    write_trace(str(tmp_path / "trace.json"), TRACE)
    assert read_trace(str(tmp_path / "trace.json")) == TRACE


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    assert read_trace(_file(tmp_path, "\ufeff" + trace_text(TRACE))) == TRACE


def test_the_file_has_one_line_a_step() -> None:
    assert trace_text(TRACE) == (
        "{\n"
        '  "format": "insync-trace/1",\n'
        '  "model": "lamp",\n'
        '  "bounds": {"switches": 2},\n'
        '  "property": "never_on",\n'
        '  "reason": "The lamp is on.",\n'
        '  "steps": [\n'
        '    {"action": null, "parameters": {}, "state": {"on": false, "by": null, "log": []}},\n'
        '    {"action": "press", "parameters": {"switch": "s1"}, "state": {"on": true, "by": "s1", "log": [1, "é"]}}\n'
        "  ]\n"
        "}\n"
    )
    assert json.loads(trace_text(REFUSED))["refused"]["message"] == "count is 3."


@pytest.mark.parametrize("length", range(0, len(trace_text(TRACE).encode()) - 2, 7))
def test_a_file_cut_off_anywhere_is_refused_in_one_sentence(tmp_path: Path, length: int) -> None:
    path = _file(tmp_path, trace_text(TRACE).encode()[:length])
    with pytest.raises(UserError) as caught:
        read_trace(path)
    message = caught.value.args[0]
    assert message.startswith(str(path))
    assert message.endswith(AGAIN)
    assert "\n" not in message


MESSAGES = {
    "": "{path}: the file is empty; a trace (insync-trace/1) was expected. {again}",
    trace_text(TRACE)[:200]: "{path}:8:50: the trace file is cut off here. {again}",
    '{"format": "insync-trace/1",\n "model": lamp}': (
        "{path}:2:11: this is not JSON at 'lamp}}' (Expecting value). A trace (insync-trace/1) was expected. {again}"
    ),
    '{"format": 1, "format": 2}': (
        "{path}: the key 'format' is there twice in one object. A trace (insync-trace/1) was expected. {again}"
    ),
    '{"format": NaN}': "{path}: NaN is not a value of JSON. A trace (insync-trace/1) was expected. {again}",
    '{"format": ' + "9" * 5000 + "}": (
        "{path}: a number in it has more digits than any in a trace (insync-trace/1). {again}"
    ),
    "[" * 100_000: "{path}: values are nested too deep for a trace (insync-trace/1). {again}",
    "[]": "{path}: the whole file is []; expected an object in braces. {again}",
    "{}": '{path}: format is null, and this insync reads "insync-trace/1". It is not a trace file. {again}',
    _changed(format="insync-trace/2"): (
        '{path}: format is "insync-trace/2", and this insync reads "insync-trace/1". '
        "It was written by another version of insync. {again}"
    ),
    '{"#meta": {}, "vars": [], "states": []}': (
        "{path}: this is an ITF file, which insync only writes. Name a trace file (insync-trace/1)."
    ),
    '{"#meta": {}, "format": "insync-trace/2"}': (
        '{path}: format is "insync-trace/2", and this insync reads "insync-trace/1". '
        "It was written by another version of insync. {again}"
    ),
    _changed(model=...): "{path}: the key 'model' is missing at the top. {again}",
    _changed(
        modle="lamp"
    ): "{path}: the key 'modle' at the top is not one of a trace file. Did you mean 'model'? {again}",
    _changed(model=3): "{path}: model is 3; expected a text in quotes. {again}",
    _changed(bounds=[1]): "{path}: bounds is [1]; expected an object in braces. {again}",
    _changed(bounds__switches=[2]): "{path}: bounds.switches is [2]; expected a whole number. {again}",
    _changed(bounds__switches=True): "{path}: bounds.switches is true; expected a whole number. {again}",
    _changed(bounds__switches=2.0): "{path}: bounds.switches is 2.0; expected a whole number. {again}",
    _changed(steps=[]): "{path}: steps is []; expected a list with at least the initial state. {again}",
    _changed(steps__1=4): "{path}: steps[1] is 4; expected an object in braces. {again}",
    _changed(steps__0__action="press"): (
        '{path}: steps[0].action is "press"; expected null, as no action leads to the initial state. {again}'
    ),
    _changed(steps__1__action=None): "{path}: steps[1].action is null; expected a text in quotes. {again}",
    _changed(steps__1__state=...): "{path}: the key 'state' is missing in steps[1]. {again}",
    _changed(steps__1__parameters__switch=1): (
        "{path}: steps[1].parameters.switch is 1; expected a text in quotes. {again}"
    ),
    _changed(refused={}): "{path}: the key 'action' is missing in refused. {again}",
}


@pytest.mark.parametrize(("text", "expected"), MESSAGES.items(), ids=[str(i) for i in range(len(MESSAGES))])
def test_what_is_wrong_is_said_with_place_value_and_expectation(tmp_path: Path, text: str, expected: str) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(UserError) as caught:
        read_trace(path)
    assert caught.value.args[0] == expected.format(path=path, again=AGAIN)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = _file(tmp_path, b"{\xff}")
    with pytest.raises(UserError, match=r"byte 1 is not UTF-8 text. A trace file \(insync-trace/1\) was expected"):
        read_trace(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        read_trace(tmp_path / "gone.json")
    assert caught.value.args[0] == (
        f"{tmp_path / 'gone.json'}: cannot be read (No such file or directory). "
        "Name a trace file that `insync check MODEL --trace FILE` wrote."
    )
