"""The parts of actions in their author's source, compared with those that tracing of each binding finds."""

from __future__ import annotations

import pytest

import insync.model as words
from insync.model import (
    And,
    Array,
    Bool,
    If,
    Index,
    Int,
    Model,
    Not,
    State,
    action,
    count,
    exists,
    for_all,
    require,
    when,
)
from insync.model import require as need
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.source import noted
from insync.model.tracing.grounding import ActionParts
from insync.model.tracing.tracer import parts_of
from insync.properties.registry import confined
from insync_each_binding import parts_one_by_one
from insync_every_model import QUICK, Chosen
from insync_suspicious import Chance
from insync_toys import TokenRing


class Pen(Index):
    """A pen."""

    @classmethod
    def size(cls, bounds: object) -> int:
        return 2


def tidy(s: object, pen: Pen) -> None:
    need(s.used[pen])  # type: ignore[attr-defined]


class Desk(Model):
    def declare(self, b: object) -> State:
        return State(used=Array(Pen, Bool), ink=Int(0, 3))

    @action
    def write(self, s, pen: Pen) -> None:  # type: ignore[no-untyped-def]
        "„Schrift“"; require(Not(s.used[pen]), s.ink > 0)  # fmt: skip  # noqa: E702
        require(
            *[s.ink > number for number in range(2)],
        )
        s.ink = If(
            s.ink == 3,
            words.If(s.used[pen], 0, 1),
            2,
        )
        with when(s.ink == 1):
            with when(And(s.used[pen], s.ink < 3)):
                s.used[pen] = False
            s.ink -= 1

    @action
    def clean(self, s, pen: Pen) -> None:  # type: ignore[no-untyped-def]
        tidy(s, pen)
        require(pen == self.all(Pen)[1])
        s.used[pen] = True


def parts(name: str) -> list[ActionParts]:
    return [one for one in parts_of(Desk()) if one.name == name]


def test_a_condition_stands_in_its_call_with_its_place_among_the_arguments() -> None:
    first, second = parts("write")
    assert [(one.spot.source, one.place) for one in first.required[:2]] == [
        ("require(Not(s.used[pen]), s.ink > 0)", 0),
        ("require(Not(s.used[pen]), s.ink > 0)", 1),
    ]
    assert [(one.spot.source.split("\n")[0], one.place) for one in first.required[2:]] == [
        ("require(", 0),
        ("require(", 1),
    ]
    assert [one.spot for one in first.required] == [one.spot for one in second.required]
    assert all(one.condition in first.bound.guard for one in first.required if first.bound)


def test_a_helper_is_where_its_own_call_stands() -> None:
    first, second = parts("clean")
    assert first.required[0].spot.source == "need(s.used[pen])"
    assert (first.bound, first.required[-1].spot.source) == (None, "require(pen == self.all(Pen)[1])")
    assert second.bound is not None
    assert second.bound.parameters == (("pen", second.parameters[0]),)


def test_branches_and_assignments_know_the_blocks_around_them() -> None:
    one = parts("write")[0]
    assert [(branch.word, len(branch.where)) for branch in one.branches] == [
        ("If", 0),
        ("If", 0),
        ("when", 0),
        ("when", 1),
    ]
    assert [branch.spot.source.split("(")[0] for branch in one.branches[:2]] == ["words.If", "If"]
    assert [(done.spot.source, len(done.where)) for done in one.assigned] == [
        ("s.ink", 0),
        ("s.used[pen]", 2),
        ("s.ink", 1),
    ]


def test_notes_end_with_the_tracing() -> None:
    assert noted.get() is None
    _ = Desk().program
    assert noted.get() is None


KNOWN = {"cluster"}
"""The models whose expressions differ where an action is traced for each binding; see test_grounding."""


@pytest.mark.slow_for(
    "kraft_published",
    "examples/raft.py:Raft",
    "cluster, everything, 4.4",
    "examples/tlaplus/bakery.py:Bakery",
    "tests/support/insync_decisions.py:WatchedQuorum",
)
@pytest.mark.parametrize("chosen", [one for one in QUICK if not one.model.endswith(f":{Chance.__name__}")], ids=str)
def test_parts_are_those_that_tracing_of_each_binding_finds(chosen: Chosen) -> None:
    model = chosen.made()
    found, wanted = parts_of(model), parts_one_by_one(model)
    assert [one.bound for one in found if one.bound is not None] == list(model.program.actions)
    same_nodes = not {str(chosen), chosen.model} & KNOWN
    for one, other in zip(found, wanted, strict=True):
        assert (one.name, one.parameters, one.bound) == (other.name, other.parameters, other.bound)
        assert seen(one, nodes=same_nodes) == seen(other, nodes=same_nodes), one.bound


def seen(one: ActionParts, *, nodes: bool) -> list[object]:
    """Return what is noted of an action: of conditions and assignments the order, of branches which there are.

    What parameters alone decide is left out: members that are skipped where the parameters are known have it too.
    """
    required: list[object] = [
        (each.spot, nodes and each.condition) for each in one.required if not always(each.condition)
    ]
    if one.bound is None:
        return required
    branches = {
        (each.spot, each.word, nodes and (each.where, each.test))
        for each in one.branches
        if each.test.op is not Op.CONST and not any(map(never, each.where))
    }
    return [required, branches, [(each.spot, nodes and each.where) for each in one.assigned]]


def always(node: Node) -> bool:
    return node is node.graph.true


def never(node: Node) -> bool:
    return node is node.graph.false


def test_the_parts_change_no_program() -> None:
    model = TokenRing()
    before = model.program
    parts_of(model)
    assert model.program is before


def test_a_confined_model_has_the_parts_of_the_whole() -> None:
    whole = TokenRing(two_tokens=1)
    inside = confined(whole, ["exclusive"])
    assert [seen(one, nodes=False) for one in parts_of(inside)] == [seen(one, nodes=False) for one in parts_of(whole)]
    assert [one.bound for one in parts_of(inside)] == list(inside.program.actions)


class Watched(Model):
    """Branches inside quantifiers, which are traced once for all members and are there for each of them."""

    def declare(self, b: object) -> State:
        return State(used=Array(Pen, Bool), ink=Int(0, 3))

    @action
    def draw(self, s, pen: Pen) -> None:  # type: ignore[no-untyped-def]
        require(for_all(Pen, lambda other: If(s.used[other], s.ink == 0, exists(Pen, lambda one: s.used[one]))))
        s.ink = If(count(Pen, lambda other: If(other == pen, s.used[other], s.ink > 1)) == 1, 1, 0)


def test_a_branch_inside_a_quantifier_is_one_for_each_member() -> None:
    model = Watched()
    found, wanted = parts_of(model), parts_one_by_one(model)
    tests = [(branch.spot.source, branch.test.op is Op.CONST) for branch in found[0].branches]
    outer = "If(s.used[other], s.ink == 0, exists(Pen, lambda one: s.used[one]))"
    inner = "If(other == pen, s.used[other], s.ink > 1)"  # decided by the parameter and the member
    around = f"If(count(Pen, lambda other: {inner}) == 1, 1, 0)"
    assert tests == [(outer, False), (outer, False), (inner, True), (inner, True), (around, False)]
    assert [seen(one, nodes=True) for one in found] == [seen(one, nodes=True) for one in wanted]
