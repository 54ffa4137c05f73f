"""Where the parts of an action stand in its author's source."""

from __future__ import annotations

import pytest

import insync.model as words
from insync.model import And, Array, Bool, If, Index, Int, Model, Not, State, action, require, when
from insync.model import require as need
from insync.model.catalogue import BUILT_IN, find_model
from insync.model.expressions.source import noted, noting
from insync.model.tracing.anatomy import Anatomy, anatomies
from insync.properties.registry import confined
from insync_toys import Commit, DieHard, TokenRing


class Pen(Index):
    """A pen."""

    @classmethod
    def size(cls, bounds: object) -> int:
        return 2


def tidy(s: object, pen: Pen) -> None:
    need(s.used[pen])  # type: ignore[attr-defined]


class Desk(Model):
    def declare(self, b: object) -> State:
        return State(used=Array(Pen, Bool), ink=Int(0, 3))

    @action
    def write(self, s, pen: Pen) -> None:  # type: ignore[no-untyped-def]
        "„Schrift“"; require(Not(s.used[pen]), s.ink > 0)  # fmt: skip  # noqa: E702
        require(
            *[s.ink > number for number in range(2)],
        )
        s.ink = If(
            s.ink == 3,
            words.If(s.used[pen], 0, 1),
            2,
        )
        with when(s.ink == 1):
            with when(And(s.used[pen], s.ink < 3)):
                s.used[pen] = False
            s.ink -= 1

    @action
    def clean(self, s, pen: Pen) -> None:  # type: ignore[no-untyped-def]
        tidy(s, pen)
        require(pen == self.all(Pen)[1])
        s.used[pen] = True


def parts(name: str) -> list[Anatomy]:
    return [one for one in anatomies(Desk()) if one.name == name]


def test_a_condition_stands_in_its_call_with_its_place_among_the_arguments() -> None:
    first, second = parts("write")
    assert [(one.spot.source, one.place) for one in first.required[:2]] == [
        ("require(Not(s.used[pen]), s.ink > 0)", 0),
        ("require(Not(s.used[pen]), s.ink > 0)", 1),
    ]
    assert [(one.spot.source.split("\n")[0], one.place) for one in first.required[2:]] == [
        ("require(", 0),
        ("require(", 1),
    ]
    assert [one.spot for one in first.required] == [one.spot for one in second.required]
    assert all(one.condition in first.bound.guard for one in first.required if first.bound)


def test_a_helper_is_where_its_own_call_stands() -> None:
    first, second = parts("clean")
    assert first.required[0].spot.source == "need(s.used[pen])"
    assert (first.bound, first.required[-1].spot.source) == (None, "require(pen == self.all(Pen)[1])")
    assert second.bound is not None
    assert second.bound.parameters == (("pen", second.parameters[0]),)


def test_branches_and_assignments_know_the_blocks_around_them() -> None:
    one = parts("write")[0]
    assert [(branch.word, len(branch.where)) for branch in one.branches] == [
        ("If", 0),
        ("If", 0),
        ("when", 0),
        ("when", 1),
    ]
    assert [branch.spot.source.split("(")[0] for branch in one.branches[:2]] == ["words.If", "If"]
    assert [(done.spot.source, len(done.where)) for done in one.assigned] == [
        ("s.ink", 0),
        ("s.used[pen]", 2),
        ("s.ink", 1),
    ]


def test_nothing_is_noted_where_nobody_asks() -> None:
    assert noted.get() is None
    with noting() as notes:
        _ = Desk().program
    assert notes.required
    assert noted.get() is None


@pytest.mark.slow_for(
    "kraft_published", "kraft", "kraft_996", "kraft_853", "kraft_996_published", "kraft_853_published", "cluster"
)
@pytest.mark.parametrize("name", BUILT_IN)
def test_the_actions_traced_again_are_those_of_the_program(name: str) -> None:
    model = find_model(name)()
    again = anatomies(model)
    assert [one.bound for one in again if one.bound is not None] == list(model.program.actions)
    for one in again:
        if one.bound is not None:
            required = {part for each in one.required for part in [each.condition, *each.condition.args]}
            assert set(one.bound.guard) <= required
        else:
            assert one.required[-1].condition is model.program.graph.false


@pytest.mark.parametrize("model", [TokenRing(), DieHard(), Commit()], ids=lambda model: str(model.name))
def test_tracing_again_changes_no_program(model: Model) -> None:
    before = model.program
    anatomies(model)
    assert model.program is before
    assert type(model)(**model.identity).program.actions != ()


def test_a_confined_model_has_the_parts_of_the_whole() -> None:
    whole = TokenRing(two_tokens=1)
    inside = confined(whole, ["exclusive"])
    assert [one.required for one in anatomies(inside)] == [one.required for one in anatomies(whole)]
    assert [one.bound for one in anatomies(inside)] == list(inside.program.actions)
