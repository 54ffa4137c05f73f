"""What can be said of the members of some variables, as conditions of one model, and in which states each fails.

A condition is a column of bits, one for each choice of members and each state, so all states are looked at together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from insync.explorer.exploring.conditions import ConditionError, ConditionReader
from insync.explorer.mining.grammar import MOST_ATOMS, Binding, Prefix, atoms_of, prefixes_of
from insync.model import Model
from insync.model.domains.sorts import Parameter
from insync.model.evaluator import Codes, evaluate, evaluate_each
from insync.model.expressions.graph import Node, Op, reachable
from insync.model.expressions.simplify import apply

__all__ = ["Saying", "TruthTable", "sayings_of"]

_FEW = 8
"""States for which it does not pay to remember what each condition reads."""


@dataclass(frozen=True, slots=True)
class Saying:
    """The conditions on some variables.

    Attributes:
        prefix: the variables.
        atoms: the conditions; a literal is twice the number of one, and one more where that must not hold.
        uses: for each of them the variables that it speaks of, as a mask.
        renamed: for each way to exchange variables of one kind what becomes of each literal; None where that is no
            literal.
    """

    prefix: Prefix
    atoms: tuple[str, ...]
    uses: tuple[int, ...]
    renamed: tuple[tuple[int | None, ...], ...]


def sayings_of(model: Model, small: Model, go_on: Callable[[], None]) -> list[Saying]:
    """Return what can be said of the states of a model, and of those of the same model at small bounds.

    Args:
        model: the model.
        small: the same at small bounds; it may be the same instance.
        go_on: called again and again; what it raises ends it.
    """
    reader, other = ConditionReader(model), ConditionReader(small)
    found = []
    for prefix in prefixes_of(model):
        bindings = prefix.bindings(model)
        distinct: dict[tuple[Node, ...], str] = {}
        for text in atoms_of(model, prefix):
            go_on()
            nodes = _read(reader, text, bindings)
            negated = nodes and tuple(apply(Op.NOT, node) for node in nodes)
            if nodes is None or negated in distinct or all(node.op is Op.CONST for node in nodes):
                continue
            if small is model or _read(other, text, prefix.bindings(small)) is not None:
                distinct.setdefault(nodes, text)
            if len(distinct) == MOST_ATOMS:
                break
        found.append(_saying(prefix, bindings, distinct))
    return found


def _read(reader: ConditionReader, text: str, bindings: Sequence[Binding]) -> tuple[Node, ...] | None:
    try:
        return tuple(reader.node(text, binding) for binding in bindings)
    except ConditionError:
        return None


def _saying(prefix: Prefix, bindings: Sequence[Binding], distinct: dict[tuple[Node, ...], str]) -> Saying:
    place = {tuple(binding.values()): number for number, binding in enumerate(bindings)}
    number = {nodes: 2 * at for at, nodes in enumerate(distinct)}
    number |= {tuple(apply(Op.NOT, node) for node in nodes): literal + 1 for nodes, literal in number.items()}
    renamed = []
    for names in prefix.renamings():
        order = [place[tuple(binding[names[name]] for name in binding)] for binding in bindings]
        moved = [number.get(tuple(nodes[at] for at in order)) for nodes in distinct]
        renamed.append(tuple(None if to is None else to ^ off for to in moved for off in (0, 1)))
    uses = tuple(_used(prefix, bindings, nodes) for nodes in distinct)
    return Saying(prefix, tuple(distinct.values()), uses, tuple(renamed))


def _used(prefix: Prefix, bindings: Sequence[Binding], nodes: Sequence[Node]) -> int:
    """Return the mask of the variables that a condition depends on."""
    mask = 0
    for at, variable in enumerate(prefix.variables):
        groups: dict[tuple[Parameter, ...], set[Node]] = {}
        for binding, node in zip(bindings, nodes, strict=True):
            groups.setdefault(tuple(v for name, v in binding.items() if name != variable.name), set()).add(node)
        mask |= any(len(group) > 1 for group in groups.values()) << at
    return mask


class TruthTable:
    """The conditions of sayings in one model.

    Args:
        model: the model.
        sayings: what is said.
        go_on: called again and again; what it raises ends it.
    """

    def __init__(self, model: Model, sayings: Sequence[Saying], go_on: Callable[[], None]) -> None:
        self.sayings, self.go_on = sayings, go_on
        reader = ConditionReader(model)
        self.nodes: list[list[list[Node]]] = []
        for saying in sayings:
            bindings = saying.prefix.bindings(model)
            self.nodes.append([])
            for text in saying.atoms:
                go_on()
                self.nodes[-1].append([reader.node(text, binding) for binding in bindings])
        every = {node.index: node for one in self.nodes for atom in one for node in atom}
        self._distinct = list(every.values())
        self._reads = [_cells_of(node) for node in self._distinct]

    def failing(self, states: Sequence[Codes]) -> list[list[int]]:
        """Return for each saying and literal where it fails: a bit for each choice of members and each state."""
        bits, width = self._bits(states), len(states)
        found = []
        for atoms in self.nodes:
            literals = []
            for nodes in atoms:
                holds = 0
                for node in reversed(nodes):
                    holds = holds << width | bits[node.index]
                literals += [holds ^ (1 << width * len(nodes)) - 1, holds]
            found.append(literals)
        return found

    def _bits(self, states: Sequence[Codes]) -> dict[int, int]:
        """Return for each condition a bit for each state in which it holds."""
        found = dict.fromkeys((node.index for node in self._distinct), 0)
        if len(states) <= _FEW:
            for number, codes in enumerate(states):
                values = zip(self._distinct, evaluate_each(self._distinct, codes), strict=True)
                for node, value in values:
                    found[node.index] |= bool(value) << number
            return found
        for node, cells in zip(self._distinct, self._reads, strict=True):
            self.go_on()
            found[node.index] = _column(node, cells, states)
        return found


def _column(node: Node, cells: Sequence[int], states: Sequence[Codes]) -> int:
    """Return a bit for each state in which a condition holds; it is evaluated once for what it reads."""
    if not cells:
        return (1 << len(states)) - 1 if node.arg is True else 0
    read = itemgetter(*cells)
    known: dict[object, str] = {}
    digits = []
    for codes in reversed(states):
        key = read(codes)
        digit = known.get(key)
        if digit is None:
            digit = known[key] = "1" if evaluate(node, codes) else "0"
        digits.append(digit)
    return int("".join(digits), 2)


def _cells_of(node: Node) -> list[int]:
    return sorted(int(str(one.arg)) for one in reachable([node]) if one.op is Op.CELL)
