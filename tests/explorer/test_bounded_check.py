"""A bounded check assumes no lemma that is not proved: one that fails is a mistake, others are left out."""

from __future__ import annotations

import threading

import pytest

from insync.explorer import Limits, StopReason, bounded_check
from insync.explorer.results import Verdict
from insync.model import Condition, Int, Model, State, StateView, action, invariant
from insync.runtime.errors import UserError

pytest.importorskip("z3")


class Clock(Model):
    """Counts up to three and begins again."""

    def declare(self, b: object) -> State:
        return State(hour=Int(0, 5))

    @action
    def tick(self, s: StateView) -> None:
        s.hour = (s.hour + 1) % 4

    @invariant
    def never_five(self, s: StateView) -> Condition:
        ends: Condition = s.hour < 5
        return ends

    @invariant
    def begins(self, s: StateView) -> Condition:
        """Fails in the second state."""
        ends: Condition = s.hour == 0
        return ends


def test_a_lemma_that_fails_is_named() -> None:
    with pytest.raises(UserError, match=r"the lemmas are not inductive at these bounds .* is not proved"):
        bounded_check(Clock(), depth=3, properties=["never_five"], lemmas=["begins"])


def test_lemmas_without_an_answer_are_not_said_to_fail() -> None:
    stop = threading.Event()
    stop.set()
    for given, reason in ((stop, StopReason.INTERRUPT), (None, StopReason.TIME)):
        limits = Limits(seconds=0) if given is None else None
        found = bounded_check(
            Clock(), depth=3, properties=["never_five"], lemmas=["never_five"], limits=limits, stop=given
        )
        assert (found.verdict, list(found.lemmas)) == (Verdict.INCOMPLETE, [])
        assert found.result.stopped_by is not None
        assert found.result.stopped_by.value == reason.value
