from __future__ import annotations

import enum
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from insync.model import (
    NONE,
    And,
    Array,
    Bound,
    Bounds,
    BoundValues,
    If,
    Implies,
    Index,
    Int,
    Model,
    ModelError,
    Not,
    Option,
    Or,
    Set,
    State,
    StateView,
    Subset,
    action,
    exists,
    for_all,
    maximum,
    minimum,
    one_of,
    require,
    set_of,
)
from insync.model.domains.values import Bool, Num, SetValue
from insync.model.evaluator import Evaluator, evaluate
from insync.model.expressions.graph import Graph, Op, Quantifier
from insync.model.expressions.simplify import apply

SIZE = 4


def truth(graph: Graph, cell: int) -> Bool:
    return Bool(apply(Op.EQ, graph.cell(cell), graph.const(1)))


def outcome(value: object, codes: tuple[int, ...]) -> object:
    """Return a symbolic value in a state, or a plain value as it is (a set as its members)."""
    if isinstance(value, SetValue):
        return {i for i in range(8) if evaluate(value.node, codes) >> i & 1}
    if isinstance(value, (Bool, Num)):
        return evaluate(value.node, codes)
    return set(value) if isinstance(value, frozenset) else value


NUMBERS: list[Callable[..., object]] = [
    lambda a, b, c: minimum(a, b, c),
    lambda a, b, c: maximum(a, 2, c),
    lambda a, b, c: minimum(a),
    lambda a, b, c: If(a < b, a + 1, b * c),
    lambda a, b, c: If(And(a <= b, b <= c), 7, 3 - a),
    lambda a, b, c: And(a == b, Or(b != c, a > 1), c >= 1),
    lambda a, b, c: Implies(a > b, Implies(b > c, a > c)),
    lambda a, b, c: Not(a == 3 - b),
    lambda a, b, c: for_all([a, b, c], lambda x: x > 0),
    lambda a, b, c: exists(range(4), lambda x: And(x > a, x < b)),
    lambda a, b, c: for_all((), lambda x: x > a),
    lambda a, b, c: exists([], lambda x: x > a),
    lambda a, b, c: for_all(range(4), lambda x: exists(range(4), lambda y: x + y == a + b + c)),
    lambda a, b, c: set_of([a, b]),
    lambda a, b, c: one_of(a, 1, b),
    lambda a, b, c: one_of(3, a, b, c),
    lambda a, b, c: one_of(a),
    lambda a, b, c: If(a == b, Or(b == c, False), And(True, a < c)),
]


@pytest.mark.parametrize("word", NUMBERS)
def test_words_mean_the_same_on_plain_and_on_symbolic_numbers(word: Callable[..., object]) -> None:
    graph = Graph([SIZE] * 3)
    symbolic = word(*(Num(graph.cell(i)) for i in range(3)))
    mixed = word(Num(graph.cell(0)), 2, Num(graph.cell(2)))
    for codes in itertools.product(range(SIZE), repeat=3):
        assert outcome(symbolic, codes) == outcome(word(*codes), codes)
        assert outcome(mixed, codes) == outcome(word(codes[0], 2, codes[2]), codes)


CONDITIONS: list[Callable[..., object]] = [
    lambda p, q: And(p, q),
    lambda p, q: Or(p, q, False),
    lambda p, q: And(),
    lambda p, q: Or(),
    lambda p, q: Not(p),
    lambda p, q: Implies(p, q),
    lambda p, q: If(p, q, Not(q)),
    lambda p, q: If(p, True, q),
    lambda p, q: p == q,
    lambda p, q: p != q,
    lambda p, q: (p & q) | (q & True),
    lambda p, q: If(p, 3, If(q, 2, 1)),
    lambda p, q: If(p, {1}, {2}),
    lambda p, q: If(p, frozenset(), {2}) if not isinstance(p, bool) else (set() if p else {2}),
]


@pytest.mark.parametrize("word", CONDITIONS)
def test_words_mean_the_same_on_plain_and_on_symbolic_conditions(word: Callable[..., object]) -> None:
    graph = Graph([2, 2])
    symbolic = word(truth(graph, 0), truth(graph, 1))
    for p, q in itertools.product([False, True], repeat=2):
        assert outcome(symbolic, (p, q)) == outcome(word(p, q), (p, q))


def test_plain_answers_are_plain() -> None:
    assert And(True, 1 < 2) is True
    assert Not(True) is False
    assert minimum(3, 2) == 2
    assert If(False, "anything", "at all") == "at all"
    assert for_all(range(3), lambda x: x < 3) is True
    assert set_of([1, 2]) == {1, 2}


class Way(enum.Enum):
    IN, OUT, BOTH = range(3)


def test_one_of_knows_names_and_values_that_may_be_none() -> None:
    class Walk(Model):
        def declare(self, b: BoundValues) -> State:
            return State(way=Way, last=Option(Way))

    model = Walk()
    some = model.trace_predicate(lambda s: one_of(s.way, Way.IN, Way.BOTH))
    last = model.trace_predicate(lambda s: one_of(s.last, NONE, Way.OUT, s.way))
    for way, then in itertools.product(Way, [None, *Way]):
        codes = model.encode({"way": way.name, "last": then and then.name})
        assert evaluate(some, codes) == (way is not Way.OUT)
        assert evaluate(last, codes) == (then in (None, Way.OUT, way))


def test_one_of_takes_values_and_no_collection_of_them() -> None:
    class Walk(Model):
        def declare(self, b: BoundValues) -> State:
            return State(way=Way)

    with pytest.raises(ModelError, match="Way"):
        Walk().trace_predicate(lambda s: one_of(s.way, {Way.IN, Way.OUT}))


class Replica(Index):
    label = "b"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return bounds.replicas


class Chosen(Model):
    """Members that Python knows make a set with a field's methods."""

    bounds = Bounds(replicas=Bound(2, 1, 3, "replicas"))

    def declare(self, b: BoundValues) -> State:
        return State(of=Set(Replica))

    @action
    def choose(self, s: StateView, one: Replica) -> None:
        """Take one."""
        chosen = set_of([one])
        require(Not(chosen.is_empty()), Not(s.of.contains(one)))
        s.of = chosen


def test_a_set_of_plain_members_is_one_of_the_state_in_an_action() -> None:
    program = Chosen().program
    evaluator, start = Evaluator(program), program.initials[0]
    assert [evaluator.step(number, start) for number in evaluator.enabled(start)] == [(1,), (2,)]


class Isr(Subset, of=Replica):
    """A set of replicas."""


class Sets(Model):
    """Sets, and an array over their members."""

    bounds = Bounds(replicas=Bound(3, 1, 4))

    def declare(self, b: BoundValues) -> State:
        return State(left=Set(Replica), right=Set(Replica), one=Replica, sets=Set(Isr), up=Array(Replica, Int(0, 1)))


SETS: list[tuple[Callable[[Any], Any], Callable[[set[int], set[int], int], object]]] = [
    (lambda s: s.left | s.right, lambda a, b, x: a | b),
    (lambda s: s.left & s.right, lambda a, b, x: a & b),
    (lambda s: s.left - s.right, lambda a, b, x: a - b),
    (lambda s: s.left - {s.one}, lambda a, b, x: a - {x}),
    (lambda s: {s.one} - s.left, lambda a, b, x: {x} - a),
    (lambda s: {0, s.one} | s.left, lambda a, b, x: {0, x} | a),
    (lambda s: s.left & {}, lambda a, b, x: set()),
    (lambda s: s.left == s.right, lambda a, b, x: a == b),
    (lambda s: s.left.length, lambda a, b, x: len(a)),
    (lambda s: Isr(5).length + s.one, lambda a, b, x: 2 + x),
    (lambda s: s.left != {s.one}, lambda a, b, x: a != {x}),
    (lambda s: {0, 1} == s.left, lambda a, b, x: a == {0, 1}),
    (lambda s: s.left.is_subset(s.right), lambda a, b, x: a <= b),
    (lambda s: s.left.is_subset({0, 2}), lambda a, b, x: a <= {0, 2}),
    (lambda s: s.left.contains(s.one), lambda a, b, x: x in a),
    (lambda s: s.left.contains(7), lambda a, b, x: False),
    (lambda s: s.left.count() + s.right.count(), lambda a, b, x: len(a) + len(b)),
    (lambda s: s.left.is_empty(), lambda a, b, x: not a),
    (lambda s: s.left == Isr(5), lambda a, b, x: a == {0, 2}),
    (lambda s: Isr(5).contains(s.one), lambda a, b, x: x in {0, 2}),
    (lambda s: for_all(s.left, lambda r: r > 0), lambda a, b, x: 0 not in a),
    (lambda s: exists(s.left | {s.one}, lambda r: r == 2), lambda a, b, x: 2 in a | {x}),
    (lambda s: exists({s.one} | s.left, lambda r: r == 2), lambda a, b, x: 2 in a | {x}),
    (lambda s: for_all(set_of([s.one]), lambda r: s.left.contains(r)), lambda a, b, x: x in a),
    (lambda s: for_all(If(s.one == 0, {1}, s.left), lambda r: r > 0), lambda a, b, x: x == 0 or 0 not in a),
    (lambda s: for_all(s.left, lambda r: s.right.contains(r)), lambda a, b, x: a <= b),
    (lambda s: for_all(Isr(5), lambda r: s.left.contains(r)), lambda a, b, x: {0, 2} <= a),
    (lambda s: minimum(s.left.count(), 1), lambda a, b, x: min(len(a), 1)),
]


@pytest.mark.parametrize(("symbolic", "plain"), SETS)
def test_sets_mean_what_python_s_sets_mean(
    symbolic: Callable[[Any], Any], plain: Callable[[set[int], set[int], int], object]
) -> None:
    model = Sets()
    found: list[Any] = []
    model.trace_predicate(lambda s: bool(found.append(symbolic(s))))  # type: ignore[func-returns-value]
    for left, right, one in itertools.product(range(8), range(8), range(3)):
        codes = (left, right, one, 0, 0, 0, 0)
        a, b = ({i for i in range(3) if mask >> i & 1} for mask in (left, right))
        assert outcome(found[0], codes) == plain(a, b, one)


def test_a_quantifier_over_a_set_hands_on_members_of_its_sort() -> None:
    kinds: list[type] = []

    def seen(x: Any) -> bool:
        kinds.append(type(x))
        return True

    model = Sets(replicas=2)
    model.trace_predicate(lambda s: And(for_all(s.left, seen), for_all(s.sets, seen), for_all(Isr(1), seen)))
    assert kinds == [Replica] * 2 + [Isr] * 4 + [Replica]


def test_a_quantifier_keeps_the_name_and_labels_of_what_it_binds() -> None:
    model = Sets()

    def nobody(s: StateView) -> Any:
        return for_all(s.left, lambda member: s.up[member] == 0)

    node = model.trace_predicate(nobody)
    assert node.arg == Quantifier("member", ("b1", "b2", "b3"))
    ranged = model.trace_predicate(lambda s: exists(range(2), lambda i: s.up[i] == 1))
    assert ranged.arg == Quantifier("i", ("0", "1"))


def test_an_array_can_be_quantified_over() -> None:
    model = Sets()
    node = model.trace_predicate(lambda s: for_all(s.up, lambda one: one == 1))
    assert [evaluate(node, (0, 0, 0, 0, *up)) for up in ((1, 1, 1), (1, 0, 1))] == [True, False]
