"""What the actions and properties of a model mean in many states, as numbers, which change with what they mean.

A state that is never reached counts too, as a careless change often shows only there.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from insync.model import Model
from insync.model.evaluator import Codes, Evaluator
from insync.model.graph import Node, Op, reachable
from insync.properties.registry import invariants_of, lemmas_of, run_properties_of
from insync.properties.step_invariants import StepInvariant

__all__ = ["beside", "meanings", "on_record", "record", "states_of", "values"]

RECORD = Path(__file__).parents[1] / "kafka" / "meanings.json"

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
            if not (enabled := evaluator.enabled(codes)):
                break
            codes = evaluator.step(enabled[int(chance.random() * len(enabled))], codes)
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


def meanings(model: Model, states: Sequence[Codes]) -> dict[str, str]:
    """Return a number for each action, invariant, lemma and property of runs, by what it means in some states."""
    program, written = model.program, _written(model)
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


def _written(model: Model) -> dict[str, list[Node]]:
    """The conditions that each property is made of."""
    found: dict[str, list[Node]] = {}
    for name, one in {**invariants_of(model), **lemmas_of(model)}.items():
        found[name] = list(one.by_action(model)) if isinstance(one, StepInvariant) else [one.node(model)]
    for name, run in run_properties_of(model).items():
        found[name] = [node for one in run.instances(model) for node in (one.when, one.then) if node is not None]
    return found


def on_record(name: str) -> dict[str, str]:
    """Return the numbers that are on record for a model."""
    known: dict[str, str] = json.loads(RECORD.read_text(encoding="utf-8"))[name]
    return known


def record(found: Mapping[str, Mapping[str, str]]) -> None:
    """Put the numbers of models on record, beside those of others."""
    known = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    RECORD.write_text(json.dumps({**known, **found}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
