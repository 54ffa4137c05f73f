"""Conclusions are tried with few conditions first, which costs or saves time and changes no answer."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product

import pytest

pytest.importorskip("z3")

from insync.proofs.smt.z3_module import z3
from insync.proofs.unbounded import induction
from insync.proofs.unbounded.induction import Assumed, Conclusion, Helpers, Questions
from insync.runtime.watch import Limits, Watch

WATCH = Watch()
X, Y, Z = z3.Int("x"), z3.Int("y"), z3.Int("z")
GOOD = {"x is positive": X > 0, "y is above x": Y > X, "z is none": Z == 0}
P, Q = z3.Bool("p"), z3.Bool("q")
CLAUSES = [
    (P, lambda p, q: p),
    (Q, lambda p, q: q),
    (z3.Not(P), lambda p, q: not p),
    (z3.Not(Q), lambda p, q: not q),
    (z3.Or(P, Q), lambda p, q: p or q),
    (z3.Implies(P, Q), lambda p, q: q or not p),
]


def asked(
    *conclusions: Conclusion,
    helpers: Helpers | None = None,
    good: Mapping[str, z3.BoolRef] = GOOD,
    seconds: float = 60,
) -> str | None:
    """Return why conclusions do not follow; None if they do."""
    known = Helpers() if helpers is None else helpers
    return Questions(WATCH, Assumed([Y < 100], good), conclusions, known, Watch(Limits(seconds=seconds))).wait()


def test_what_a_conclusion_needs_besides_its_own_condition_is_learnt() -> None:
    helpers = Helpers()
    assert helpers.of("x is positive") == {"x is positive"}
    assert asked(Conclusion("x is positive", Y > 1), helpers=helpers) is None
    assert helpers.of("x is positive") == {"x is positive", "y is above x"}
    assert helpers.of("y is above x") == {"y is above x"}


def test_what_follows_from_its_own_condition_teaches_nothing() -> None:
    helpers = Helpers()
    assert asked(Conclusion("x is positive", X > -1), helpers=helpers) is None
    assert helpers.of("x is positive") == {"x is positive"}


def test_the_first_that_does_not_follow_is_named() -> None:
    first, second = Conclusion("y is above x", Y > 1), Conclusion("z is none", Y > 2)
    assert asked(first, second) == "z is none is not proved"


def test_all_is_tried_where_z3_gives_up_on_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(induction, "_FEW_STEPS", 1)
    assert asked(Conclusion("x is positive", X + Y > 2)) is None
    assert asked(Conclusion("x is positive", X > 5)) == "x is positive is not proved"


def test_what_helps_first_changes_no_answer() -> None:
    answers = []
    for ((first, one), (second, other)), (conclusion, third) in product(combinations(CLAUSES, 2), CLAUSES):
        follows = all(third(p, q) for p, q in product((False, True), repeat=2) if one(p, q) and other(p, q))
        for helped in ({"other"}, {"of another model"}):
            helpers = Helpers()
            helpers.learn("one", frozenset(helped))
            found = asked(Conclusion("one", conclusion), helpers=helpers, good={"one": first, "other": second})
            assert found == (None if follows else "one is not proved")
            answers.append(follows)
    assert 0.2 < sum(answers) / len(answers) < 0.8


def test_past_the_deadline_nothing_is_proved() -> None:
    assert asked(Conclusion("x is positive", X > 0), seconds=0) == "no answer in time"
