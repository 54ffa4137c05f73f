"""Names and texts of a model, paths and files are text: whatever is in them moves no cursor and commands no build."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.cli.terminal import emit, emit_data, emit_error, painter
from insync.explorer.traces.grid import Tone
from insync_odd import NAME, NASTY

Insync = Callable[..., Any]
ODD = f"{Path(__file__).parent.parent / 'support' / 'insync_odd.py'}:Odd"
OWN = re.compile(r"\x1b\[(?:[0-9]{1,2})?(?:;[0-9]{1,2})*m")
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def assert_is_text(shown: str, *, coloured: bool = False, annotated: bool = False) -> None:
    """Fail if a terminal or a build server would obey something of a text."""
    if coloured:
        assert "\x1b[31m\x1b]" not in shown, "a code of the model's is one of ours"
        shown = OWN.sub("", shown)
    found = OBEYED.search(shown)
    assert found is None, repr(shown[max(0, found.start() - 60) : found.end() + 20])
    for line in shown.splitlines():
        own = annotated and re.match(r"::(error|warning) (file=|title=)", line)
        assert own or (not line.lstrip().startswith("::") and "##[" not in line and "##vso[" not in line), line


LINES = {
    "list": "list ODD",
    "help": "check ODD --help",
    "check": "check ODD --statistics",
    "check, in colours": "check ODD --color always",
    "check, annotated": "check ODD --github",
    "check, incomplete": "check ODD --max-depth 1 --github",
    "simulate": "simulate ODD --walks 20 --depth 5",
    "liveness": "liveness ODD",
    "prove, to a depth": "prove ODD --bmc 4",
    "prove, by induction": "prove ODD --induction --github",
    "prove, with lemmas": "prove ODD --infer",
    "agree": "agree ODD --engine evaluator --engine local-1 --engine z3",
    "mutate": "mutate ODD",
    "why": "why ODD",
    "diff": "diff ODD --most 1 --most 2",
    "diff, of traces": "diff TRACE TRACE --model ODD",
    "replay": "replay TRACE --model ODD",
    "replay, markdown": "replay TRACE --model ODD --format markdown",
    "replay, mermaid": "replay TRACE --model ODD --format mermaid",
    "report": "report TRACE --model ODD",
    "refused": "replay TRACE",
    "another model": "replay TRACE --model kip101",
}


@pytest.fixture
def trace(insync: Insync, tmp_path: Path) -> Path:
    """A trace in a folder with such a name, which is in every path."""
    folder = tmp_path / f"f{NASTY.replace('/', '')}"
    folder.mkdir()
    assert insync("check", ODD, "--trace", folder / "t.json", "--quiet").code == 1
    return folder / "t.json"


@pytest.mark.parametrize("name", LINES)
def test_no_command_lets_a_model_command(insync: Insync, trace: Path, name: str) -> None:
    words = {"ODD": ODD, "TRACE": trace}
    code, out, err = insync(*[words.get(word, word) for word in LINES[name].split()])
    assert code in (0, 1, 2, 3), err
    assert_is_text(out, coloured="colours" in name, annotated="--github" in LINES[name])
    assert_is_text(err)
    assert "x1b" in out + err, "it has such names in it"


def test_the_prompt_of_a_model_obeys_nothing(insync: Insync, trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["0", "why", "props", "state", "trace", "tree", "names", "find count == 2", "find \x1b[2J", "\x1b]0;x\x07"]
    monkeypatch.setattr("sys.stdin", iter([f"{line}\n" for line in lines]))
    monkeypatch.setattr("insync.cli.exploring._lines", lambda: iter(lines))
    code, out, err = insync("explore", ODD, "--text", "--from", trace)
    assert code == 0
    assert_is_text(out)
    assert_is_text(err)


@pytest.mark.parametrize(
    "line",
    [
        ["check", f"{NASTY}.py:Odd"],
        ["check", f"/no/{NASTY}"],
        ["check", ODD, "--property", NASTY],
        ["check", ODD, f"--{NASTY}"],
        ["check", ODD, "--most", NASTY],
        ["check", ODD, "--trace", f"/no/{NASTY}/t.json"],
        ["check", ODD, "--github", "--within", NASTY],
        [NASTY],
        ["replay", NASTY],
        ["list", NASTY],
        ["ask", "--config", NASTY],
        ["explore", ODD, "--text", "--at", NASTY],
    ],
)
def test_a_mistake_is_told_as_text(insync: Insync, line: list[str]) -> None:
    code, out, err = insync(*line)
    assert (code, "\\x1b" in err) == (2, True)
    assert_is_text(err)
    assert_is_text(out, annotated="--github" in line)


def test_a_file_that_somebody_wrote_is_told_as_text(insync: Insync, trace: Path) -> None:
    found = json.loads(trace.read_text())
    trace.write_text(json.dumps({**found, "model": f"{NASTY}.py:Evil", NASTY: 1}, ensure_ascii=False))
    assert_is_text(insync("replay", trace).err)
    trace.write_text(json.dumps({**found, "model": f"{NASTY}.py:Evil{NASTY}"}, ensure_ascii=False))
    assert_is_text(insync("replay", trace).err)
    found["steps"][1]["state"][NASTY] = NASTY
    trace.write_text(json.dumps(found, ensure_ascii=False))
    assert_is_text(insync("replay", trace, "--model", ODD).err)


def test_data_stays_as_it_is(insync: Insync, trace: Path) -> None:
    (broken,) = json.loads(insync("check", ODD, "--json").out)["violations"]
    assert broken["reason"] == f"Two are lit. {NASTY}"
    last = json.loads(trace.read_text())["steps"][-1]
    assert last["state"][f"lamp{NAME}"] == {f"s{NAME}1": f"ON{NAME}", f"s{NAME}2": f"ON{NAME}"}
    assert json.loads(insync("replay", trace, "--model", ODD, "--json").out)["steps"][-1]["state"] == last["state"]


def test_sarif_tells_text(insync: Insync, tmp_path: Path) -> None:
    insync("check", ODD, "--sarif", tmp_path / "out.sarif")
    texts: list[str] = []

    def gather(part: object) -> None:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            for key, value in part.items():
                gather(key)
                gather(value)
        elif isinstance(part, list):
            for one in part:
                gather(one)

    gather(json.loads((tmp_path / "out.sarif").read_text()))
    assert [text for text in texts if OBEYED.search(text)] == []
    assert any("\\x1b" in text for text in texts)


def test_our_own_colours_are_colours(capsys: pytest.CaptureFixture[str]) -> None:
    paint = painter("always")
    emit(f"{paint('holds', Tone.GOOD)} {paint(NASTY, Tone.LABEL)} {NASTY}")
    emit_error(paint("::error::", Tone.BAD))
    out, err = capsys.readouterr()
    assert out.startswith("\x1b[32m\x1b[1mholds\x1b[0m \x1b[36m\\x1b[31m\\x1b]0;title\\x07")
    assert_is_text(out, coloured=True)
    assert err == "\x1b[31m\x1b[1m\\x3a:error::\x1b[0m\n"
    emit_data(NASTY)
    assert capsys.readouterr().out == f"{NASTY}\n"
