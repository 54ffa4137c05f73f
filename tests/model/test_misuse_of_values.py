"""Operators, methods and calls that Python has and a model has not: each message says what to write in their place."""

# What mypy would find in these models is what the tests want to see refused.
# mypy: disable-error-code="arg-type,call-arg,operator,misc"
from __future__ import annotations

import enum
from collections.abc import Callable
from operator import add, delitem
from pathlib import Path
from typing import Any

import pytest

from insync.cli.faults import explain_fault
from insync.cli.terminal import ExitCode
from insync.model import (
    NONE,
    And,
    Array,
    Bag,
    Bool,
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
    SetOf,
    State,
    StateView,
    UserError,
    action,
    exists,
    for_all,
    require,
)
from insync.model.catalogue import find_model
from insync.model.domains.symbolic import cure_of_call
from insync.model.evaluator import Evaluator


class Node(Index):
    size, label = 2, "n"


class Shelf(Index):
    size = 3


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Subject(Model):
    """One field of each kind."""

    def declare(self, b: BoundValues) -> State:
        return State(
            x=Int(-3, 3),
            on=Bool,
            colour=Colour,
            boss=Option(Node),
            shelf=Option(Shelf),
            nodes=Set(Node),
            row=Array(Node, Int(0, 3)),
            seats=Array(3, Bool),
            grid=Array(2, Array(2, Bool)),
            pair=Record(a=Bool, b=Int(0, 1)),
            queue=Seq(Int(0, 3), 2),
            bag=Bag(Int(0, 3), 2),
            some=SetOf(Int(0, 3)),
        )


def model_with(body: Callable[[Any], Any]) -> Model:
    def act(self: Any, s: StateView) -> None:
        body(s)

    wrong: type[Model] = type(Subject)("Wrong", (Subject,), {"act": action(act)})
    return wrong()


WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda s: s.nodes.add(Node(0)), "this set has no attribute 'add'. Write the_set |= {member}."),
    (lambda s: s.nodes.discard(Node(0)), "this set has no attribute 'discard'. Write the_set -= {member}."),
    (lambda s: s.nodes.sorted, "this set has no attribute 'sorted'. It is known only when the model runs."),
    (lambda s: len(s.nodes), "this set has no `len()`. Write the_set.count()."),
    (lambda s: s.nodes + {Node(0)}, "this set has no `+`. Write a | b, or the_set |= {member} to add one."),
    (lambda s: s.nodes < {Node(0)}, "this set has no `<`. Write a.is_subset(b)."),
    (lambda s: {Node(0)} <= s.nodes, "this set has no `>=`. Write b.is_subset(a)."),
    (lambda s: s.nodes[0], "this set has no `[...]`. A set has no order"),
    (lambda s: s.colour < Colour.BLUE, "this Colour has no `<`. It has no order: compare it by == and !="),
    (lambda s: s.colour.value, "this Colour has no attribute 'value'. Compare it with a member"),
    (lambda s: s.colour.name, "this Colour has no attribute 'name'. Compare it with a member"),
    (lambda s: s.x**2, "this number has no `**`. Write x * x."),
    (lambda s: s.x & 1, "this number has no `&`. Numbers have no bits here"),
    (lambda s: s.x.value, "this number has no attribute 'value'. It is always there"),
    (lambda s: s.on + 1, "this condition has no `+`. Conditions become numbers by If(condition, 1, 0)."),
    (lambda s: sum([s.on, s.on]), "this condition has no `+`. Conditions become numbers by If(condition, 1, 0)."),
    (lambda s: s.on ^ s.on, "this condition has no `^`. Write a != b."),
    (lambda s: -s.boss, "this option has no `-`. It may be none: write .value first."),
    (lambda s: add(s.queue, [1]), "queue has no `+`. append(element) adds one at the end."),
    (lambda s: add(s.bag, [1]), "bag has no `+`. add(element) adds one."),
    (lambda s: s.some + {1}, "some has no `+`. Write a | b, or add(element) for one."),
    (lambda s: add(s.row, [1]), "row has no `+`. An array keeps its places"),
    (lambda s: s.pair["a"], "pair has no `[...]`. The fields of a record are attributes: write .name."),
    (lambda s: delattr(s, "x"), "no part of the state can be deleted. Fields stay: assign another value, NONE where"),
    (lambda s: delitem(s.queue, 0), "no part of queue can be deleted. take(place) and take_first() take one away."),
    (lambda s: delitem(s.row, 0), "no part of row can be deleted. An array keeps its places: assign another value."),
    (lambda s: s.queue[1:], "slice(1, None, None) is of type slice. Places are read one at a time, as in x[0]; take_f"),
    (lambda s: s.grid[0, 1], "(0, 1) is of type tuple. Of an array of arrays write x[a][b]."),
    (lambda s: setattr(s, "x", If(s.on, 1, NONE)), "NONE is of type Nothing. Only what is declared Option(...) can be"),
    (
        lambda s: setattr(s, "x", Colour.RED),
        "is of type Colour. A field that is to hold it is declared Colour.",
    ),
    (lambda s: setattr(s, "x", "a"), "'a' is of type str. A text is no value of a model: names are the members of a P"),
    (lambda s: setattr(s, "x", 1.5), "1.5 is of type float. Numbers of a model are whole."),
    (lambda s: setattr(s, "x", s.on), "this condition is of type Bool. Conditions become numbers by If(condition, 1"),
    (lambda s: setattr(s, "x", [1]), "[1] is of type list. Give a whole number, a member, or a field that holds one."),
    (lambda s: Or([s.on, s.on]), "of type list. Give conditions one by one, as in Or(*conditions), or write exists("),
    (lambda s: And([s.on], s.on), "of type list. Give conditions one by one, as in Or(*conditions), or write exists("),
    (lambda s: Or(s.on for _ in "ab"), "Or needs conditions, but this generator is of type generator. Give conditions"),
    (lambda s: for_all(range(2), lambda: True), "such as `lambda r: ...`, not this function."),
    (lambda s: exists(Int(0, 3), lambda n: True), "this Int has no members; give for_all and exists a set"),
    (
        lambda s: require(s.boss == s.shelf),
        "they may hold members of Node and of Shelf, which are never",
    ),
    (lambda s: setattr(s, "seats", [True]), "seats has 3 places; the value given has 1."),
    (lambda s: setattr(s, "seats", {0: True}), "seats has a value for each of 0, 1, 2; give a dict with these keys."),
    (lambda s: Array(Int(0, 1), Bool), "Array(this Int, ...): give a sort"),
    (lambda s: Array(Bool, Bool), "Array(Bool, ...): give a sort"),
]


@pytest.mark.parametrize(("body", "message"), WRONG)
def test_what_a_value_has_not_is_said_with_what_to_write(body: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        _ = model_with(body).program
    assert str(caught.value).startswith(f"{__file__}:{body.__code__.co_firstlineno}: ")
    assert message in str(caught.value)
    assert " at 0x" not in str(caught.value)


CALLS: list[tuple[Callable[[], Any], str]] = [
    (lambda: Not(True, True), " Not(a) is of one condition; of several write Not(And(a, b)) or Not(Or(a, b))."),
    (lambda: If(True, 1), " Say what it is otherwise: If(condition, then, otherwise)"),
    (lambda: Implies(True), " Implies(premise, conclusion) is of two conditions."),
    (lambda: Array(Node, Node, Bool), " An array is over one sort: nest them, as in Array(Row, Array(Column, Bool))."),
    (lambda: Seq(Bool), " Say how many elements there can be at once, as in Seq(Message, 4)."),
    (lambda: int("x"), ""),
    (lambda: len(3), ""),
]


@pytest.mark.parametrize(("call", "cure"), CALLS)
def test_a_wrong_call_is_said_with_the_right_one(call: Callable[[], Any], cure: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert cure_of_call(caught.value).startswith(cure)
    assert bool(cure) is bool(cure_of_call(caught.value))


@pytest.mark.parametrize(
    ("line", "cure"),
    [
        ("from insync.model import invariant\n@invariant()", "Write @invariant without parentheses."),
        ("from insync.properties import eventually\n@eventually()", "Name the model class that it is about, as in @ev"),
    ],
)
def test_a_decorator_called_in_vain_is_said_with_the_right_one(tmp_path: Path, line: str, cure: str) -> None:
    path = tmp_path / "called.py"
    path.write_text(f"{line}\ndef one(self, s): return True\n")
    with pytest.raises(UserError) as caught:
        find_model(f"{path}:Lock")
    assert "called.py:2: cannot be loaded: TypeError: " in str(caught.value)
    assert str(caught.value).count(f". {cure}") == 1


def test_the_command_says_the_right_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.py"
    path.write_text(
        "from insync.model import *\nclass Two(Model):\n    def declare(self, b): return State(on=Array(2, 2, Bool))\n"
    )
    with pytest.raises(ModelError) as caught:
        _ = find_model(f"{path}:Two")().state
    explain_fault(caught.value)
    assert capsys.readouterr().err == (
        f"Error: {path}:3: Array is called with other arguments than it has. An array is over one sort: nest them, as "
        "in Array(Row, Array(Column, Bool)).\n"
    )


def test_a_method_that_replaces_another_one_by_mistake_is_the_users_to_mend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "strict.py"
    path.write_text(
        "from insync.kafka.cluster.broker.partition import Partition\nfrom insync.kafka.cluster.model import Cluster\n"
        "from insync.model import part\n\n\nclass Strict(Partition):\n    def reaches(self, s, leader):\n"
        "        return True\n\n\nclass StrictCluster(Cluster):\n    partition = part(Strict)\n"
    )
    with pytest.raises(TypeError) as caught:
        _ = find_model(f"{path}:StrictCluster")().program
    assert explain_fault(caught.value) is ExitCode.USER_ERROR
    out = capsys.readouterr().err
    assert out.startswith(f"Error: {path}:7: Strict.reaches replaces a method of the model, and is called with other")
    assert out.endswith("Give it those of the one that it replaces, or another name.\n")


@pytest.mark.parametrize("message", ["Strange.reaches() takes 1", "Strict.answered() takes 1", "reaches() takes 1"])
def test_another_call_that_fails_is_no_mistake_of_the_user(message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain_fault(TypeError(message)) is ExitCode.INTERNAL_ERROR
    assert "This is a fault of insync" in capsys.readouterr().err


def test_numbers_have_a_negative_and_an_absolute_value() -> None:
    def body(s: Any) -> None:
        s.row[Node(0)] = abs(s.x)
        s.x = -s.x

    model = model_with(body)
    start = model.decode(model.program.initials.example or ())
    for x in range(-3, 4):
        after = model.decode(Evaluator(model.program).step(0, model.encode({**start, "x": x})))
        assert (after["x"], after["row"]["n1"]) == (-x, abs(x))


def test_an_array_is_assigned_a_dict_of_its_members() -> None:
    class Given(Subject):
        """Dicts for each way to name places."""

        def declare(self, b: BoundValues) -> State:
            return State(row=Array(Node, Int(0, 3)), seats=Array(2, Bool), by=Array(Colour, Int(0, 3)))

        def initial(self, s: StateView) -> None:
            s.row = {node: node + 1 for node in self.all(Node)}
            s.seats = {1: True, 0: False}
            s.by = {Colour.BLUE: 2, Colour.RED: 1}

    model = Given()
    assert model.decode(model.program.initials.example or ()) == {
        "row": {"n1": 1, "n2": 2},
        "seats": [False, True],
        "by": {"RED": 1, "BLUE": 2},
    }
