"""What TLC reads otherwise than one might think, and how the text is written for it.

That a disjunction is a choice, that a LET is no value in an action, that an index is outside, and that a name means two
things is in the reader of the laws of test_meaning.py (docs/adr/0015-exports-and-judges.md has the list).
"""

from __future__ import annotations

import re

from insync.explorer.export import export
from insync.model import (
    Array,
    Condition,
    If,
    Index,
    Int,
    Model,
    Or,
    Record,
    State,
    StateView,
    TailCondition,
    action,
    always_eventually,
    eventually_always,
    initially_always,
    invariant,
    leads_to,
    require,
)
from insync_exported import Clashing


class Shelf(Index):
    """A place for goods."""

    label = "shelf"
    size = 2


class Store(Model):
    """Goods on shelves; its cellar is always empty."""

    def declare(self, b: object) -> State:
        """Shelves, what was noted each day, and a cellar without room."""
        shelves = Array(Shelf, Record(goods=Int(0, 3), dust=Int(0, 0)))
        return State(shelves=shelves, days=Array(3, Int(0, 1)), cellar=Int(0, 0), day=Int(0, 3))

    @action
    def fill(self, s: StateView, one: Shelf, other: Shelf) -> None:
        """Puts as much on one shelf as there is on both, in the first days."""
        require(s.day < 2)
        both = If(Or(s.shelves[one].goods > s.day, s.shelves[other].goods > s.day), 1, s.shelves[one].goods + s.day)
        s.shelves[one].goods = both
        s.shelves[other].goods = both
        s.day += 1

    @action
    def wait(self, s: StateView) -> None:
        """Nothing changes, which is a step."""


class Ampel(Model):
    """Its actions and properties have names that TLA+ cannot read."""

    def declare(self, b: object) -> State:
        return State(lit=Int(0, 2))

    @action
    def prüfe(self, s: StateView) -> None:
        require(s.lit < 2)
        s.lit += 1

    @action
    def prófe(self, s: StateView) -> None:
        s.lit = 1

    @action
    def 回(self, s: StateView) -> None:
        s.lit = 0

    @invariant
    def größe(self, s: StateView) -> Condition:
        small: Condition = s.lit < 3
        return small


def text() -> str:
    return export(Store, properties=[])["store.tla"]


def test_a_let_stands_before_the_first_conjunct_that_needs_it() -> None:
    fill = text().split("Fill(one, other) ==")[1].split("\n\n")[0]
    assert fill.index("/\\ day < 2") < fill.index("LET v_1 ==") < fill.index("shelves' =")


def test_functions_begin_with_0_so_none_is_a_sequence() -> None:
    domains = re.findall(r"(\d+)\.\.\d+ ->", text()) + re.findall(r"\\in (\d+)\.\.\d+ \|->", text())
    assert set(domains) == {"0"}
    assert "Shelf == 0..1" in text()


def test_a_field_with_one_value_is_left_out() -> None:
    assert "VARIABLES shelves, days, day" in text()
    assert "cellar" not in text().split("====")[0].split("EXTENDS")[1]
    assert "dust" not in text()


def test_nothing_is_chosen_and_a_state_without_steps_is_no_error() -> None:
    files = export(Store, properties=["deadlock_free"])
    assert "CHOOSE" not in files["store.tla"]
    assert "CHECK_DEADLOCK FALSE" in files["store.cfg"]
    assert "INVARIANT deadlock_free" in files["store.cfg"]


def test_a_step_that_changes_nothing_is_one() -> None:
    wait = text().split("Wait ==")[1].split("\n\n")[0]
    assert wait.strip() == "/\\ UNCHANGED <<shelves, days, day>>"


def test_names_are_ascii_each_another_one_and_have_a_letter() -> None:
    written = export(Ampel)["ampel.tla"]
    names = re.findall(r"^(\S+) ==", written, flags=re.MULTILINE)
    assert {"Pr_fe", "Pr_fe_2", "gr__e"} < set(names)
    assert [name for name in names if not re.fullmatch(r"\w*[A-Za-z]\w*", name, flags=re.ASCII)] == []
    assert len(set(names)) == len(names)


class Turning(Model):
    """A number that goes round from any value."""

    def declare(self, b: object) -> State:
        return State(n=Int(5, 8))

    @action
    def turn(self, s: StateView) -> None:
        s.n = (s.n - 4) % 4 + 5

    @always_eventually(weak=("turn",))
    def again(self, s: StateView) -> Condition:
        return s.n == 5

    @eventually_always
    def settles(self, s: StateView) -> Condition:
        return s.n == 6

    @leads_to
    def then_again(self, s: StateView) -> tuple[Condition, TailCondition]:
        return s.n == 7, always_eventually(s.n == 8)

    @leads_to
    def then_settles(self, s: StateView) -> tuple[Condition, TailCondition]:
        return s.n == 7, eventually_always(s.n == 8)

    @initially_always
    def begins_low(self, s: StateView) -> tuple[Condition, Condition]:
        return s.n < 6, s.n < 7


def test_a_remainder_binds_as_tightly_as_a_difference_so_parentheses_are_written() -> None:
    """In TLA+ `%` has a range of precedences, 10 to 11, and `-` has 11, so that `a - b % c` cannot be read."""
    assert "n' = ((n - 4) % 4) + 5" in export(Turning, properties=[])["turning.tla"]


def test_the_forms_of_properties_of_runs() -> None:
    found = export(Turning, properties=[*RUN_FORMS])["turning.tla"]
    for name, formula in RUN_FORMS.items():
        assert f"\n{name} ==\n  /\\ {formula}\n" in found


RUN_FORMS = {
    "again": "[]<>again_then",
    "settles": "<>[]settles_then",
    "then_again": "(then_again_when ~> []<>then_again_then)",
    "then_settles": "(then_settles_when ~> <>[]then_settles_then)",
    "begins_low": "(begins_low_when => []begins_low_then)",
}


def test_names_that_are_reserved_or_defined_already_are_changed_in_one_way() -> None:
    text = export(Clashing)["clashing.tla"]
    assert "VARIABLES a, b, p, vars_, Max_, IF_, IF__, TypeOK_, gruf6udfe, fWF_x, LET_" in text
    assert "[LET_ EXCEPT !.THEN_ = TypeOK_, !.Nat_[C] = LET_.Nat_[M]]" in text
    assert re.search(r"^Max\(a2, b2\) == IF a2 > b2", text, re.MULTILINE)
    assert re.search(r"^Next_2\(C, M\) ==", text, re.MULTILINE)
    assert re.search(r"^vars__2 ==", text, re.MULTILINE)
