"""What `prove` shows beside its report: a page with the counterexamples to induction, and annotations for builds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Insync = Callable[..., Any]

EVEN = '''
from insync.model import BoundValues, Int, Model, State, StateView, action, invariant, require


class Even(Model):
    """Counts by two; that it never is 7 holds, and is no induction, as from 5 a step would lead there."""

    headline = ("not_seven",)

    def declare(self, b: BoundValues) -> State:
        return State(x=Int(0, 20))

    @action
    def up(self, s: StateView) -> None:
        require(s.x < 18)
        s.x += 2

    @invariant
    def not_seven(self, s: StateView) -> object:
        """It is never seven."""
        return s.x != 7

    @invariant
    def small(self, s: StateView) -> object:
        return s.x < 4
'''


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("z3")
    (tmp_path / "even.py").write_text(EVEN)
    (tmp_path / ".git").mkdir()
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path)


def test_a_counterexample_to_induction_is_on_the_page(insync: Insync) -> None:
    code, out, _ = insync("prove", "even.py:Even", "--induction", "--html", "out.html")
    assert code == 3
    assert out.endswith("Page: out.html\n")
    page = Path("out.html").read_text()
    assert "Does every step of even from a good state keep not_<wbr>seven?" in page
    assert "No: up breaks it after 1 good state. Whether such a state is ever reached is not known." in page
    assert re.findall(r"<caption>([^<]*)", page) == ["A good state", "State after step 1"]
    assert "<pre>insync prove even.py:Even --induction --html out.html</pre>" in page
    assert "The trace as a file" not in page  # no replay can begin there


def test_the_page_of_a_proof_is_not_written(insync: Insync) -> None:
    code, _, err = insync("prove", "even.py:Even", "--induction", "--k", 9, "--html", "out.html")
    assert (code, "out.html was not written: there is no trace to show." in err) == (0, True)


def test_github_is_told_what_is_not_proved_at_the_property(insync: Insync) -> None:
    code, out, _ = insync("prove", "even.py:Even", "--induction", "--github", "--sarif", "out.sarif")
    (line,) = [line for line in out.splitlines() if line.startswith("::")]
    assert code == 3
    assert line.startswith("::warning file=even.py,line=18,title=insync%3A unproved::Even: not_seven is not proved. up")
    (run,) = json.loads(Path("out.sarif").read_text())["runs"]
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [("unproved", "warning")]


def test_github_is_told_of_a_violation_that_a_bounded_check_finds(insync: Insync) -> None:
    code, out, _ = insync("prove", "even.py:Even", "--bmc", 4, "--property", "small", "--github")
    (line,) = [line for line in out.splitlines() if line.startswith("::")]
    assert code == 1
    assert line.startswith("::error file=even.py,line=23,title=insync%3A small::Even: small fails after 2 steps.")


def test_github_is_told_how_far_a_bounded_check_without_a_violation_went(insync: Insync) -> None:
    _, out, _ = insync("prove", "even.py:Even", "--bmc", 2, "--github")
    assert "not_seven is not proved. No trace of up to 2 states breaks it; longer ones were not looked at." in out


def test_github_is_told_nothing_of_a_proof(insync: Insync) -> None:
    code, out, _ = insync("prove", "even.py:Even", "--induction", "--k", 9, "--github")
    assert (code, "::" in out) == (0, False)


def test_a_broken_promise_is_an_annotation(insync: Insync) -> None:
    asked = ("ask", "--release", "3.9", "--replicas", 2, "--acks", "1", "--against", "broker")
    code, out, _ = insync(*asked, "--github", "--sarif", "out.sarif")
    (line,) = [line for line in out.splitlines() if line.startswith("::error")]
    assert code == 1
    assert line.startswith("::error title=insync%3A C-2::C-2: with acks=1 the leader acknowledges what nobody else has")
    (run,) = json.loads(Path("out.sarif").read_text())["runs"]
    assert [one["ruleId"] for one in run["results"]] == ["C-2"]
