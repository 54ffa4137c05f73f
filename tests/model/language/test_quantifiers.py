"""Quantifiers over sorts, ranges, enumerations, sets and arrays, compared with Python's own words on plain values."""

# What mypy would find in some of these lines is what the tests want to see refused.
# mypy: disable-error-code="arg-type,misc,call-overload"
from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from insync.model import (
    And,
    Array,
    Bag,
    Bound,
    Bounds,
    BoundValues,
    If,
    Index,
    Int,
    Model,
    ModelError,
    Not,
    Option,
    Or,
    Range,
    Record,
    Seq,
    Set,
    SetOf,
    State,
    bound,
    count,
    exists,
    for_all,
    max_of,
    min_of,
    sum_of,
    the,
)
from insync.model.evaluator import evaluate
from insync.model.expressions.graph import Node, Quantifier


class Worker(Index):
    size = bound("workers")


class Step(Range):
    lo, hi = 1, bound("workers") - 1


class Doing(enum.Enum):
    RESTING = 0
    WORKING = 1


class Team(Model):
    bounds = Bounds(workers=Bound(3, 1, 4))

    def declare(self, b: BoundValues) -> State:
        return State(
            age=Array(Worker, Int(-1, 2)),
            on=Set(Worker),
            doing=Doing,
            boss=Worker,
            limit=Option(Int(0, 2)),
            log=Array(2, Record(by=Worker)),
        )


TEAM = Team()
WORKERS = range(3)


def states() -> Iterator[tuple[tuple[int, ...], dict[str, Any]]]:
    """Every state that matters here: its codes, and its values in plain Python."""
    for ages in itertools.product((-1, 0, 2), repeat=3):
        for mask in range(8):
            codes = (*(age + 1 for age in ages), mask, mask % 2, mask % 3, 0, 0, 0)
            on = {worker for worker in WORKERS if mask >> worker & 1}
            yield codes, {"age": ages, "on": on, "doing": list(Doing)[mask % 2], "boss": mask % 3}


def means(written: Callable[[Any], Any], plain: Callable[[dict[str, Any]], int]) -> None:
    """A number is compared by its equality with each number that it could be."""
    wanted = {codes: plain(values) for codes, values in states()}
    for number in set(wanted.values()):
        node = TEAM.trace_predicate(lambda s, n=number: written(s) == n)
        assert all(evaluate(node, codes) == (value == number) for codes, value in wanted.items())


def holds(written: Callable[[Any], Any], plain: Callable[[dict[str, Any]], bool]) -> Node:
    node = TEAM.trace_predicate(written)
    assert all(evaluate(node, codes) == plain(values) for codes, values in states())
    return node


def test_a_sort_a_range_and_an_enumeration_are_ranged_over() -> None:
    holds(lambda s: for_all(Worker, lambda w: s.age[w] >= 0), lambda v: min(v["age"]) >= 0)
    holds(lambda s: exists(Step, lambda n: s.age[0] == n), lambda v: v["age"][0] in (1, 2))
    holds(lambda s: exists(Doing, lambda d: And(s.doing == d, s.on.contains(0))), lambda v: 0 in v["on"])
    holds(
        lambda s: exists(bool, lambda b: s.on.contains(1) if b else s.on.contains(2)), lambda v: bool(v["on"] & {1, 2})
    )


def test_several_are_ranged_over_at_once_and_each_is_named() -> None:
    node = holds(
        lambda s: for_all(Worker, s.on, Step, lambda first, second, number: s.age[first] + number > s.age[second]),
        lambda v: all(v["age"][f] + n > v["age"][g] for f in WORKERS for g in v["on"] for n in (1, 2)),
    )
    assert node.arg == Quantifier("first", ("worker1", "worker2", "worker3"))
    inner = next(part for part in node.args if isinstance(part.arg, Quantifier))
    assert isinstance(inner.arg, Quantifier)
    assert inner.arg.variable == "second"
    holds(
        lambda s: exists(Worker, Worker, lambda a, b: And(a < b, s.age[a] == s.age[b])),
        lambda v: any(v["age"][a] == v["age"][b] for a in WORKERS for b in WORKERS if a < b),
    )


def test_the_places_of_an_array_are_named() -> None:
    ages = TEAM.trace_predicate(lambda s: for_all(s.age, lambda age: age >= 0))
    assert ages.arg == Quantifier("age", ("age[worker1]", "age[worker2]", "age[worker3]"))
    log = TEAM.trace_predicate(lambda s: for_all(s.log, lambda entry: entry.by == s.boss))
    assert log.arg == Quantifier("entry", ("log[0]", "log[1]"))
    doing = TEAM.trace_predicate(lambda s: exists(Doing, lambda d: And(s.doing == d, s.boss == 0)))
    assert doing.arg == Quantifier("d", ("RESTING", "WORKING"))


def test_members_are_counted() -> None:
    means(lambda s: count(Worker, lambda w: s.age[w] > 0), lambda v: sum(age > 0 for age in v["age"]))
    means(lambda s: count(s.on, lambda w: s.age[w] > 0), lambda v: sum(v["age"][w] > 0 for w in v["on"]))
    means(
        lambda s: count(s.on, Worker, lambda a, b: s.age[a] < s.age[b]),
        lambda v: sum(v["age"][a] < v["age"][b] for a in v["on"] for b in WORKERS),
    )
    means(lambda s: count(s.age, lambda age: age == 2), lambda v: v["age"].count(2))


def test_numbers_are_added_up() -> None:
    means(lambda s: sum_of(Worker, lambda w: s.age[w]), lambda v: sum(v["age"]))
    means(lambda s: sum_of(s.on, lambda w: 2 * s.age[w]), lambda v: sum(2 * v["age"][w] for w in v["on"]))
    means(lambda s: sum_of(Step, lambda n: n * s.age[0]), lambda v: 3 * v["age"][0])


def test_the_extremes_are_found() -> None:
    means(lambda s: max_of(Worker, lambda w: s.age[w]), lambda v: max(v["age"]))
    means(lambda s: min_of(s.age, lambda age: age), lambda v: min(v["age"]))
    for default in (-3, 0, 5):
        means(
            lambda s, d=default: max_of(s.on, lambda w: s.age[w], default=d),
            lambda v, d=default: max((v["age"][w] for w in v["on"]), default=d),
        )
        means(
            lambda s, d=default: min_of(s.on, lambda w: s.age[w], default=d),
            lambda v, d=default: min((v["age"][w] for w in v["on"]), default=d),
        )
    means(
        lambda s: max_of(s.on | {0}, lambda w: s.age[w], default=0), lambda v: max(v["age"][w] for w in v["on"] | {0})
    )


def test_the_one_that_is_meant_is_the_first_for_which_it_holds() -> None:
    def oldest(s: Any) -> Any:
        return the(Worker, lambda w: for_all(Worker, lambda x: s.age[w] >= s.age[x]))

    means(oldest, lambda v: v["age"].index(max(v["age"])))
    means(
        lambda s: the(s.on, lambda w: s.age[w] > 0), lambda v: min((w for w in v["on"] if v["age"][w] > 0), default=0)
    )
    holds(lambda s: the(Doing, lambda d: s.doing == d) == s.doing, lambda v: True)
    means(lambda s: the(Step, lambda n: s.age[0] == n), lambda v: v["age"][0] if v["age"][0] in (1, 2) else 1)
    holds(lambda s: s.age[oldest(s)] == max_of(Worker, lambda w: s.age[w]), lambda v: True)
    holds(lambda s: the(s.log, lambda entry: entry.by == 0).by == 0, lambda v: True)


def test_what_is_plain_stays_plain() -> None:
    numbers = [3, 1, 2]
    assert (count(numbers, lambda n: n > 1), sum_of(numbers, lambda n: n)) == (2, 6)
    assert (max_of(numbers, lambda n: n), min_of(numbers, lambda n: -n)) == (3, -3)
    assert (max_of([], lambda n: n, default=7), min_of((), lambda n: n, default=7)) == (7, 7)
    assert (the(numbers, lambda n: n < 3), the(numbers, lambda n: n > 3)) == (1, 3)
    assert for_all(numbers, numbers, lambda a, b: a + b > 1) is True
    assert exists(Doing.__members__, lambda name: name == "RESTING") is True


def test_a_function_built_in_takes_what_it_is_given() -> None:
    assert max_of([3, 4], int) == 4
    assert for_all([1, 2], bool) is True


WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda s: for_all(Worker), "for_all needs a function of one member after the members, such as `lambda r: ...`"),
    (lambda s: exists(Worker, Step), "exists needs a function of one member after the members, such as"),
    (
        lambda s: for_all(Worker, Step, lambda w: True),
        "for_all needs a function of 2 members after the",
    ),
    (lambda s: for_all(Worker, lambda a, b: True), "for_all needs a function of one member"),
    (lambda s: count(Worker, True), "count needs a function of one member after the members"),
    (lambda s: count(Worker, lambda w: s.age[w]), "count needs conditions, but this number is of type Num. Compare it"),
    (lambda s: count(Worker, lambda w: 1), "count needs conditions, but 1 is of type int. Compare it, as in x == 1"),
    (lambda s: count(s.boss, lambda w: True), "this Worker has no members; give for_all and exists a set, a sort"),
    (lambda s: count(3, lambda w: True), "3 has no members"),
    (
        lambda s: sum_of(Worker, lambda w: s.on.contains(w)),
        "A number is needed here, but this condition is",
    ),
    (
        lambda s: sum_of(Worker, lambda w: s.limit),
        "A number is needed here, but this option is of type",
    ),
    (lambda s: sum_of(Worker, lambda w: None), "sum_of needs numbers, but None is of type NoneType. Use a field"),
    (lambda s: sum_of(Worker, lambda w: True), "sum_of needs numbers, but True is of type bool"),
    (
        lambda s: max_of(s.on, lambda w: s.age[w]),
        r"max_of(...) may have no member here; say what",
    ),
    (lambda s: min_of([], lambda w: w), "min_of(...) may have no member here; say what it is then"),
    (lambda s: max_of(Worker, lambda w: w, default=NONE_AT_ALL), "max_of needs numbers, but 'none' is of type str"),
    (lambda s: the([], lambda w: True), "the(...) needs a member to choose, and there is none in []."),
    (lambda s: the(Worker, lambda w: w), "the needs conditions, but Worker(2) is of type Worker"),
    (lambda s: the(Worker, 3), "the needs a function of one member after the members"),
]
NONE_AT_ALL: Any = "none"


@pytest.mark.parametrize(("written", "message"), WRONG)
def test_a_mistake_is_named_with_its_line(written: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        TEAM.trace_predicate(written)
    assert str(caught.value).startswith(f"{__file__}:{written.__code__.co_firstlineno}: ")
    assert message in str(caught.value)


def test_a_sort_has_members_only_while_a_model_is_traced() -> None:
    with pytest.raises(ModelError, match=r"exists\(Worker, .+\): the members of Worker are known while"):
        exists(Worker, lambda w: True)


def test_a_choice_between_what_is_found_is_one() -> None:
    holds(
        lambda s: If(s.on.contains(0), count(s.on, lambda w: True), sum_of(Worker, lambda w: 1)) == 3,
        lambda v: 0 not in v["on"] or len(v["on"]) == 3,
    )
    holds(lambda s: Or(Not(exists(s.on, lambda w: True)), s.on.count() > 0), lambda v: True)


def test_sequences_bags_and_sets_of_values_have_members() -> None:
    class Office(Model):
        def declare(self, b: BoundValues) -> State:
            return State(queue=Seq(Int(0, 3), 3), sent=Bag(Record(to=Int(0, 1), size=Int(0, 3)), 2), seen=SetOf(Doing))

    model = Office()
    codes = model.encode({"queue": [3, 1], "sent": [{"to": 0, "size": 2}, {"to": 1, "size": 3}], "seen": ["WORKING"]})
    numbers: list[tuple[Callable[[Any], Any], int]] = [
        (lambda s: count(s.queue, lambda n: n > 0), 2),
        (lambda s: sum_of(s.queue, lambda n: n), 4),
        (lambda s: max_of(s.sent, lambda m: m.size, default=0), 3),
        (lambda s: min_of(s.sent, lambda m: m.size, default=0), 2),
        (lambda s: the(s.sent, lambda m: m.to == 1).size, 3),
        (lambda s: count(s.seen, s.queue, lambda d, n: And(d == Doing.WORKING, n == 3)), 1),
        (lambda s: count(s.seen, lambda d: d == Doing.RESTING), 0),
    ]
    for written, wanted in numbers:
        node = model.trace_predicate(lambda s, written=written, wanted=wanted: written(s) == wanted)
        assert evaluate(node, codes)
        other = model.trace_predicate(lambda s, written=written, wanted=wanted: written(s) == wanted + 1)
        assert not evaluate(other, codes)
