"""Every limit of the language, at its end and one beyond."""

from __future__ import annotations

from typing import Any

import pytest

from insync.model import (
    ANY,
    Array,
    Bool,
    BoundValues,
    Index,
    Int,
    Model,
    Record,
    Set,
    SetOf,
    State,
    action,
    initial,
    require,
)
from insync.model.domains.scalars import Member
from insync.model.domains.scalars import Set as SetOfMembers
from insync.runtime.errors import ModelError

NOTHING = BoundValues({})


def sort_of(members: int) -> type[Index]:
    return type("Someone", (Index,), {"size": classmethod(lambda cls, bounds: members), "label": "m"})


def test_a_number_has_at_most_as_many_values_as_a_word_holds() -> None:
    assert Int(-5, 2**62 - 6).size == 2**62
    with pytest.raises(ModelError, match=r"Int\(-5, \d+\) has more than 2\^62 values"):
        Int(-5, 2**62 - 5)
    assert (Int(7, 7).size, Int(7, 7).bind(NOTHING).readable(0)) == (1, 7)
    with pytest.raises(ModelError, match=r"Int\(8, 7\) has no value"):
        Int(8, 7)


@pytest.mark.parametrize(("members", "fits"), [(1, True), (62, True), (63, False)])
def test_a_set_ranges_over_at_most_62_members(members: int, fits: bool) -> None:
    for of in (sort_of(members), Int(0, members - 1)):
        if fits:
            assert SetOfMembers(of).bind(NOTHING).size == 1 << members
        else:
            with pytest.raises(ModelError, match=f"ranges over {members} members .* at most 62"):
                SetOfMembers(of).bind(NOTHING)


@pytest.mark.parametrize(("members", "fits"), [(-1, False), (0, True), (2**62, True), (2**62 + 1, False)])
def test_a_sort_has_none_or_more_members_and_no_more_than_a_word_tells_apart(members: int, fits: bool) -> None:
    member = Member(sort_of(members))
    if fits:
        assert member.bind(NOTHING).size == members
    else:
        with pytest.raises(ModelError, match=f"has {members} members under .* a sort has none or more, and at most"):
            member.bind(NOTHING)


@pytest.mark.parametrize(("members", "shown"), [(1, "m1"), (8, "m8"), (9, "m9"), (10, "m9, ..."), (11, "m9, ...")])
def test_of_many_members_the_first_nine_are_named(members: int, shown: str) -> None:
    text = Member(sort_of(members)).bind(NOTHING).expected()
    assert text.endswith(shown)
    assert text.count("m") == min(members, 9)


class Free(Model):
    """Six numbers to begin with, of which a condition leaves five."""

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 5), seen=Bool)

    @initial
    def anywhere(self, s: Any) -> None:
        s.n = ANY

    @action
    def look(self, s: Any) -> None:
        s.seen = True


class Odd(Free):
    """All but one."""

    @initial
    def anywhere(self, s: Any) -> None:
        s.n = ANY
        require(s.n != 3)


@pytest.mark.parametrize(
    ("kind", "limit", "enough"), [(Free, "MOST_STATES", 6), (Odd, "MOST_STATES", 5), (Odd, "MOST_TRIED", 6)]
)
def test_as_many_initial_states_as_are_possible_are_listed(
    kind: type[Model], limit: str, enough: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for most, listed in ((enough + 1, True), (enough, True), (enough - 1, False)):
        monkeypatch.setattr(f"insync.model.tracing.initial_states.{limit}", most)
        assert kind().program.initials.enumerated == listed


class Three(Index):
    size = 3


class Paired(Model):
    """An action with six bindings."""

    def declare(self, b: BoundValues) -> State:
        return State(seen=Bool)

    @action
    def meet(self, s: Any, yes: bool, one: Three) -> None:
        s.seen = yes


@pytest.mark.parametrize(("most", "fits"), [(7, True), (6, True), (5, False)])
def test_as_many_bindings_as_are_possible_are_traced(most: int, fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.model.tracing.lifting._MOST_BINDINGS", most)
    if fits:
        assert len(Paired().program.actions) == 6
    else:
        with pytest.raises(ModelError, match=r"has 6 bindings of its parameters .* at most 5"):
            _ = Paired().program


@pytest.mark.parametrize(("most", "fits"), [(7, True), (6, True), (5, False)])
def test_a_set_of_records_without_a_number_has_a_bit_for_each(
    most: int, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.model.domains.containers.MOST_BITS", most)
    domain = SetOf(Record(a=Bool, b=Int(0, 2)))
    if fits:
        assert domain.bind(NOTHING).width == 6
    else:
        with pytest.raises(ModelError, match=r"ranges over 6 values .* at most 5 are possible"):
            domain.bind(NOTHING)


@pytest.mark.parametrize(("members", "columns"), [(1, 1), (7, 7), (8, 8), (9, 1), (10, 1)])
def test_up_to_eight_members_have_a_column_each(members: int, columns: int) -> None:
    class Row(Model):
        """An array over a sort."""

        def declare(self, b: BoundValues) -> State:
            return State(on=Array(sort_of(members), Bool), set=Set(Int(0, 1)))

    model = Row()
    cells = model.grid(model.decode(tuple(0 for _ in range(members + 1))))
    assert len(cells) == columns + 1
    assert ("on" in cells) == (members > 8)
