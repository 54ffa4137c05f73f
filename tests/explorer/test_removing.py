"""What a collection does not have may be taken away from it: nothing changes, whatever it is, in every engine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from insync.explorer import CheckResult, bounded_check, check, simulate
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.model import (
    NONE,
    And,
    Bag,
    Bool,
    Condition,
    Int,
    Model,
    Option,
    Record,
    SetOf,
    State,
    StateView,
    action,
    invariant,
    record,
    require,
)
from insync.model.evaluator import Evaluator


class Cupboard(Model):
    """Sets and bags of numbers from 0 to 3, from which numbers from -1 to 9 are taken."""

    def declare(self, b: Any) -> State:
        number = Int(0, 3)
        return State(
            x=number,
            bits=SetOf(number),
            few=SetOf(number, most=2),
            bag=Bag(number, most=2),
            bits_or_none=SetOf(Option(number)),
            few_or_none=SetOf(Option(number), most=2),
            bag_or_none=Bag(Option(number), most=2),
            records=SetOf(Record(y=number), most=2),
            alike=Bool,
        )

    def initial(self, s: StateView) -> None:
        for one in (s.bits, s.few, s.bag):
            one.add(2)
        for one in (s.bits_or_none, s.few_or_none, s.bag_or_none):
            one.add(NONE)
        s.records.add(y=2)
        s.alike = True

    @action
    def grow(self, s: StateView) -> None:
        """One more."""
        require(s.x < 3)
        s.x += 1

    @action
    def take(self, s: StateView) -> None:
        """Take away what is perhaps not there: the number 2 at x = 0, no number of the domain at x = 2 and 3."""
        for one in (s.bits, s.few, s.bag):
            one.remove(s.x + 2)
            one.remove(5)
        s.records.remove(y=s.x + 2)
        s.records.remove(record(y=7))

    @action
    def take_none(self, s: StateView) -> None:
        """Take -1 away, which is no element, and is not taken for NONE."""
        for one in (s.bits_or_none, s.few_or_none, s.bag_or_none):
            one.remove(s.x - 1)
            one.remove(-1)

    @action
    def join(self, s: StateView) -> None:
        """Take away sets, and compare with sets, of which some elements are not of the domain."""
        s.bits, s.few = s.bits - {9, s.x + 4}, s.few - {9, s.x + 4}
        s.bits_or_none, s.few_or_none = s.bits_or_none - {9, s.x - 1}, s.few_or_none - {-1, s.x - 1}
        s.alike = And(s.bits.is_subset({2, 9, s.x + 4}), s.few.is_subset([2, 9, s.x + 4]))

    @action
    def meet(self, s: StateView) -> None:
        """Keep what is in sets, of which some elements are not of the domain."""
        s.bits, s.few = s.bits & {2, 9, s.x + 4}, s.few & {2, 9, s.x + 4}

    @invariant
    def none_stays(self, s: StateView) -> Condition:
        """What may be none still is."""
        return And(s.bits_or_none.contains(NONE), s.few_or_none.contains(NONE), s.bag_or_none.contains(NONE))

    @invariant
    def all_have_the_same(self, s: StateView) -> Condition:
        """The number 2 is in all of them or in none, and no other number is."""
        there = s.bits.contains(2)
        same = And(s.few.contains(2) == there, s.bag.contains(2) == there, s.records.contains(y=2) == there)
        return And(same, s.alike, s.bits.length <= 1, s.few.length <= 1, s.bag.length <= 1)


class Joined(Cupboard):
    """What is added must be of the domain, and so must what a set without the others is."""

    @action
    def join(self, s: StateView) -> None:
        s.few = s.few | {s.x + 3}


class Rest(Cupboard):
    @action
    def join(self, s: StateView) -> None:
        s.few = {1, s.x + 3} - s.few


ENGINES: dict[str, Callable[..., CheckResult]] = {
    "evaluator": check_by_evaluator,
    "machine code": partial(check, threads=2, partitions=3),
}


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_nothing_changes_where_there_is_nothing_to_take_away(engine: Callable[..., CheckResult]) -> None:
    found = engine(Cupboard())
    assert (found.verdict, found.violations) == ("holds", ())
    assert found.levels == (1, 2, 2, 2, 1), "x is 0 to 3, with 2 in the sets or without"


def test_z3_and_walks_find_nothing_either() -> None:
    pytest.importorskip("z3")
    assert bounded_check(Cupboard(), depth=5).verdict == "incomplete"
    assert simulate(Cupboard(), walks=50, depth=20).violation is None


@pytest.mark.parametrize("model", [Joined(), Rest()], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_what_comes_into_a_set_must_be_of_its_domain(engine: Callable[..., CheckResult], model: Model) -> None:
    (violation,) = engine(model, properties=["none_stays"]).violations
    assert (violation.property, violation.trace_length) == ("type_ok", 2)


def test_an_element_that_is_none_is_taken_away_as_such() -> None:
    class Emptied(Cupboard):
        @action
        def take_none(self, s: StateView) -> None:
            for one in (s.bits_or_none, s.few_or_none, s.bag_or_none):
                one.remove(NONE)

    model = Emptied()
    number = next(n for n, one in enumerate(model.program.actions) if one.name == "take_none")
    after = model.decode(Evaluator(model.program).step(number, model.program.initials[0]))
    assert [after[name] for name in ("bits_or_none", "few_or_none", "bag_or_none")] == [[], [], []]
