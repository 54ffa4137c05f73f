"""Blocks of assignments that happen where a condition holds, and fields that are not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from insync.model import (
    NONE,
    Absent,
    And,
    Array,
    Bool,
    BoundValues,
    Enum,
    Implies,
    Index,
    Int,
    Model,
    ModelError,
    Not,
    Option,
    Record,
    Set,
    State,
    StateView,
    UserError,
    action,
    record,
    require,
    when,
)
from insync.model.evaluator import Evaluator
from insync.model.tracing.tracer import parts_of
from insync_toys import Phase


class Node(Index):
    label = "n"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 3


FIELDS = State(n=Int(0, 5), up=Bool, log=Array(3, Int(0, 3)), at=Int(0, 2), last=Option(Int(0, 3)))


def stepped(body: Callable[[Any], None], fields: State = FIELDS, **state: object) -> dict[str, Any]:
    """Return the state after an action with this body."""
    model = model_with(body, fields)
    before = {**model.decode(model.program.initials[0]), **state}
    return model.decode(Evaluator(model.program).step(0, model.encode(before)))


def model_with(body: Callable[[Any], None], fields: State = FIELDS) -> Model:
    class One(Model):
        def declare(self, b: BoundValues) -> State:
            return fields

        @action
        def act(self, s: StateView) -> None:
            body(s)

    return One()


def in_a_block(s: Any) -> None:
    with when(s.n < 3):
        s.n += 1
        s.up = True
        s.log[s.at] = 2


@pytest.mark.parametrize(("n", "after"), [(2, (3, True, [0, 2, 0])), (3, (3, False, [0, 0, 0]))])
def test_assignments_in_a_block_happen_where_its_condition_holds(n: int, after: object) -> None:
    state = stepped(in_a_block, n=n, at=1)
    assert (state["n"], state["up"], state["log"]) == after


def test_the_condition_is_that_of_the_beginning() -> None:
    def body(s: Any) -> None:
        with when(s.n == 0):
            s.n = 4
            s.up = True

    assert stepped(body)["up"] is True


def test_blocks_nest_and_a_plain_condition_will_do() -> None:
    def body(s: Any) -> None:
        with when(s.n >= 1):
            s.last = 1
            with when(s.n >= 2):
                s.last = 2
            with when(False):
                s.last = 3
                s.at = 9  # never assigned, so that it does not fit is no mistake
            with when(True):
                s.up = True

    assert [stepped(body, n=n)["last"] for n in range(3)] == [None, 1, 2]
    assert stepped(body, n=1)["up"] is True
    assert stepped(body, n=0)["up"] is False


def test_what_does_not_fit_matters_only_where_the_block_is_entered() -> None:
    def body(s: Any) -> None:
        with when(s.up):
            s.n += 1

    model = model_with(body)
    evaluator = Evaluator(model.program)
    full = {**model.decode(model.program.initials[0]), "n": 5}
    assert evaluator.failing_check(0, model.encode({**full, "up": False})) is None
    assert evaluator.failing_check(0, model.encode({**full, "up": True})) is not None


def test_what_the_condition_says_shows_that_an_assignment_fits() -> None:
    def body(s: Any) -> None:
        require(Implies(s.up, s.n < 5))
        with when(s.up):
            s.n += 1
        with when(s.at < 2):
            s.at += 1

    model = model_with(body)
    (act,) = parts_of(model)
    assert act.bound is not None
    assert (act.bound.checks, len(act.shown)) == ((), 2)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda s: required(s), r"require\(\) inside `with when\(\.\.\.\)` would disable the whole action"),
        (lambda s: when(s.up), r"when\(\.\.\.\) does nothing by itself; write `with when\(\.\.\.\):`"),
        (lambda s: when(s.n), r"A condition is needed here, but this number is of type Num"),
    ],
)
def test_a_block_that_means_nothing_is_refused_at_its_line(body: Callable[[Any], None], message: str) -> None:
    with pytest.raises(ModelError, match=rf"test_when\.py:\d+: {message}"):
        _ = model_with(body).program


def required(s: Any) -> None:
    with when(s.up):
        require(s.n < 5)


def test_a_property_has_no_blocks() -> None:
    def body(s: Any) -> None:
        require(s.up)

    def predicate(s: StateView) -> Any:
        with when(s.up):
            return s.up

    with pytest.raises(ModelError, match=r"when\(\) is about assignments; use it in an action or in `initial`"):
        model_with(body).trace_predicate(predicate)


ABSENT = State(
    n=Int(0, 5),
    there=Record(
        low=Absent(Int(2, 4)),
        flag=Absent(Bool),
        phase=Absent(Enum(Phase)),
        who=Absent(Set(Node)),
        maybe=Absent(Option(Int(0, 3))),
        pair=Absent(Record(x=Int(1, 2), y=Bool)),
        log=Absent(Array(3, Int(0, 3))),
        kept=Int(0, 1),
    ),
)


def test_an_absent_field_reads_as_its_first_value_and_swallows_assignments() -> None:
    def body(s: Any) -> None:
        there = s.there
        there.low, there.flag, there.who = 4, True, {Node(1)}
        there.pair.x = 2
        there.pair = record(x=2, y=True)
        there.log[s.n] = 3
        there.log[1] = 3
        there.maybe = 2
        first = And(there.low == 2, Not(there.flag), there.who.is_empty(), there.maybe.is_none(), there.log[1] == 0)
        with when(And(first, there.pair.x == 1, there.phase == next(iter(Phase)))):
            s.n = 5

    state = stepped(body, ABSENT)
    assert state == {"n": 5, "there": {"kept": 0}}


def test_an_absent_field_takes_no_cell() -> None:
    model = model_with(lambda s: setattr(s, "n", 1), ABSENT)
    assert [cell.path for cell in model.program.schema.cells] == ["n", "there.kept"]
    assert model.encode({"n": 3, "there": {"kept": 1}}) == (3, 1)
    with pytest.raises(
        UserError, match=r"there: .* is not a value of this field; expected an object with the fields kep"
    ):
        model.encode({"n": 3, "there": {"kept": 1, "low": 2}})


def test_a_record_is_assigned_with_its_absent_fields() -> None:
    fields = State(pair=Record(x=Int(0, 3), y=Absent(Int(0, 3))), other=Record(x=Int(0, 3), y=Absent(Int(0, 3))))

    def body(s: Any) -> None:
        s.pair = record(x=2, y=3)
        s.other = s.pair

    assert stepped(body, fields) == {"pair": {"x": 2}, "other": {"x": 2}}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda s: setattr(s.there, "low", True), "A number or a member of a sort is needed for there.low, but True"),
        (lambda s: setattr(s.there, "pair", NONE), "NONE cannot be the value of there.pair, which is a Record"),
        (lambda s: setattr(s.there, "kpet", 3), "there has no field 'kpet'. Did you mean 'kept'?"),
    ],
)
def test_what_is_assigned_to_an_absent_field_has_its_type(body: Callable[[Any], None], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        _ = model_with(body, ABSENT).program
    assert message in str(caught.value)


def test_a_property_cannot_assign_to_an_absent_field() -> None:
    with pytest.raises(ModelError, match=r"there\.low cannot be assigned here"):
        model_with(lambda s: None, ABSENT).trace_predicate(assigns)


def assigns(s: Any) -> bool:
    s.there.low = 3
    return True


def test_only_whole_fields_are_absent() -> None:
    with pytest.raises(ModelError, match=r"a field is absent as a whole; write Absent\(Array"):
        Array(3, Absent(Bool))
    with pytest.raises(ModelError, match=r"Option\(Absent\): only one cell or a record can be optional"):
        Option(Absent(Bool))
