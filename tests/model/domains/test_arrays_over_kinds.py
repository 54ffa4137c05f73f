"""An array can be over a range or an enumeration: its places have their numbers and names, in every engine."""

from __future__ import annotations

import enum
import re
from typing import Any

import pytest
from hypothesis import given

from insync.explorer import check
from insync.explorer.hypothesis import typed_states
from insync.model import (
    ANY,
    Array,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Int,
    Model,
    ModelError,
    Num,
    Range,
    ReadableState,
    State,
    StateView,
    action,
    bound,
    count,
    for_all,
    initial,
    invariant,
    require,
)
from insync.model.evaluator import Evaluator
from insync_evaluator import successors


class Year(Range):
    """Years that are counted from another number than 0."""

    lo, hi = bound("begin"), bound("begin") + 2


class Season(enum.Enum):
    """What is not a number at all."""

    COLD = "c"
    WARM = "w"


class Harvest(Model):
    """What is harvested in which year and season."""

    bounds = Bounds(begin=Bound(7, 1, 9, "the first year"))
    headline = ("last_is_now",)

    def declare(self, b: BoundValues) -> State:
        return State(now=Year, last=Int(0, 2), apples=Array(Year, Int(0, 2)), most=Array(Season, Int(0, 2)))

    @action
    def pick(self, s: StateView, season: Season) -> None:
        require(s.apples[s.now] < 2)
        s.apples[s.now] += 1
        s.last = s.apples[s.now]
        s.most[season] = s.apples[s.now]

    @action
    def pass_on(self, s: StateView, year: Year) -> None:
        require(year > s.now)
        s.now = year
        s.last = s.apples[year]
        s.most[Season.COLD] = 0

    @invariant
    def last_is_now(self, s: StateView) -> Condition:
        """What was read by a number of the state is what stands there."""
        return for_all(Year, lambda year: (s.now != year) | (s.apples[year] == s.last))


class Anyhow(Harvest):
    """It begins with anything."""

    @initial
    def anyhow(self, s: StateView) -> None:
        s.apples = s.most = ANY
        require(count(s.apples, lambda apples: apples == 2) == 3, s.most[Season.WARM] == 1)


def test_every_engine_reads_and_assigns_by_number_and_name() -> None:
    model = Harvest()
    evaluator, seen, waiting = Evaluator(model.program), set(model.program.initials), list(model.program.initials)
    while waiting:
        codes = waiting.pop()
        before = model.decode(codes)
        for number, following in successors(evaluator, codes):
            step, after = model.program.actions[number], model.decode(following)
            if step.name == "pick":
                apples = before["apples"][str(before["now"])] + 1
                season: Any = step.parameters[0][1]
                assert after["apples"] == before["apples"] | {str(before["now"]): apples}
                assert after["most"] == before["most"] | {season.name: apples}
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    result = check(Harvest)
    assert (result.verdict, result.distinct_states) == ("holds", len(seen))
    assert check(Anyhow, properties=["type_ok"]).levels[0] == 3
    assert list(model.decode(model.program.initials[0])["apples"]) == ["7", "8", "9"]


@given(state=typed_states(Harvest))
def test_a_readable_state_has_the_numbers_and_names(state: ReadableState) -> None:
    assert set(state["apples"]) == {"7", "8", "9"}
    assert set(state["most"]) == {"COLD", "WARM"}
    model = Harvest()
    assert model.decode(tuple(model.state.encode(state, ""))) == state


def wrong(body: Any) -> type[Model]:
    class Wrong(Harvest):
        @action
        def look(self, s: StateView) -> None:
            body(s)

    return Wrong


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda s: require(s.apples[6] == 0), "apples has no place 6; its 3 places are numbered from 7."),
        (lambda s: require(s.apples[10] == 0), "apples has no place 10; its 3 places are numbered from 7."),
        (lambda s: require(s.most["c"] == 0), "A member of Season is needed here"),
        (lambda s: require(s.most[0] == 0), "A member of Season is needed here"),
    ],
)
def test_a_place_that_is_not_there_is_named_by_its_number(body: Any, message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)):
        _ = wrong(body)().program


def test_reading_outside_gives_the_first_value_as_for_other_arrays() -> None:
    class Outside(Harvest):
        @invariant
        def before_the_first(self, s: StateView) -> Condition:
            year: Num = s.now
            outside: Condition = s.apples[year - 3] == 0
            return outside

    assert check(Outside, properties=["before_the_first"]).verdict == "holds"


class Stocked(Harvest):
    """It begins with some apples of each year."""

    def initial(self, s: StateView) -> None:
        s.apples = {year: 2 - place for place, year in enumerate(self.all(Year))}


def test_a_dict_has_the_numbers_of_the_range_as_its_keys() -> None:
    model = Stocked()
    assert model.decode(model.program.initials[0])["apples"] == {"7": 2, "8": 1, "9": 0}


@pytest.mark.parametrize("years", [(7, 8), (7, 8, 9, 10), (8, 9, 10)])
def test_a_dict_has_all_of_them_and_no_others(years: tuple[int, ...]) -> None:
    class Misstocked(Harvest):
        def initial(self, s: StateView) -> None:
            s.apples = dict.fromkeys(years, 0)

    with pytest.raises(ModelError, match=r"apples has a value for each of 7, 8, 9; give a dict with these keys\."):
        _ = Misstocked().program
