"""`choose`, `filtered`, and `or_else` of options that hold no numbers."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, cast

import pytest

from insync.explorer import check
from insync.model import (
    NONE,
    And,
    Bag,
    Bool,
    BoundValues,
    Condition,
    Implies,
    Index,
    Int,
    Model,
    ModelError,
    Option,
    Or,
    Range,
    Record,
    Seq,
    Set,
    State,
    action,
    choose,
    exists,
    filtered,
    for_all,
    invariant,
    record,
    require,
)


class Node(Index):
    """A node."""

    size = 3


class Color(enum.Enum):
    """A color."""

    RED = 0
    BLUE = 1
    GREEN = 2


class Height(Range):
    """A height."""

    lo, hi = -1, 2


class Held(Model):
    """Anything may be assigned, and conditions say what the words mean."""

    def declare(self, b: BoundValues) -> State:
        return State(
            present=Set(Node),
            color=Option(Color),
            on=Option(Bool),
            some=Option(Set(Node)),
            at=Option(Record(n=Int(0, 1))),
            line=Seq(Record(n=Int(0, 2), by=Node), 3),
            height=Int(-1, 2),
            found=Option(Node),
            bag=Bag(Node, 2),
        )

    @action
    def put(self, s: Any, node: Node, color: Color) -> None:
        s.present = (s.present | {node}) - {choose(s.present, lambda one: one != node).or_else(node)}
        s.color, s.on = color, node == 1
        s.some, s.at = {node}, record(n=1)

    @action
    def drop(self, s: Any) -> None:
        s.color = s.on = s.some = s.at = NONE

    @action
    def append(self, s: Any, height: Height) -> None:
        require(s.line.length < 3, height >= 0)
        s.line.append(n=height, by=s.found.or_else(2))
        s.height = height

    @action
    def keep(self, s: Any, height: Height) -> None:
        s.line = filtered(s.line, lambda one: one.n < height)
        s.found = choose(Node, lambda node: exists(s.line, lambda one: one.by == node))


class Told(Held):
    """What the words mean, said without them."""

    @invariant
    def the_least(self, s: Any) -> Condition:
        found = choose(s.present, lambda node: node > 0)
        there = exists(s.present, lambda node: node > 0)
        least = for_all(s.present, lambda node: Implies(node > 0, found.value <= node))
        return And(found.is_some() == there, Implies(there, And(least, found.value > 0)), Or(there, found == NONE))

    @invariant
    def of_other_kinds(self, s: Any) -> Condition:
        return And(
            choose(Color, lambda color: s.color == color) == s.color,
            choose(Height, lambda height: height == s.height).or_else(9) == s.height,
            choose(self.all(Node), lambda node: node == 2) == 2,
        )

    @invariant
    def defaults(self, s: Any) -> Condition:
        return And(
            s.color.or_else(Color.GREEN) == choose(Color, lambda one: s.color == one).or_else(Color.GREEN),
            Implies(s.color.is_none(), s.color.or_else(Color.BLUE) == Color.BLUE),
            Implies(s.color.is_some(), s.color.or_else(Color.BLUE) == s.color.value),
            Implies(s.on.is_none(), s.on.or_else(True)),
            Implies(s.on.is_some(), s.on.or_else(True) == s.on.value),
            s.some.or_else(set()).count() <= 1,
            Implies(s.some.is_none(), s.some.or_else({Node(0), Node(1)}).count() == 2),
            s.at.or_else(record(n=0)).n <= 1,
            Implies(s.at.is_none(), s.at.or_else(record(n=0)) == record(n=0)),
        )

    @invariant
    def filters(self, s: Any) -> Condition:
        low = filtered(s.line, lambda one: one.n == 0)
        return And(
            for_all(low, lambda one: one.n == 0),
            low.length <= s.line.length,
            for_all(s.line, lambda one: Implies(one.n == 0, low.contains(one))),
            filtered(s.line, lambda one: True) == s.line,
            filtered(s.line, lambda one: False).is_empty(),
            Implies(s.line.length == 3, filtered(s.line, lambda one: one.n > 0).last.n <= 2),
        )


def test_they_mean_what_is_said_without_them() -> None:
    result = check(Told)
    assert result.verdict == "holds", [one.trace.reason for one in result.violations]
    assert result.distinct_states > 500


def refused(body: Callable[[Any], object]) -> None:
    class Under(Held):
        @action
        def run(self, s: Any) -> None:
            body(s)

    assert Under().program is not None


HERE = r"test_choosing_members\.py:\d+: "


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            lambda s: choose(s.line, lambda one: one.n == 0),
            r"choose\(\) is about the members of a sort, .* line is none",
        ),
        (
            lambda s: choose(3, lambda one: one == 0),
            r"choose\(\) is about .* 3 is none of these\. Of a Seq write filtered\(x, condition\)\.first",
        ),
        (lambda s: choose([Node(0), 1], lambda one: one == 0), r"choose\(\) is about the members of a sort"),
        (lambda s: choose(Node, cast(Any, 3)), r"choose needs a function of one member"),
        (lambda s: choose(Node, lambda node: cast(Any, 3)), r"choose needs conditions, but 3 is of type int"),
        (
            lambda s: filtered(s.bag, lambda one: True),
            r"filtered\(\) takes a Seq, and bag is none\. For a set or a bag write count",
        ),
        (lambda s: filtered(s.line, lambda one: one.n), r"filtered needs conditions, but this number is of type Num"),
        (
            lambda s: filtered(s.line, lambda one: one.n == 0).append(n=0, by=0),
            r"this sequence cannot be assigned here; it is a value, no part of the state",
        ),
        (
            lambda s: s.color.or_else(3),
            r"3 cannot be the value of the default of or_else\(\); expected a member of Color",
        ),
        (lambda s: s.color.or_else(NONE), r"NONE cannot be the value of the default of or_else\(\)"),
        (
            lambda s: s.on.or_else(3),
            r"3 cannot be the value of the default of or_else\(\); write True, False or a condition",
        ),
        (lambda s: s.at.or_else(3), r"3 cannot be the value of this choice, which is a Record"),
    ],
)
def test_a_mistake_is_one_sentence(body: Callable[[Any], object], message: str) -> None:
    with pytest.raises(ModelError, match=HERE + message):
        refused(body)


class Alike(Model):
    """A leader is found by what names it, or as one of several."""

    class Peer(Index, symmetric=True):
        size = 3

    def declare(self, b: BoundValues) -> State:
        return State(leader=Option(self.Peer), up=Set(self.Peer), seen=Option(self.Peer))

    @action
    def rise(self, s: Any, peer: Peer) -> None:
        s.up |= {peer}
        s.leader = peer

    @action
    def see(self, s: Any) -> None:
        s.seen = choose(self.Peer, lambda peer: s.leader == peer)


class Several(Alike):
    """The least of several members is another one when they are swapped."""

    @action
    def see(self, s: Any) -> None:
        s.seen = choose(s.up, lambda peer: s.leader != peer)


def test_a_member_of_a_symmetric_sort_is_chosen_where_only_one_can_be() -> None:
    pytest.importorskip("z3")
    result = check(Alike)
    assert result.verdict == "holds"
    assert result.representatives is not None
    assert result.representatives < result.distinct_states


def test_the_least_of_several_members_of_a_symmetric_sort_is_refused() -> None:
    pytest.importorskip("z3")
    with pytest.raises(ModelError, match=r"the sort Peer is declared symmetric, but .* see"):
        check(Several)
    assert check(Several, symmetry=False).verdict == "holds"
