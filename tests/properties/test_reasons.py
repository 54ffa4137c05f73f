"""What a reason says: all conditions that hold together, sets by their members, and nothing of what is not there."""

from __future__ import annotations

import enum
from typing import Any

import pytest

from insync.model import (
    And,
    Array,
    Bag,
    Bool,
    BoundValues,
    Condition,
    Implies,
    Index,
    Int,
    Model,
    Not,
    Range,
    Record,
    Seq,
    Set,
    State,
    StateView,
    for_all,
    invariant,
)
from insync.properties.condition_text import show
from insync.properties.explain import explain
from insync.properties.registry import invariants_of


class Process(Index):
    size, label = 2, "p"


class At(enum.Enum):
    OUT = 0
    IN = 1


class Subject(Model):
    """A property for each shape of a condition."""

    def declare(self, b: BoundValues) -> State:
        return State(
            pc=Array(Process, At), held=Array(Process, Set(Process)), bag=Bag(Int(0, 3), 2), queue=Seq(Int(0, 3), 2)
        )

    @invariant
    def one_inside(self, s: Any) -> Condition:
        return for_all(Process, Process, lambda p, q: Implies(p != q, Not(And(s.pc[p] == At.IN, s.pc[q] == At.IN))))

    @invariant
    def not_this_state(self, s: Any) -> Condition:
        """More conditions than anybody would read at once."""
        processes = self.all(Process)
        inside = [s.pc[p] == At.IN for p in processes]
        far = [s.held[p] == {q} for p in processes for q in processes if p != q]
        return Not(And(*inside, *far, s.queue.length == 1, s.bag.length == 0, s.queue.contains(3), s.queue.first == 3))

    @invariant
    def apart(self, s: Any) -> Condition:
        nothing: Condition = (s.held[Process(0)] & s.held[Process(1)]).is_empty()
        return nothing

    @invariant
    def first_alone(self, s: Any) -> Condition:
        alone: Condition = s.held[Process(0)] | s.held[Process(1)] == {Process(0)}
        return alone

    @invariant
    def some_in_bag(self, s: Any) -> Condition:
        found: Condition = s.bag[0] > 0
        return found

    @invariant
    def much(self, s: StateView) -> Condition:
        found: Condition = s.queue[0] + s.queue[1] > 5
        return found


INSIDE = {"pc": {"p1": "IN", "p2": "IN"}}
CROSSED = {"held": {"p1": ["p2"], "p2": ["p1"]}}


@pytest.mark.parametrize(
    ("name", "changed", "reason"),
    [
        (
            "one_inside",
            INSIDE,
            "one_inside fails for p = p1, q = p2: (pc[p1] == IN and pc[p2] == IN) must not hold, with pc[p1] = IN, pc",
        ),
        (
            "not_this_state",
            {**INSIDE, **CROSSED, "queue": [3]},
            "not_this_state fails: queue[0] == 3 must not hold",
        ),
        (
            "apart",
            {"held": {"p1": ["p1", "p2"], "p2": ["p1"]}},
            "apart fails: (held[p1] & held[p2]) == {} does not hold, with held[p1] = {p1, p2}, held[p2] = {p1}.",
        ),
        (
            "first_alone",
            CROSSED,
            "first_alone fails: (held[p1] | held[p2]) == {p1} does not hold, with held[p1] = {p2}, held[p2] = {p1}.",
        ),
        ("some_in_bag", {}, "some_in_bag fails: bag[0] > 0 does not hold, with bag.length = 0."),
        (
            "much",
            {"queue": [1]},
            "much fails: (queue[0] + queue[1]) > 5 does not hold, with queue[0] = 1, queue",
        ),
    ],
)
def test_a_reason_says_what_is_there(name: str, changed: dict[str, Any], reason: str) -> None:
    model = Subject()
    start = model.decode(model.program.initials.example or ())
    found = explain(model, invariants_of(model)[name], model.encode({**start, **changed}))
    assert found is not None
    assert found.sentence.startswith(reason)


class Lap(Range):
    lo, hi = 1, 3


class Chosen(Model):
    """Places that a field chooses."""

    def declare(self, b: BoundValues) -> State:
        return State(
            victim=Array(Lap, Process),
            lap=Array(Process, Lap),
            holder=Process,
            at=Array(Process, Record(far=Int(0, 3), on=Bool)),
            queue=Seq(Int(0, 3), 3),
            n=Int(0, 2),
            five=Array(3, Int(2, 5)),
        )


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (lambda s: s.victim[s.lap[0]] == Process(1), "victim[lap[p1]] == p2"),
        (lambda s: s.lap[s.victim[s.lap[1]]] == 2, "lap[victim[lap[p2]]] == 2"),
        (lambda s: s.at[s.holder].far == 2, "at[holder].far == 2"),
        (lambda s: s.at[s.holder].on, "at[holder].on == true"),
        (lambda s: s.queue[s.n] == 2, "queue[n] == 2"),
        (lambda s: s.five[s.n] == 3, "five[n] == 3"),
        (lambda s: s.five[s.n + 1] < 3, "five[n + 1] < 3"),
        (lambda s: s.five[s.n] == s.five[0], "five[0] == five[n]"),
    ],
)
def test_a_place_that_a_field_chooses_is_shown_as_it_is_written(condition: Any, text: str) -> None:
    model = Chosen()
    assert show(model, model.trace_predicate(condition)) == text
