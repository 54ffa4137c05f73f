from __future__ import annotations

import enum
import re
from typing import Any

import pytest

from insync.model import (
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Index,
    Int,
    Model,
    ModelError,
    State,
    UserError,
    action,
    invariant,
)
from insync.model.language.declarations import action_specs, invariant_names
from insync.model.language.presentation import show
from insync_evaluator import conditions
from insync_toys import Ledger, TokenRing


class Replica(Index):
    label = "b"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return bounds.replicas


class Base(Model):
    bounds = Bounds(replicas=Bound(2, 1, 3))

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 3), up=Bool)

    @action
    def first(self, s: Any) -> None:
        s.n = 0

    @action
    def second(self, s: Any) -> None:
        s.n = self.amount()

    @invariant
    def bounded(self, s: Any) -> Any:
        return s.n <= 3

    def amount(self) -> int:
        return 1


def test_a_model_is_named_after_its_class_unless_it_says_otherwise() -> None:
    class Kip320FirstTry(Base):
        pass

    class Renamed(Base):
        name = "another"

    assert (Kip320FirstTry.name, Kip320FirstTry().name, Renamed().name) == (
        "kip320_first_try",
        "kip320_first_try",
        "another",
    )


def test_actions_are_inherited_in_order_replaced_in_place_and_removed() -> None:
    class Variant(Base):
        @action
        def third(self, s: Any) -> None:
            s.n = 3

        @action(label="the new first")
        def first(self, s: Any) -> None:
            s.n = 2

        second = None  # type: ignore[assignment]
        bounded = None  # type: ignore[assignment]

        @invariant
        def small(self, s: Any) -> Any:
            return s.n < 3

    assert list(action_specs(Variant)) == ["first", "third"]
    assert [a.label for a in Variant().program.actions] == ["the new first", "third"]
    assert invariant_names(Variant) == ["small"]
    assert list(action_specs(Base)) == ["first", "second"]


def test_a_variant_overrides_a_rule() -> None:
    class Variant(Base):
        def amount(self) -> int:
            return 3

    assert Variant().program.actions[1].updates[0][1].lo == 3
    assert Base().program.actions[1].updates[0][1].lo == 1


def test_bounds_are_read_from_the_class_and_chosen_on_the_instance() -> None:
    assert Base.bounds["replicas"].default == 2
    model = Base(replicas=3)
    assert dict(model.b) == {"replicas": 3}
    assert (model.b.replicas, len(model.all(Replica))) == (3, 3)
    with pytest.raises(UserError, match=r"base: the bound replicas=4 is out of range; it must be from 1 to 3\."):
        Base(replicas=4)
    with pytest.raises(UserError, match=r"base has no bound 'replica'\. Did you mean 'replicas'\?"):
        Base(replica=2)


def test_two_instances_with_different_bounds_do_not_interfere() -> None:
    small, large = TokenRing(nodes=2), TokenRing(nodes=4)
    states = [m.program.schema.cells[0].size for m in (small, large)]
    assert states == [4, 16]
    again = TokenRing(nodes=2)
    assert [a.label for a in again.program.actions] == [a.label for a in small.program.actions]
    assert len(again.program.graph.nodes) == len(small.program.graph.nodes)
    assert conditions(small)["exclusive"] in small.program.graph.nodes
    assert conditions(small)["exclusive"] not in large.program.graph.nodes


def test_the_program_is_traced_once() -> None:
    model = TokenRing()
    assert model.program is model.program


def wrong(statements: str, extra: str = "") -> str:
    """Return the message of the error that a model class with these statements raises, its place as `line N`."""
    source = f"class Wrong(Base):\n{statements}\n{extra}"
    scope = {**globals(), "__name__": "wrong_model", "enum": enum}
    with pytest.raises(ModelError) as caught:
        exec(compile(source, "wrong_model.py", "exec"), scope)  # noqa: S102
    return str(caught.value)


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (
            "    @action\n    def go(self, s): s.n = 1\n    @action\n    def go(self, s): s.n = 2",
            "wrong_model.py:4: two actions are named 'go', the other at line 2; rename one.",
        ),
        (
            "    @action\n    def go(self, s): s.n = 1\n    @invariant\n    def go(self, s): return s.up",
            "wrong_model.py:4: an action and an invariant are named 'go', the other at line 2; rename one.",
        ),
        (
            "    @action\n    def go(self, s): s.n = 1\n    def go(self): return 2",
            "wrong_model.py:4: 'go' is also the action at wrong_model.py:2; rename one.",
        ),
        (
            "    def first(self, s): s.n = 1",
            "wrong_model.py:2: 'first' hides the action at .*; write @action above it, or first = None to remove",
        ),
        (
            "    frist = None",
            "wrong_model.py:1: frist = None removes nothing, as no 'frist' is inherited. Did you mean 'first'?",
        ),
        (
            "    @invariant\n    @action\n    def go(self, s): s.n = 1",
            "wrong_model.py:2: 'go' is marked with @action and with @invariant; keep one of them.",
        ),
        (
            "    @action\n    def go(self, s, r): s.n = 1",
            "wrong_model.py:2: the parameter 'r' of the action 'go' has no",
        ),
        (
            "    @action\n    def go(self, s, r: int): s.n = 1",
            "wrong_model.py:2: the parameter 'r' of the action 'go' is annotated with .*'int'.*; annotate it with",
        ),
        (
            "    @action\n    def go(self, s, r: 'Nowhere'): s.n = 1",
            "'r' of the action 'go' is annotated with 'Nowhere'; there is no Nowhere above it: define it before",
        ),
        (
            "    @action\n    async def go(self, s): pass",
            "wrong_model.py:2: the action 'go' is declared with `async`, so",
        ),
        (
            "    @action\n    def go(self, s): yield",
            "wrong_model.py:2: the action 'go' has `yield` in it, so calling it",
        ),
        (
            "    @invariant\n    def go(self, s): yield",
            "the invariant 'go' has `yield` in it, so calling it does nothing",
        ),
        ("    @action\n    def go(self): pass", "wrong_model.py:2: the action 'go' must take self, the state and then"),
        ("    @action\n    def go(self, s, *, r: Replica): pass", "must take self, the state and then its parameters"),
        ("    @action\n    def go(self, s, *rs: Replica): pass", "without \\*, \\*\\* and defaults"),
        ("    @action\n    def go(self, s, r: Replica = 0): pass", "the action 'go' must take self"),
        ("    @invariant\n    def go(self): pass", "the invariant 'go' must take self, the state and then its"),
        (
            "    @invariant\n    def go(self, s, r: int): pass",
            "wrong_model.py:2: the parameter 'r' of the invariant 'go' is annotated with .*'int'.*; annotate it with",
        ),
        ("    @action\n    @classmethod\n    def go(cls, s): pass", "@action belongs directly above a method"),
        (
            "    @action\n    def all(self, s): pass",
            "wrong_model.py:2: an action cannot be named 'all': every model has",
        ),
        ("    @action\n    def b(self, s): pass", "an action cannot be named 'b'"),
        ("    @invariant\n    def initial(self, s): pass", "an invariant cannot be named 'initial'"),
        (
            "    bounds = {'replicas': 3}",
            r"wrong_model.py:1: Wrong: bounds=.* must be Bounds\(name=Bound\(...\), ...\).",
        ),
        ("    bounds = Bounds(replicas=Bound(9, 1, 3))", "wrong_model.py:2: Bound: the default 9 is outside 1..3"),
    ],
)
def test_a_wrong_class_is_refused_at_its_line(statements: str, message: str) -> None:
    assert re.search(message, wrong(statements))


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (
            "    @action\n    def go(self, s): return s.n",
            "wrong_model.py:2: the action 'go' returns this number; it must assign to",
        ),
        (
            "    @action(label='{who} goes')\n    def go(self, s, r: Replica): s.n = 1",
            r"wrong_model.py:2: the label '\{who\} goes' of the action 'go' cannot be filled \('who'\); it may use r\.",
        ),
        ("    @action(label='{} goes')\n    def go(self, s): s.n = 1", "cannot be filled .* it may use no parameter"),
        ("    @action(label='{r goes')\n    def go(self, s, r: Replica): s.n = 1", "cannot be filled"),
        ("    @action(label='{r.x}')\n    def go(self, s, r: Replica): s.n = 1", "cannot be filled"),
        (
            "    def declare(self, b): return {'n': 3}",
            "wrong_model.py:2: declare returns a dictionary; it must return State",
        ),
        ("    def declare(self, b): pass", "wrong_model.py:2: declare returns None; it must return State"),
        (
            "    def declare(self, b): return State(n=Int(0, b.size))",
            "wrong_model.py:2: the model has no bound 'size'.",
        ),
        (
            "    def initial(self, s): s.n = 4",
            "wrong_model.py:2: the value 4 assigned to n is not a whole number from 0 to 3",
        ),
        ("    def initial(self, s): return s.n", "wrong_model.py:2: initial returns this number; it must assign"),
        (
            "    def initial(self, s): require(s.up)",
            "wrong_model.py:2: require\\(\\) belongs in an action or a method marked with @initial. .*`initial`",
        ),
        ("    def initial(self, s):\n        if s.up: s.n = 1", "wrong_model.py:3: Python decides `if`"),
        (
            "    @invariant\n    def go(self, s): s.up",
            "wrong_model.py:2: go returns nothing; it must return a condition",
        ),
    ],
)
def test_a_model_that_cannot_be_traced_says_why(statements: str, message: str) -> None:
    extra = "from insync.model import require\nmodel = Wrong()\nmodel.program\nmodel.trace_predicate(model.go)"
    assert re.search(message, wrong(statements, extra))


def test_a_first_state_that_is_not_one_state_is_refused() -> None:
    kept: list[Any] = []

    class Leaking(Base):
        def initial(self, s: Any) -> None:
            s.n = kept[0].n if kept else 0

    first = Leaking()
    first.trace_predicate(lambda s: bool(kept.append(s)))  # type: ignore[func-returns-value]
    with pytest.raises(ModelError, match=r"test_define\.py:\d+: this number was made while another model instance"):
        _ = Leaking().program


def test_a_model_without_a_state_says_what_to_write() -> None:
    class Stateless(Model):
        pass

    with pytest.raises(
        ModelError, match=r"test_define\.py:\d+: The model 'stateless' has no state; write `def declare\("
    ):
        _ = Stateless().program


def test_states_are_read_and_written_in_plain_python() -> None:
    model = Ledger()
    state = {"balance": {"a1": 1, "a2": 0}, "transfer": {"amount": 1, "to": "a2"}}
    codes = model.encode(state)
    assert model.decode(codes) == state
    assert model.grid(state) == {"balance[a1]": "1", "balance[a2]": "0", "transfer": "amount=1 to=a2"}
    assert [show(v) for v in (None, True, ["b1", "b2"], 3)] == ["-", "true", "{b1, b2}", "3"]


def test_annotations_are_found_wherever_the_sort_is_defined() -> None:
    class Local(Index):
        @classmethod
        def size(cls, bounds: BoundValues) -> int:
            return 2

    class Wants(Base):
        class Mode(enum.Enum):
            ON = 1
            OFF = 2

        @action
        def go(self, s: Any, local: Local, mode: Mode, really: bool) -> None:
            s.n = local

    parameters = [a.shown_parameters for a in Wants().program.actions if a.name == "go"]
    assert len(parameters) == 8
    assert parameters[0] == {"local": "local1", "mode": "ON", "really": "false"}
