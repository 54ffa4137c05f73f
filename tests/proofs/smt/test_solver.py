"""Why z3 has no answer: its time is up, by its own clock or by ours, or it gives up for a reason of its own."""

from __future__ import annotations

from typing import Any

import pytest

z3 = pytest.importorskip("z3")

from insync.proofs.smt import Answer, Solver  # noqa: E402 -- it needs z3
from insync.runtime.watch import Limits, Watch  # noqa: E402


class Unsure:
    """A solver of z3 that never knows."""

    def __init__(self, why: str = "") -> None:
        self._why = why
        self.told: dict[str, object] = {}

    def set(self, name: str, value: object) -> None:
        """Note a time limit, and take no notice of it."""
        self.told[name] = value

    def interrupt(self) -> None:
        """End nothing."""

    def check(self) -> Any:
        return z3.unknown

    def reason_unknown(self) -> str:
        return self._why


@pytest.mark.parametrize(
    ("why", "seconds", "reason"),
    [
        ("timeout", None, "no answer in time"),
        ("canceled", 900.0, "no answer in time"),
        ("timeout", 0.0, "no answer in time"),
        ("(incomplete (theory arithmetic))", 0.0, "no answer in time"),
        ("(incomplete (theory arithmetic))", 900.0, "z3 says: (incomplete (theory arithmetic))"),
        ("(incomplete (theory arithmetic))", None, "z3 says: (incomplete (theory arithmetic))"),
    ],
)
def test_what_ends_a_question_without_an_answer_is_named(
    why: str, seconds: float | None, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver = Solver()
    monkeypatch.setattr(solver, "_solver", Unsure(why))
    assert solver.check(Watch(Limits(seconds=seconds))) is Answer.UNKNOWN
    assert solver.reason == reason


@pytest.mark.parametrize(
    ("seconds", "least", "most"),
    [(None, 2**32 - 1, 2**32 - 1), (0.0, 1, 1), (900.0, 800_000, 900_000), (1e12, 2**32 - 1, 2**32 - 1)],
)
def test_z3_is_told_how_long_it_may_take(
    seconds: float | None, least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver, unsure = Solver(), Unsure()
    monkeypatch.setattr(solver, "_solver", unsure)
    solver.check(Watch(Limits(seconds=seconds)))
    told = unsure.told["timeout"]
    assert isinstance(told, int)
    assert least <= told <= most
