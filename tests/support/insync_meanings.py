"""What the actions and properties of a model mean in many states, as numbers, which change with what they mean.

A state that is never reached counts too, as a careless change often shows only there.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from insync.explorer.mutants import mutants_of
from insync.model import LogCell, Model
from insync.model.evaluator import Codes, Evaluator
from insync.model.expressions.graph import Node, Op, reachable
from insync.properties.condition_text import show
from insync.properties.explain import explain
from insync.properties.invariants import StepInvariant
from insync.properties.registry import invariants_of, lemmas_of, run_properties_of

__all__ = ["KAFKA", "Record", "beside", "conditions", "meanings", "simplicity", "states_of", "values", "words"]


Values = np.ndarray[Any, Any]

_BITS = 62


def _select(index: Values, *elements: Values) -> Values:
    found = np.zeros_like(index)
    for place, element in enumerate(elements):
        found = np.where(index == place, element, found)
    return found


def _within(places: Values) -> Values:
    return np.clip(places, 0, _BITS)


_OPERATIONS: dict[Op, Any] = {
    Op.ADD: np.add,
    Op.SUB: np.subtract,
    Op.MUL: np.multiply,
    Op.DIV: np.floor_divide,
    Op.MOD: np.mod,
    Op.MIN: np.minimum,
    Op.MAX: np.maximum,
    Op.EQ: np.equal,
    Op.LT: np.less,
    Op.LE: np.less_equal,
    Op.AND: lambda *given: np.logical_and.reduce(given),
    Op.OR: lambda *given: np.logical_or.reduce(given),
    Op.NOT: np.logical_not,
    Op.ITE: np.where,
    Op.SELECT: _select,
    Op.BITAND: np.bitwise_and,
    Op.BITOR: np.bitwise_or,
    Op.BITDIFF: lambda a, b: a & ~b,
    Op.BIT: lambda place: np.where((place >= 0) & (place <= _BITS), np.left_shift(1, _within(place)), 0),
    Op.TEST: lambda mask, place: (place >= 0) & (place <= _BITS) & ((mask >> _within(place)) & 1 == 1),
    Op.COUNT: lambda mask: np.bitwise_count(mask).astype(np.int64),
}


def values(nodes: Iterable[Node], states: Sequence[Codes]) -> dict[int, Values]:
    """Return the values of some nodes, and of all that they are made of, in all states at once, by the node's index."""
    columns, known = np.array(states, dtype=np.int64).T.copy(), dict[int, Values]()
    for node in reachable(list(nodes)):
        if node.op is Op.CELL:
            known[node.index] = columns[int(str(node.arg))]
        elif node.op is Op.CONST:
            known[node.index] = np.full(len(states), node.arg)
        else:
            known[node.index] = _OPERATIONS[node.op](*(known[arg.index] for arg in node.args))
    return known


def states_of(model: Model, walks: int = 12, steps: int = 25) -> list[Codes]:
    """Return the states of random walks."""
    evaluator, chance, found = Evaluator(model.program), random.Random(1), list[Codes]()
    for _ in range(walks):
        codes = model.program.initials[0]
        for _ in range(steps):
            fitting = [n for n in evaluator.enabled(codes) if evaluator.failing_check(n, codes) is None]
            if not fitting:
                break
            codes = evaluator.step(fitting[int(chance.random() * len(fitting))], codes)
            found.append(codes)
    return found


def beside(model: Model, states: Iterable[Codes], each: int = 8) -> list[Codes]:
    """Return states, and others in which a few cells have any code; in half of them every budget is there still."""
    cells, chance = model.program.schema.cells, random.Random(2)
    spent, found = [cell.number for cell in cells if cell.path.startswith("spent.")], list(dict.fromkeys(states))
    for codes in list(found):
        for turn in range(each):
            other = list(codes)
            for cell in spent if turn % 2 else ():
                other[cell] = 0
            for _ in range(1 + turn // 2):
                place = int(chance.random() * len(cells))
                other[place] = int(chance.random() * cells[place].size)
            found.append(tuple(other))
    return found


def meanings(model: Model, states: Sequence[Codes], only: Collection[str] | None = None) -> dict[str, str]:
    """Return a number for each action, invariant, lemma and property of runs, by what it means in some states.

    Args:
        model: the model.
        states: the states.
        only: the properties; None for all that are declared, in whatever file was imported.
    """
    program, written = model.program, _written(model, only)
    parts = [[*action.guard, *(check.node for check in action.checks)] for action in program.actions]
    assigned = [node for action in program.actions for _, node in action.updates]
    known = values([node for nodes in [*parts, assigned, *written.values()] for node in nodes], states)
    found = {name: _checksum([known[node.index] for node in nodes]) for name, nodes in written.items()}
    for action in program.actions:
        enabled = np.logical_and.reduce([known[node.index] for node in action.guard] or [np.ones(len(states))])
        after = [known[node.index] for _, node in sorted(action.updates, key=lambda update: update[0])]
        after += [known[check.node.index] for check in action.checks]
        found[action.name] = _checksum([enabled, *(one[enabled] for one in after)], found.get(action.name, 0))
    return {name: f"{number:08x}" for name, number in found.items()}


def _checksum(columns: Iterable[Values], total: int = 0) -> int:
    for column in columns:
        total = crc32((np.packbits(column) if column.dtype == bool else column.astype("<i4")).tobytes(), total)
    return total


def _written(model: Model, only: Collection[str] | None) -> dict[str, list[Node]]:
    """The conditions that each property is made of."""
    found: dict[str, list[Node]] = {}
    for name, one in {**invariants_of(model), **lemmas_of(model)}.items():
        found[name] = list(one.by_action(model)) if isinstance(one, StepInvariant) else [one.node(model)]
    for name, run in run_properties_of(model).items():
        found[name] = [node for one in run.instances(model) for node in (one.when, one.then) if node is not None]
    return {name: nodes for name, nodes in found.items() if only is None or name in only}


def simplicity(model: Model) -> str:
    """Return how many nodes a program has, and a number for what they are and in which ranges they lie."""
    program = model.program
    parts = [[*one.guard, *(node for _, node in one.updates), *(c.node for c in one.checks)] for one in program.actions]
    nodes = reachable([node for part in parts for node in part])
    kinds = sorted((node.op.value, node.lo, node.hi) for node in nodes)
    return f"{len(nodes)} {crc32(repr(kinds).encode()):08x}"


def words(model: Model, states: Sequence[Codes], only: Collection[str] | None = None) -> dict[str, str]:
    """Return numbers for what people read of a model: of states, of steps, of conditions, and of why they fail."""
    written, readable = _written(model, only), model.decode
    known = values((node for nodes in written.values() for node in nodes), states)
    shown = [model.grid(readable(codes)).items() for codes in states[::29]]
    grids = [
        sorted((name, str(cell) if isinstance(cell, LogCell) else cell) for name, cell in cells) for cells in shown
    ]
    labels = [(one.label, sorted(one.shown_parameters.items())) for one in model.program.actions]
    reasons = []
    # In the order of their names: that of declaration is the order in which modules are imported.
    for _, one in sorted({**invariants_of(model), **lemmas_of(model)}.items()):
        if one.name in written and not isinstance(one, StepInvariant):
            failing = np.flatnonzero(np.logical_not(known[one.node(model).index]))
            found = [explain(model, one, states[place]) for place in (*failing[:2], *failing[-1:])]
            reasons += [failure and failure.sentence for failure in found]
    return {"(grids)": _number(grids), "(labels)": _number(labels), "(reasons)": _number(reasons)}


def conditions(model: Model, only: Collection[str] | None = None) -> dict[str, str]:
    """Return numbers for how a model's conditions are shown, and for what its mutants lack."""
    nodes = [node for one in model.program.actions for node in one.guard]
    nodes += [node for _, own in sorted(_written(model, only).items()) for node in own]
    lacking = [(one.name, one.change.value, sorted(one.replaced)) for one in mutants_of(model)]
    return {"(shown)": _number([show(model, node) for node in nodes]), "(mutants)": _number(lacking)}


def _number(written: Sequence[object]) -> str:
    return f"{len(written)} {crc32(repr(written).encode()):08x}"


@dataclass(frozen=True, slots=True)
class Record:
    """Numbers on record, by model and by what they are about, in a file beside the tests."""

    path: Path

    def known(self, name: str) -> dict[str, str]:
        """Return those of a model."""
        found: dict[str, str] = json.loads(self.path.read_text(encoding="utf-8"))[name]
        return found

    def write(self, name: str, found: Mapping[str, str]) -> None:
        """Put those of a model on record, beside those of others."""
        known = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}
        self.path.write_text(json.dumps({**known, name: found}, indent=1, sort_keys=True) + "\n", encoding="utf-8")


KAFKA = Record(Path(__file__).parents[1] / "kafka" / "meanings.json")
"""The numbers of Kafka's models."""
