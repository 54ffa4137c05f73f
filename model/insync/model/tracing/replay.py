"""Replay: a lifted action is run again with values of its variables.

Variables become constants, the guard comes first, and assignments follow in order, so that each read sees those before
it. A quantifier becomes a condition for each member. The nodes of an action are split into blocks by their free
variables, and a block is evaluated once for all bindings that agree on these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from insync.model.domains.bounds import is_open
from insync.model.domains.open_bounds import OpenGraph
from insync.model.expressions.graph import Binder, Graph, Location, Made, Node, Op, Quantifier, Variable
from insync.model.expressions.lifted import MARKED, Action, Assign, Expect, LiftedGraph
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.source import Notes
from insync.model.expressions.store import conjuncts, replace_where, selected, selections

__all__ = ["Replay", "open_action"]


_MARK = re.compile(f"{MARKED[0]}(\\d+){MARKED[1]}")


@dataclass(slots=True)
class _Block:
    """Nodes with the same free variables, in registers one after the other.

    Attributes:
        slots: the slots of the variables.
        first, last: the first register, and the one after the last.
        steps: for each node the function that gives its value.
        known: the values of the nodes for each value of the variables; None where no two bindings agree on these.
    """

    slots: tuple[int, ...]
    first: int
    last: int
    steps: list[Callable[[], Node]]
    known: dict[tuple[int, ...], list[Node]] | None


@dataclass(slots=True)
class _Assigning:
    """An assignment, and the registers of its nodes.

    Attributes:
        blocks: what is evaluated before it.
        assign: the assignment.
        indexes, where, codes: the registers of its nodes.
    """

    blocks: list[_Block]
    assign: Assign
    indexes: list[int]
    where: list[int]
    codes: list[int]


class Replay:
    """Runs a lifted action for values of its variables.

    Args:
        lifted: the graph of the action.
        action: the action.
        open_expects: the conditions whose instances are wanted.
        graph: the graph of the results.
        copies: the ground nodes of the lifted graph in that graph, by their indexes; those met here are added.
        notes: the notes whose nodes are wanted too, even where the guard is false; None for none.
        begun: the node of each cell before the action; None for the cells of a state.

    Attributes:
        guard: the conjuncts of the guard, after a run.
        writes: the assignments to arrays of open length, after a run; a cell each.
    """

    def __init__(
        self,
        lifted: LiftedGraph,
        action: Action,
        open_expects: Sequence[Expect],
        graph: Graph,
        copies: dict[int, Node],
        notes: Notes | None = None,
        begun: list[Node] | None = None,
    ) -> None:
        self.lifted, self.action, self.graph = lifted, action, graph
        self.expects, self._copies = open_expects, copies
        self.guard: list[Node] = []
        self.writes: list[Assign] = []
        closed = [variable for variable in action.variables if not is_open(variable.size)]
        self._slots = {variable: slot for slot, variable in enumerate(closed)}
        self._values = [0] * len(self._slots)
        self._all = frozenset(closed)
        self._closed: dict[int, frozenset[Variable]] = {}
        self._register: dict[int, int] = {}
        self._registers: list[Any] = []
        self._begun, self._same_cells = graph.cells() if begun is None else begun, begun is None
        self._cells: list[Node] = []
        self._assigned: set[int] = set()
        self._versions: dict[int, tuple[list[Node], int]] = {0: (self._begun, 0)}
        self._read: set[int] = {0}
        self._facts = facts = lifted.node_facts()
        early = [node for node in action.guard if not facts[node.index].version] if notes is None else []
        made = [node for one in action.made.items() for node in _nodes_of(*one)]
        marked = [node for one in open_expects for node in self._marked(one.message)]
        last = [*action.guard, *(n for one in open_expects for n in (*one.where, one.condition)), *made, *action.orders]
        if notes is not None:
            last += [one.condition for one in notes.required]
            last += [node for one in notes.branches for node in (*one.where, one.test)]
            last += [node for one in notes.assigned for node in one.where]
        self._early = self._blocks(early)
        # All nodes that can be evaluated are, before the first assignment that needs one of them.
        rest = [*(node for one in action.assigns for node in one.nodes), *last, *marked]
        versions = [facts[node.index].version for node in rest]
        in_turn = any(versions)
        self._results = () if action.results is None or in_turn else action.results
        if self._results:
            rest = [*(node for _, node in self._results), *last, *marked]
        self._assigning: list[_Assigning] = []
        register = self._register
        for done, one in enumerate(() if self._results else action.assigns):
            blocks: list[_Block] = []
            if not done or (in_turn and any(node.index not in register for node in one.nodes)):
                blocks = self._blocks(node for node, needed in zip(rest, versions, strict=True) if needed <= done)
            places = [[register[node.index] for node in some] for some in (one.indexes, one.where, one.codes)]
            self._assigning.append(_Assigning(blocks, one, *places))
        self._last = self._blocks(rest)
        self._conditions = [(self._register[node.index], node in early) for node in action.guard]

    # ------------------------------------------------------------------------------------------------------ running

    def run(self, values: Sequence[int]) -> bool:
        """Replay the action for codes of its variables; return whether its guard can hold at all."""
        self._values[: len(values)] = values
        registers, false, true = self._registers, self.graph.false, self.graph.true
        self._run(self._early)
        if any(is_early and registers[at] is false for at, is_early in self._conditions):
            return False
        self._cells = cells = list(self._begun)
        self._assigned.clear()
        self.writes = []
        for version, one in enumerate(self._assigning, start=1):
            if one.blocks:
                self._run(one.blocks)
            self._assign(one)
            if version in self._read:
                self._versions[version] = list(cells), len(self.writes)
        self._run(self._last)
        for cell, node in self._results:
            cells[cell] = self.at(node)
            self._assigned.add(cell)
        guard: dict[Node, None] = {}
        for at, _ in self._conditions:
            condition = registers[at]
            if condition is false:
                return False
            guard.update(dict.fromkeys(conjuncts(condition)))
        guard.pop(true, None)
        self.guard = list(guard)
        self._note()
        return True

    def updates(self) -> Iterator[tuple[int, Node]]:
        """Yield number and new code of each cell that changes."""
        for cell in sorted(self._assigned):
            if self._cells[cell] is not self._begun[cell]:
                yield cell, self._cells[cell]

    def expected(self) -> Iterator[Expect]:
        """Yield the conditions that make the assignments sound, unless they always hold."""
        graph = self.graph
        for one in self.expects:
            condition = self.at(one.condition)
            where = [node for node in map(self.at, one.where) if node is not graph.true]
            if condition is not graph.true and graph.false not in where:
                yield Expect(tuple(where), condition, self._named(one.message))

    def at(self, node: Node) -> Node:
        """Return the value of a node of the action, after a run."""
        found: Node = self._registers[self._register[node.index]]
        return found

    def _run(self, blocks: Iterable[_Block]) -> None:
        registers, values = self._registers, self._values
        for block in blocks:
            known = block.known
            if known is None:
                for at, step in enumerate(block.steps, start=block.first):
                    registers[at] = step()
                continue
            key = tuple([values[slot] for slot in block.slots])
            found = known.get(key)
            if found is not None:
                registers[block.first : block.last] = found
                continue
            for at, step in enumerate(block.steps, start=block.first):
                registers[at] = step()
            known[key] = registers[block.first : block.last]

    def _assign(self, one: _Assigning) -> None:
        registers, cells, true = self._registers, self._cells, self.graph.true
        where = [condition for at in one.where if (condition := registers[at]) is not true]
        if self.graph.false in where:
            return
        codes = [registers[at] for at in one.codes]
        indexes = [registers[at] for at in one.indexes]
        for base, chosen, places in selections(self.graph, one.assign.base, one.assign.dims, indexes, where):
            if places:
                dims = tuple(dim for dim in one.assign.dims if not dim[0])
                here = combine(self.graph, Op.AND, chosen)
                for cell, code in enumerate(codes, start=base):
                    self.writes.append(Assign(cell, dims, places, (here,), (code,), one.assign.onwards))
                continue
            self._assigned.update(range(base, base + len(codes)))
            replace_where(cells, base, chosen, codes)

    def _note(self) -> None:
        """Record in the graph how containers were made, and by which conditions they are sorted."""
        graph = self.graph
        for codes, made in self.action.made.items():
            own = tuple(map(self.at, codes))
            first, other = tuple(map(self.at, made.first)), tuple(map(self.at, made.other))
            condition = None if made.condition is None else self.at(made.condition)
            if _newest(own) > max(_newest(first), _newest(other)):
                graph.made.setdefault(own, Made(made.how, first, other, condition))
        graph.orders.update(node for node in map(self.at, self.action.orders) if node.op is not Op.CONST)

    def _named(self, text: str, free: frozenset[Variable] | None = None) -> str:
        """Return a text with the names of places for marks.

        Args:
            text: the text.
            free: the variables that have values now; None for all parameters.
        """

        def name(mark: re.Match[str]) -> str:
            index, names = self.lifted.marks[int(mark[1])]
            at = self._register.get(index.index)
            known = at is not None and self.lifted.free(index) <= (self._all if free is None else free)
            found = self._registers[at] if at is not None and known else None
            if found is None or found.op is not Op.CONST:
                return "..."
            if not names:
                return str(found.lo)
            return names[found.lo] if 0 <= found.lo < len(names) else "..."

        return _MARK.sub(name, text) if MARKED[0] in text else text

    def _marked(self, text: str) -> list[Node]:
        return [self.lifted.marks[int(mark)][0] for mark in _MARK.findall(text)] if MARKED[0] in text else []

    # ---------------------------------------------------------------------------------------------------- compiling

    def _blocks(self, roots: Iterable[Node], bound: Variable | None = None) -> list[_Block]:
        """Return the blocks of the nodes below some roots that have no register yet, in the order of evaluation.

        Args:
            roots: the nodes.
            bound: the variable in whose quantifier the nodes are; those without it are in the blocks around it.
        """
        grouped: dict[int, list[Node]] = {}  # by the identity of their free variables, as sets are kept once
        facts, closed, copies = self._facts, self._closed, self._copies
        register, registers = self._register, self._registers
        for node in self._below(roots):
            index = node.index
            if facts[index].ground:
                copy = copies.get(index)
                if copy is None:
                    copy = copies[index] = self._copied(node)
                register[index] = len(registers)
                registers.append(copy)
                continue
            own = facts[index].free
            variables = closed.get(id(own))
            if variables is None:
                variables = self.lifted.kept(frozenset(one for one in own if not is_open(one.size)))
                closed[id(own)] = variables
            grouped.setdefault(id(variables), []).append(node)
        found = [(closed[id(facts[nodes[0].index].free)], nodes) for nodes in grouped.values()]
        blocks = []
        for variables, nodes in sorted(found, key=lambda one: len(one[0])):
            if _owner(variables) != bound:
                continue
            first = len(registers)
            register.update((node.index, at) for at, node in enumerate(nodes, start=first))
            registers += [None] * len(nodes)
            slots = tuple(self._slots[variable] for variable in variables)
            steps = [self._step(node) for node in nodes]
            blocks.append(_Block(slots, first, first + len(nodes), steps, None if self._all <= variables else {}))
        return blocks

    def _below(self, roots: Iterable[Node]) -> list[Node]:
        """Return the nodes below some roots that have no register yet, arguments first."""
        seen: dict[int, Node] = {}
        stack, register, copies = list(roots), self._register, self._copies
        while stack:
            node = stack.pop()
            index = node.index
            if index in seen or index in register:
                continue
            seen[index] = node
            if index in copies:
                continue
            stack += node.args
            if node.arg is not None and isinstance(node.arg, Quantifier):
                stack += [marked for label in node.arg.labels for marked in self._marked(label)]
        return [seen[index] for index in sorted(seen)]

    def _copied(self, node: Node) -> Node:
        """Return the copy of a ground node, which is its value for all values of the variables.

        A copy is as simple as the node, unless its cells are other nodes. The order of an equality is that of its
        arguments in their graph.
        """
        graph, op = self.graph, node.op
        if op is Op.CELL:
            return self._begun[node.cell]
        if op is Op.CONST:
            return graph.boolean(bool(node.arg)) if node.is_bool else graph.const(node.lo)
        args = [self._copies[one.index] for one in node.args]
        if self._same_cells and op is not Op.EQ:
            return graph.copied(node, tuple(args))
        return combine(graph, op, args, node.quantifier) if op in (Op.AND, Op.OR) else apply(op, *args)

    def _step(self, node: Node) -> Callable[[], Node]:
        """Return the function that evaluates a node; its arguments have registers."""
        graph, arg, registers = self.graph, node.arg, self._registers
        if arg is None:
            return self._operation(node)
        if isinstance(arg, (Binder, Variable)) and is_open((arg if isinstance(arg, Variable) else arg.variable).size):
            places = [self._register[one.index] for one in node.args]
            return lambda: graph.node(node.op, tuple([registers[at] for at in places]), arg)
        if isinstance(arg, Binder):
            slot = self._slots[arg.variable] = len(self._values)
            self._values.append(0)
            return self._binding(node, arg, slot, self._blocks(node.args, arg.variable))
        if isinstance(arg, Variable):
            slot, values = self._slots[arg], self._values
            return lambda: graph.const(values[slot])
        if isinstance(arg, Location):
            self._read.add(arg.version)
            return self._reading(node, arg)
        return self._operation(node)

    def _reading(self, node: Node, location: Location) -> Callable[[], Node]:
        registers, places = self._registers, [self._register[one.index] for one in node.args]
        base, dims, version = location.base, location.dims, location.version
        if not any(is_open(length) for _, length in dims):
            return lambda: selected(self._versions[version][0], base, dims, [registers[at] for at in places])

        graph = self.graph
        assert isinstance(graph, LiftedGraph), "arrays of open length are those of an open model"

        def read(cell: int, indexes: tuple[Node, ...]) -> Node:
            written = self._versions[version][1]
            made = location._replace(base=cell, dims=opened, version=written, store=location.store if written else 0)
            node = graph.node(Op.READ, indexes, made)
            if written and node not in graph.behind:
                nodes = [one for write in self.writes[:written] for one in write.nodes]
                graph.behind[node] = graph.kept(frozenset().union(*map(graph.free, nodes)))
            return node

        opened = tuple((stride, length) for stride, length in dims if not stride)
        return lambda: selected(self._versions[version][0], base, dims, [registers[at] for at in places], read)

    def _operation(self, node: Node) -> Callable[[], Node]:
        registers, graph, op = self._registers, self.graph, node.op
        places = [self._register[one.index] for one in node.args]
        if op in (Op.AND, Op.OR):
            quantifier = node.quantifier
            if quantifier is None or not any(MARKED[0] in label for label in quantifier.labels):
                return lambda: combine(graph, op, [registers[at] for at in places], quantifier)
            free = self.lifted.free(node)

            def labelled() -> Node:
                labels = tuple(self._named(label, free) for label in quantifier.labels)
                named = Quantifier(quantifier.variable, labels)
                return combine(graph, op, [registers[at] for at in places], named)

            return labelled
        if len(places) == 1:
            (place,) = places
            return lambda: apply(op, registers[place])
        get = itemgetter(*places)
        return lambda: apply(op, *get(registers))

    def _binding(self, node: Node, binder: Binder, slot: int, blocks: Sequence[_Block]) -> Callable[[], Node]:
        graph, registers, values = self.graph, self._registers, self._values
        body, *inside = [self._register[one.index] for one in node.args]
        word, variable, names = binder.word, binder.variable, binder.members
        one, zero = graph.const(1), graph.const(0)

        def parts() -> Iterator[Node]:
            mask = registers[inside[0]] if inside else None
            size = variable.size if names or mask is None else min(variable.size, mask.hi.bit_length())
            for value in range(size):
                values[slot] = value
                self._run(blocks)
                found: Node = registers[body]
                if mask is not None:
                    within = apply(Op.TEST, mask, graph.const(value))
                    if word == "for_all":
                        found = combine(graph, Op.OR, [apply(Op.NOT, within), found])
                    else:
                        found = combine(graph, Op.AND, [within, found])
                yield found

        def counted() -> Node:
            total = zero
            for found in parts():
                total = apply(Op.ADD, total, apply(Op.ITE, found, one, zero))
            return total

        def quantified() -> Node:
            found = list(parts())
            labels = names or tuple(map(str, range(len(found))))
            quantifier = Quantifier(variable.name, labels)
            return combine(graph, Op.AND if word == "for_all" else Op.OR, found, quantifier)

        return counted if word == "count" else quantified


def _nodes_of(codes: Sequence[Node], made: Made) -> list[Node]:
    return [*codes, *made.first, *made.other, *([] if made.condition is None else [made.condition])]


def _newest(codes: Sequence[Node]) -> int:
    return max((code.index for code in codes if code.op is not Op.CONST), default=-1)


def _owner(free: frozenset[Variable]) -> Variable | None:
    """Return the innermost variable of a quantifier among some variables."""
    return min((one for one in free if one.number < 0), key=lambda one: one.number, default=None)


def open_action(lifted: OpenGraph, action: Action, graph: OpenGraph, begun: list[Node] | None = None) -> Action | None:
    """Return a lifted action without closed variables, with open ones left in; None if its guard is false.

    Cells of open arrays are read by `READ`, and all others are resolved as in a program. The assignments to such arrays
    come first, a cell each, and a version counts these.

    Args:
        lifted: the graph of the action.
        action: the action.
        graph: the graph of the result.
        begun: the node of each cell before the action; None for the cells of a state.
    """
    replay = Replay(lifted, action, action.expects, graph, {}, begun=begun)
    if not replay.run(()):
        return None
    assigns = [*replay.writes, *(Assign(cell, (), (), (), (code,)) for cell, code in replay.updates())]
    expects = tuple(replay.expected())
    return replace(action, guard=tuple(replay.guard), assigns=tuple(assigns), expects=expects, results=None)
