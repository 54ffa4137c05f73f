"""A value that its field can hold in no state: the step is refused, as where it does not fit in some states alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from insync.model import (
    Array,
    Bool,
    BoundValues,
    DomainError,
    Index,
    Int,
    Model,
    Option,
    Record,
    Seq,
    Set,
    State,
    StateView,
    action,
    record,
)
from insync.model.evaluator import Evaluator


class Replica(Index):
    label, size = "b", 2


class Subject(Model):
    """Fields of several kinds."""

    def declare(self, b: BoundValues) -> State:
        return State(
            n=Int(0, 3),
            one=Int(0, 0),
            leader=Option(Replica),
            isr=Set(Replica),
            entry=Option(Record(id=Int(0, 3))),
            log=Array(Replica, Bool),
            queue=Seq(Int(0, 3), most=2),
        )


NEVER_FIT: list[tuple[Callable[[Any], Any], str]] = [
    (
        lambda s: setattr(s, "n", 4),
        "the value 4 assigned to n is not a whole number from 0 to 3. Give another value, or widen the domain.",
    ),
    (lambda s: setattr(s, "n", s.n + 4), "the value assigned to n is not a whole number from 0 to 3."),
    (lambda s: setattr(s, "one", s.one + 1), "the value assigned to one is not a whole number from 0 to 0."),
    (lambda s: setattr(s, "leader", 2), "the value 2 assigned to leader is not NONE or one of b1, b2."),
    (lambda s: setattr(s, "isr", {2}), "the value assigned to isr is not a list of members, each one of b1, b2."),
    (
        lambda s: setattr(s, "entry", record(id=7)),
        "the value 7 assigned to entry.id is not a whole number from 0 to 3.",
    ),
    (lambda s: s.log.__setitem__(s.one + 2, True), "this assigns outside log[...], which has 2 places."),
    (lambda s: s.queue.append(4), "the value 4 assigned to queue[...] is not a whole number from 0 to 3."),
    (lambda s: setattr(s, "queue", [1, 2, 3]), "the value assigned to queue has more than 2 elements."),
]


@pytest.mark.parametrize(("body", "message"), NEVER_FIT)
def test_a_value_that_never_fits_is_a_step_that_is_refused(body: Callable[[Any], Any], message: str) -> None:
    """It is no mistake that tracing finds: at other bounds it may fit, and be wrong in some states alone."""

    def act(self: Any, s: StateView) -> None:
        body(s)

    kind: Any = type(Subject)
    model: Model = kind("Wrong", (Subject,), {"act": action(act)})()
    with pytest.raises(DomainError) as caught:
        Evaluator(model.program).step(0, model.program.initials[0])
    assert str(caught.value).startswith(f"test_never_fitting.py:{body.__code__.co_firstlineno}: {message}")
