from __future__ import annotations

import enum
import itertools
import operator
from collections.abc import Callable

import pytest

from insync.model.domains.bounds import BoundValues
from insync.model.domains.sorts import Index, Subset, label_of
from insync.model.domains.values import Bool, Num, SetValue
from insync.model.expressions.graph import Graph
from insync.runtime.errors import ModelError

BOUNDS = BoundValues({"replicas": 3})


class Replica(Index):
    label = "b"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return bounds.replicas


class Epoch(Index):
    first = 0

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 2


class Isr(Subset, of=Replica):
    """A set of replicas."""


class Light(enum.Enum):
    ON = 1


def test_members_are_numbers_with_names() -> None:
    members = Replica.members(BOUNDS)
    assert members == [0, 1, 2]
    assert [str(m) for m in members] == ["b1", "b2", "b3"]
    assert f"{members[0]:>4}" == "  b1"
    assert repr(members[1]) == "Replica(1)"
    assert [str(m) for m in Epoch.members(BOUNDS)] == ["epoch0", "epoch1"]
    assert all(type(m) is Replica for m in members)


def test_subsets_range_over_all_sets() -> None:
    assert [str(m) for m in Isr.members(BOUNDS)][:5] == ["{}", "{b1}", "{b2}", "{b1, b2}", "{b3}"]
    assert Isr.size(BOUNDS) == 8


def test_a_subset_is_used_like_a_set() -> None:
    isr = Isr(5)
    assert list(isr) == [0, 2]
    assert [str(member) for member in isr] == ["b1", "b3"]
    assert (isr.contains(0), isr.contains(1), Replica(2) in isr) == (True, False, True)
    assert (isr.count(), isr.is_empty(), Isr(0).is_empty()) == (2, False, True)
    assert (isr == {0, 2}, isr == {0}, isr != {0}, isr == Isr(5), isr == 5) == (True, False, True, True, True)
    assert [str(x) for x in (isr | {1}, isr - {0}, isr & Isr(4), {1} | isr)] == [
        "{b1, b2, b3}",
        "{b3}",
        "{b3}",
        "{b1, b2, b3}",
    ]
    assert isr.is_subset({0, 1, 2})
    assert not isr.is_subset(Isr(1))
    assert len({isr, Isr(5)}) == 1


def test_a_subset_meets_symbolic_values() -> None:
    graph = Graph([3, 8])
    isr, member, held = Isr(5), Num(graph.cell(0)), SetValue(graph.cell(1))
    assert isinstance(isr.contains(member), Bool)
    assert isinstance(isr == held, Bool)
    assert isinstance(isr | held, SetValue)
    assert isinstance(isr - held, SetValue)
    assert isinstance(isr.is_subset(held), Bool)
    with pytest.raises(ModelError, match=r"A member of Replica is needed here, but 'b1' is of type str"):
        isr.contains("b1")


def test_what_a_parameter_s_value_is_called() -> None:
    assert [label_of(v) for v in (Replica(1), Isr(3), Light.ON, True)] == ["b2", "{b1, b2}", "ON", "true"]


def test_a_sort_must_say_its_size() -> None:
    class Nameless(Index):
        pass

    with pytest.raises(ModelError, match=r"test_sorts\.py:\d+: The sort Nameless does not say its size; write `si"):
        Nameless.size(BOUNDS)


def test_a_size_that_is_no_classmethod_is_refused_where_it_is_written() -> None:
    with pytest.raises(ModelError, match=r"test_sorts\.py:\d+: Wrong\.size is about the sort; write @classmethod"):

        class Wrong(Index):
            def size(cls, bounds: BoundValues) -> int:
                return 3


def test_a_subset_must_say_of_what() -> None:
    with pytest.raises(ModelError, match=r"test_sorts\.py:\d+: Wrong does not say of what"):

        class Wrong(Subset):
            pass


class Spare(Replica):
    """Some replicas, as a sort of their own."""


@pytest.mark.parametrize("compare", [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
def test_members_of_two_sorts_are_not_compared(compare: Callable[[int, int], bool]) -> None:
    for one, other in [(Replica(1), Epoch(1)), (Epoch(0), Replica(2))]:
        with pytest.raises(
            ModelError, match=rf"test_sorts\.py:\d+: {one} is a member of .* and {other} of .*: they are never"
        ):
            compare(one, other)
    for first, second in itertools.product(range(3), repeat=2):
        expected = compare(first, second)
        assert compare(Replica(first), Replica(second)) is expected
        assert compare(Replica(first), Spare(second)) is expected
        assert compare(Spare(first), Replica(second)) is expected
        assert compare(Replica(first), second) is expected
        assert compare(first, Replica(second)) is expected


def test_a_member_is_found_by_its_number() -> None:
    assert {0: "first", 2: "third"}[Replica(2)] == "third"
    assert Replica(1) in {Replica(0), Replica(1)}


def test_a_set_that_is_known_while_tracing_is_a_set() -> None:
    masks = range(8)
    for one, other in itertools.product(masks, masks):
        left, right = ({member for member in range(3) if mask >> member & 1} for mask in (one, other))
        for how in (operator.or_, operator.and_, operator.sub):
            expected = how(left, right)
            for given in (Isr(other), right, frozenset(right)):
                found = how(Isr(one), given)
                assert (type(found), int(found)) == (Isr, sum(1 << member for member in expected))
        assert (Isr(one).count(), Isr(one).is_empty(), Isr(one).is_subset(Isr(other))) == (
            len(left), not left, left <= right,
        )  # fmt: skip
        assert int(left | Isr(other)) == int(Isr(one) | Isr(other))
