"""Every word of the language, called with other arguments than it has: a sentence with its place, and what to write."""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import insync.model
from insync.model import (
    Array,
    Bag,
    Bound,
    Bounds,
    BoundValues,
    Index,
    Int,
    Model,
    ModelError,
    Option,
    Record,
    Seq,
    Set,
    SetOf,
    State,
    StateView,
    action,
)

words: Any = insync.model
"""The language as a checker of types does not look at it."""


class Worker(Index):
    size = 2


class Nobody(enum.Enum):
    """An enumeration without members."""


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Shop(Model):
    """Something of every kind."""

    bounds = Bounds(most=Bound(1, 0, 3))

    def declare(self, b: BoundValues) -> State:
        return State(
            n=Int(0, 3),
            up=bool,
            colour=Colour,
            boss=Option(Worker),
            there=Set(Worker),
            at=Array(Worker, Int(0, 3)),
            item=Record(x=Int(0, 3)),
            queue=Seq(Int(0, 3), most=2),
            bag=Bag(Int(0, 3), most=2),
            known=SetOf(Int(0, 3)),
            few=SetOf(Int(0, 3), most=2),
        )


def traced(body: Callable[[Any], object]) -> None:
    def act(self: Any, s: StateView) -> None:
        body(s)

    kind: Any = type(Shop)
    made: type[Model] = kind("Shop", (Shop,), {"act": action(act)})
    _ = made().program


def refused(body: Callable[[Any], object]) -> str:
    """The sentence of a mistake in an action, without its place."""
    with pytest.raises(ModelError) as caught:
        traced(body)
    place, _, said = str(caught.value).partition(": ")
    assert place == f"{__file__}:{body.__code__.co_firstlineno}"
    return said


CALLED = " is called with other arguments than it has. "


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (lambda s: words.when(s.up, s.n == 0), f"when{CALLED}Write when(test)."),
        (lambda s: words.when(), f"when{CALLED}Write when(test)."),
        (
            lambda s: words.Not(s.up, s.up),
            f"Not{CALLED}Not(a) is of one condition; of several write Not(And(a, b)) or ",
        ),
        (lambda s: words.If(s.up, 1), f"If{CALLED}Say what it is otherwise: If(condition, then, otherwise); "),
        (lambda s: words.choose(Worker), f"choose{CALLED}Write choose(members, holds)."),
        (lambda s: words.choose(Worker, len, default=1), f"choose{CALLED}Write choose(members, holds)."),
        (lambda s: s.bag.__setitem__(0, 1), "bag has no `[...]`. A bag has no order: remove(element), then add("),
        (lambda s: s.queue.append(value=1), "an element of queue is an Int; it has no fields: give the element itself"),
        (
            lambda s: setattr(s, "queue", s.bag),
            "bag cannot be the value of queue, which is a Seq. Each element must be a whole number from 0 to 3.",
        ),
        (lambda s: words.any_of([1, 2]), "any_of() chooses a member of a sort, a range, an enumeration, or a set "),
        (lambda s: words.Implies(s.up), f"Implies{CALLED}Implies(premise, conclusion) is of two conditions."),
        (lambda s: words.the(Worker), f"the{CALLED}Write the(members, condition)."),
        (lambda s: words.max_of(Worker, lambda w: 1, otherwise=3), f"max_of{CALLED}Write max_of(*given, default=...)."),
        (lambda s: words.bound(1, 2), f"bound{CALLED}Write bound(name)."),
        (lambda s: words.record(1), f"record{CALLED}Write record(**fields)."),
        (lambda s: s.queue.append(1, 2), f"append{CALLED}Write append(element=..., **fields)."),
        (lambda s: s.queue.take(), f"take{CALLED}Write take(index)."),
        (lambda s: s.few.contains(1, 2), f"contains{CALLED}Write contains(element=..., **fields)."),
        (lambda s: s.known.is_subset(), f"is_subset{CALLED}Write is_subset(other)."),
        (lambda s: s.there.contains(), f"contains{CALLED}Write contains(member)."),
        (lambda s: s.boss.or_else(), f"or_else{CALLED}Write or_else(default)."),
        (
            lambda s: words.the(Nobody, lambda x: s.up),
            "the(...) needs a member to choose, and there is none in Nobody.",
        ),
        (lambda s: words.the([], lambda x: s.up), "the(...) needs a member to choose, and there is none in []."),
        (lambda s: words.minimum(Worker, len), "minimum() and maximum() need numbers, one by one; these are "),
    ],
)
def test_a_wrong_call_says_what_to_write(body: Callable[[Any], object], said: str) -> None:
    assert refused(body).startswith(said)


def test_a_wrong_call_in_a_property_or_in_declare_is_said_likewise() -> None:
    with pytest.raises(ModelError, match=rf"test_misuse_of_calls\.py:\d+: Not{CALLED}"):
        Shop().trace_predicate(lambda s: words.Not(s.up, s.up))

    class Nested(Shop):
        def declare(self, b: BoundValues) -> State:
            return State(on=words.Array(Worker, Worker, bool))

    with pytest.raises(ModelError, match=rf"test_misuse_of_calls\.py:\d+: Array{CALLED}An array is over one sort"):
        _ = Nested().state


def test_a_wrong_call_of_the_author_s_own_function_is_python_s_to_tell() -> None:
    def contains(one: object) -> object:
        return one

    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        traced(lambda s: contains())  # type: ignore[call-arg]


MARKS = (
    *("action", "initial", "invariant", "step_invariant", "sometimes", "eventually", "leads_to"),
    *("always_eventually", "eventually_always", "initially_always"),
)
FUNCTIONS = [name for name in insync.model.__all__ if inspect.isfunction(getattr(insync.model, name))]
WORDS = ["when", *sorted({*FUNCTIONS} - {*MARKS, "find_model"})]

PLAIN: Sequence[tuple[Any, ...]] = (
    (),
    (1,),
    ("x",),
    (None,),
    (Worker,),
    (object(),),
    (len,),
    (1, 2),
    ("x", "y"),
    (Worker, Worker),
    (Worker, 1),
    (Worker, lambda x: True),
    (Worker, lambda x: 1),
    (Worker, lambda: True),
    (lambda x: x, Worker),
    (1, 2, 3, 4),
    (Nobody, lambda x: True),
    ([], lambda x: True),
    ([1, 2], lambda x: x),
)
OF_STATE: Sequence[Callable[[Any], tuple[Any, ...]]] = (
    lambda s: (s.n,),
    lambda s: (s.up, s.n),
    lambda s: (s.up, 1, "x"),
    lambda s: (s.at,),
    lambda s: (s,),
    lambda s: (s.there, lambda x: x),
    lambda s: (s.queue, lambda x: x),
    lambda s: (s.few, lambda x: s.up, 3),
    lambda s: (s.up, s.at, s.n),
    lambda s: (s.item, s.boss, s.colour),
)


@pytest.mark.parametrize("word", WORDS)
def test_whatever_a_word_is_called_with_it_is_a_sentence(word: str) -> None:
    """Or it is right; the sentence shows neither where in memory something is, nor how Python writes a class."""
    called, sentences = getattr(insync.model, word), list[str]()
    given: list[Any] = [*PLAIN, *OF_STATE]
    for arguments in given:

        def body(s: Any, arguments: Any = arguments) -> None:
            called(*(arguments if isinstance(arguments, tuple) else arguments(s)))

        try:
            traced(body)
        except ModelError as error:
            sentences.append(str(error))
    assert [one for one in sentences if not re.fullmatch(r".+\.py:\d+: .+[.?]", one)] == []
    assert [one for one in sentences if re.search(r"<(class|function|enum|bound|built-in)|at 0x", one)] == []
    assert sentences
