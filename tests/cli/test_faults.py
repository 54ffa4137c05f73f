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
    monkeypatch.setattr("insync.model.values.apply", lambda *given: 1 // 0)
    code, _, err = insync("check", model("s.n < 3"))
    assert code == 70
    assert "the model raised" not in err
    assert "This is a fault of insync, not of your model" in err
    assert "Traceback" in err
