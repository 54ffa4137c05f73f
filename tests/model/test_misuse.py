"""What a model's author can do wrong: each mistake is named with the line of the model on which it stands."""

# What mypy would find in these models is what the tests want to see refused.
# mypy: disable-error-code="arg-type,call-arg,return-value,func-returns-value,redundant-expr,misc"
from __future__ import annotations

import copy
import enum
import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from insync.model import (
    NONE,
    And,
    Array,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    If,
    Implies,
    Index,
    Int,
    Model,
    ModelError,
    Not,
    Option,
    Or,
    Record,
    Seq,
    Set,
    State,
    StateView,
    action,
    exists,
    for_all,
    invariant,
    maximum,
    minimum,
    record,
    require,
    set_of,
)


class Replica(Index):
    label = "b"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return bounds.replicas


class Phase(enum.Enum):
    READY = 1
    DONE = 2


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Subject(Model):
    """One field of each kind."""

    bounds = Bounds(replicas=Bound(2, 1, 3))

    def declare(self, b: BoundValues) -> State:
        return State(
            n=Int(0, 3),
            up=Bool,
            phase=Phase,
            leader=Option(Replica),
            epoch=Option(Int(0, 2)),
            colour=Option(Colour),
            shade=Option(Phase),
            isr=Set(Replica),
            entry=Option(Record(id=Int(0, 3))),
            plain=Record(id=Int(0, 3)),
            log=Array(2, Record(id=Int(0, 3))),
            by_replica=Array(Replica, Bool),
        )


def model_with(body: Callable[..., Any]) -> Model:
    def act(self: Any, s: StateView) -> None:
        body(s)

    wrong: type[Model] = type(Subject)("Wrong", (Subject,), {"act": action(act)})
    return wrong()


def marked_line(function: Callable[..., Any]) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if "# <-" in line)


def test_python_if() -> None:
    def body(s: Any) -> None:
        require(s.n < 3)
        if s.n == 2:  # <-
            s.n = 3

    with pytest.raises(ModelError) as caught:
        _ = model_with(body).program
    assert str(caught.value) == (
        f"{__file__}:{marked_line(body)}: Python decides `if`, `and`, `or`, `not` and chains such as `a < b < c` while "
        f"the model is traced, before this condition has a value. Write `with when(condition):` around assignments, or "
        f"require(condition); in a property Implies(a, b)."
    )


def test_a_mistake_is_named_although_the_model_catches_it() -> None:
    def swallowed(s: Any) -> None:
        try:
            if s.n == 2:  # <-
                s.n = 3
        except Exception:  # noqa: BLE001
            s.n = 2

    with pytest.raises(ModelError, match=f":{marked_line(swallowed)}: Python decides `if`"):
        _ = model_with(swallowed).program

    def in_a_property(s: Any) -> Any:
        try:
            return s.m == 2  # <-
        except ModelError:
            return True

    with pytest.raises(ModelError, match=f":{marked_line(in_a_property)}: the state has no field 'm'"):
        traced(in_a_property)


def test_a_guard_that_is_false_disables_an_action_that_catches_it() -> None:
    def body(s: Any) -> None:
        try:
            require(False)
        except Exception:  # noqa: BLE001
            s.n = 1

    assert not model_with(body).program.actions


def test_the_model_itself_has_no_state() -> None:
    def act(self: Any, s: StateView) -> None:
        self.calls = 1  # <-
        s.n = 1

    def holds(self: Any, s: StateView) -> Any:
        self.calls = 1  # <-
        return s.n == 1

    message = (
        "self.calls is assigned while the model is traced, .* Make calls a field of the state, and assign s.calls."
    )
    with pytest.raises(ModelError, match=f":{marked_line(act)}: {message}"):
        _ = type(Subject)("Wrong", (Subject,), {"act": action(act)})().program
    model = Subject()
    with pytest.raises(ModelError, match=f":{marked_line(holds)}: {message}"):
        model.trace_predicate(lambda s: holds(model, s))
    assert model.trace_predicate(lambda s: s.n <= Subject(replicas=3).b.replicas).is_bool


def test_python_leaves_out_an_index_that_is_known_to_be_no_place() -> None:
    """As the message about such an index says: Python decides what does not depend on the state."""

    def body(s: Any) -> None:
        require(for_all(range(-1, 2), lambda c: c < 0 or s.log[c].id == 1))
        s.n = 3

    (act,) = [one for one in model_with(body).program.actions if one.name == "act"]
    (both,) = act.guard
    assert len(both.args) == 2


BEFORE = "Python decides `if`, `and`, `or`, `not` and chains"
NO_VALUE = "this number has no value while the model is traced, so it cannot be an index of a Python list"
WHOLE = "numbers of a model are whole; write // for the quotient rounded down, not /."
ROUND = "numbers of a model are divided (// and %) by whole numbers from 1 that are known while it is traced, not by"
WRONG_BODIES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda s: require(s.up and s.n == 1), BEFORE),
    (lambda s: require(s.up or s.n == 1), BEFORE),
    (lambda s: require(not s.up), BEFORE),
    (lambda s: require(0 < s.n < 3), BEFORE),
    (lambda s: require(s.n < 2 and s.up), "has a value. Write And(a, b) for `a and b`."),
    (lambda s: require(s.n > 2 or s.up), "has a value. Write Or(a, b) for `a or b`."),
    (lambda s: require(not s.up), "has a value. Write Not(a) for `not a`, and a.is_none() where a is optional."),
    (lambda s: require(0 <= s.n < 2), "has a value. Write And(a < b, b < c) for `a < b < c`."),
    (lambda s: setattr(s, "n", 1 if s.up else 2), BEFORE),
    (lambda s: [0, 1][s.n], NO_VALUE),
    (lambda s: list(range(s.n)), NO_VALUE),
    (lambda s: require(0 in s.isr), "Python's `in` needs an answer while the model is traced. Write the_set.contains"),
    (lambda s: [r for r in s.isr], "who is in this set is known only when the model runs. Write for_all"),  # noqa: C416
    (lambda s: setattr(s, "n", (s.n + 1) % s.n), f"{ROUND} this number. Where x goes round below a number n of the"),
    (lambda s: setattr(s, "n", s.n // 0), f"{ROUND} 0."),
    (lambda s: setattr(s, "n", s.n % -3), f"{ROUND} -3."),
    (lambda s: setattr(s, "n", s.n // True), f"{ROUND} True."),
    (lambda s: setattr(s, "n", s.n % 1.5), f"{ROUND} 1.5."),
    (lambda s: setattr(s, "n", 7 % s.n), f"{ROUND} this number."),
    (lambda s: setattr(s, "n", 7 // s.n), f"{ROUND} this number."),
    (lambda s: setattr(s, "n", divmod(7, s.n)[0]), f"{ROUND} this number."),
    (lambda s: setattr(s, "n", s.n / 2), WHOLE),
    (lambda s: setattr(s, "n", 2 / s.n), WHOLE),
    (lambda s: min(s.n, 2), BEFORE),
    (lambda s: min(s.n, s.n), BEFORE),
    (lambda s: require(s.nn == 1), "the state has no field 'nn'. Did you mean 'n'?"),
    (lambda s: setattr(s, "leeder", NONE), "the state has no field 'leeder'. Did you mean 'leader'?"),
    (lambda s: require(s.plain.idd == 1), "plain has no field 'idd'. Did you mean 'id'?"),
    (
        lambda s: require(s.entry.id == 1),
        "entry has no field 'id'; it may be none: write .value.id where it cannot be.",
    ),
    (lambda s: setattr(s.entry, "id", 1), "entry has no field 'id'; it may be none: assign a record or NONE"),
    (lambda s: require(s.log.id == 1), "log has no field 'id'; it is an array: write its index in brackets first."),
    (lambda s: setattr(s.log, "id", 1), "log has no field 'id'; it is an array"),
    (lambda s: s.log[2], "log has no place 2; its 2 places are numbered from 0."),
    (
        lambda s: require(Or(s.up, s.log[-1].id == 1)),
        "Where a bound or a parameter gives the index, decide by a Python `if` whether to write what reads it",
    ),
    (lambda s: s.log["b1"], "A number or a member of a sort is needed here, but 'b1' is of type str."),
    (lambda s: s.log[s.leader], "A number is needed here, but this option is of type OptionValue. It may be none"),
    (
        lambda s: setattr(s, "n", s.up),
        "A number or a member of a sort is needed for n, but this condition is of type Bool.",
    ),
    (lambda s: setattr(s, "n", True), "A number or a member of a sort is needed for n, but True is of type bool."),
    (lambda s: setattr(s, "up", 1), "1 cannot be the value of up; write True, False or a condition."),
    (lambda s: setattr(s, "up", "yes"), "'yes' cannot be the value of up; write True, False or a condition."),
    (lambda s: require(s.up, "is up"), "A text is no condition, and conditions have no message: leave it out."),
    (lambda s: max(s.n, 1), "Write maximum(a, b) or minimum(a, b), or max_of and min_of of several members."),
    (lambda s: any([s.up, s.n > 1]), "Write exists(members, lambda x: ...) or for_all(...), or Or(*conditions) and"),
    (lambda s: require(s.n in (1, 2)), "Write one_of(x, a, b)."),
    (lambda s: 1 if s.up else 2, "Write If(condition, then, otherwise)."),
    (lambda s: Bool(init=True), "A field's first value is assigned in `def initial(self, s):`, as in s.field = value."),
    (lambda s: Int(3), "Int is called with other arguments than it has. Write Int(lo, hi)."),
    (
        lambda s: Seq(Int(0, 3)),
        "Seq is called with other arguments than it has. Say how many elements there can",
    ),
    (
        lambda s: Bound(2),
        "Bound is called with other arguments than it has. Write Bound(default, lowest, highest,",
    ),
    (lambda s: setattr(s, "n", s.epoch), "A number is needed for n, but this option is of type OptionValue."),
    (lambda s: setattr(s, "n", "1"), "A number or a member of a sort is needed for n, but '1' is of type str."),
    (lambda s: setattr(s, "isr", {99}), "A member of a sort is needed here, but 99 is of type int. Its number must be"),
    (
        lambda s: setattr(s, "isr", Replica(0)),
        "A set is needed for isr, but Replica(0) is of type Replica. Write {member}",
    ),
    (
        lambda s: setattr(s, "phase", Colour.RED),
        "<Colour.RED: 1> cannot be the value of phase; expected a member of Phase.",
    ),
    (
        lambda s: require(s.phase == Colour.RED),
        "A member of Phase is needed here, but <Colour.RED: 1> is of type Colour.",
    ),
    (lambda s: require(s.phase == 1), "A member of Phase is needed here, but 1 is of type int. Write Phase.READY."),
    (lambda s: require(s.phase == 2), "A member of Phase is needed here, but 2 is of type int. Write Phase.DONE."),
    (lambda s: require(s.phase != "DONE"), "but 'DONE' is of type str. Write Phase.DONE."),
    (lambda s: require(s.phase == 3), "but 3 is of type int. Its members are Phase.READY, Phase.DONE."),
    (lambda s: require(s.phase == s.n), "but this number is of type Num. Its members are Phase.READY, Phase.DONE."),
    (lambda s: setattr(s, "phase", 2), "2 cannot be the value of phase; expected a member of Phase. Write Phase.DONE."),
    (
        lambda s: setattr(s, "n", Phase.DONE),
        "A number or a member of a sort is needed for n, but <Phase.DONE: 2> is of type Phase. A field that is to hold",
    ),
    (
        lambda s: setattr(s.log[0], "id", Phase.DONE),
        "is needed for log[0].id, but <Phase.DONE: 2> is of type Phase.",
    ),
    (
        lambda s: require(s.by_replica[s.leader]),
        "A member of Replica is needed here, but this option is of type OptionValue. It may be none: write",
    ),
    (lambda s: require(s.colour == s.shade), "these options are of different domains; compare their .value instead."),
    (lambda s: setattr(s, "plain", record(id=1, by=2)), "plain has the fields id; the record given has id, by."),
    (
        lambda s: setattr(s, "plain", record(idd=1)),
        "plain has the fields id; the record given has idd. For 'idd': Did you mean 'id'?",
    ),
    (lambda s: setattr(s, "plain", NONE), "NONE cannot be the value of plain, which is a Record."),
    (lambda s: setattr(s, "plain", 3), "3 cannot be the value of plain, which is a Record."),
    (lambda s: setattr(s, "log", [NONE]), "log has 2 places; the value given has 1."),
    (lambda s: require(s.plain == 3), "3 cannot be the value of plain, which is a Record."),
    (lambda s: require(1), "A condition is needed here, but 1 is of type int."),
    (lambda s: require(s.n), "A condition is needed here, but this number is of type Num."),
    (lambda s: require(None), "A condition is needed here, but None is of type NoneType."),
    (lambda s: require(And(s.up, 1)), "A condition is needed here, but 1 is of type int."),
    (lambda s: And(1, True), "And needs conditions, but 1 is of type int. Compare it, as in x == 1 or x > 0."),
    (lambda s: Or("x"), "Or needs conditions, but 'x' is of type str"),
    (lambda s: Not(0), "Not needs conditions, but 0 is of type int"),
    (lambda s: Not(s.n), "Not needs conditions, but this number is of type Num"),
    (lambda s: If(1, 2, 3), "If needs a condition first, but 1 is of type int. Compare it, as in x == 1 or x > 0."),
    (lambda s: Implies(s.n, s.up), "Implies needs conditions, but this number is of type Num. Compare it"),
    (lambda s: Implies(s.up, s.n), "Implies needs conditions, but this number is of type Num. Compare it"),
    (lambda s: Not(s.leader), "is of type OptionValue. Write .is_some() or .is_none(), or compare it."),
    (lambda s: require(not s.leader), "Write Not(a) for `not a`, and a.is_none() where a is optional."),
    (lambda s: Not(s.isr.is_empty), "is of type method. Call it: is_empty()."),
    (lambda s: require(lambda: s.up), "is of type function. Write the condition itself, without lambda."),
    (lambda s: If(s.n, 2, 3), "If needs a condition first, but this number is of type Num"),
    (lambda s: If(s.up, 2, s.up), "A condition is needed here, but 2 is of type int."),
    (lambda s: If(s.up, s.phase, 2), "A member of Phase is needed here, but 2 is of type int."),
    (lambda s: If(s.up, s.phase, Colour.RED), "A member of Phase is needed here"),
    (lambda s: If(s.up, s.isr, 2), "A set is needed here, but 2 is of type int."),
    (lambda s: If(s.up, s.n, "2"), "A number or a member of a sort is needed here, but '2' is of type str."),
    (lambda s: If(s.up, s.plain, s.n), "this number cannot be the value of this choice, which is a Record."),
    (lambda s: require(s.epoch < 2), "this option may be none, which cannot be ordered or added to. Write .or_else"),
    (lambda s: setattr(s, "n", s.epoch + 1), "this option may be none, which cannot be ordered or added to."),
    (lambda s: setattr(s, "n", s.n + s.epoch), "A number is needed here, but this option is of type OptionValue."),
    (lambda s: minimum(s.epoch, 2), "A number is needed here, but this option is of type OptionValue."),
    (lambda s: s.colour.or_else(3), "3 cannot be the value of the default of or_else(); expected a member of Colour."),
    (lambda s: minimum([s.n, 2]), "minimum() and maximum() need numbers, one by one"),
    (lambda s: maximum(), "minimum() and maximum() need numbers, one by one; these are ()."),
    (lambda s: minimum(True, 2), "minimum() and maximum() need numbers"),
    (lambda s: for_all(s.n, lambda x: True), "this number has no members; give for_all and exists a set"),
    (lambda s: exists(3, lambda x: True), "3 has no members; give for_all and exists a set"),
    (lambda s: for_all(s.isr, lambda x: x), "is of type"),
    (lambda s: for_all([1, 2], lambda x: None), "for_all needs conditions, but None is of type NoneType"),
    (lambda s: set_of(s.n), "set_of() needs the members in a list or another sequence, not this number."),
    (lambda s: set_of(3), "set_of() needs the members in a list or another sequence, not 3."),
    (
        lambda s: require(s.isr.contains(s.leader)),
        "A member of Replica is needed here, but this option is of type OptionValue.",
    ),
    (lambda s: require(s.up == 1), "A condition is needed here, but 1 is of type int."),
    (lambda s: require(s.n in {1, 2}), "Python looks into its sets and dicts while the model is traced, before this n"),
    (lambda s: require(s.phase not in {Phase.DONE}), "before this Phase has a value. Compare it with each member, as"),
    (lambda s: {1: 2}[s.n], "Python looks into its sets and dicts while the model is traced, before this number has"),
    (lambda s: {1: 2}[s.plain], "before plain has a value."),
    (lambda s: copy.copy(s.plain), "plain cannot be copied, and need not be: what was read from a field stays what it"),
    (lambda s: copy.deepcopy(s), "the state cannot be copied, and need not be"),
    (lambda s: copy.deepcopy([s.log]), "log cannot be copied, and need not be"),
    (lambda s: copy.copy(s.n), "this number cannot be copied, and need not be"),
]


@pytest.mark.parametrize(("body", "message"), WRONG_BODIES)
def test_a_mistake_in_an_action_is_named_with_its_line(body: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        _ = model_with(body).program
    assert str(caught.value).startswith(f"{__file__}:{body.__code__.co_firstlineno}: ")
    assert message in str(caught.value)


def traced(predicate: Callable[[Any], Any]) -> None:
    Subject().trace_predicate(predicate)


@pytest.mark.parametrize(
    ("predicate", "message"),
    [
        (lambda s: setattr(s, "n", 1) or True, "n cannot be assigned here; only an action (or `initial`) changes"),
        (
            lambda s: require(s.up) or s.up,
            "require() belongs in an action or a method marked with @initial. A property returns its condition;",
        ),
        (lambda s: None, "<lambda> returns nothing; it must return a condition on the state."),
        (lambda s: 1, "<lambda> returns 1, which is of type int; it must return a condition"),
        (lambda s: s.n, "<lambda> returns this number, which is of type Num; it must return a condition"),
        (lambda s: s.up and True, BEFORE),
    ],
)
def test_a_mistake_in_a_property_is_named_with_its_line(predicate: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        traced(predicate)
    assert str(caught.value).startswith(f"{__file__}:{predicate.__code__.co_firstlineno}: ")
    assert message in str(caught.value)


def test_flags_combine_and_a_field_holds_one() -> None:
    class Flags(enum.IntFlag):
        A = 1
        B = 2

    with pytest.raises(
        ModelError, match=r"test_misuse\.py:\d+: Flags is an enum\.Flag, whose members combine; a field"
    ):
        State(a=Flags)
    assert State(a=Array(Flags, Bool)).fields


def test_require_outside_any_model() -> None:
    with pytest.raises(ModelError, match=r"test_misuse\.py:\d+: require\(\) belongs in an action"):
        require(True)


def test_a_value_of_another_instance_is_refused() -> None:
    kept: list[Any] = []
    traced(lambda s: kept.append(s) or True)
    mixed: list[Callable[[Any], Any]] = [
        lambda s: s.n == kept[0].n,
        lambda s: And(s.up, kept[0].up),
        lambda s: s.isr == kept[0].isr,
        lambda s: s.phase == kept[0].phase,
        lambda s: s.leader == kept[0].leader,
        lambda s: s.plain == kept[0].plain,
        lambda s: kept[0].up,
    ]
    for predicate in mixed:
        with pytest.raises(
            ModelError, match=r"was made while another model instance was traced; read it from the state"
        ):
            traced(predicate)


def test_if_between_none_and_a_value_is_allowed_where_the_field_says_the_domain() -> None:
    def body(s: Any) -> None:
        s.leader = If(s.up, NONE, 1)
        s.entry = If(s.up, record(id=1), NONE)
        s.phase = If(s.up, Phase.READY, Phase.DONE)
        s.colour = If(s.up, Colour.BLUE, NONE)
        s.isr = If(s.up, set(), {1})

    assert len(model_with(body).program.actions) == 1


def test_invariants_can_be_read_from_an_action() -> None:
    class Careful(Subject):
        @invariant
        def small(self, s: Any) -> Any:
            return s.n < 3

        @action
        def grow(self, s: Any) -> None:
            require(self.small(s))
            s.n += 1

    assert [len(a.checks) for a in Careful().program.actions] == [0]


def test_every_message_is_a_sentence() -> None:
    for body, _ in WRONG_BODIES:
        with pytest.raises(ModelError) as caught:
            _ = model_with(body).program
        assert re.fullmatch(r".+:\d+: .+[.?]", str(caught.value), re.DOTALL)
        assert "!" not in str(caught.value)


@pytest.mark.parametrize("size", [5000, 10**9])
def test_an_array_that_is_too_large_is_refused_at_once(size: int) -> None:
    class Wide(Model):
        bounds = Bounds(size=Bound(5000, 1, 10**9))

        def declare(self, b: BoundValues) -> State:
            return State(on=Array(b.size, Bool))

    with pytest.raises(
        ModelError, match=rf"test_misuse\.py:\d+: an array of {size} places .* at most 4096 cells. Use smaller bounds"
    ):
        _ = Wide(size=size).program


def test_a_state_of_too_many_cells_is_refused() -> None:
    class Wide(Model):
        def declare(self, b: BoundValues) -> State:
            return State(on=Array(100, Array(100, Bool)))

    with pytest.raises(
        ModelError, match=r"test_misuse\.py:\d+: a state under \{\} takes 10000 cells, and at most 4096 are possible"
    ):
        _ = Wide().program


def test_a_state_may_have_as_many_cells_as_are_said_to_be_possible() -> None:
    class Wide(Model):
        bounds = Bounds(more=Bound(0, 0, 1))

        def declare(self, b: BoundValues) -> State:
            return State(on=Array(64, Array(63, Bool)), off=Array(64 + b.more, Bool))

    assert Wide().state.width == 4096
    with pytest.raises(ModelError, match="takes 4097 cells, and at most 4096 are possible"):
        _ = Wide(more=1).state


def test_too_many_bindings_are_refused() -> None:
    class Many(Index):
        @classmethod
        def size(cls, bounds: BoundValues) -> int:
            return 10**6

    class Wide(Model):
        def declare(self, b: BoundValues) -> State:
            return State(on=Bool)

        @action
        def press(self, s: StateView, one: Many) -> None:
            s.on = True

    with pytest.raises(ModelError, match=r"the action 'press' has 1000000 bindings .* at most 20000 are possible"):
        _ = Wide().program
