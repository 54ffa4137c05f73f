from __future__ import annotations

import enum
from typing import Any

import pytest

from insync.model import Bool, Bound, Bounds, BoundValues, Int, Model, Not, Range, State, Subset, action, require
from insync.model.evaluator import evaluate
from insync.model.expressions.graph import reachable
from insync.model.tracing.tracer import traced
from insync.runtime.watch import Stopped, StopReason
from insync_evaluator import conditions
from insync_toys import TOYS, Commit, Node, Overflow, Party, TokenRing


def test_an_action_is_traced_once_for_each_binding_that_can_be_enabled() -> None:
    program = Commit(parties=2).program
    assert [str(a) for a in program.actions] == [
        "vote(party=p1, phase=PREPARED)",
        "vote(party=p1, phase=ABORTED)",
        "vote(party=p2, phase=PREPARED)",
        "vote(party=p2, phase=ABORTED)",
        "decide(commit=false)",
        "decide(commit=true)",
        "learn(party=p1)",
        "learn(party=p2)",
    ]
    assert program.actions[0].label == "p1 turns PREPARED"
    assert program.actions[4].label == "decide (commit false)"
    assert program.actions[0].parameters[0] == ("party", Party(0))


def test_an_action_that_can_never_be_enabled_keeps_its_name() -> None:
    program = TokenRing().program
    assert "forge" in program.action_names
    assert "forge" not in {a.name for a in program.actions}


def test_actions_are_found_by_name_and_parameters() -> None:
    program = Commit(parties=2).program
    assert program.action_number("vote", {"phase": "ABORTED", "party": "p2"}) == 3
    assert program.action_number("vote", {"party": "p3", "phase": "ABORTED"}) is None
    assert program.action_number("elect", {}) is None


class Guards(Model):
    """Guards, and assignments that need them."""

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 5), m=Int(0, 3), up=Bool)

    @action
    def plain(self, s: Any) -> None:
        require(s.n < 5, True, s.up, s.n < 5)
        s.n += 1

    @action
    def late(self, s: Any) -> None:
        s.n += 1
        require(s.n <= 5)

    @action
    def unshown(self, s: Any) -> None:
        s.n += 1

    @action
    def impossible(self, s: Any) -> None:
        require(s.n > 5)
        s.n = 9

    @action
    def same(self, s: Any) -> None:
        s.n = s.n

    @action
    def smaller(self, s: Any) -> None:
        require(s.n <= s.m)
        s.m = s.n


def test_what_the_guard_shows_needs_no_check() -> None:
    actions = {a.name: a for a in Guards().program.actions}
    assert {name: (len(a.guard), len(a.updates), len(a.checks)) for name, a in actions.items()} == {
        "plain": (2, 1, 0),
        "late": (1, 1, 0),
        "unshown": (0, 1, 1),
        "same": (0, 0, 0),
        "smaller": (1, 1, 0),
    }


@pytest.mark.parametrize("model", TOYS, ids=lambda m: m.name)
def test_tracing_is_deterministic(model: Model) -> None:
    again = type(model)(**model.identity)
    mine, theirs = model.program, again.program
    assert mine.initials == theirs.initials
    assert [repr(n) for a in mine.actions for n in reachable([n for _, n in a.updates])] == [
        repr(n) for a in theirs.actions for n in reachable([n for _, n in a.updates])
    ]
    assert [str(a) for a in mine.actions] == [str(a) for a in theirs.actions]


def test_tracing_that_is_not_to_begin_runs_nothing_of_a_model() -> None:
    ran: list[str] = []

    class Noted(Commit):
        def initial(self, s: Any) -> None:
            ran.append("initial")
            super().initial(s)

    def stop() -> None:
        raise Stopped(StopReason.INTERRUPT)

    model = Noted(parties=2)
    with pytest.raises(Stopped):
        traced(model, stop)
    assert ran == []
    traced(model, lambda: None)
    assert ran


def test_a_property_may_be_plain() -> None:
    model = Overflow()
    assert model.trace_predicate(lambda s: True) is model.program.graph.true
    assert model.trace_predicate(lambda s: Not(s.count > 9)) is model.program.graph.true


def test_the_first_state_has_what_is_not_assigned_as_zero() -> None:
    model = Commit(parties=2)
    assert model.decode(model.program.initials[0]) == {"phase": {"p1": "WORKING", "p2": "WORKING"}, "decision": None}
    held = TokenRing()
    assert held.decode(held.program.initials[0]) == {"token": ["n1"], "working": [], "last": None}
    assert all(evaluate(node, held.program.initials[0]) for node in conditions(held).values())


class Mode(enum.Enum):
    SLOW = 0
    FAST = 1


class Speed(Range):
    lo, hi = 0, 1


class Crew(Subset, of=Node):
    """Some of the nodes."""


class Said(Model):
    """Actions without labels."""

    bounds = Bounds(nodes=Bound(1, 1, 3))

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 9))

    @action
    def tick_over(self, s: Any) -> None:
        s.n = 1

    @action
    def look(self, s: Any, node: Node) -> None:
        s.n = 2

    @action
    def send(self, s: Any, node: Node, to_whom: Node, speed: Speed, mode: Mode) -> None:
        s.n = 3

    @action
    def form(self, s: Any, crew: Crew, node: Node) -> None:
        s.n = 4

    @action
    def turn(self, s: Any, back: bool) -> None:
        s.n = 5


def test_an_action_without_a_label_says_who_does_what() -> None:
    labels = {action.name: action.label for action in Said().program.actions}
    assert labels == {
        "tick_over": "tick over",
        "look": "n1: look",
        "send": "n1: send (to whom n1, speed 1, mode FAST)",
        "form": "form (crew {n1}, node n1)",
        "turn": "turn (back true)",
    }
