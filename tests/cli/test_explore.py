"""`insync explore --text`: commands through a pipe, and how it begins and ends."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import read_trace
from insync_process import started

Insync = Callable[..., Any]
TOYS = f"{Path(__file__).parents[1] / 'support' / 'insync_toys.py'}"
RING = f"{TOYS}:TokenRing"
JUGS = f"{TOYS}:DieHard"


@pytest.fixture
def typed(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """What comes of typing some lines, each answer after its prompt."""

    def call(lines: str, *arguments: object) -> Any:
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        return insync("explore", *arguments, "--text", "--quiet")

    return call


def answers(out: str) -> list[str]:
    """The answer to each line."""
    return [part.partition("\n")[2].strip() for part in out.split("\n> ")[1:]]


def test_a_step_forth_and_back(typed: Insync) -> None:
    code, out, err = typed("1\nback\nforward\nundo\nundo\nundo\nundo\nquit\nnot read\n", JUGS)
    assert (code, err) == (0, "")
    assert out.startswith("state 0, start\n   small  0\n   big    0\nholds: never_four, type_ok\nSteps:\n")
    first, back, forward, undone, _, _, nothing, _ = answers(out)
    assert first.startswith("state 1, 1 step from the start: fill (small false)\n   small  0\n * big    5\n")
    assert back.startswith("state 0, start")
    assert "1  fill (small false)  (visited: state 1)" in back
    assert forward == first
    assert undone == back
    assert nothing == "Nothing to undo."
    assert "not read" not in out


def test_what_a_step_takes_is_told(typed: Insync) -> None:
    _, out, _ = typed("5\nquit\n", "cluster", "--replicas", 2, "--records", 1)
    crashed = answers(out)[0]
    assert re.match(r"state 1, 1 step from the start: b1 crashes.*\ntakes: .*\(failure\)\n", crashed), crashed


def test_why_a_step_is_not_enabled(typed: Insync) -> None:
    _, out, _ = typed("why\nwhy n1: stop\nwhy start\nwhy strat\n", RING)
    every, one, several, wrong = answers(out)
    assert "n2: start: token contains n2 does not hold, with token = {n1}." in every
    assert one.startswith("n1: stop: is not enabled\n  FAILS  working contains n1\n         with working = {}\n")
    assert "         written as s.working.contains(node) (insync_toys.py:" in one
    assert several.startswith("n1: start: is enabled\n  holds  token contains n1\n  holds  not working contains n1")
    assert "n2: start: is not enabled\n  FAILS  token contains n2\n         with token = {n1}" in several
    assert wrong == "Error: token_ring has no action 'strat'. Did you mean 'start'?"


def test_finding_walking_and_saving(typed: Insync, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    _, out, _ = typed(f"find big == 4\nfind big == 4\nprops\nsave {file}\ntrace\nwalk 2 1\ntree\nstate\nnames\n", JUGS)
    found, again, props, saved, trace, walked, tree, state, names = answers(out)
    assert found.startswith("Found after 6 steps, the nearest there is (14 states, up to 6 steps on).\nstate 6")
    assert "never_four fails\n  never_four fails: big == 4 must not hold, with big = 4." in found
    assert again == "It holds here."
    assert "FAILS  never_four (watched)" in props
    assert f"Replay: insync replay {file}" in saved
    assert read_trace(file).property == "never_four"
    assert trace.startswith("never_four fails after 6 steps")
    assert walked.startswith("Walked 2 of 2 steps, seed 1.\nstate 8, 8 steps from the start")
    assert tree.splitlines()[-1].startswith("* 8  ")
    assert len(tree.splitlines()) == 9
    assert state.splitlines()[0].startswith("small")
    assert names.startswith("Fields: small, big\nProperties: never_four, deadlock_free\nWords: and, or, not, in, And")


def test_a_trace_of_another_model_is_said_to_be_one(typed: Insync, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    typed(f"save {file}\n", "kip101", "--replicas", "2")
    code, _, err = typed("", "kip320", "--from", str(file))
    assert code == 2
    assert f"{file}: it is a trace of kip101 and not of kip320; explore kip101 to begin there." in err


MISTAKES = {
    "9": "There is no step 9 here; give 1 to 6.",
    "1 2": "There is no step 1 2 here; give 1 to 6.",
    "bakc": "There is no command 'bakc'. Did you mean 'back'?",
    "back -1": "'-1' is out of range; give the number of steps, at least 1.",
    "back 99999999999999999999": "'99999999999999999999' is out of range; give the number of steps, at least 1.",
    "back 0": "0 is not a number of steps; give a whole number of at least 1.",
    "walk": "`walk` needs the number of steps, and may have a seed: write walk 20, or walk 20 7.",
    "walk x": "'x' is not a whole number; give the number of steps, 1 to 10000.",
    "walk -1": "'-1' is out of range; give the number of steps, 1 to 10000.",
    "quit now": "`quit` stands alone; leave 'now' out.",
    "q now": "`quit` stands alone; leave 'now' out.",
    "exit 2": "`exit` stands alone; leave '2' out.",
    "walk 99999": "A walk of 99999 steps is not possible; take 1 to 10000.",
    "go": "Give the number of a state; `tree` shows them.",
    "go 5": "No state of the number 5 was visited; there are 0 to 0.",
    "start 1": "die_hard has no initial state 1; there is one, 0.",
    "state big": "`state` stands alone; leave 'big' out.",
    "save": "`save` needs the name of a file: write save out.json, or save out.html for a page.",
    "save a\0b": "No file can have that name; give another one.",
    "find": "The condition is empty; write one, such as the name of a property, or a field == a value.",
    "find bgi == 4": "'bgi', character 1: there is no 'bgi' here. Did you mean 'big'?",
    "find big ==": "At the end: this is no condition (invalid syntax).",
}


def test_a_mistake_is_answered_by_a_sentence(typed: Insync) -> None:
    code, out, err = typed("\n".join([*MISTAKES, "", "  ", "back", "forward"]), JUGS)
    assert (code, err) == (0, "")
    assert answers(out) == [
        *[f"Error: {sentence}" for sentence in MISTAKES.values()],
        "",
        "",
        "This is the start; there is no step to go back by.",
        "Nothing was visited after this state; take a step.",
    ]


def test_it_is_saved_as_a_page_or_for_other_tools_by_the_name_of_the_file(typed: Insync, tmp_path: Path) -> None:
    page, other = tmp_path / "out.html", tmp_path / "out.itf.json"
    _, out, _ = typed(f"1\nsave {page}\nsave {other}\nsave {tmp_path}\n", JUGS)
    _, html, itf, wrong = answers(out)
    assert html.endswith(f"Page: {page}")
    assert "Where do these steps of die_hard lead?" in page.read_text().replace("_<wbr>", "_")
    assert "ITF, for other tools" in itf
    assert {"small", "big"} <= set(json.loads(other.read_text())["vars"])
    assert wrong.startswith(f"Error: {tmp_path}: ")


def test_it_begins_where_it_is_told_to(typed: Insync, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    _, out, _ = typed(f"2\n1\naddress\nsave {file}\n", RING, "--nodes", 4)
    address = answers(out)[2]
    for beginning in (("--at", address, "--nodes", 4), ("--from", file), ("--from", file, "--nodes", 4)):
        code, out, err = typed("", RING, *beginning)
        assert (code, err) == (0, "")
        assert out.startswith("state 2, 2 steps from the start")
    _, out, _ = typed(f"at {address}\n", RING)
    assert "is of another model, or of token_ring under other bounds" in answers(out)[0]
    code, out, err = typed("", RING, "--from", file, "--nodes", 5)
    assert (code, out) == (2, "")
    assert err == f"Error: {file} was made with nodes 4, and 5 is given. Leave that out.\n"


def test_it_begins_at_a_violation_or_says_that_there_is_none(typed: Insync) -> None:
    code, out, _ = typed("", RING, "--two-tokens", 1, "--violation", "exclusive")
    assert code == 0
    assert "exclusive fails" in out
    code, out, _ = typed("", RING, "--violation", "exclusive")
    assert (code, out.strip()) == (0, "exclusive holds in all 6 states, so it has no violation. Begin elsewhere.")
    code, _, err = typed("", RING, "--violation", "exclusiv")
    assert code == 2
    assert "Did you mean 'exclusive'?" in err


def test_several_initial_states_are_chosen_from(typed: Insync) -> None:
    model = f"{Path(TOYS).parent / 'insync_initials.py'}:Cabinet"
    _, out, _ = typed("start 44\nundo\n", model)
    assert out.startswith("There are several initial states: 45, `start N` goes to one.\nstate 0")
    assert answers(out)[0].startswith("state 1, start")


@pytest.mark.slow
def test_ctrl_c_at_the_prompt_ends_it() -> None:
    process = started(["explore", JUGS, "--text"], stdin=subprocess.PIPE)
    assert process.stdout is not None
    while not process.stdout.readline().startswith("Type a number"):
        pass
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert process.stderr is not None
    assert process.stderr.read() == "\nInterrupted.\n"


@pytest.mark.slow
def test_the_page_is_served_until_ctrl_c() -> None:
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    process = started(["explore", JUGS, "--quiet"])
    assert process.stdout is not None
    first = process.stdout.readline()
    address = first.removeprefix("die_hard is explored at ").strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{20,}/", address)
    with urllib.request.urlopen(address, timeout=30) as page:  # noqa: S310 -- our own server
        assert b"insync explore" in page.read()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0
    assert process.stdout.read() == "Ctrl-C ends it.\nEnded.\n"
    assert process.stderr is not None
    assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--text", "--port", "8000"], "--text explores in the terminal, and --port and --open are about the page."),
        (["--text", "--open"], "--text explores in the terminal, and --port and --open are about the page."),
        (["--port", "0"], "0 is out of range; give a whole number from 1 to 65535."),
        (["--text", "--at", "x"], "'x' is not the address of a state"),
        (["--text", "--from", "nowhere.json"], "nowhere.json: cannot be read"),
        (["--text", "--property", "x"], "die_hard has no property 'x'."),
        (["--text", "--at", "x", "--violation", "never_four"], "are three places to begin at; give one of them."),
    ],
)
def test_a_mistake_in_the_command_is_answered_by_a_sentence(
    insync: Insync, arguments: list[str], sentence: str
) -> None:
    code, out, err = insync("explore", JUGS, *arguments)
    assert (code, out) == (2, "")
    assert sentence in err


def test_without_its_libraries_the_page_says_what_to_install(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, out, err = insync("explore", JUGS, "--quiet")
    assert (code, out) == (2, "")
    assert "pip install 'insync[page]'" in err
    assert "--text explores in the terminal without it" in err.replace("`", "").replace("insync explore MODEL ", "")
