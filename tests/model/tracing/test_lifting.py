"""Lifted actions: on which parameters Python decides, which quantifiers stay, what reads after assignments are."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any

import pytest

from insync.model import (
    Array,
    BoundValues,
    If,
    Index,
    Int,
    Model,
    Range,
    Set,
    State,
    StateView,
    action,
    exists,
    for_all,
    require,
)
from insync.model.expressions.graph import LIFTED, Binder, Graph, Location, Op, reachable
from insync.model.expressions.lifted import Action, LiftedGraph
from insync.model.tracing.grounding import lifted_actions
from insync.runtime.errors import InternalError, ModelError


class Node(Index):
    size = 3


class Place(Range):
    lo, hi = 0, 3


class Kind(Enum):
    READ = "read"
    WRITE = "write"


class Subject(Model):
    """Actions of which Python decides on some parameters."""

    def declare(self, b: BoundValues) -> State:
        return State(seen=Array(Node, Int(0, 3)), members=Set(Node), log=Array(3, Int(0, 3)))

    def initial(self, s: StateView) -> None:
        pass

    @action
    def decides_on_none(self, s: StateView, node: Node, place: Place) -> None:
        require(s.seen[node] < place)
        s.seen[node] = place

    @action
    def decides_on_one(self, s: StateView, node: Node, place: Place) -> None:
        if place > 1:
            s.seen[node] = place - 1

    @action
    def looks_up(self, s: StateView, node: Node, place: Place) -> None:
        s.seen[node] = {0: 1, 1: 2, 2: 3, 3: 0}[place]

    @action
    def has_a_kind(self, s: StateView, node: Node, kind: Kind) -> None:
        s.seen[node] = 1 if kind is Kind.READ else 2

    @action
    def may_be_outside(self, s: StateView, node: Node, place: Place) -> None:
        require(place > 0)
        s.log[place - 1] = s.seen[node]

    @action
    def chooses_what_it_changes(self, s: StateView, node: Node, place: Place) -> None:
        If(place == 0, s.seen, s.log)[0] = 1

    @action
    def quantifies(self, s: StateView, node: Node, place: Place) -> None:
        require(for_all(Node, lambda other: s.seen[other] <= place), exists(s.members, lambda one: one != node))
        require(for_all(Node, lambda other: [True, s.seen[0] == 0, s.seen[1] == 0][other]))
        s.members = s.members - {node}


class Outside(Subject):
    """One action indexes past the end of an array, for one value of a parameter."""

    @action
    def may_be_outside(self, s: StateView, node: Node, place: Place) -> None:
        s.log[place] = s.seen[node]


class Unnoticed(Subject):
    """Python decides on parameters in ways of which a symbolic value hears nothing, or nearly nothing."""

    @action
    def by_its_type(self, s: StateView, node: Node, place: Place) -> None:
        s.seen[node] = 1 if isinstance(place, int) else 2  # type: ignore[redundant-expr]

    @action
    def by_identity(self, s: StateView, node: Node, other: Node) -> None:
        s.seen[node] = 1 if (node == other) is True else 2

    @action
    def by_a_default(self, s: StateView, node: Node, place: Place) -> None:
        s.seen[node] = {0: 1}.get(place, 2)

    @action
    def by_its_text(self, s: StateView, node: Node, place: Place) -> None:
        s.seen[node] = len(f"{place:02}") - (place > 1)

    @action
    def by_how_many_there_are(self, s: StateView, node: Node, other: Node) -> None:
        s.seen[node] = len({node, other})


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("by_its_type", [1] * 12),
        ("by_identity", [1, 2, 2, 2, 1, 2, 2, 2, 1]),
        ("by_a_default", [1, 2, 2, 2] * 3),
        ("by_its_text", [2, 2, 1, 1] * 3),
        ("by_how_many_there_are", [1, 2, 2, 2, 1, 2, 2, 2, 1]),
    ],
)
def test_what_python_decides_unnoticed_is_what_plain_values_decide(name: str, values: list[int]) -> None:
    program = Unnoticed().program
    assigned = [dict(one.updates) for one in program.actions if one.name == name]
    assert [next(iter(one.values())).lo for one in assigned] == values


def lifted(model: Model) -> dict[str, list[Action]]:
    """Return the lifted actions of a model by name."""
    found: dict[str, list[Action]] = {}
    for one in lifted_actions(model, LiftedGraph(model.program.graph.cell_sizes)):
        found.setdefault(one.name, []).append(one)
    return found


def fixed(actions: list[Action]) -> list[list[Any]]:
    return [list(one.fixed.values()) for one in actions]


def test_python_decides_on_as_few_parameters_as_it_needs() -> None:
    found = lifted(Subject())
    assert fixed(found["decides_on_none"]) == [[]]
    assert fixed(found["decides_on_one"]) == [[0], [1], [2], [3]]
    assert fixed(found["looks_up"]) == [[0], [1], [2], [3]]
    assert fixed(found["has_a_kind"]) == [[Kind.READ], [Kind.WRITE]]
    assert fixed(found["may_be_outside"]) == [[]]
    assert fixed(found["chooses_what_it_changes"]) == [[0], [1], [2], [3]]
    assert fixed(found["quantifies"]) == [[]]


def test_quantifiers_stay_as_they_are_written_unless_python_decides_on_their_variable() -> None:
    (one,) = lifted(Subject())["quantifies"]
    assert [node.op for node in one.guard[:2]] == [Op.BIND, Op.BIND]
    assert [node.arg.word for node in one.guard if isinstance(node.arg, Binder)] == ["for_all", "exists"]
    assert [node.op for node in one.guard[2:]] == [Op.AND]


def test_a_mistake_for_one_value_is_met_as_it_is_without_lifting() -> None:
    model = Outside()
    with pytest.raises(ModelError, match=r"log has no place 3") as error:
        lifted_actions(model, LiftedGraph([4, 4, 4, 8, 4, 4, 4]))
    with pytest.raises(ModelError) as wanted:
        model.program  # noqa: B018
    assert str(error.value) == str(wanted.value)


def test_a_read_of_what_was_assigned_has_a_version_and_the_variables_of_what_it_may_read() -> None:
    class Twice(Subject):
        @action
        def twice(self, s: StateView, node: Node, other: Node, place: Place) -> None:
            s.seen[node] = place
            s.log[0] = s.seen[other]
            s.log[1] = s.log[0]

    graph = LiftedGraph(Twice().program.graph.cell_sizes)
    one = next(one for one in lifted_actions(Twice(), graph) if one.name == "twice")
    read = one.assigns[1].codes[0]
    assert isinstance(read.arg, Location)
    assert read.arg.version == 1
    assert {variable.name for variable in graph.free(read)} == {"node", "other", "place"}
    assert one.assigns[2].codes == (read,)


def test_a_program_has_none_of_the_lifted_operations() -> None:
    program = Subject().program
    assert not {node.op for one in program.actions for node in reachable(one.guard)} & LIFTED
    graph = LiftedGraph(program.graph.cell_sizes)
    first = replace(program.actions[0], guard=(graph.true,))
    with pytest.raises(InternalError, match="has variables"):
        replace(program, actions=(first,))
    assert not Graph.has_variables
