"""`insync diff`: two models, one under two settings, and two trace files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import explore
from insync.model.catalogue import find_model

SUPPORT = Path(__file__).parent.parent / "support"
WORKSITE = f"{SUPPORT / 'insync_worksite.py'}:Worksite"
SMALL = ["--log-size", 1, "--max-records", 1, "--max-leader-epoch", 1]

Insync = Callable[..., Any]


@pytest.fixture
def ring(tmp_path: Path) -> str:
    """A model in a copy of its file: loaded under the name of a user's file, it is another than the tests import."""
    file = tmp_path / "ring.py"
    file.write_text((SUPPORT / "insync_toys.py").read_text())
    return f"{file}:TokenRing"


def test_a_setting_that_is_given_twice_is_of_the_first_and_then_of_the_second(insync: Insync, ring: str) -> None:
    code, out, err = insync("diff", ring, "--two-tokens", 0, "--two-tokens", 1, "--nodes", 2, "--quiet")
    assert (code, err) == (1, "")
    assert out.startswith("A: token_ring   two_tokens 0\nB: token_ring   two_tokens 1\nboth: nodes 2\n")
    assert "\ndifferent: other steps; exclusive changes\n" in out
    assert "* exclusive  A: holds   B: violated (trace of 4 states)\n" in out
    assert re.search(r"^states +4 +13 +\+9 +0 +9$", out, re.MULTILINE)
    assert re.search(r"^  forge +0 +\d+ +\+\d+$", out, re.MULTILINE)
    assert "the shortest trace that A allows" not in out
    shown = out.split("the shortest trace that B allows and A does not\n")[1]
    assert re.search(r"^ 1  n2: forge +", shown, re.MULTILINE)
    assert "token_ring (two_tokens 0) has no such step: its bounds and settings rule it out." in shown


def test_models_that_do_the_same_are_the_same(insync: Insync) -> None:
    code, out, _ = insync("diff", WORKSITE, WORKSITE, "--quiet")
    assert code == 0
    assert "\nthe same: they take the same steps, and have the same verdicts\n" in out
    assert "shortest" not in out
    code, out, _ = insync("diff", WORKSITE, "--depth", 2, "--depth", 2, "--quiet", "--json")
    assert (code, json.loads(out)["same"]) == (0, True)


def test_a_limit_leaves_open_whether_they_differ(insync: Insync, ring: str) -> None:
    code, out, _ = insync("diff", ring, "--nodes", 3, "--nodes", 3, "--max-depth", 2, "--quiet")
    assert code == 3
    assert "incomplete: stopped by the limit on the depth (--max-depth); no difference was found up to there" in out


def test_traces_that_only_one_allows_are_written_and_replayed(insync: Insync, tmp_path: Path) -> None:
    file, other = tmp_path / "only.json", tmp_path / "only.other.json"
    code, out, _ = insync("diff", "kip101", "kip320", "--replicas", 2, *SMALL, "--trace", file, "--json", "--quiet")
    assert code == 1
    found = json.loads(out)
    assert found["same"] is False
    assert (found["first"]["model"], found["second"]["model"], found["settings"]) == ("kip101", "kip320", {})
    assert [one and one["trace"] for one in found["only"]] == [str(file), None]
    assert found["states"]["both"] == found["second"]["distinct_states"]
    assert sum(found["states"]["only_first"]) == found["first"]["distinct_states"] - found["states"]["both"]
    assert sum(found["states"]["only_second"]) == 0
    assert not other.exists()
    code, out, _ = insync("replay", file)
    assert code == 0
    assert "kip320 does not take this step." in out
    assert out.startswith("difference, after ")


@pytest.mark.slow
def test_the_same_steps_that_lead_elsewhere_are_shown_once(insync: Insync) -> None:
    code, out, _ = insync("diff", "cluster", "--release", "3.9", "--release", "4.1", "--max-states", 200, "--quiet")
    assert code == 1
    assert out.startswith("A: cluster   release 3.9\nB: cluster   release 4.1\nonly B has controller.elr")
    assert out.count("b2 starts and registers  ") == 1
    assert "the shortest trace that B allows and A does not: the same steps" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "A is missing"),
        (["kip320"], "kip320 is the only model, and nothing is given twice. Name a second model"),
        (["kip320", "--replicas", "2"], "kip320 is the only model, and nothing is given twice."),
        (["kip320", *["--replicas", "2"] * 3], "--replicas is given 3 times; give it once for both models, or twice."),
        (["kip320", "kip3200"], "kip3200"),
        (["kip320", "kip101", "--release", "4.1"], "--release"),
        (["cluster", "kip320", "--release", "4.1", "--release", "3.9"], "kip320 has no 'release'"),
        (["kip320", "kip101", "kip279"], "kip279"),
        (["a.json", "kip320"], "a.json is a trace file, and kip320 is none."),
        (["a.json"], "a.json is a trace file, and is alone."),
        (["a.json", "b.json"], "a.json: cannot be read"),
        (["a.json", "b.json", "--max-depth", "3"], "--max-depth is about models"),
        (["kip320", "kip101", "--property", "strong"], "neither kip320 nor kip101 has a property 'strong'"),
        (["kip320", "kip101", "--property", "none", "--property", "weak_isr"], "compares no property"),
        (["kip320", "kip101", "--trace", "nowhere/x.json"], "nowhere/x.json: cannot be written"),
        (["placement", "kip320", "--replicas", "9"], "--replicas"),
    ],
)
def test_a_mistake_is_one_sentence(insync: Insync, arguments: list[str], sentence: str) -> None:
    code, out, err = insync("diff", *arguments, "--quiet")
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_models_of_one_name_are_told_apart_by_their_files(insync: Insync, tmp_path: Path) -> None:
    changed = tmp_path / "changed.py"
    changed.write_text(Path(WORKSITE.rpartition(":")[0]).read_text().replace("s.depth > 0, s.fallen", "s.fallen"))
    code, out, _ = insync("diff", WORKSITE, f"{changed}:Worksite", "--quiet")
    assert code == 1
    assert re.search(r"^A: \S*insync_worksite.py:Worksite\nB: \S*changed.py:Worksite\n", out)
    assert "does not take this step. rest: depth > 0 does not hold" in " ".join(out.split())


def test_a_page_shows_the_traces_as_pictures(insync: Insync, tmp_path: Path, ring: str, traces: list[Path]) -> None:
    page = tmp_path / "page.html"
    code, out, _ = insync("diff", "kip101", "kip320", "--replicas", 2, *SMALL, "--html", page, "--quiet")
    assert code == 1
    assert out.endswith(f"Page: {page}\n")
    assert "Which steps does kip101 take that the other model does not?" in page.read_text()
    assert "Step 2; up to there both take the same." in page.read_text()
    page.unlink()
    assert insync("diff", WORKSITE, WORKSITE, "--html", page, "--quiet").code == 0
    assert not page.exists()
    code, out, _ = insync("diff", *traces, "--model", ring, "--html", page)
    assert (code, out.endswith(f"Page: {page}\n")) == (0, True)
    assert "n2: forge" in page.read_text()


@pytest.fixture
def traces(insync: Insync, ring: str, tmp_path: Path) -> list[Path]:
    """Two traces of the same steps but for the third."""
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    insync("check", ring, "--two-tokens", 1, "--trace", files[0], "--quiet")
    found = json.loads(files[0].read_text())
    files[1].write_text(files[0].read_text().replace('"property": "exclusive"', '"property": "agreement"'))
    assert len(found["steps"]) == 4
    return files


def test_traces_of_the_same_steps_are_the_same_whatever_they_are_about(
    insync: Insync, ring: str, traces: list[Path]
) -> None:
    code, out, _ = insync("diff", *traces, "--model", ring)
    assert code == 0
    assert "  property: A exclusive, B agreement\n" in out
    assert out.endswith("the same: the same steps through the same states\n")
    assert json.loads(insync("diff", *traces, "--model", ring, "--json").out) == {
        "same": True,
        "files": [str(file) for file in traces],
        "step": None,
        "labels": [None, None],
        "fields": {},
        "about": {"property": ["exclusive", "agreement"]},
        "trace_lengths": [4, 4],
    }


def test_the_first_step_in_which_two_traces_differ_is_shown_with_both_values(
    insync: Insync, ring: str, traces: list[Path]
) -> None:
    found = json.loads(traces[1].read_text())
    found["steps"] = found["steps"][:2]
    traces[1].write_text(json.dumps(found))
    code, out, _ = insync("diff", *traces, "--model", ring)
    assert code == 1
    assert re.search(r"they differ first in step 2\n  A n\d: start\n  B has ended\n", out)
    first = found["steps"][1]
    first["parameters"] = {"node": "n3" if first["parameters"]["node"] != "n3" else "n2"}
    first["state"]["token"] = ["n1", first["parameters"]["node"]]
    traces[1].write_text(json.dumps(found))
    code, out, _ = insync("diff", *traces, "--model", ring)
    assert code == 1
    assert re.search(r"step 1\n  A n2: forge\n  B n3: forge\n    token  A \{n1, n2\}   B \{n1, n3\}\n", out)


LOGS = """
from insync.model import Array, Bool, Index, Int, Model, Record, Seq, Set, State, action, require

class Node(Index):
    size = 2

class Logs(Model):
    def declare(self, b):
        return State(on=Bool, log=Seq(Int(0, 3), 2), node=Array(Node, Record(log=Seq(Int(0, 3), 2), peers=Set(Node))))

    @action
    def left(self, s):
        require(~s.on)
        s.on = True
        s.log.append(3)
        for node in self.all(Node):
            s.node[node].log.append(2)
            s.node[node].peers |= {node}

    @action
    def right(self, s):
        require(~s.on)
        s.log.append(1)
"""


def test_values_of_traces_are_written_as_elsewhere(insync: Insync, tmp_path: Path) -> None:
    model = tmp_path / "logs.py"
    model.write_text(LOGS)
    here = explore(find_model(f"{model}:Logs"))
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for number, file in enumerate(files):
        here.take(number)
        here.save(file)
        here.back()
    _, out, err = insync("diff", *files, "--model", f"{model}:Logs")
    assert err == ""
    for path, a, b in [
        ("on", "true", "false"),
        ("log", "[3]", "[1]"),
        ("node.node1.log", "[2]", "[]"),
        ("node.node2.peers", "{node2}", "{}"),
    ]:
        assert f"    {path:<16}  A {a}   B {b}\n" in out


def test_a_trace_that_is_not_true_of_its_model_is_refused(insync: Insync, ring: str, traces: list[Path]) -> None:
    traces[1].write_text(traces[1].read_text().replace('"token": ["n1"]', '"token": ["n2"]', 1))
    code, _, err = insync("diff", *traces, "--model", ring)
    assert code == 2
    assert str(traces[1]) in err
