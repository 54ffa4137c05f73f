"""Members that are declared alike and are not treated so: every way is refused, in a sentence that says where."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from insync import proofs
from insync.explorer import check
from insync.explorer.symmetry import symmetry_for
from insync.model import (
    Bag,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Index,
    Model,
    Not,
    Option,
    Or,
    Set,
    State,
    StateView,
    action,
    invariant,
    require,
)
from insync.model.catalogue import find_model
from insync.proofs.sameness import same_value
from insync.properties.registry import judge
from insync.runtime.errors import UserError
from insync_symmetric import Gossip, Messages, Mixed, Partial, Relations, TwoPhase
from insync_symmetric_protocols import Election, Requests, Telephone
from insync_symmetric_shapes import Bags, Channels, Maybe, Nested


@pytest.fixture
def nothing_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty cache: nothing was shown before."""
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("way", "sentence"),
    [
        (1, "partial begins with a member singled out: holder is another with n1 and n2 swapped."),
        (2, "the guard of take(node=n1) and of take(node=n2) is not the same with n1 and n2 swapped."),
        (3, "the guard of take(node=n1) and of take(node=n2) is not the same with n1 and n2 swapped."),
        (4, "what is assigned to wild of drop() is not the same with n1 and n2 swapped."),
        (5, "what is assigned to holder of drop() is not the same with n1 and n2 swapped."),
        (6, "what the fields can hold of drop() is not the same with n1 and n2 swapped."),
        (8, "the guard of take(node=n1) and of take(node=n2) is not the same"),
    ],
)
def test_a_member_that_is_singled_out(way: int, sentence: str) -> None:
    model = Partial(nodes=3, way=way)
    with pytest.raises(UserError, match=re.escape(sentence)) as caught:
        check(model)
    assert re.match(r".+insync_symmetric\.py:\d+: the sort Node is declared symmetric, but ", str(caught.value))
    assert check(model, symmetry=False).representatives is None


@pytest.mark.parametrize("limit", ["LARGEST_GROUP", "_MOST_TRIED"])
def test_of_too_many_members_no_use_is_made(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Gossip()
    symmetry = model.program.symmetry
    assert symmetry is not None
    assert symmetry_for(model, {}).symmetry is symmetry
    monkeypatch.setattr(sys.modules["insync.explorer.symmetry"], limit, 0)
    unused = symmetry_for(model, {})
    assert unused.symmetry is None
    assert len(unused.notes) == 1
    assert "too many members for a search with symmetry" in unused.notes[0]


def test_as_many_members_as_can_be_counted_are_made_use_of(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Gossip(nodes=3)
    alike = sys.modules["insync.explorer.symmetry"]
    for most, used in ((7, True), (6, True), (5, False)):
        monkeypatch.setattr(alike, "LARGEST_GROUP", most)
        assert (symmetry_for(model, {}).symmetry is not None) == used, "3! = 6 permutations"
    monkeypatch.undo()
    for most, used in ((7, True), (6, True), (5, False)):
        monkeypatch.setattr(alike, "_MOST_TRIED", most)
        assert (symmetry_for(model, {}).symmetry is not None) == used


class Guest(Index, symmetric=True):
    """A guest."""

    size, label = 4, "g"


class Asks(Model):
    """The value of an option is read where it may be none, unless it is required to be one."""

    bounds = Bounds(there=Bound(0, 0, 1, "whether a guest is required"))

    def declare(self, b: BoundValues) -> State:
        return State(asked=Option(Guest), inside=Set(Guest))

    @action
    def ask(self, s: StateView, guest: Guest) -> None:
        """Ask for a guest."""
        require(s.asked.is_none())
        s.asked = guest

    @action
    def come(self, s: StateView) -> None:
        """Come in."""
        require(Or(self.b.there == 0, s.asked.is_some()))
        s.inside |= {s.asked.value}


def test_the_value_of_what_may_be_none_is_named_as_the_cause() -> None:
    with pytest.raises(UserError) as caught:
        check(Asks(), properties=[])
    assert str(caught.value).endswith(
        "what is assigned to inside of come() is not the same with g1 and g2 swapped. `.value` of asked reads as g1 "
        "where it is none, which may be the cause: require is_some() of it. Treat all members alike, or take "
        "symmetric=True off Guest."
    )
    assert check(Asks(there=1), properties=[]).verdict == "holds"


class Inn(Model):
    """Guests come and go; who comes when there are two is one too many, and who has gone does not come again."""

    def declare(self, b: BoundValues) -> State:
        return State(inside=Set(Guest), gone=Set(Guest))

    @action
    def come(self, s: StateView, guest: Guest) -> None:
        """Come in."""
        require(Not(s.inside.contains(guest)), Not(s.gone.contains(guest)))
        s.inside |= {guest}

    @action
    def go(self, s: StateView, guest: Guest) -> None:
        """Go for good."""
        require(s.inside.contains(guest))
        s.inside -= {guest}
        s.gone |= {guest}

    @invariant
    def room(self, s: StateView) -> Condition:
        """There is room."""
        return s.inside.count() <= 2  # type: ignore[no-any-return]


@pytest.mark.parametrize("within", [(), ("room",)])
def test_states_outside_and_without_a_step_are_counted_with_all_that_are_like_them(within: tuple[str, ...]) -> None:
    found, plain = (check(Inn(), within=within, properties=[], symmetry=used) for used in (True, False))
    assert (found.levels, found.outside, found.deadlocks) == (plain.levels, plain.outside, plain.deadlocks)
    assert (plain.outside, plain.deadlocks) == (8 if within else 0, 1)
    assert found.representatives is not None
    assert 2 * found.representatives < found.distinct_states


@pytest.mark.parametrize("way", [0, 7])
def test_members_that_are_alike(way: int) -> None:
    found, plain = (check(Partial(nodes=3, way=way), symmetry=used) for used in (True, False))
    assert (found.levels, found.actions) == (plain.levels, plain.actions)
    assert found.representatives is not None
    assert found.representatives < found.distinct_states


def test_a_property_that_singles_out_a_member() -> None:
    with pytest.raises(UserError, match="the property first_first is not the same with n1 and n2 swapped") as caught:
        check(Partial(nodes=3), properties=["first_first"])
    assert re.match(r".+insync_symmetric\.py:\d+: the sort Node is", str(caught.value))
    assert "symmetry=False (--no-symmetry)" in str(caught.value)
    assert check(Partial(nodes=3), properties=["first_first"], symmetry=False).verdict == "violated"


@pytest.mark.parametrize(
    "kind",
    [
        TwoPhase,
        Messages,
        Gossip,
        Partial,
        Mixed,
        Relations,
        Bags,
        Channels,
        Maybe,
        Nested,
        Requests,
        Election,
        Telephone,
    ],
    ids=lambda kind: str(kind.__name__),
)
@pytest.mark.usefixtures("nothing_shown")
def test_of_these_models_the_form_shows_all(kind: type[Model], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("insync.proofs.sameness.same_value", lambda *given: asked.append(given))
    assert symmetry_for(kind(), {}).symmetry is not None
    assert not asked


@pytest.mark.usefixtures("nothing_shown")
def test_what_the_form_does_not_show_z3_does() -> None:
    """And without an answer nothing is taken to be alike."""
    model = Partial(nodes=4, way=7)
    assert symmetry_for(model, {}).symmetry is model.program.symmetry


@pytest.mark.usefixtures("nothing_shown")
def test_no_answer_is_no_symmetry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.proofs.sameness.same_value", lambda *given: None)
    with pytest.raises(UserError, match="it could not be shown that what is assigned to wild") as caught:
        check(Partial(nodes=4, way=7))
    assert "is the same, for z3 had no answer in 10 s, with n1 and n2 swapped." in str(caught.value)


@pytest.mark.usefixtures("nothing_shown")
def test_without_z3_only_the_form_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = [*filter(lambda name: name.startswith("insync.proofs"), sys.modules)]
    monkeypatch.setattr("insync.proofs", proofs)  # loaded anew below: as it was, when the test is over
    for name in loaded:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "z3", None)
    assert symmetry_for(Gossip(), {}).symmetry is not None
    with pytest.raises(UserError, match=r"for z3 is not installed \(pip install 'insync\[prove\]'\)"):
        symmetry_for(Partial(nodes=4, way=7), {})


class Overfull(Model):
    """Two guests are put into a room for one."""

    def declare(self, b: BoundValues) -> State:
        return State(room=Bag(Option(Guest), 1))

    @action
    def put(self, s: StateView, one: Guest, other: Guest) -> None:
        s.room = []
        s.room.add(one)
        s.room.add(other)


def test_elements_beyond_the_room_of_a_bag_are_refused_whoever_they_are() -> None:
    result = check(Overfull)
    assert [violation.property for violation in result.violations] == ["type_ok"]


def test_too_many_members_are_visited_one_by_one() -> None:
    few = symmetry_for(Gossip(nodes=5), {})
    assert few.symmetry is not None
    many = symmetry_for(Mixed(nodes=5, others=6), {})
    assert many.symmetry is None
    assert many.notes == ("Node and Other have too many members for a search with symmetry; every state is visited.",)
    (note,) = symmetry_for(Gossip(nodes=8), {}).notes
    assert note.startswith("Node has too many members")
    assert symmetry_for(TwoPhase(managers=12), {}).symmetry is not None


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("nothing_shown")
@pytest.mark.parametrize("name", ["truncate_to_high_watermark", "kip101", "kip279", "kip320_first_try", "kip320"])
def test_z3_shows_of_the_published_models_what_their_form_shows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no two forms alike, every comparison is z3's."""
    asked: list[bool | None] = []

    def counted(*given: Any) -> bool | None:
        asked.append(same_value(*given))
        return asked[-1]

    numbers = itertools.count()
    monkeypatch.setattr("insync.model.symmetry.renaming.NormalForms.of", lambda *_: next(numbers))
    monkeypatch.setattr("insync.proofs.sameness.same_value", counted)
    model = find_model(name)(replicas=3, log_size=1, max_records=1, max_leader_epoch=1)
    assert symmetry_for(model, judge(model, None).conditions).symmetry is not None
    assert len(asked) > len(model.program.actions)
    assert all(asked)
