"""A set is not a number, a quantifier needs a function of one member, and a class has the methods asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from insync.model import (
    BoundValues,
    Index,
    Int,
    Model,
    Option,
    Set,
    State,
    StateView,
    action,
    exists,
    for_all,
    maximum,
    require,
    set_of,
)
from insync.model.define import ModelMeta
from insync.runtime.errors import ModelError


class Node(Index):
    label = "n"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 3


class Subject(Model):
    def declare(self, b: BoundValues) -> State:
        return State(x=Int(0, 7), one=Node, some=Option(Node), several=Set(Node))


def model_with(body: Callable[[Any, Any], Any]) -> Model:
    def act(self: Any, s: StateView) -> None:
        body(self, s)

    made: Model = ModelMeta("Wrong", (Subject,), {"act": action(act)})()
    return made


NO_NUMBER = "A number is needed {}, but this set is of type SetValue. It is a set: .count() is its size"
NO_MEMBER = "A member of Node is needed {}, but this set is of type SetValue. It is a set: .count() is its size"
NO_FUNCTION = "needs a function of one member after the members, such as `lambda r: ...`, not this function."
WRONG: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda m, s: setattr(s, "x", s.several), NO_NUMBER.format("for x")),
    (lambda m, s: setattr(s, "x", set_of([1])), NO_NUMBER.format("for x")),
    (lambda m, s: setattr(s, "one", s.several), NO_MEMBER.format("for one")),
    (lambda m, s: setattr(s, "some", set_of([Node(1)])), NO_MEMBER.format("for some")),
    (lambda m, s: setattr(s, "some", s.several), NO_MEMBER.format("for some")),
    (lambda m, s: require(s.x == s.several), NO_NUMBER.format("here")),
    (lambda m, s: require(s.one == s.several), NO_MEMBER.format("here")),
    (lambda m, s: require(maximum(s.several, 1) > 0), NO_NUMBER.format("here")),
    (lambda m, s: require(for_all(range(3), lambda i, j: True)), f"for_all {NO_FUNCTION}"),  # type: ignore[arg-type, misc]
    (lambda m, s: require(exists(range(3), lambda: True)), f"exists {NO_FUNCTION}"),  # type: ignore[arg-type, misc]
    (lambda m, s: require(for_all(range(3), s.x)), "for_all needs a function of one member after the members"),
    (lambda m, s: m.all(int), "self.all(...) takes a sort, a range or an enumeration, not <class 'int'>."),
]


@pytest.mark.parametrize(("body", "message"), WRONG)
def test_a_mistake_is_named_with_its_line(body: Callable[[Any, Any], Any], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        _ = model_with(body).program
    assert str(caught.value).startswith(f"{__file__}:{body.__code__.co_firstlineno}: ")
    assert message in str(caught.value)


def test_a_function_built_in_is_one_of_a_member() -> None:
    assert for_all([True, 1 == 1], bool) is True


def test_declare_is_given_the_bounds() -> None:
    class Forgotten(Model):
        def declare(self) -> State:  # type: ignore[override]
            return State(x=Int(0, 1))

    with pytest.raises(ModelError, match=r"\.py:\d+: declare is given the bounds; write `def declare\(self, b\)`\."):
        _ = Forgotten().program


def test_a_constructor_of_its_own_calls_that_of_the_model() -> None:
    class Own(Subject):
        def __init__(self) -> None:
            self.mine = 1

    with pytest.raises(ModelError, match=r"\.py:\d+: a model is made with its bounds and settings by name\."):
        Own()

    class Passing(Subject):
        def __init__(self, **chosen: Any) -> None:
            super().__init__(**chosen)
            self.mine = 1

    assert Passing().identity == {}
