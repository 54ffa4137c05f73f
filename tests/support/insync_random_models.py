"""Random models: two actions of random conditions and numbers, and a random condition on the states of a step."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from insync.model import (
    Bool,
    BoundValues,
    Condition,
    Int,
    Model,
    Num,
    Set,
    State,
    StateView,
    action,
    invariant,
    require,
)
from insync.model.domains.sorts import Index
from insync.model.expressions.graph import Graph, Node, Op
from insync.properties import step_invariant
from insync_expressions import SIZES, Tree, conditions, made, numbers

__all__ = ["Written", "random_model", "written"]


@dataclass(frozen=True, slots=True)
class Written:
    """A random model.

    Attributes:
        actions: for each the guard, the number that the third field gets, and the one that the second gets.
        pair: the condition on a step: a cell from `len(SIZES)` on is one of the state after.
        low: a condition on states.
    """

    actions: tuple[tuple[Tree, Tree, Tree], ...]
    pair: Tree
    low: Tree


def _of_two_states(tree: Tree, choices: list[bool]) -> Tree:
    """Let the cells of a tree be those of the state after, in turn as the choices say."""
    if tree.op is Op.CELL:
        choices.append(choices.pop(0))
        return replace(tree, arg=tree.arg + len(SIZES) * choices[-1])
    return replace(tree, args=tuple(_of_two_states(arg, choices) for arg in tree.args))


def written() -> st.SearchStrategy[Written]:
    """Return what random models are made of."""
    one = st.tuples(conditions(1), numbers(1), numbers(1))
    choices = st.lists(st.booleans(), min_size=2, max_size=7)
    pair = st.builds(lambda tree, chosen: _of_two_states(tree, list(chosen)), conditions(2), choices)
    return st.builds(Written, st.tuples(one, one), pair, conditions(2))


class Three(Index):
    """The members of the fourth cell."""

    label = "t"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 3


def random_model(parts: Written) -> Model:
    """Return a new class's model, whose steps may leave their domains; its step invariant is called `kept`."""

    class Random(Model):
        headline = ("kept", "low")

        def declare(self, b: object) -> State:
            return State(
                a=Int(0, SIZES[0] - 1), b=Int(0, SIZES[1] - 1), c=Int(0, SIZES[2] - 1), d=Set(Three), e=Int(0, 0)
            )

        def does(self, s: StateView, number: int) -> None:
            guard, third, second = (made(_graph(s), tree) for tree in parts.actions[number])
            require(Bool(guard))
            s.c = _possible(third, SIZES[2])
            s.b = _possible(second, SIZES[1])

        @action
        def first(self, s: StateView) -> None:
            self.does(s, 0)

        @action
        def second(self, s: StateView) -> None:
            self.does(s, 1)
            s.d = s.d | {self.all(Three)[1]}

        @action
        def third(self, s: StateView) -> None:
            require(s.b != 0)
            s.a = 1 - s.a

        @invariant
        def low(self, s: StateView) -> Condition:
            return Bool(made(_graph(s), parts.low))

    @step_invariant(Random)
    def kept(model: Random, before: StateView, after: StateView) -> Condition:
        return Bool(made(_graph(before), parts.pair))

    return Random()


def _possible(node: Node, size: int) -> Num | int:
    """A number that is sometimes a code: one that never is would be refused at once."""
    return Num(node) if node.lo < size and node.hi >= 0 else 0


def _graph(s: StateView) -> Graph:
    node: Node = s.a.node
    return node.graph
