"""Members that are alike in bags, sequences and sets of at most so many: counted as without symmetry, or refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from insync.explorer import check
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.model import (
    ANY,
    Array,
    Bag,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Int,
    Model,
    Not,
    Option,
    Record,
    Seq,
    Set,
    SetOf,
    State,
    StateView,
    action,
    initial,
    invariant,
    record,
    require,
    the,
    when,
)
from insync.model.evaluator import Evaluator
from insync.runtime.errors import UserError
from insync_symmetric import Node
from insync_symmetric_protocols import PROTOCOLS, Election, Line, Paxos, Requests, Telephone


def named(model: Model) -> str:
    return f"{model.name}-{'-'.join(map(str, model.identity.values()))}"


@pytest.mark.slow_but("telephone-3-2")
@pytest.mark.parametrize("model", PROTOCOLS, ids=named)
def test_counts_are_those_of_all_states(model: Model) -> None:
    names = [*model.headline, "type_ok"] if model.headline else None
    found, plain = (check(model, properties=names, keep_going=True, symmetry=used, threads=2) for used in (True, False))
    assert (found.levels, found.transitions, found.actions) == (plain.levels, plain.transitions, plain.actions)
    assert found.properties == plain.properties
    assert [(v.property, v.trace_length) for v in found.violations] == [
        (v.property, v.trace_length) for v in plain.violations
    ]
    assert found.representatives is not None
    assert 4 * found.representatives < found.distinct_states


@pytest.mark.slow_for("election-3-1-4-0", "paxos-3-2-1-6")
@pytest.mark.parametrize("model", [Election(), Paxos(), Line(nodes=3)], ids=named)
def test_counts_are_those_of_the_evaluator(model: Model) -> None:
    found, defined = check(model, keep_going=True), check_by_evaluator(model, keep_going=True)
    assert (found.levels, found.actions, found.properties) == (defined.levels, defined.actions, defined.properties)


@pytest.mark.slow_but("telephone-not_all_hear")
@pytest.mark.parametrize(
    ("model", "broken"),
    [
        (Election(forgets=1, messages=5), "one_leader"),
        (Election(messages=5), "few_votes_for_one"),
        (Paxos(ballots=2, messages=5), "nothing_accepted"),
        (Line(nodes=4), "never_all"),
        (Telephone(), "not_all_hear"),
        (Requests(), "few"),
    ],
    ids=lambda given: given if isinstance(given, str) else given.name,
)
def test_a_trace_takes_real_steps(model: Model, broken: str) -> None:
    found, plain = (check(model, properties=[broken], symmetry=used) for used in (True, False))
    (violation,), (other,) = found.violations, plain.violations
    assert violation.trace_length == other.trace_length
    states = [model.encode(step.state) for step in violation.trace.steps]
    evaluator = Evaluator(model.program)
    assert states[0] in model.program.initials
    for (before, after), step in zip(pairwise(states), violation.trace.steps[1:], strict=True):
        number = model.program.action_number(step.action or "", dict(step.parameters))
        assert number is not None
        assert evaluator.step(number, before) == after


class Told(Model):
    """Nodes are put into collections, in a way that each case says."""

    bounds = Bounds(nodes=Bound(3, 1, 4, "nodes"))
    way: Callable[[Model, Any, Node], None]

    def declare(self, b: BoundValues) -> State:
        message = Record(source=Node, to=Node)
        return State(
            line=Seq(Node, 2),
            bag=Bag(Node, 3),
            known=SetOf(message, 3),
            other=SetOf(message, 3),
            lines=Array(Node, Seq(Node, 2)),
            last=Option(Record(who=Node)),
        )

    @action
    def fill(self, s: StateView, node: Node) -> None:
        require(s.line.length < 2, s.bag.length < 3)
        s.line.append(node)
        s.bag.add(node)

    @action
    def note(self, s: StateView, node: Node, other: Node) -> None:
        require(s.known.length < 2)
        s.known.add(source=node, to=other)
        s.last = record(who=node)

    @action
    def act(self, s: StateView, node: Node) -> None:
        type(self).way(self, s, node)

    @invariant
    def anything(self, s: StateView) -> Condition:
        found: Condition = s.bag.length < 4
        return found


def told(way: Callable[[Any, Any, Node], None], **bounds: int) -> Model:
    made: Model = type("Told", (Told,), {"way": way})(**bounds)
    return made


def all_in_turn(self: Any, s: Any, node: Node) -> None:
    """Additions in the order of the members are the same in any other order."""
    require(s.bag.is_empty(), s.known.is_empty())
    for other in self.all(Node):
        s.bag.add(other)
        with when(Not(s.line.contains(other))):
            s.known.add(source=node, to=other)


def removed_in_turn(self: Any, s: Any, node: Node) -> None:
    for other in self.all(Node):
        s.known.remove(source=other, to=node)
        with when(s.line.contains(other)):
            s.bag.remove(other)


def sets_as_wholes(self: Any, s: Any, node: Node) -> None:
    with when(s.known.contains(source=node, to=node)):
        s.other = (s.known - s.other) | [record(source=node, to=node)]
        s.known &= s.other


def sets_of_two(self: Any, s: Any, node: Node) -> None:
    """The constant set of two messages, whose order depends on who is who."""
    require(s.known.is_empty())
    s.known = [record(source=node, to=other) for other in self.all(Node)]


def emptied(self: Any, s: Any, node: Node) -> None:
    require(s.line.length > 0, s.line[0] == node)
    s.bag.clear()
    s.line = []
    s.lines[node] = [node]


def passed_on(self: Any, s: Any, node: Node) -> None:
    """The index of the array is read in a sequence."""
    require(s.line.length > 0, s.lines[node].length < 2)
    s.lines[node].append(s.line.take_first())


def moved(self: Any, s: Any, node: Node) -> None:
    with when(s.last.is_some()):
        s.last.value.who = node
        s.line = [s.last.value.who]


@pytest.mark.slow_for("all_in_turn", "removed_in_turn", "sets_as_wholes")
@pytest.mark.parametrize(
    "way",
    [all_in_turn, removed_in_turn, sets_as_wholes, sets_of_two, emptied, passed_on, moved],
    ids=lambda f: f.__name__,
)
def test_members_that_are_alike_in_collections(way: Callable[[Any, Any, Node], None]) -> None:
    model = told(way)
    found, plain = (
        check(model, properties=["anything", "type_ok"], keep_going=True, symmetry=u) for u in (True, False)
    )
    assert (found.levels, found.actions, found.properties) == (plain.levels, plain.actions, plain.properties)
    assert found.representatives is not None
    assert 3 * found.representatives < found.distinct_states


def first_of_a_bag(self: Any, s: Any, node: Node) -> None:
    require(s.bag.length > 0, s.bag[0] == node)
    s.bag.clear()


def one_of_a_set(self: Any, s: Any, node: Node) -> None:
    require(s.known.length > 0)
    s.last = record(who=the(s.known, lambda m: m.to == node).source)


def past_the_end(self: Any, s: Any, node: Node) -> None:
    """Of an empty sequence the first element is read as the first member."""
    require(s.line.first == node)
    s.bag.clear()


def past_the_end_assigned(self: Any, s: Any, node: Node) -> None:
    require(s.lines[node].length < 2)
    s.lines[node].append(s.line[1])


def added_past_the_end(self: Any, s: Any, node: Node) -> None:
    require(s.bag.length < 3)
    s.bag.add(s.line.last)


def made_longer(self: Any, s: Any, node: Node) -> None:
    """What was past the end is an element as it is."""
    require(s.line.length == 1)
    s.line.append(s.line[1])


def none_is_somebody(self: Any, s: Any, node: Node) -> None:
    require(s.last.value.who == node)
    s.bag.clear()


def literal(self: Any, s: Any, node: Node) -> None:
    require(s.bag.length < 3)
    s.bag.add(Node(0))


def literal_in_a_set(self: Any, s: Any, node: Node) -> None:
    require(s.known.length < 2)
    s.known.add(source=node, to=Node(1))


def literal_sets(self: Any, s: Any, node: Node) -> None:
    s.known -= [record(source=node, to=Node(1))]


def first_in_line(self: Any, s: Any, node: Node) -> None:
    require(s.line.length < 2)
    s.line.append(Node(0))


@pytest.mark.parametrize(
    ("way", "sentence"),
    [
        (first_of_a_bag, "the sort Node is declared symmetric, but an element of a Bag is chosen by its place"),
        (one_of_a_set, "the sort Node is declared symmetric, but an element of a SetOf is chosen by its place"),
        (past_the_end, "the guard of act(node=n1) and of act(node=n2) is not the same with n1 and n2 swapped"),
        (past_the_end_assigned, "what is assigned to lines[n1][0] of act(node=n1) and of act(node=n2) is not the same"),
        (added_past_the_end, "what is assigned to bag"),
        (made_longer, "what is assigned to line[1] of act(node=n1) and of act(node=n2) is not the same"),
        (none_is_somebody, "the guard of act(node=n1) and of act(node=n2) is not the same"),
        (literal, "what is assigned to bag"),
        (literal_in_a_set, "what is assigned to known"),
        (literal_sets, "what is assigned to known"),
        (first_in_line, "what is assigned to line[0] of act(node=n1) and of act(node=n2) is not the same"),
    ],
    ids=lambda given: given.__name__ if callable(given) else "",
)
def test_members_that_are_singled_out_in_collections(way: Callable[[Any, Any, Node], None], sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        check(told(way))
    assert check(told(way), symmetry=False).representatives is None


class Slots(Model):
    """An index may be past the end of an array, where the first member is read; with `inside` it never is."""

    bounds = Bounds(nodes=Bound(3, 1, 4, "nodes"), inside=Bound(0, 0, 1, "whether the index is in the array"))

    def declare(self, b: BoundValues) -> State:
        return State(slots=Array(2, Node), at=Int(0, 2 - b.inside), seen=Set(Node))

    @initial
    def begins(self, s: StateView) -> None:
        s.slots = ANY

    @action
    def go_on(self, s: StateView) -> None:
        require(s.at < 2 - self.b.inside)
        s.at += 1

    @action
    def see(self, s: StateView, node: Node) -> None:
        require(s.slots[s.at] == node)
        s.seen |= {node}


def test_an_index_past_the_end_of_an_array_reads_the_first_member() -> None:
    with pytest.raises(UserError, match=re.escape("the guard of see(node=n1) and of see(node=n2) is not the same")):
        check(Slots())
    found, plain = (check(Slots(inside=1), symmetry=used) for used in (True, False))
    assert (found.levels, found.actions) == (plain.levels, plain.actions)
    assert found.representatives is not None
