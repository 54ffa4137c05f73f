"""What two opinions differ in, of opinions made by hand: on both sides of each limit of what can be compared."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest

from insync.explorer import Limits, check
from insync.explorer.agree import Engine, Opinion, agree, opinion_of, sharing, states_in_words, z3_engine
from insync.explorer.results import Verdict
from insync.model import (
    BoundValues,
    Condition,
    Int,
    Model,
    Not,
    State,
    StateView,
    action,
    invariant,
    require,
    step_invariant,
)
from insync.runtime.watch import StopReason

WHOLE = Opinion("", Verdict.HOLDS, 3, (1, 2, 3), {"go": 5, "stay": 2}, {}, {}, 0.0)
CUT = replace(WHOLE, verdict=Verdict.INCOMPLETE, depth=2, levels=(1, 2), actions=None, stopped_by=StopReason.TIME)
BROKEN = replace(WHOLE, verdict=Verdict.VIOLATED, failing={"p": 3}, paths={"p": ("start", "go", "go")})
BLIND = replace(CUT, levels=None, stopped_by=None, depth=3)
"""It counts no states, as z3."""

DEPTH = "The depth is 3 for a and 2 for b."


class Climber(Model):
    """A counter that goes up to three."""

    def declare(self, b: BoundValues) -> State:
        return State(count=Int(0, 3))

    @action
    def go(self, s: StateView) -> None:
        """Go up."""
        require(s.count < 3)
        s.count += 1

    @invariant
    def low(self, s: StateView) -> Condition:
        """It is low."""
        return Not(s.count >= 2)

    @step_invariant
    def stays(self, before: StateView, after: StateView) -> Condition:
        """It does not move."""
        return Not(before.count < after.count)


def differences(*opinions: Opinion, stepping: bool = False, within: Sequence[str] | None = None) -> list[str]:
    def engine(said: Opinion) -> Engine:
        return lambda *_: said

    engines = {name: engine(said) for name, said in zip("abcd", opinions, strict=False)}
    names = ["stays"] if stepping else []
    return list(agree(Climber, engines=engines, properties=names, within=within).differences)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (WHOLE, WHOLE, []),
        (WHOLE, replace(WHOLE, levels=(1, 2, 4)), ["Level 3 has a different number of states: 3 for a, 4 for b."]),
        (WHOLE, replace(CUT, levels=(1, 3)), ["Level 2 has a different number of states: 2 for a, 3 for b."]),
        (WHOLE, CUT, []),
        (CUT, WHOLE, []),
        (CUT, replace(CUT, levels=(1,), depth=1), []),
        (WHOLE, replace(WHOLE, levels=(1, 2), depth=2), [DEPTH]),
        (WHOLE, replace(WHOLE, levels=(1, 2), depth=2, actions={"go": 1}), [DEPTH]),
        (WHOLE, replace(WHOLE, actions={"go": 4, "stay": 2}), ["a takes 5 steps of go, b 4."]),
        (WHOLE, replace(WHOLE, actions={"go": 5}), ["a takes 2 steps of stay, b 0."]),
        (WHOLE, replace(WHOLE, actions={"go": 5, "stay": 2, "run": 1}), ["a takes 0 steps of run, b 1."]),
        (WHOLE, replace(WHOLE, actions=None), []),
        (BLIND, WHOLE, []),
        (WHOLE, BROKEN, ["p: a: no violation; b: fails after 3 states."]),
        (BROKEN, WHOLE, ["p: a: fails after 3 states; b: no violation."]),
        (BROKEN, BROKEN, []),
        (BROKEN, replace(BROKEN, failing={"p": 2}), ["p: a: fails after 3 states; b: fails after 2 states."]),
        (BROKEN, replace(BROKEN, failing={"p": 1}), ["p: a: fails after 3 states; b: fails after 1 state."]),
        (BROKEN, CUT, []),
        (BROKEN, replace(CUT, depth=3), ["p: a: fails after 3 states; b: no violation."]),
        (BROKEN, BLIND, ["p: a: fails after 3 states; b: no violation."]),
        (BROKEN, replace(BLIND, depth=2), []),
        (BROKEN, replace(BROKEN, paths={}), []),
        (BROKEN, replace(BROKEN, paths={"p": ("start", "go", "stay")}),
         ["p: a and b give different traces of 3 states."]),
        (BROKEN, replace(BROKEN, failing={"p": 2}, paths={"p": ("start", "go")}),
         ["p: a: fails after 3 states; b: fails after 2 states."]),
    ],
)  # fmt: skip
def test_two_opinions_are_compared_as_far_as_both_have_looked(
    one: Opinion, other: Opinion, expected: list[str]
) -> None:
    assert differences(one, other) == expected


def test_a_step_from_the_last_level_breaks_an_invariant_of_steps() -> None:
    broken = replace(BROKEN, failing={"stays": 4}, paths={})
    assert differences(broken, replace(CUT, depth=3), stepping=True) == [
        "stays: a: fails after 4 states; b: no violation."
    ]
    assert differences(broken, CUT, stepping=True) == []
    assert differences(replace(broken, failing={"p": 4}), replace(CUT, depth=3), stepping=True) == []


def test_within_something_the_last_level_of_a_search_that_was_stopped_is_compared_too() -> None:
    odd = replace(CUT, levels=(1, 3))
    assert differences(WHOLE, CUT, within=["low"]) == []
    assert differences(WHOLE, odd, within=["low"]) == differences(WHOLE, odd) != []
    assert differences(replace(WHOLE, stopped_by=StopReason.TIME), replace(odd, depth=3, stopped_by=None)) != []


def test_where_the_first_was_stopped_the_rest_is_compared_with_who_came_furthest() -> None:
    odd = replace(WHOLE, levels=(1, 2, 9))
    assert differences(CUT, WHOLE, odd) == ["Level 3 has a different number of states: 3 for b, 9 for c."]
    assert differences(WHOLE, CUT, odd) == ["Level 3 has a different number of states: 3 for a, 9 for c."]
    assert differences(replace(CUT, stopped_by=None), WHOLE, odd) == []
    assert differences(CUT, BLIND) == []


# --------------------------------------------------------------------------------------------------- what is an opinion


def test_the_opinion_of_a_search_is_its_result() -> None:
    result = check(Climber, threads=1)
    said = opinion_of(result)
    assert (said.engine, said.verdict, said.depth, said.levels) == (
        "local", result.verdict, result.depth, result.levels,
    )  # fmt: skip
    assert said.actions == result.actions
    assert said.seconds == sum(result.seconds.values())
    assert opinion_of(replace(result, stopped_by=StopReason.STATES)).actions is None
    broken = check(Climber, properties=["low"], threads=1)
    assert opinion_of(broken).failing == {"low": broken.violations[0].trace_length}
    assert opinion_of(broken).paths == {"low": tuple(step.label for step in broken.violations[0].trace.steps)}
    assert opinion_of(replace(broken, representatives=3)).paths == {}


@pytest.mark.parametrize(
    ("reason", "of_share"),
    [
        (StopReason.STATES, True),
        (StopReason.TIME, True),
        (StopReason.DEPTH, False),
        (StopReason.MEMORY, False),
        (StopReason.INTERRUPT, False),
        (None, False),
    ],
)
def test_an_engine_ends_with_its_share_whatever_it_is_given(reason: StopReason | None, of_share: bool) -> None:
    given: list[Limits] = []

    def engine(model: Model, properties: Sequence[str], limits: Limits, stop: object) -> Opinion:
        given.append(limits)
        return replace(CUT, stopped_by=reason)

    said = sharing(engine, Limits(states=7))(Climber(), [], Limits(depth=1), None)
    assert (said.of_share, given) == (of_share, [Limits(states=7)])


def test_states_are_counted_in_words() -> None:
    assert [states_in_words(number) for number in (0, 1, 2)] == ["0 states", "1 state", "2 states"]


def test_z3_has_looked_at_the_level_in_which_it_finds_a_violation() -> None:
    pytest.importorskip("z3")
    for name, depth in (("low", 3), ("type_ok", 5)):
        properties = [] if name == "type_ok" else [name]
        said = z3_engine(5)(Climber(), properties, Limits(), None)
        assert (said.depth, dict(said.failing)) == (depth, {} if name == "type_ok" else {name: depth})


def test_the_state_that_differs_is_looked_for_as_far_as_any_engine_came(monkeypatch: pytest.MonkeyPatch) -> None:
    depths: list[int] = []

    def looked(*given: object, depth: int, **named: object) -> None:
        depths.append(depth)

    monkeypatch.setattr(sys.modules["insync.explorer.agree"], "first_difference", looked)
    assert differences(WHOLE, replace(CUT, levels=(1, 3)))
    assert differences(replace(CUT, levels=(1, 3)), WHOLE)
    assert differences(WHOLE, WHOLE) == []
    assert depths == [3, 3]
