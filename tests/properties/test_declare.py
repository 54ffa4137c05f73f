"""Declaring properties beside a model's class: what belongs to whom, and what is said of mistakes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

import pytest

import insync.properties
from insync.explorer import check
from insync.model import Condition, Model, ModelError, StateView, UserError
from insync.model import invariant as own
from insync.model import step_invariant as own_step
from insync.properties import (
    Failure,
    Fairness,
    always_eventually,
    eventually,
    eventually_always,
    invariant,
    leads_to,
    lemma,
    sometimes,
    step_invariant,
)
from insync.properties.registry import invariants_of, judge, lemmas_of, run_properties_of, sentences_of
from insync_toys import DieHard


class Puzzle(DieHard):
    """The die-hard puzzle, for properties that stand beside the class."""


class SmallPuzzle(Puzzle):
    """A variant of which one property says something else."""


@invariant(Puzzle, because=lambda failing: f"the big jug has {failing.state['big']}")
def big_is_never_four(model: Puzzle, s: StateView) -> Condition:
    """Nobody measures four gallons.

    This paragraph is not part of the sentence.
    """
    never: Condition = s.big != 4
    return never


@invariant(SmallPuzzle)
def small_fits(model: SmallPuzzle, s: StateView) -> Condition:
    """The small jug holds three gallons."""
    fits: Condition = s.small <= 3
    return fits


@lemma(Puzzle)
def big_fits(model: Puzzle, s: StateView) -> Condition:
    """The big jug holds five gallons."""
    fits: Condition = s.big <= 5
    return fits


@sometimes(Puzzle)
def solved(model: Puzzle, s: StateView) -> Condition:
    """Four gallons are measured."""
    four: Condition = s.big == 4
    return four


@eventually(SmallPuzzle, strong=("fill",))
def solved_some_time(model: SmallPuzzle, s: StateView) -> Condition:
    """Four gallons are measured in the end."""
    four: Condition = s.big == 4
    return four


def test_the_door_has_what_is_declared_with() -> None:
    names = {"Failure", "Fairness", "eventually", "invariant", "leads_to", "lemma", "sometimes", "step_invariant"}
    names |= {"always_eventually", "eventually_always", "initially_always", "offset_in", "refines", "said"}
    assert set(insync.properties.__all__) == names


def test_what_is_declared_belongs_to_the_class_and_its_subclasses() -> None:
    assert "big_is_never_four" in invariants_of(Puzzle())
    assert "big_is_never_four" not in invariants_of(DieHard())
    assert "small_fits" not in invariants_of(Puzzle())
    assert list(invariants_of(SmallPuzzle()))[:2] == ["big_is_never_four", "small_fits"]
    assert list(lemmas_of(SmallPuzzle())) == ["big_fits"]
    assert (
        list(run_properties_of(SmallPuzzle())) == list(run_properties_of(SmallPuzzle)) == ["solved", "solved_some_time"]
    )


def test_it_is_judged_with_its_sentence_and_its_reason() -> None:
    assert sentences_of(Puzzle())["big_is_never_four"] == "Nobody measures four gallons."
    (violation,) = check(Puzzle(), properties=["big_is_never_four"]).violations
    assert violation.trace.reason == "the big jug has 4"


def test_a_lemma_is_not_listed_but_may_be_named() -> None:
    assert "big_fits" not in sentences_of(Puzzle())
    assert [found.name for found in judge(Puzzle(), ["big_fits"]).invariants] == ["big_fits"]


def test_a_condition_is_traced_once_in_each_model() -> None:
    traced: list[str] = []

    class Counted(DieHard):
        """A model whose conditions say when they are traced."""

        @own
        def inside(self, s: StateView) -> Condition:
            traced.append("inside")
            return True

    @invariant(Counted)
    def beside(model: Counted, s: StateView) -> Condition:
        traced.append("beside")
        return True

    model = Counted()
    judge(model, ["inside", "beside"])
    judge(model, ["inside", "beside"])
    assert traced == ["inside", "beside"]
    judge(Counted(), ["beside"])
    assert traced == ["inside", "beside", "beside"]


def test_a_subclass_may_declare_the_same_name_anew_whatever_came_first() -> None:
    class Base(DieHard):
        """The one above."""

    class Derived(Base):
        """The one below."""

    def one(model: Model, s: StateView) -> Condition:
        """Said of the subclass."""
        return True

    invariant(Derived)(one)
    one.__doc__ = "Said of the base."
    invariant(Base)(one)
    assert invariants_of(Derived())["one"].sentence == "Said of the subclass."
    assert invariants_of(Base())["one"].sentence == "Said of the base."


def test_a_model_s_own_invariant_counts_before_one_beside_it() -> None:
    class Own(DieHard):
        """A model with an invariant of its own of the same name."""

    def never_four(model: Own, s: StateView) -> Condition:
        """Said beside the class."""
        return True

    invariant(Own)(never_four)
    assert invariants_of(Own())["never_four"].sentence != "Said beside the class."


def test_the_property_of_another_class_is_not_traced() -> None:
    with pytest.raises(AssertionError, match="small_fits is declared of SmallPuzzle, not of puzzle"):
        invariants_of(SmallPuzzle())["small_fits"].node(Puzzle())


def alone(s: StateView) -> Condition:
    return True


def three(model: Model, s: StateView, more: int) -> Condition:
    return True


def many(model: Model, *states: StateView) -> Condition:
    return True


TAKES = "takes the model class that it is about, as in"
IN_THE_BODY = "In the class's own body, use @invariant of insync.model."
IN_THE_BODY_OF_RUNS = "In the class's own body, use @eventually of insync.model."
IN_THE_BODY_OF_STEPS = "In the class's own body, use @step_invariant of insync.model."
PARAMETERS = "and then its parameters, without * and **."
MUST = "must take the model, the state"
ANNOTATE = (
    "is annotated with 'int'; annotate it with a sort (a subclass of Index), a range (of Range), "
    "an enumeration or bool."
)
OF_INVARIANT, OF_LEMMA, OF_RUNS = cast("tuple[Any, Any, Any]", (invariant, lemma, eventually))
OF_STEPS = cast("Any", step_invariant)
"""The decorators without their types, which forbid most of these mistakes."""


@pytest.mark.parametrize(
    ("decorate", "message"),
    [
        (
            lambda: OF_INVARIANT(alone),
            f"@invariant {TAKES} @invariant(Lock); above 'alone' there is none. {IN_THE_BODY}",
        ),
        (lambda: OF_LEMMA(alone), f"@lemma {TAKES} @lemma(Lock); above 'alone' there is none."),
        (
            lambda: OF_STEPS(three),
            f"@step_invariant {TAKES} @step_invariant(Lock); above 'three' there is none. {IN_THE_BODY_OF_STEPS}",
        ),
        (
            lambda: OF_STEPS(Puzzle)(alone),
            f"'alone', declared with @step_invariant(Puzzle), {MUST} before, the state after {PARAMETERS}",
        ),
        (
            lambda: OF_RUNS(int),
            f"@eventually {TAKES} @eventually(Lock); int is not one. {IN_THE_BODY_OF_RUNS}",
        ),
        (
            lambda: OF_INVARIANT(Puzzle)(alone),
            f"'alone', declared with @invariant(Puzzle), {MUST} and then its parameters, without * and **.",
        ),
        (lambda: OF_LEMMA(Puzzle)(three), f"the parameter 'more' of the lemma 'three' {ANNOTATE}"),
        (
            lambda: OF_RUNS(Puzzle)(alone),
            f"'alone', declared with @eventually(Puzzle), {MUST} and then its parameters, without * and **.",
        ),
        (
            lambda: OF_RUNS(Puzzle)(many),
            f"'many', declared with @eventually(Puzzle), {MUST} and then its parameters, without * and **.",
        ),
        (lambda: OF_LEMMA(Puzzle)(5), "@lemma(Puzzle) belongs directly above a function (def), not on 5."),
        (
            lambda: OF_RUNS(Puzzle)(three),
            f"the parameter 'more' of the eventually property 'three' {ANNOTATE}",
        ),
    ],
)
def test_a_mistake_gets_a_sentence_and_its_place(decorate: Callable[[], object], message: str) -> None:
    with pytest.raises(ModelError) as raised:
        decorate()
    place = str(raised.value).removesuffix(message)
    no_function = "int is not one." in message or message.endswith("not on 5.")
    assert place == "" if no_function else re.fullmatch(re.escape(__file__) + r":\d+: ", place)


def test_a_failure_is_what_because_is_given() -> None:
    given: list[Failure] = []

    class Watched(DieHard):
        """For one property."""

    def reason(failing: Failure) -> str:
        given.append(failing)
        return "so"

    @invariant(Watched, because=reason)
    def is_empty(model: Watched, s: StateView) -> Condition:
        """The big jug is empty."""
        empty: Condition = s.big == 0
        return empty

    check(Watched(), properties=["is_empty"])
    assert given
    assert given[0].fields == {"big": 5}


def press() -> None:
    """Something that is no name."""


NAMES_OF_ACTIONS: list[tuple[Any, Any, str]] = [
    ((press,), (), "weak holds press as functions; give their names: weak=['press']."),
    ((), [press, "fill"], "strong holds press, fill as functions; give their names: strong=['press', 'fill']."),
    ("press", (), "weak='press' is one string; give a list of names: weak=['press']."),
    ((), press, "is not a list of names; write strong=['name', ...]."),
    ((1,), (), "weak=(1,) is not a list of names; write weak=['name', ...]."),
]


@pytest.mark.parametrize(("weak", "strong", "message"), NAMES_OF_ACTIONS)
def test_fairness_is_said_by_the_names_of_actions(weak: Any, strong: Any, message: str) -> None:
    for word in (eventually, leads_to, always_eventually, eventually_always):
        with pytest.raises(ModelError) as raised:
            word(Puzzle, weak=weak, strong=strong)
        assert str(raised.value).startswith(f"{__file__}:")
        assert f": @{word.__name__}(Puzzle): " in str(raised.value)
        assert message in str(raised.value)
    with pytest.raises(UserError, match=re.escape(message)):
        Fairness(weak, strong)


@pytest.mark.parametrize("word", [invariant, step_invariant, lemma])
def test_a_reason_is_a_function(word: Any) -> None:
    with pytest.raises(ModelError, match=r"test_declare\.py:\d+: @\w+\(Puzzle\): because='no' must be a function of a"):
        word(Puzzle, because="no")


@pytest.mark.parametrize(
    ("because", "message"),
    [
        (
            lambda failing: failing.state["bigg"],
            "because= of is_empty raised KeyError: 'bigg', called to say why it fails where big = 5. Fix it there",
        ),
        (lambda failing: None, "because= of is_empty returns None; it must return a sentence"),
    ],
)
def test_a_reason_that_fails_is_named_as_such(because: Any, message: str) -> None:
    class Watched(DieHard):
        """For one property."""

    def is_empty(model: Watched, s: StateView) -> Condition:
        empty: Condition = s.big == 0
        return empty

    invariant(Watched, because=because)(is_empty)
    with pytest.raises(ModelError) as raised:
        check(Watched(), properties=["is_empty"])
    assert str(raised.value).startswith(f"{__file__}:{because.__code__.co_firstlineno}: {message}")


def test_the_state_before_a_step_comes_first() -> None:
    def grows(model: Puzzle, after: StateView, before: StateView) -> Condition:
        return True

    sentence = (
        r"test_declare\.py:\d+: the step invariant 'grows' calls its states \(after, before\), and the first is the"
    )
    with pytest.raises(ModelError, match=sentence):
        step_invariant(Puzzle)(grows)
    with pytest.raises(ModelError, match=sentence):
        own_step(grows)


@pytest.mark.parametrize("name", ["type_ok", "deadlock_free"])
@pytest.mark.parametrize("word", [invariant, step_invariant, lemma, sometimes])
def test_a_name_that_every_model_has_is_refused(word: Callable[..., Any], name: str) -> None:
    """What is checked under that name is something else, so the property would never be."""
    names = "m, before, after" if word is step_invariant else "m, s"
    made: dict[str, Any] = {}
    exec(compile(f"def {name}({names}): return True", "mine.py", "exec"), made)  # noqa: S102 -- the name is drawn
    with pytest.raises(ModelError, match=rf"^mine\.py:1: @\w+\(DieHard\): a property cannot be named '{name}': every"):
        word(DieHard)(made[name])


def test_a_name_of_two_kinds_of_properties_is_refused() -> None:
    class Twice(DieHard):
        """Of two properties with one name one would be lost."""

    @invariant(Twice)
    def steady(model: Twice, s: StateView) -> Condition:
        return True

    def steady_steps(model: Twice, before: StateView, after: StateView) -> Condition:
        return True

    steady_steps.__name__ = "steady"
    step_invariant(Twice)(steady_steps)
    with pytest.raises(ModelError, match=r"^Twice has an invariant and a step invariant of the name 'steady'; rename"):
        invariants_of(Twice())


def _keyword(model: Model, s: StateView, *, who: int) -> Condition:
    return True


def _rest(model: Model, s: StateView, *who: int) -> Condition:
    return True


def _named(model: Model, s: StateView, **who: int) -> Condition:
    return True


@pytest.mark.parametrize("function", [_keyword, _rest, _named])
def test_parameters_stand_one_by_one(function: Any) -> None:
    with pytest.raises(ModelError, match=rf"'{function.__name__}', declared with @lemma.* without \* and \*\*"):
        lemma(DieHard)(function)
