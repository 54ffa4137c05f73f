"""What a model prints goes to standard error, wherever it prints: standard output is for the answer alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync_process import started

Insync = Callable[..., Any]

MODEL = """\
import atexit, sys, threading, time
import insync.properties as properties
from sys import stdout
from insync.model import Bound, Bounds, Int, Model, State, action, eventually, invariant, require

print("printed in the module")
stdout.write("written in the module\\n")


class Count(Model):
    bounds = Bounds(end=Bound(4, 1, 20, "how far it goes"))

    def declare(self, b):
        print("printed in declare")
        return State(count=Int(0, b.end))

    @action
    def go_on(self, s):
        print("printed in an action")
        require(s.count < self.b.end)
        s.count += 1

    @invariant
    def fits(self, s):
        return s.count <= self.b.end

    @eventually
    def ends(self, s):
        print("printed in a property of runs")
        return s.count == self.b.end


def why(failure):
    print("printed in because")
    return "it has grown"


@properties.invariant(Count, because=why)
def is_small(model, s):
    print("printed in an invariant")
    return s.count < 3
"""

ANSWERS = {
    "check": ["check", "MODEL", "--json"],
    "check what holds": ["check", "MODEL", "--property", "fits", "--json", "--sarif", "out.sarif"],
    "simulate": ["simulate", "MODEL", "--walks", "20", "--json"],
    "liveness": ["liveness", "MODEL", "--json"],
    "prove": ["prove", "MODEL", "--property", "fits", "--induction", "--json"],
    "why": ["why", "MODEL", "--json"],
    "diff": ["diff", "MODEL", "--end", "3", "--end", "4", "--property", "fits", "--json"],
    "mutate": ["mutate", "MODEL", "--property", "fits", "--json"],
    "agree": ["agree", "MODEL", "--engine", "local-1", "--engine", "evaluator", "--json"],
    "list": ["list", "MODEL", "--json"],
    "export": ["export", "MODEL", "--json"],
    "export of a graph": ["export", "MODEL", "--to", "dot", "--json"],
    "replay": ["replay", "out.json", "--model", "MODEL", "--json"],
}


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "count.py").write_text(MODEL)
    return "count.py:Count"


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_in_json_is_one_object(name: str, model: str, insync: Insync) -> None:
    if name == "prove":
        pytest.importorskip("z3")
    if name == "replay":
        insync("check", model, "--trace", "out.json", "--quiet")
    code, out, err = insync(*[model if part == "MODEL" else part for part in ANSWERS[name]])
    assert code in {0, 1, 3}, err
    assert isinstance(json.loads(out), dict)
    if name not in {"list", "replay"}:  # the file is loaded already, or declares nothing
        assert "printed in declare" in err


def test_a_report_and_its_annotations_have_no_line_of_a_model(model: str, insync: Insync) -> None:
    code, out, err = insync("check", model, "--github")
    assert (code, "printed" in out, "written" in out) == (1, False, False)
    assert [line.split()[0] for line in out.splitlines() if "file=count.py" in line] == ["::error", "::warning"]
    for place in ("the module", "declare", "an action", "an invariant", "because"):
        assert f"printed in {place}" in err
    assert "written in the module" in err


def test_a_module_that_another_tool_reads_is_whole(model: str, insync: Insync) -> None:
    _, out, err = insync("export", model)
    assert out.startswith("----")
    assert "printed in an action" in err


def test_what_threads_and_the_end_of_the_process_print_is_no_answer(model: str, tmp_path: Path) -> None:
    with (tmp_path / "count.py").open("a") as file:
        file.write(
            "\natexit.register(print, 'printed at the end')\n"
            "def repeat():\n"
            "    while threading.main_thread().is_alive():\n"
            "        print('printed in a thread'); time.sleep(0.001)\n"
            "    print('printed by the last thread')\n"
            "threading.Thread(target=repeat).start()\n"
        )
    process = started(["check", model, "--json"])
    out, err = process.communicate(timeout=60)
    assert json.loads(out)["verdict"] == "violated"
    for place in ("in a thread", "by the last thread", "at the end"):
        assert f"printed {place}" in err


def test_a_model_that_closes_the_output_keeps_no_answer_back(model: str, tmp_path: Path) -> None:
    with (tmp_path / "count.py").open("a") as file:
        file.write("\nsys.stdout.close()\n")
    text = (tmp_path / "count.py").read_text().replace("    print(", "    str(")
    (tmp_path / "count.py").write_text(text)
    process = started(["check", model, "--json"])
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, json.loads(out)["verdict"]) == (1, "violated")
