"""What a model was made with: the same words in every result and every file, which lead back to the same model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Insync = Callable[..., Any]

MODEL = f"{Path(__file__).parent.parent / 'support' / 'insync_settings.py'}:Guarded"
CHOSEN = ("--guard", "on", "--pace", "two at a time", "--top", "4")
IDENTITY = {"guard": "on", "pace": "two at a time", "top": 4}


@pytest.mark.parametrize(
    "command",
    [
        ("check",),
        ("simulate", "--walks", "10"),
        ("liveness",),
        ("prove", "--bmc", "3"),
        ("prove", "--induction"),
        ("prove", "--infer"),
        ("agree", "--engine", "evaluator", "--engine", "local-1", "--engine", "z3"),
        ("mutate",),
    ],
    ids=" ".join,
)
def test_every_result_names_bounds_and_settings_alike(insync: Insync, command: tuple[str, ...]) -> None:
    _, out, err = insync(command[0], MODEL, *command[1:], *CHOSEN, "--json")
    assert json.loads(out)["bounds"] == IDENTITY, err


@pytest.mark.parametrize("command", ["check", "simulate", "prove --bmc 5"])
def test_a_trace_leads_back_to_its_model(insync: Insync, tmp_path: Path, command: str) -> None:
    file = tmp_path / "trace.json"
    name, *options = command.split()
    code, _, _ = insync(name, MODEL, *options, "--pace", "one at a time", "--trace", file)
    assert code == 1
    assert json.loads(file.read_text())["bounds"] == {"guard": "off", "pace": "one at a time", "top": 3}
    code, out, err = insync("replay", file, "--model", MODEL)
    assert code == 0, err
    assert "low fails" in out
    code, out, err = insync("replay", file, "--model", MODEL, "--json")
    assert code == 0, err
    replayed = json.loads(out)
    assert replayed["bounds"] == {"guard": "off", "pace": "one at a time", "top": 3}
    assert [step["state"] for step in replayed["steps"]] == [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 3}]


@pytest.mark.parametrize("name", ["guard", "top"])
def test_a_trace_without_a_setting_or_bound_is_refused(insync: Insync, tmp_path: Path, name: str) -> None:
    file = tmp_path / "trace.json"
    assert insync("check", MODEL, "--trace", file).code == 1
    trace = json.loads(file.read_text())
    del trace["bounds"][name]
    file.write_text(json.dumps(trace))
    code, out, err = insync("replay", file, "--model", MODEL)
    assert (code, out) == (2, "")
    assert f"bounds: {name} is missing; guarded needs a value for each of its bounds and settings." in err


def test_all_that_an_older_trace_lacks_is_named(insync: Insync, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    assert insync("check", MODEL, "--trace", file).code == 1
    file.write_text(json.dumps({**json.loads(file.read_text()), "bounds": {"pace": "one at a time"}}))
    assert "bounds: guard, top are missing; " in insync("replay", file, "--model", MODEL).err


def test_a_list_of_a_model_has_the_names_that_make_it(insync: Insync) -> None:
    listed = json.loads(insync("list", MODEL, "--json").out)
    assert [entry["name"] for entry in listed["bounds"]] == list(IDENTITY)


@pytest.mark.slow
def test_an_answer_names_bounds_and_settings_as_a_search_does(insync: Insync) -> None:
    small = ("--release", "4.1", "--replicas", 1)
    (asked,) = json.loads(insync("ask", *small, "--json").out)["combinations"]
    checked = json.loads(insync("check", "cluster", *small, "--max-depth", 1, "--json").out)
    assert set(asked["settings"]) == set(checked["bounds"])


def test_a_graph_names_bounds_and_settings_alike(insync: Insync, tmp_path: Path) -> None:
    nx = pytest.importorskip("networkx")
    file = tmp_path / "graph.graphml"
    code, out, err = insync("export", MODEL, "--to", "graphml", "-o", file, *CHOSEN, "--json", "--max-states", 2)
    assert code == 0, err
    written = json.loads(out)
    assert (written["bounds"], written["files"]) == (IDENTITY, {"graph.graphml": file.read_text()})
    assert {name: str(value) for name, value in IDENTITY.items()}.items() <= nx.read_graphml(file).graph.items()


def test_a_proof_leads_back_to_its_model(insync: Insync, tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    code, _, err = insync("prove", MODEL, "--induction", *CHOSEN, "--save", file)
    assert code == 0, err
    assert json.loads(file.read_text())["bounds"] == IDENTITY
    code, out, err = insync("prove", MODEL, "--lemmas", file, "--json")
    assert code == 0, err
    assert json.loads(out)["bounds"] == IDENTITY


def test_inference_tries_candidates_on_a_model_with_the_same_settings(insync: Insync) -> None:
    code, out, err = insync("prove", MODEL, "--infer", "--guard", "on", "--top", "8")
    assert code == 0, out + err


def test_the_default_of_a_setting_is_shown_by_its_name(insync: Insync) -> None:
    _, out, _ = insync("check", MODEL, "--help")
    assert "[default: one at a time]" in " ".join(out.split())
    _, out, _ = insync("check", MODEL, "--property", "none", "--guard", "on")
    assert out.splitlines()[0].endswith("   guard on")


SPILLS = """
from insync.model import *


class Spills(Model):
    bounds = Bounds(top=Bound(3, 1, 9))

    def declare(self, b):
        return State(n=Int(0, 2))

    @action
    def count(self, s):
        s.n += 1
"""


def test_a_trace_file_says_nothing_of_the_machine(
    insync: Insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models, out, elsewhere = (tmp_path / name for name in ("models", "out", "elsewhere"))
    for folder in (models, out, elsewhere):
        folder.mkdir()
    (models / "spills.py").write_text(SPILLS)
    monkeypatch.chdir(elsewhere)
    code, shown, _ = insync("check", models / "spills.py:Spills", "--trace", out / "t.json")
    assert code == 1
    text = (out / "t.json").read_text()
    assert str(tmp_path) not in text
    assert '"model": "spills.py:Spills"' in text
    assert "spills.py:13: the value assigned to n is not a whole number from 0 to 2." in text
    (command,) = (line.removeprefix("Replay: insync ") for line in shown.splitlines() if line.startswith("Replay: "))
    assert insync(*command.split())[0] == 0
    code, _, err = insync("replay", out / "t.json")
    assert (code, "a model in spills.py, and there is no such file" in err) == (2, True)
    (out / "spills.py").write_text(SPILLS)
    code, _, err = insync("replay", out / "t.json")
    assert (code, err.endswith(f" --model {out}/spills.py:Spills\n")) == (2, True), "a model beside the trace is found"
