"""The synchronous product of two models: one program whose steps are those that both models take alike.

A joined state has the cells of both models; cells of the same path and values are common, and are in it once. Two
actions are one if their names and the values of their parameters are equal. A joined step is taken by both models and
gives the common cells equal values, so the two models agree on these in each reachable state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.domains.composite import Scalar
from insync.model.domains.domain import plain
from insync.model.domains.layout import Schema
from insync.model.evaluator import Codes
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply, combine, substituted
from insync.model.tracing.initial_states import Beginning, Initials
from insync.model.tracing.program import BoundAction, Program

__all__ = ["Joined", "JoinedModel", "join"]

_FEW = 256

_Key = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class Joined:
    """Two models as one program.

    Attributes:
        first, second: the models.
        program: the product.
        places: for each cell of the second model its index among the joined cells; those of the first come first.
        common: the joined cells that both have.
        numbers: for each joined action its numbers in the first and in the second model.
        counterparts: for each action of the first model the number of the same action in the second, or None; and the
            other way round.
        only: the condition that the first model takes a step that the second does not take, or that leads the second
            elsewhere; and the other way round.
        alone: the initial states of the first model that agree with none of the second, and the other way round.
    """

    first: Model
    second: Model
    program: Program
    places: tuple[int, ...]
    common: tuple[int, ...]
    numbers: tuple[tuple[int, int], ...]
    counterparts: tuple[tuple[int | None, ...], tuple[int | None, ...]]
    only: tuple[Node, Node]
    alone: tuple[tuple[Codes, ...], tuple[Codes, ...]]

    @property
    def comparable(self) -> bool:
        """Whether the two models have the very same states: every cell is common, in the same order."""
        return self.places == tuple(range(len(self.first.program.schema.cells))) == self.common

    def models(self, side: int) -> tuple[Model, Model]:
        """Return the model of a side, 0 or 1, and the other one."""
        return (self.first, self.second) if side == 0 else (self.second, self.first)

    def title(self, side: int) -> str:
        """Return a title of the model of a side: its name, and for two models of one class the settings that differ."""
        model, other = self.models(side)
        if type(model) is not type(other):
            return model.name if model.name != other.name else model_reference(model)
        theirs = other.identity
        own = [f"{name} {value}" for name, value in model.identity.items() if theirs.get(name) != value]
        return f"{model.name} ({', '.join(own)})" if own else model.name

    def part(self, side: int, codes: Sequence[int]) -> Codes:
        """Return the state of one model in a joined state; side 0 is the first, 1 the second."""
        if side == 0:
            return tuple(codes[: len(self.first.program.schema.cells)])
        return tuple(codes[place] for place in self.places)

    @property
    def own_fields(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The paths of the cells that only the first model has, and those that only the second has."""
        common = set(self.common)
        first = tuple(cell.path for cell in self.first.program.schema.cells if cell.number not in common)
        cells = zip(self.second.program.schema.cells, self.places, strict=True)
        return first, tuple(cell.path for cell, place in cells if place not in common)


class JoinedModel(Model):
    """A model with the joined program, for functions that take a model."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self._program = program


class _Cells:
    """The joined cells, in the form that a schema is made of."""

    def __init__(self, cells: Iterable[tuple[str, int]]) -> None:
        self._cells = tuple(cells)

    def cells(self, path: str) -> Iterable[tuple[str, int]]:
        """Return the path and size of each."""
        return self._cells


_Takes = dict[_Key, tuple[int, list[Node], dict[int, Node]]]
"""The actions of one model over the joined cells, by key: number, guards and checks, and updates."""


def join(first: Model, second: Model) -> Joined:
    """Return the synchronous product of two models."""
    places, cells = _places(first, second)
    schema = Schema(_Cells(cells))
    common = tuple(sorted(place for place in places if place < len(first.program.schema.cells)))
    graph = Graph(size for _, size in cells)
    one = _takes(graph, first.program, range(len(first.program.schema.cells)))
    other = _takes(graph, second.program, places)
    actions, numbers = [], []
    only: tuple[list[Node], list[Node]] = ([], [])
    for key, (number, takes, updates) in one.items():
        if key not in other:
            only[0].append(combine(graph, Op.AND, takes))
            continue
        their_number, they_take, their_updates = other[key]
        apart = _apart(graph, common, updates, their_updates)
        mine, theirs = combine(graph, Op.AND, takes), combine(graph, Op.AND, they_take)
        if mine is not theirs or apart is not graph.false:
            alike = combine(graph, Op.AND, [mine, theirs, apply(Op.NOT, apart)])
            for side, node in zip(only, (mine, theirs), strict=True):
                side.append(combine(graph, Op.AND, [node, apply(Op.NOT, alike)]))
        made = first.program.actions[number]
        guard = dict.fromkeys([*takes, *they_take, *([] if apart is graph.false else [apply(Op.NOT, apart)])])
        kept = {**their_updates, **updates}
        actions.append(
            BoundAction(
                made.name, made.parameters, made.label, tuple(guard), tuple(sorted(kept.items(), key=_cell)), ()
            )
        )
        numbers.append((number, their_number))
    only[1].extend(combine(graph, Op.AND, takes) for key, (_, takes, _) in other.items() if key not in one)
    pairs, alone = _beginnings(first, second, places, common)
    beginnings = tuple(Beginning("", "", graph, (), tuple(map(graph.const, codes))) for codes in pairs)
    initials = Initials(schema, beginnings, lambda: None)
    program = Program(graph, schema, tuple(actions), tuple(dict.fromkeys(a.name for a in actions)), initials)
    conditions = (combine(graph, Op.OR, only[0]), combine(graph, Op.OR, only[1]))
    counterparts = (_counterparts(one, other), _counterparts(other, one))
    return Joined(first, second, program, places, common, tuple(numbers), counterparts, conditions, alone)


def _cell(update: tuple[int, Node]) -> int:
    return update[0]


def _places(first: Model, second: Model) -> tuple[tuple[int, ...], list[tuple[str, int]]]:
    """Return the index of each cell of the second model among the joined cells, and the joined cells."""
    known = {(path, values): number for number, (path, _, values) in enumerate(_cells_of(first))}
    cells = [(path, size) for path, size, _ in _cells_of(first)]
    places = []
    for path, size, values in _cells_of(second):
        if (path, values) in known:
            places.append(known[path, values])
        else:
            places.append(len(cells))
            cells.append((f"other.{path}", size))
    return tuple(places), cells


def _cells_of(model: Model) -> list[tuple[str, int, tuple[str, ...]]]:
    """Return for each cell its path, its number of codes, and the values of the codes."""
    return [(leaf.after(""), leaf.size, _values(leaf.domain, leaf.size)) for leaf in model.state.leaves()]


def _values(domain: Scalar | None, size: int) -> tuple[str, ...]:
    """Return the values of a cell's codes; of a large cell only a few, which determine the others."""
    if domain is None:
        return ("there or not", str(size))
    some = range(size) if size <= _FEW else (0, 1, 2, size // 2, size - 1)
    return (type(domain).__name__, str(size), *(plain(domain.readable(code)) for code in some))


def _takes(graph: Graph, program: Program, places: Sequence[int]) -> _Takes:
    cells = [graph.cell(place) for place in places]
    nodes = [
        node
        for action in program.actions
        for node in [*action.guard, *(check.node for check in action.checks), *(node for _, node in action.updates)]
    ]
    made = iter(substituted(graph, nodes, cells))
    takes: _Takes = {}
    for number, action in enumerate(program.actions):
        conditions = [next(made) for _ in [*action.guard, *action.checks]]
        updates = {places[cell]: next(made) for cell, _ in action.updates}
        takes[_key(action)] = (number, conditions, updates)
    return takes


def _key(action: BoundAction) -> _Key:
    return action.name, tuple(sorted(action.shown_parameters.items()))


def _counterparts(one: _Takes, other: _Takes) -> tuple[int | None, ...]:
    return tuple(other[key][0] if key in other else None for key in one)


def _apart(graph: Graph, common: Sequence[int], mine: dict[int, Node], theirs: dict[int, Node]) -> Node:
    """Return the condition that two steps give a common cell different values."""
    shared = set(common)
    cells = sorted(cell for cell in {*mine, *theirs} if cell in shared)
    values = [(mine.get(cell, graph.cell(cell)), theirs.get(cell, graph.cell(cell))) for cell in cells]
    return combine(graph, Op.OR, [apply(Op.NOT, apply(Op.EQ, a, b)) for a, b in values if a is not b])


def _beginnings(
    first: Model, second: Model, places: Sequence[int], common: Sequence[int]
) -> tuple[list[Codes], tuple[tuple[Codes, ...], tuple[Codes, ...]]]:
    """Return the joined initial states, and the initial states of each model that agree with none of the other."""
    at = {place: cell for cell, place in enumerate(places)}
    theirs: dict[Codes, list[Codes]] = {}
    for codes in second.program.initials:
        theirs.setdefault(tuple(codes[at[place]] for place in common), []).append(codes)
    pairs: list[Codes] = []
    alone: list[Codes] = []
    met = set()
    for codes in first.program.initials:
        key = tuple(codes[place] for place in common)
        met.add(key)
        own = [
            [their[cell] for cell, place in enumerate(places) if place >= len(codes)] for their in theirs.get(key, ())
        ]
        pairs += [(*codes, *more) for more in own]
        alone += [] if own else [codes]
    others = [codes for key, found in theirs.items() if key not in met for codes in found]
    return pairs, (tuple(alone), tuple(others))
