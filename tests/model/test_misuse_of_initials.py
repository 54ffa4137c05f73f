"""What can be done wrong where a model begins: each mistake is one sentence with the line on which it stands."""

# What mypy would find in these models is what the tests want to see refused.
# mypy: disable-error-code="arg-type,return-value,func-returns-value,misc,operator,no-redef,call-arg"
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from insync.explorer import check
from insync.model import (
    ANY,
    And,
    Array,
    Bool,
    BoundValues,
    Index,
    Int,
    Model,
    ModelError,
    Record,
    Set,
    State,
    action,
    initial,
    invariant,
    require,
    when,
)
from insync.model.define import ModelMeta


class Node(Index):
    label = "n"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 2


class Subject(Model):
    def declare(self, b: BoundValues) -> State:
        return State(
            n=Int(0, 3), m=Int(0, 9), up=Bool, held=Set(Node), wide=Set(Int(0, 40)), at=Array(Node, Record(i=Int(0, 3)))
        )


def model_with(**marked: Callable[..., Any]) -> Model:
    made: Model = ModelMeta("Wrong", (Subject,), marked)()
    return made


def refused(**marked: Callable[..., Any]) -> str:
    with pytest.raises(ModelError) as caught:
        _ = model_with(**marked).program.initials.rows
    return str(caught.value)


def line_of(function: Callable[..., Any]) -> int:
    return inspect.getsourcelines(function)[1]


def in_initial(body: Callable[[Any], Any]) -> Callable[..., Any]:
    def start(self: Any, s: Any) -> None:
        body(s)

    marked: Callable[..., Any] = initial(start)
    return marked


NO_VALUE = "ANY has no value of its own. Assign it to a field (s.field = ANY), then read the field and say in require"
WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda s: require(s.n == ANY), NO_VALUE),
    (lambda s: require(s.n != ANY), NO_VALUE),
    (lambda s: require(s.n < ANY), "A number or a member of a sort is needed here, but ANY is of type Anything."),
    (lambda s: require(ANY > 2), NO_VALUE),
    (lambda s: require(s.at == ANY), NO_VALUE),
    (lambda s: setattr(s, "n", ANY + 1), NO_VALUE),
    (lambda s: require(And(ANY, s.up)), "A condition is needed here, but ANY is of type Anything."),
    (lambda s: require(ANY), "A condition is needed here, but ANY is of type Anything."),
    (lambda s: setattr(s, "held", {ANY}), "ANY is of type Anything"),
    (lambda s: setattr(s, "nn", ANY), "the state has no field 'nn'"),
    (lambda s: setattr(s, "n", 4), "the value 4 assigned to n is not a whole number from 0 to 3."),
    (lambda s: [setattr(s, "m", ANY), setattr(s, "n", s.m)], "the value assigned to n is not a whole number from 0"),
]


@pytest.mark.parametrize(("body", "message"), WRONG)
def test_a_mistake_in_an_initial_method_is_named_with_its_line(body: Callable[[Any], Any], message: str) -> None:
    said = refused(start=in_initial(body))
    assert said.startswith(f"{__file__}:{line_of(body)}: ")
    assert message in said


def test_a_value_outside_its_field_names_the_line_where_some_state_has_it() -> None:
    def start(self: Any, s: Any) -> None:
        s.m, s.up = ANY, ANY
        require(s.m < 8)
        with when(s.up):
            s.n = s.m - 4

    def fits(self: Any, s: Any) -> None:
        s.m, s.up = ANY, ANY
        require(s.m < 8)
        with when(s.up & (s.m > 3)):
            s.n = s.m - 4

    assert refused(start=initial(start)) == (
        f"{__file__}:{line_of(start) + 4}: the value assigned to n is not a whole number from 0 to 3. Widen "
        f"the domain, or require(...) first that it fits."
    )
    assert len(model_with(fits=initial(fits)).program.initials) == 16


def test_any_belongs_in_an_initial_method() -> None:
    def act(self: Any, s: Any) -> None:
        s.n = ANY

    def plain(self: Any, s: Any) -> None:
        s.at = ANY

    assert refused(act=action(act)) == (
        f"{__file__}:{line_of(act) + 1}: ANY cannot be assigned to n here: it is for methods marked with @initial. "
        f"In an action, use a parameter."
    )
    assert "ANY cannot be assigned to at here: it is for methods marked with @initial" in refused(initial=plain)


def test_what_is_never_allowed_leaves_no_initial_state() -> None:
    def never(self: Any, s: Any, node: Node) -> None:
        require(node > 5)

    def nor(self: Any, s: Any) -> None:
        s.n = ANY
        require(s.n + s.n == 1)

    assert refused(never=initial(never)) == (
        f"{__file__}:{line_of(never)}: wrong has no initial state under {{}}: what is required is never so. "
        f"Require less."
    )
    both = refused(never=initial(never), nor=initial(nor))
    assert both.startswith(f"{__file__}:{line_of(never)} and {__file__}:{line_of(nor)}: wrong has no initial state")


def test_more_states_than_can_be_kept_are_refused() -> None:
    def wide(self: Any, s: Any) -> None:
        s.wide = ANY
        require(s.wide.count() == 12)

    def many(self: Any, s: Any) -> None:
        s.at, s.n, s.m, s.up, s.held = ANY, ANY, ANY, ANY, ANY

    class Larger(Subject):
        def declare(self, b: BoundValues) -> State:
            return State(n=Array(11, Int(0, 3)))

        @initial
        def all_of_them(self, s: Any) -> None:
            s.n = ANY

    assert refused(wide=initial(wide)) == (
        f"{__file__}:{line_of(wide)}: more than 100,000,000 values must be tried to find the initial states of 'wide'. "
        f"Assign what is known in place of ANY, or use smaller bounds."
    )
    assert len(model_with(many=initial(many)).program.initials) == 4 * 4 * 4 * 10 * 2 * 4
    with pytest.raises(ModelError, match=r"there are more than 2,000,000 initial states\. Use smaller bounds"):
        check(Larger())


def test_how_an_initial_method_is_written() -> None:
    with pytest.raises(ModelError, match=r"@initial belongs directly above a method \(def\) of the model, not on 3"):
        initial(3)  # type: ignore[call-overload]

    def stateless(self: Any) -> None: ...
    def untyped(self: Any, s: Any, node: Any) -> None: ...
    def returning(self: Any, s: Any) -> Any:
        return s.up

    def conditional(self: Any, s: Any) -> None:
        s.up = ANY
        if s.up:
            s.n = 1

    def requiring(self: Any, s: Any) -> None:
        s.up = ANY
        with when(s.up):
            require(s.n == 1)

    with pytest.raises(ModelError, match="the initial method 'stateless' must take self, the state and then"):
        initial(stateless)
    with pytest.raises(
        ModelError, match="the parameter 'node' of the initial method 'untyped' is annotated with 'Any'"
    ):
        initial(untyped)
    assert "the initial method 'returning' returns this condition; it must assign" in refused(
        returning=initial(returning)
    )
    assert "Python decides `if`" in refused(conditional=initial(conditional))
    assert "require() inside `with when(...)`" in refused(requiring=initial(requiring))
    labelled = initial(label="{nobody}")(lambda self, s: None)
    assert "the label '{nobody}' of the initial method 'labelled' cannot be filled" in refused(labelled=labelled)


def test_names_of_initial_methods() -> None:
    with pytest.raises(ModelError, match="an initial method cannot be named 'initial': every model has that already"):

        class Itself(Subject):
            @initial
            def initial(self, s: Any) -> None: ...

    with pytest.raises(ModelError, match="two initial methods are named 'one'"):

        class Twice(Subject):
            @initial
            def one(self, s: Any) -> None: ...

            @initial
            def one(self, s: Any) -> None: ...  # noqa: F811

    with pytest.raises(ModelError, match="an initial method and an invariant are named 'one'"):

        class Both(Subject):
            @initial
            def one(self, s: Any) -> None: ...

            @invariant
            def one(self, s: Any) -> Any:  # noqa: F811
                return s.up

    class Base(Subject):
        @initial
        def one(self, s: Any) -> None: ...

    with pytest.raises(
        ModelError, match=r"'one' hides the initial method at .*; write @initial above it, or one = None"
    ):

        class Hides(Base):
            def one(self, s: Any) -> None: ...


def test_more_bindings_than_can_be_traced_are_refused() -> None:
    class Many(Index):
        label = "m"

        @classmethod
        def size(cls, bounds: BoundValues) -> int:
            return 10**6

    def start(self: Any, s: Any, one: Many) -> None: ...

    assert "the initial method 'start' has 1000000 bindings of its parameters" in refused(start=initial(start))
