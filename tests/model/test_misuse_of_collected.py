"""What can go wrong with sequences, bags and sets of any values: one sentence each, with the author's line."""

# What mypy would find in these models is what the tests want to see refused.
# mypy: disable-error-code="arg-type,call-overload"
from __future__ import annotations

import enum
from typing import Any, cast

import pytest

from insync.model import (
    NONE,
    Absent,
    Array,
    Bag,
    BoundValues,
    Index,
    Int,
    Model,
    ModelError,
    Not,
    Option,
    Record,
    Seq,
    SetOf,
    State,
    action,
    bound,
    for_all,
    record,
    require,
    snapshot,
    when,
)
from insync.model.evaluator import Evaluator


class Port(Index):
    """A place where ships call."""

    size = 2


class Cargo(enum.Enum):
    """What is on a ship."""

    COAL = 0
    CORN = 1


SHIP = Record(to=Port, cargo=Cargo, crew=Option(Int(1, 2)))


class Harbour(Model):
    """A field of each kind."""

    def __init__(self, body: Any) -> None:
        super().__init__()
        self.body = body

    def declare(self, b: BoundValues) -> State:
        return State(
            queue=Seq(SHIP, 2),
            sea=Bag(SHIP, 2),
            known=SetOf(SHIP),
            few=SetOf(SHIP, 2),
            numbers=Seq(Int(0, 3), 2),
            by_port=Array(Port, Seq(Cargo, 1)),
            n=Int(0, 3),
            port=Port,
        )

    @action
    def run(self, s: Any) -> None:
        self.body(s)


EMPTY: dict[str, Any] = {
    **{key: [] for key in ("queue", "sea", "known", "few", "numbers")},
    "by_port": {"port1": [], "port2": []},
    "n": 0,
    "port": "port1",
}

HERE = r"test_misuse_of_collected\.py:\d+: "


def refused(body: Any) -> None:
    """Trace an action."""
    assert Harbour(body).program is not None


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda s: s.queue.append(3), r"3 cannot be the value of queue\[\.\.\.\], which is a Record"),
        (
            lambda s: s.queue.append(to=0),
            r"queue\[\.\.\.\] has the fields to, cargo, crew; the record given has crew, to",
        ),
        (
            lambda s: s.queue.append(record(to=0), cargo=Cargo.COAL),
            r"an element of queue is a Record; it is given by itself or by the names of its fields",
        ),
        (lambda s: s.queue.append(), r"queue\[\.\.\.\] has the fields to, cargo, crew; the record given has crew"),
        (lambda s: s.numbers.append(n=3), r"an element of numbers is an Int; it has no fields"),
        (lambda s: s.known.add(to=0, cargo=Port(1)), r"Port\(1\) cannot be the value of known\[\.\.\.\]\.cargo"),
        (lambda s: s.queue.add(to=0, cargo=Cargo.COAL), r"queue has no 'add': it is a Seq; it has append, clear, "),
        (lambda s: s.sea.append(to=0, cargo=Cargo.COAL), r"sea has no 'append': it is a Bag; it has add, clear, "),
        (
            lambda s: s.known.append(NONE),
            r"known has no 'append': it is a SetOf; it has add, clear, contains, coun",
        ),
        (lambda s: s.queue[2], r"queue has no place 2; its 2 places are numbered from 0"),
        (lambda s: s.queue[-1], r"queue has no place -1; its 2 places"),
        (lambda s: s.known[0], r"known has no order, so it has no places; .* SetOf\(\.\.\., most\)"),
        (
            lambda s: setattr(s.sea[0], "to", 1),
            r"sea\[0\]\.to cannot be assigned here; an element of a bag or a set has no place: remove it, and add the",
        ),
        (lambda s: setattr(s.queue[2], "to", 1), r"queue has no place 2; its 2 places are numbered from 0"),
        (lambda s: setattr(s.queue[0], "towards", 3), r"queue\[0\] has no field 'towards'"),
        (lambda s: setattr(s.queue.take_first(), "to", 1), r"queue was changed after this element of it was read"),
        (lambda s: setattr(snapshot(s.queue[0]), "to", 1), r"queue\[0\]\.to cannot be assigned here; only an action"),
        (
            lambda s: for_all(s.queue, lambda one: one.__setattr__("to", 1) is None),
            r"queue\[0\]\.to cannot be assigned here; it is a value",
        ),
        (lambda s: setattr(s.numbers, "first", 1), r"numbers\.first cannot be assigned; write numbers\[0\] = element"),
        (
            lambda s: setattr(s.numbers, "last", 1),
            r"numbers\.last cannot be assigned; write numbers\[numbers\.length - 1",
        ),
        (lambda s: setattr(s.queue, "length", 1), r"queue\.length cannot be assigned; queue is a Seq"),
        (lambda s: snapshot(s.queue).clear(), r"queue cannot be assigned here"),
        (lambda s: next(iter(s.queue)), r"what is in queue is known only when .* for_all\(queue, lambda x: "),
        (lambda s: require(s.queue.first in s.known), r"Python's `in` needs .* Write known\.contains\(element\)"),
        (lambda s: require(len(s.queue) < 2), r"how many elements queue has .* Write queue\.length"),
        (lambda s: require(s.queue), r"A condition is needed here, but queue is of type SeqView"),
        (lambda s: require(Not(s.queue)), r"Not needs conditions, but queue is of type SeqView"),
        (lambda s: setattr(s, "queue", {1, 2}), r"\{1, 2\} cannot be the value of queue, which is a Seq"),
        (lambda s: setattr(s, "known", s.queue), r"queue cannot be the value of known, which is a SetOf"),
        (lambda s: s.few | s.known, r"few has at most 2 elements, and known any number; declare both alike to join"),
        (lambda s: s.known | 3, r"3 cannot be the value of a set beside known, which is a SetOf"),
        (lambda s: for_all(s.queue, cast(Any, 3)), r"for_all needs a function of one member"),
        (lambda s: require(s.queue.take_first() == 3), r"3 cannot be the value of queue\[0\], which is a Record"),
    ],
)
def test_a_mistake_in_an_action_is_one_sentence(body: Any, message: str) -> None:
    with pytest.raises(ModelError, match=HERE + message):
        refused(body)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Seq(Port, "many"), r"Seq\(Port, 'many'\): the second argument must be a whole number, of the"),
        (lambda: Bag(SHIP, -1), r"Bag\(Record, -1\): the second argument must be a whole number"),
        (lambda: SetOf(Cargo, True), r"SetOf\(Enum, True\): the second argument must be a whole number"),
        (lambda: Seq(Absent(Port), 2), r"Seq\(Absent\(\.\.\.\)\): a field is absent as a whole"),
        (lambda: Seq(7, 2), r"7 is not a domain; use .* Seq, Bag or SetOf"),
        (lambda: Option(Seq(Port, 2)), r"Option\(Seq\): only one cell or a record can be optional"),
    ],
)
def test_a_wrong_domain_is_refused_where_it_is_written(wrong: Any, message: str) -> None:
    with pytest.raises(ModelError, match=HERE + message):
        wrong()


OF_TWO_KINDS = {"few": SetOf(Int(0, 9), 2), "more": SetOf(Int(5, 14), 2), "all": SetOf(Int(0, 3)), "any": SetOf(Port)}


@pytest.mark.parametrize(("one", "other"), [("few", "more"), ("more", "few"), ("all", "any"), ("any", "all")])
@pytest.mark.parametrize("what", ["__or__", "__and__", "__sub__", "is_subset"])
def test_a_set_has_nothing_to_do_with_one_of_other_elements(what: str, one: str, other: str) -> None:
    class Sets(Model):
        def declare(self, b: BoundValues) -> State:
            return State(**OF_TWO_KINDS)

        @action
        def ask(self, s: Any) -> None:
            getattr(getattr(s, one), what)(getattr(s, other))

    with pytest.raises(
        ModelError, match=HERE + rf"{other} cannot be the value of a set beside {one}, which is a SetOf"
    ):
        Sets().program  # noqa: B018  (traces it)


def test_a_set_of_too_many_values_needs_to_say_its_most() -> None:
    message = r"SetOf\(Int\) ranges over 1025 values under \{\}, and at most 1024 are .* as in SetOf\(Int, 8\)"
    with pytest.raises(ModelError, match=HERE + message):
        SetOf(Int(0, 1024)).bind(BoundValues({}))
    assert SetOf(Int(0, 1023)).bind(BoundValues({})).width == 1024
    assert SetOf(Int(0, 1024), 8).bind(BoundValues({})).width == 9


@pytest.mark.parametrize("domain", [Seq(Port, bound("room") - 1), SetOf(Port, bound("room") - 1)])
def test_how_many_there_can_be_may_be_a_bound(domain: Any) -> None:
    assert domain.bind(BoundValues({"room": 4})).width == 4
    with pytest.raises(ModelError, match=HERE + r".*\(Port, -1\): the second argument must be a whole number"):
        domain.bind(BoundValues({"room": 0}))


def failing(body: Any, **fields: Any) -> str | None:
    """Return the message of the check that fails in a state with these fields."""
    model = Harbour(body)
    state = EMPTY | fields
    check = Evaluator(model.program).failing_check(0, model.encode(state))
    return None if check is None else check.message.partition(": ")[2]


COAL, CORN = ({"to": "port1", "cargo": cargo, "crew": None} for cargo in ("COAL", "CORN"))


def test_what_does_not_fit_is_said_with_the_name_of_the_field() -> None:
    def send(s: Any) -> None:
        s.queue.append(to=s.port, cargo=Cargo.COAL)

    cure = "Declare more room, or require(...) first that there is some."
    full = f"this appends to queue, which has room for 2 elements at most. {cure}"
    assert failing(send, queue=[COAL, CORN]) == full
    assert failing(send, queue=[COAL]) is None
    assert failing(lambda s: s.sea.add(s.queue.first), sea=[COAL, COAL]) == full.replace(
        "appends to queue", "adds to sea"
    )
    assert failing(lambda s: s.few.add(s.queue.first), few=[COAL, CORN]) is None, "the first of no elements is in it"
    assert failing(lambda s: s.few.add(s.queue.last), few=[COAL, CORN], queue=[COAL | {"to": "port2"}]) == (
        full.replace("appends to queue", "adds to few")
    )
    assert failing(lambda s: s.by_port[s.port].append(Cargo.COAL), by_port={"port1": ["CORN"], "port2": []}) == (
        f"this appends to by_port[...], which has room for 1 element at most. {cure}"
    )
    assert failing(lambda s: s.queue.take_first()) == "this takes the first element of queue, which may be empty."
    assert failing(lambda s: s.queue.take_first(), queue=[COAL]) is None
    assert failing(lambda s: s.queue.__setitem__(s.n, s.queue.last), queue=[COAL], n=1) == (
        "this assigns past the end of queue; append() makes it longer."
    )
    assert failing(lambda s: setattr(s, "few", s.few | [s.queue.first]), few=[CORN, COAL | {"to": "port2"}]) == (
        "the value assigned to few has more than 2 elements."
    )


def test_a_block_that_is_not_entered_checks_nothing() -> None:
    def body(s: Any) -> None:
        with when(s.n == 1):
            s.queue.append(to=0, cargo=Cargo.COAL)
            s.numbers.take_first()

    assert failing(body, queue=[COAL, CORN]) is None
    assert failing(body, queue=[COAL, CORN], n=1, numbers=[0]) is not None
    assert failing(body, n=1) is not None
