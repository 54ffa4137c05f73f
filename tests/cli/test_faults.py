"""Whose fault an error is: that of a user's file, which is told where, or one of insync, which asks for a report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Insync = Callable[..., Any]
MODEL = """\
from insync.model import Int, Model, State, action, for_all, require


class Sum(Model):
    def declare(self, b):
        return State(n=Int(0, 3))

    @action
    def add(self, s):
        require(for_all(range(3), lambda number: {asked}))
        s.n += 1
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    def written(asked: str) -> str:
        (tmp_path / "sum.py").write_text(MODEL.format(asked=asked))
        return "sum.py:Sum"

    monkeypatch.chdir(tmp_path)
    return written


def test_an_error_of_the_model_s_own_line_is_the_user_s_however_deep_it_is_called(
    insync: Insync, model: Callable[[str], str]
) -> None:
    code, _, err = insync("check", model("s.n < 3 // number"))
    assert code == 2
    assert "sum.py:10: the model raised ZeroDivisionError" in err
    assert "Traceback" not in err


def test_an_error_of_insync_below_a_line_of_the_model_is_a_fault_of_insync(
    insync: Insync, model: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.model.domains.values.apply", lambda *given: 1 // 0)
    code, _, err = insync("check", model("s.n < 3"))
    assert code == 70
    assert "the model raised" not in err
    assert "This is a fault of insync, not of your model" in err
    assert "Traceback" in err


RECURSION = """\
from insync.model import If, Index, Int, Model, Or, State, action, exists, invariant


class Person(Index):
    size = 2


class Endless(Model):
    def declare(self, b):
        return State(n=Int(0, 3))

    {start}

    def down(self, n):
        return {down}

    @action
    def go(self, s):
        s.n = {go}

    @invariant
    def ends(self, s):
        return {ends}
"""
START = "def initial(self, s): s.n = self.down(s.n)"
DOWN = "If(n == 0, 0, self.down(n - 1))"
ENDLESS = {
    "in an action": {"go": "self.down(s.n)", "down": DOWN},
    "in an initial state": {"start": START, "down": DOWN},
    "in a property": {"ends": "self.down(s.n)", "down": "Or(n == 0, self.down(n - 1))"},
    "in a quantifier": {"ends": "self.down(s.n)", "down": "Or(n == 0, exists(Person, lambda who: self.down(n + who)))"},
    "of Python alone": {"go": "self.down(s.n)", "down": "self.down(n)"},
}


@pytest.mark.parametrize("verb", ["check", "simulate", "prove", "liveness", "export"])
@pytest.mark.parametrize("parts", ENDLESS.values(), ids=ENDLESS)
def test_a_recursion_on_a_value_of_the_state_is_the_user_s(
    insync: Insync, tmp_path: Path, parts: dict[str, str], verb: str
) -> None:
    plain = {"start": "", "down": "0", "go": "0", "ends": "s.n < 4"}
    path = tmp_path / "endless.py"
    path.write_text(RECURSION.format(**{**plain, **parts}).replace("@invariant", RUN.get(verb, "@invariant")))
    code, out, err = insync(verb, f"{path}:Endless", *(("--quiet",) if verb not in ("export",) else ()))
    assert (code, out) == (2, "")
    assert err == (
        f"Error: {path}:15: the model raised RecursionError: down calls itself without end. Only what is "
        "known while the model is read can end that, such as a Python number; a value of the state cannot.\n"
    )


RUN = {"liveness": "from insync.model import sometimes\n\n    @sometimes"}
"""What stands in place of `@invariant`, for a verb that looks at other properties."""


def test_a_recursion_of_insync_s_own_is_a_fault_of_insync(
    insync: Insync, model: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def again(*given: object) -> object:
        return again(*given)

    monkeypatch.setattr("insync.model.domains.values.apply", again)
    code, _, err = insync("check", model("s.n < 3"))
    assert code == 70
    assert "RecursionError" in err
