from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Insync = Callable[..., Any]
CAUSE = "The trace was changed by hand, or the model has changed since it was written."


@pytest.fixture
def trace(insync: Insync, lamp: str, tmp_path: Path) -> Path:
    path = tmp_path / "t.json"
    assert insync("check", lamp, "--presses", 3, "--trace", path).code == 1
    return path


def _change(path: Path, change: Callable[[Any], object]) -> None:
    parsed = json.loads(path.read_text())
    change(parsed)
    path.write_text(json.dumps(parsed))


def test_a_trace_that_holds_up(insync: Insync, lamp: str, trace: Path) -> None:
    code, out, err = insync("replay", trace, "--model", lamp)
    assert (code, err) == (0, "")
    assert out.startswith("never_on fails after 1 step")


@pytest.mark.parametrize("form", ["json", "itf", "mermaid"])
def test_a_page_beside_what_programs_read_adds_no_line_to_it(
    insync: Insync, lamp: str, trace: Path, tmp_path: Path, form: str
) -> None:
    given = ("replay", trace, "--model", lamp)
    alone = insync(*given, "--format", form)
    assert insync(*given, "--format", form, "--html", tmp_path / "page.html") == alone
    assert (alone.code, (tmp_path / "page.html").exists()) == (0, True)
    assert f"Page: {tmp_path / 'page.html'}" in insync(*given, "--html", tmp_path / "page.html").out


def test_a_model_that_moved(insync: Insync, trace: Path, lamp: str, tmp_path: Path) -> None:
    moved = tmp_path / "moved.py"
    shutil.copy(lamp.rpartition(":")[0], moved)
    _change(trace, lambda t: t.update(model="gone.py:Lamp"))
    code, out, err = insync("replay", trace)
    assert (code, out) == (2, "")
    assert err == (
        f"Error: {trace}: this is a trace of Lamp, a model in gone.py, and there is no such file. "
        f"Name the file of the model: insync replay {trace} --model path/to/gone.py:Lamp\n"
    )
    code, _, err = insync("replay", trace, "--model", f"{moved}:Lamp")
    taken = f"{trace} is a trace of gone.py:Lamp; its steps are taken by {moved}:Lamp, which --model names.\n"
    assert (code, err) == (0, taken)


CHANGES: dict[str, tuple[Callable[[Any], object], str]] = {
    "another version": (
        lambda t: t.update(format="insync-trace/9"),
        (
            'format is "insync-trace/9", and this insync reads "insync-trace/1". '
            "It was written by another version of insync. Write the trace again with `insync check MODEL --trace FILE`."
        ),
    ),
    "an unknown model": (
        lambda t: t.update(model="kip32"),
        "There is no model 'kip32'. Did you mean 'kip320'? Name a model of your own as path/to/file.py:ModelName.",
    ),
    "an unknown bound": (lambda t: t["bounds"].update(lamps=1), "lamp has no bound 'lamps'. Known: presses, switches."),
    "a bound out of range": (
        lambda t: t["bounds"].update(switches=9),
        "lamp: the bound switches=9 is out of range; it must be from 1 to 4.",
    ),
    "another bound": (
        lambda t: t["bounds"].update(switches=3),
        "step 0 (the initial state): the field presses.s3 is missing from the state in the trace. " + CAUSE,
    ),
    "an unknown property": (
        lambda t: t.update(property="never_onn"),
        "lamp has no property 'never_onn'. Did you mean 'never_on'?",
    ),
    "a property that holds": (
        lambda t: t.update(property="broken_lamps_are_dark"),
        "step 1: broken_lamps_are_dark holds in the last state of the trace, which must violate it. " + CAUSE,
    ),
    "an unknown action": (
        lambda t: t["steps"][1].update(action="pres"),
        "step 1: lamp has no action 'pres'. Did you mean 'press'?",
    ),
    "another state": (
        lambda t: t["steps"][1]["state"].update(count=2),
        "step 1: count is 2 in the trace and 1 when the step is executed. " + CAUSE,
    ),
}


@pytest.mark.parametrize(("change", "sentence"), CHANGES.values(), ids=CHANGES.keys())
def test_a_file_that_was_changed(
    insync: Insync, lamp: str, trace: Path, change: Callable[[Any], object], sentence: str
) -> None:
    _change(trace, change)
    named = () if sentence.startswith("There is no model") else ("--model", lamp)
    for form in ("text", "itf", "json"):
        assert insync("replay", trace, *named, "--format", form) == (2, "", f"Error: {trace}: {sentence}\n")


def test_a_file_that_is_cut_off(insync: Insync, trace: Path) -> None:
    trace.write_text(trace.read_text()[:-30])
    code, out, err = insync("replay", trace)
    assert (code, out) == (2, "")
    assert err.startswith(f"Error: {trace}:9:")
    assert "the trace file is cut off here." in err
