"""Sequences, bags and sets mean what Python's lists, counters and frozensets mean."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from insync.model import (
    ANY,
    And,
    Bag,
    Bool,
    BoundValues,
    If,
    Int,
    Model,
    Option,
    Range,
    Record,
    Seq,
    SetOf,
    State,
    action,
    exists,
    for_all,
    initial,
    when,
)
from insync.model.domains.domain import Domain
from insync.model.evaluator import Evaluator, evaluate
from insync.runtime.errors import DomainError, ModelError, UserError
from insync_collected import (
    ELEMENTS,
    KINDS,
    Change,
    apply_to,
    bound_element,
    changed,
    changes,
    first_values,
    literal,
    made,
    operand,
)

FEW = [of for of in ELEMENTS if bound_element(of).number_of_values() < 100]

MEASURED = settings(max_examples=70, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
"""The same examples every time: how often they show something is counted."""


class Box(Model):
    """A collection, and fields that an operation may be about."""

    def __init__(self, field: Any, of: Any, body: Any) -> None:
        super().__init__()
        self.field, self.of, self.body = field, of, body

    def declare(self, b: BoundValues) -> State:
        return State(x=self.field, a=self.of, b=self.of, now=Bool)

    @action
    def run(self, s: Any) -> None:
        self.body(s)


def elements_of(domain: Domain, codes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The codes of each element of a collection."""
    of = domain.of  # type: ignore[attr-defined]
    return [tuple(of.encode(one, "")) for one in domain.decode(codes, 0)]


def pools(of: Domain) -> st.SearchStrategy[list[tuple[int, ...]]]:
    """The values of an example, few, so that they meet again."""
    return st.lists(st.sampled_from(first_values(of)), min_size=2, max_size=3, unique=True)


def collections(kind: str, some: list[tuple[int, ...]], most: int) -> st.SearchStrategy[list[tuple[int, ...]]]:
    if kind in ("Seq", "Bag"):
        listed = st.lists(st.sampled_from(some), max_size=most)
        return listed if kind == "Seq" else listed.map(sorted)
    return st.sets(st.sampled_from(some), max_size=most).map(sorted)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_operations_are_those_of_python(kind: str) -> None:
    seen: Counter[str] = Counter()

    @MEASURED
    @given(st.data())
    def law(data: st.DataObject) -> None:
        given_ = data.draw(st.sampled_from(FEW if kind == "BitSet" else ELEMENTS))
        most, of = data.draw(st.integers(1, 3)), bound_element(given_)
        pool = data.draw(pools(of))
        todo = data.draw(changes(kind, pool))

        def body(s: Any) -> None:
            for change in todo:
                with when(s.now if change.under else True):
                    result = apply_to(s.x, change, operand(s, of, change))
                    if result is not None:
                        s.x = result

        model = Box(made(kind, given_, most), given_, body)
        before = data.draw(collections(kind, pool, most))
        fields = {name: data.draw(st.sampled_from(pool)) for name in "ab"}
        now = data.draw(st.booleans())
        expected: list[tuple[int, ...]] | None = before
        for change in todo:
            codes = fields[change.operand] if isinstance(change.operand, str) else change.operand
            if expected is not None and (now or not change.under):
                expected = changed(expected, change, codes, kind, most)
        decoded = {name: of.decode(codes, 0) for name, codes in fields.items()}
        start = {"x": [of.decode(codes, 0) for codes in before], "now": now, **decoded}
        codes = model.encode(start)
        try:
            after: Any = model.decode(Evaluator(model.program).step(0, codes))["x"]
        except (DomainError, ModelError):  # a ModelError where it is refused in every state
            after = None
        assert after == (None if expected is None else [of.decode(codes, 0) for codes in expected])
        if after is not None:
            assert model.decode(model.encode(start | {"x": after}))["x"] == after, "it is stored canonically"
        seen["refused"] += expected is None
        seen["several"] += expected is not None and len(expected) > 1
        seen["changed"] += expected is not None and expected != before
        seen["symbolic"] += any(isinstance(change.operand, str) for change in todo)

    law()
    least = {"several": 3, "changed": 10, "symbolic": 10, "refused": 0 if kind == "BitSet" else 3}
    assert {name: seen[name] >= number for name, number in least.items()} == dict.fromkeys(least, True)


@pytest.mark.slow_but("Seq")
@pytest.mark.parametrize("kind", KINDS)
def test_questions_have_the_answers_of_python(kind: str) -> None:
    seen: Counter[str] = Counter()

    @MEASURED
    @given(st.data())
    def law(data: st.DataObject) -> None:
        given_ = data.draw(st.sampled_from(FEW))
        most, of = 3, bound_element(given_)
        pool = data.draw(pools(of))
        constant = data.draw(st.sampled_from(pool))
        asked: dict[str, Any] = {}

        def look(s: Any) -> bool:
            x, known = s.x, literal(of, constant)
            asked["empty"] = x.is_empty()
            asked["length"] = x.length
            asked["has a"] = x.contains(s.a)
            asked["has constant"] = x.contains(known)
            asked["all are a"] = for_all(x, lambda m: m == s.a)
            asked["some is b"] = exists(x, lambda m: m == s.b)
            asked["is [a]"] = x == [s.a]
            asked["chosen"] = If(s.now, x, []) == []
            if kind == "Bag":
                asked["count a"] = x.count(s.a)
            if kind == "Seq":
                asked["first is a"] = And(x.length > 0, x.first == s.a)
                asked["last is a"] = And(x.length > 0, x.last == s.a)
            if kind in ("ListedSet", "BitSet"):
                assert x.count().node is x.length.node, "a Set says it so"
                asked["within"] = x.is_subset([s.a, s.b])
                asked["joined"] = (x | [s.a]) == (x | [s.b])
                asked["without"] = (x - [s.a]).length
                asked["common"] = (x & [s.a, s.b]).length
                asked["rest"] = ([s.a] - x).is_empty()
            return True

        model = Box(made(kind, given_, most), given_, lambda s: None)
        model.trace_predicate(look)
        x = data.draw(collections(kind, pool, most))
        a, b = (data.draw(st.sampled_from(pool)) for _ in "ab")
        now = data.draw(st.booleans())
        start = {"x": [of.decode(codes, 0) for codes in x], "now": now}
        codes = model.encode(start | {"a": of.decode(a, 0), "b": of.decode(b, 0)})
        expected = {
            "empty": not x,
            "length": len(x),
            "has a": a in x,
            "has constant": constant in x,
            "all are a": all(one == a for one in x),
            "some is b": b in x,
            "is [a]": x == [a],
            "chosen": not now or not x,
            "count a": x.count(a),
            "first is a": x[:1] == [a],
            "last is a": x[-1:] == [a],
            "within": {*x} <= {a, b},
            "joined": {*x, a} == {*x, b},
            "without": len({*x} - {a}),
            "common": len({*x} & {a, b}),
            "rest": a in x,
        }
        for name, value in asked.items():
            plain = evaluate(value.node, codes) if hasattr(value, "node") else value
            assert plain == expected[name], name
            seen[f"{name}: {expected[name]}"] += 1

    law()
    names = ("empty", "has a", "has constant", "all are a", "some is b", "is [a]")
    rare = {
        answer: seen[answer] for name in names for answer in (f"{name}: True", f"{name}: False") if seen[answer] < 2
    }
    assert not rare


@pytest.mark.parametrize("kind", KINDS)
def test_each_value_has_codes_of_its_own_and_no_other_codes_are_taken(kind: str) -> None:
    """All values of a small domain: they are counted right, in order, decoded and encoded."""
    for of in (Int(0, 2), *(one for one in FEW if bound_element(one).number_of_values() <= 6)):
        domain = made(kind, of, 2).bind(BoundValues({}))
        values = list(domain.values())
        assert len(values) == domain.number_of_values() > 3
        assert values == sorted(set(values))
        readable = [domain.decode(codes, 0) for codes in values]
        assert [tuple(domain.encode(value, "x")) for value in readable] == values
        assert all(a != b for a, b in itertools.combinations(readable, 2))
        assert len(list(domain.cells("x"))) == domain.width == len(values[0])
        assert all(
            max(codes) < size for codes, (_, size) in zip(zip(*values, strict=True), domain.cells(""), strict=True)
        )


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (Seq(Int(0, 3), 2), [1, 2, 3], r"x: \[1, 2, 3\] is not .*; expected a list of at most 2 values\."),
        (Seq(Int(0, 3), 2), {"a": 1}, r"x: .* expected a list of at most 2 values\."),
        (Seq(Int(0, 3), 2), [1, 7], r"x\[1\]: 7 is not a value of this field; expected a whole number from 0 to 3\."),
        (Bag(Int(0, 3), 2), [2, 1], r"x: \[2, 1\] is not .*; expected a list in ascending order, as \[1, 2\]\."),
        (SetOf(Int(0, 3), 2), [1, 1], r"x: .*; expected a list in ascending order, each value once, as \[1\]\."),
        (SetOf(Int(0, 3)), [3, 0], r"x: .*; expected a list in ascending order, each value once, as \[0, 3\]\."),
        (SetOf(Int(0, 3)), 3, r"x: 3 is not a value of this field; expected a list of values\."),
    ],
)
def test_what_is_not_the_canonical_value_is_refused(field: Any, value: Any, message: str) -> None:
    with pytest.raises(UserError, match=rf"^{message}$"):
        field.bind(BoundValues({})).encode(value, "x")


@pytest.mark.parametrize("kind", KINDS)
def test_any_value_is_each_value_once(kind: str) -> None:
    class Anywhere(Model):
        def declare(self, b: BoundValues) -> State:
            return State(x=made(kind, Record(a=Bool, b=Option(Record(c=Bool))), 2))

        @initial
        def begins(self, s: Any) -> None:
            s.x = ANY

    model = Anywhere()
    begun = [model.decode(codes)["x"] for codes in model.program.initials]
    domain = model.state.fields["x"]
    assert sorted(map(str, begun)) == sorted(str(domain.decode(codes, 0)) for codes in domain.values())


def test_a_change_of_one_known_value_changes_one_cell() -> None:
    model = Box(SetOf(Int(0, 999)), Int(0, 999), lambda s: s.x.add(7))
    (run,) = model.program.actions
    assert [(model.program.schema.cells[cell].path, node.arg) for cell, node in run.updates] == [("x{7}", 1)]
    assert len(model.program.graph.nodes) < 3000, "a node or two for each cell"


def test_one_change_is_measured() -> None:
    """The reference of these tests is not the language itself."""
    assert changed([(1,)], Change("add"), (0,), "Bag", 2) == [(0,), (1,)]
    assert changed([(1,), (1,)], Change("add"), (0,), "Bag", 2) is None


class Few(Range):
    """One of three numbers."""

    lo, hi = 0, 2


class Filled(Model):
    """Collections that are assigned the same elements, two of which may be equal."""

    def declare(self, b: BoundValues) -> State:
        few = Int(0, 2)
        return State(a=few, b=few, line=Seq(few, 3), heap=Bag(few, 3), group=SetOf(few, 2))

    @action
    def prepare(self, s: Any, a: Few, b: Few) -> None:
        """Choose two of the elements."""
        s.a, s.b = a, b

    @action
    def fill(self, s: Any) -> None:
        """Assign them."""
        s.line, s.heap, s.group = [s.a, s.b, s.a], [s.a, s.b, s.a], [s.a, s.b, s.a]

    @action
    def overfill(self, s: Any) -> None:
        """Assign more than there is room for if all are different."""
        s.group = [s.a, s.b, 2]


def test_what_is_assigned_has_its_order_and_its_repetitions_as_the_collection_has_them() -> None:
    model = Filled()
    evaluator, actions = Evaluator(model.program), model.program.actions
    fill, overfill = (next(n for n, one in enumerate(actions) if one.name == name) for name in ("fill", "overfill"))
    for number in (n for n, one in enumerate(actions) if one.name == "prepare"):
        codes = evaluator.step(number, model.program.initials[0])
        a, b = (model.decode(codes)[name] for name in "ab")
        filled = model.decode(evaluator.step(fill, codes))
        assert (filled["line"], filled["heap"]) == ([a, b, a], sorted([a, b, a]))
        assert set(filled["group"]) == {a, b}
        assert len(filled["group"]) == len({a, b})
        assert (evaluator.failing_check(overfill, codes) is None) == (len({a, b, 2}) <= 2)


def test_what_is_not_of_the_domain_is_never_in_a_bag() -> None:
    """One below the least number is no element: it is not found or counted as the elements that are none."""

    class Scores(Model):
        def declare(self, b: BoundValues) -> State:
            return State(x=Bag(Option(Int(1, 2)), 3), n=Int(0, 3), times=Int(0, 3), has=Bool)

        @action
        def look(self, s: Any) -> None:
            s.times, s.has = s.x.count(s.n), s.x.contains(s.n)

    model = Scores()
    evaluator = Evaluator(model.program)
    for n, times in enumerate((0, 1, 0, 0)):
        before = {"x": [None, None, 1], "n": n, "times": 3, "has": n != 1}
        after = model.decode(evaluator.step(0, model.encode(before)))
        assert after == before | {"times": times, "has": times > 0}
