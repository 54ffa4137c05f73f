"""The expression graph: immutable, hash-consed nodes, owned by one model instance.

Hash-consing (Ershov 1958; Filliâtre and Conchon 2006) makes one object of equal nodes, so identity is equality.
A node is one operation of a closed set (`Op`). Its arguments have a smaller `index` than the node: sorting by index
is a topological order, and no pass needs recursion. Each node carries the range of values that it can take. The rules
that replace a node by a simpler one are in `simplify`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter
from typing import ClassVar, NamedTuple, TypeVar

from insync.runtime.errors import ModelError, user_frame

__all__ = [
    "GROUND",
    "LARGEST_SET",
    "LIFTED",
    "Binder",
    "Graph",
    "Location",
    "Made",
    "Node",
    "Op",
    "Quantifier",
    "Variable",
    "fold",
    "meanings",
    "reachable",
]

T = TypeVar("T")

LARGEST_SET = 62
"""The largest number of members of a set: sets are bit masks within +-2^62."""

_LEAST, _FAR = -(2**62), 2**62


class Op(Enum):
    """The closed set of operations. Each engine has one rule for each of them but the last three.

    `VAR`, `READ` and `BIND` occur in lifted actions alone (`expressions.lifted`). A program has none of them.
    """

    CONST = "const"  # arg: an int, or a bool
    CELL = "cell"  # arg: the number of a cell; its value is the cell's code, 0 .. size-1
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"  # a // n, rounded down, by a constant n from 1
    MOD = "mod"  # a % n, from 0 to n - 1, by a constant n from 1
    MIN = "min"
    MAX = "max"
    EQ = "eq"
    LT = "lt"
    LE = "le"
    AND = "and"  # conditions, two or more (or one, with an arg); arg: None or a Quantifier
    OR = "or"
    NOT = "not"
    ITE = "ite"  # (condition, int, int)
    SELECT = "select"  # (index, e0, .., en-1): e[index], and 0 where index is outside 0 .. n-1
    BITAND = "bitand"
    BITOR = "bitor"
    BITDIFF = "bitdiff"  # a & ~b
    BIT = "bit"  # 1 << i, and 0 where i is outside 0 .. 62
    TEST = "test"  # (mask, i): bit i is set; false where i is outside 0 .. 62
    COUNT = "count"  # how many bits are set
    VAR = "var"  # arg: a Variable; its value is a code, 0 .. size-1
    READ = "read"  # args: indexes; arg: a Location; 0 where an index is outside its array
    BIND = "bind"  # (body), or (body, mask) where the variable ranges over a set; arg: a Binder

    # Members are singletons, so hashing by identity is correct. Hash-consing spends most of its time in hashes.
    __hash__ = object.__hash__


LIFTED = frozenset({Op.VAR, Op.READ, Op.BIND})
"""The operations of lifted actions, which no engine has."""

GROUND = frozenset(Op) - LIFTED
"""The operations of programs."""

CONDITIONS = frozenset({Op.EQ, Op.LT, Op.LE, Op.AND, Op.OR, Op.NOT, Op.TEST})


@dataclass(frozen=True, slots=True)
class Quantifier:
    """The quantifier that an AND (for all) or OR (exists) was written as: its variable, and a label for each child."""

    variable: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """A parameter of an action, or the variable of a quantifier.

    Attributes:
        name: its name.
        kind: the sort, range or enumeration that it ranges over, or bool; None for whole numbers.
        lo: the first number.
        size: the number of its values.
        number: distinguishes it from the other variables in scope.
    """

    name: str
    kind: type | None
    lo: int
    size: int
    number: int


@dataclass(frozen=True, slots=True)
class Binder:
    """A quantifier as it was written.

    Attributes:
        word: `for_all` or `exists`; `count`, `max_of` or `min_of` for a number.
        variable: the variable that it binds.
        members: the name of each member of its range; empty where their number is not known.
    """

    word: str
    variable: Variable
    members: tuple[str, ...] = ()

    @property
    def is_bool(self) -> bool:
        """Whether the result is a condition."""
        return self.word in ("for_all", "exists")


class Location(NamedTuple):
    """A place in the state, which indexes select.

    Attributes:
        base: the cell where all indexes are 0.
        dims: the distance of the elements in cells and the length of the array, for each index.
        version: the number of assignments of the action that came before; 0 for the state before the step.
        store: the number of the store whose assignments these are; 0 where the version is 0.
        lo, hi: the least and greatest code that can be there.
    """

    base: int
    dims: tuple[tuple[int, int], ...]
    version: int
    store: int
    lo: int
    hi: int


class Node:
    """One operation applied to nodes. Made by `Graph.node` only.

    Attributes:
        graph: the graph that owns it.
        op: the operation.
        args: the nodes that the operation is applied to.
        arg: the value of a constant, the number of a cell, a quantifier, or what a lifted operation has; else None.
        lo, hi: the least and greatest possible value (0 and 1 for a condition).
        is_bool: whether it is a condition.
        index: its place in the order of creation in its graph.
    """

    __slots__ = ("arg", "args", "graph", "hi", "index", "is_bool", "lo", "op")

    def __init__(
        self, graph: Graph, op: Op, args: tuple[Node, ...], arg: Hashable, is_bool: bool, lo: int, hi: int, index: int
    ) -> None:
        self.graph = graph
        self.op = op
        self.args = args
        self.arg = arg
        self.is_bool = is_bool
        self.lo = lo
        self.hi = hi
        self.index = index

    @property
    def value(self) -> int:
        """The value of a constant; a bool for a condition."""
        assert self.op is Op.CONST
        assert isinstance(self.arg, int)
        return self.arg

    @property
    def cell(self) -> int:
        """The number of the cell that a node of `Op.CELL` reads."""
        assert self.op is Op.CELL
        assert isinstance(self.arg, int)
        return self.arg

    @property
    def location(self) -> Location:
        """The place that a node of `Op.READ` reads."""
        assert isinstance(self.arg, Location)
        return self.arg

    @property
    def quantifier(self) -> Quantifier | None:
        """The quantifier that an AND or OR was written as, if it was one."""
        return self.arg if isinstance(self.arg, Quantifier) else None

    def __repr__(self) -> str:
        inner = ", ".join([repr(self.arg)] * (self.arg is not None) + [f"n{a.index}" for a in self.args])
        return f"n{self.index}={self.op.value}({inner})"


_BETWEEN_QUESTIONS = 1024  # nodes between two calls of `_go_on`: some milliseconds


def _nobody_asks() -> None:
    """Do nothing: this tracing has no limit."""


@dataclass(frozen=True, slots=True)
class Made:
    """The operation that made the codes of a container. The nodes of the single codes do not show it.

    Attributes:
        how: `added` or `removed` for an element; `joined` (union), `met` (intersection) or `without` (difference) for
            two containers; `chosen` for the first container where the condition holds, else the other.
        first: the codes of the first container.
        other: the codes of the element or of the other container.
        condition: the condition of `chosen`.
    """

    how: str
    first: tuple[Node, ...]
    other: tuple[Node, ...]
    condition: Node | None = None


def _key(op: Op, args: tuple[Node, ...], arg: Hashable) -> object:
    return (op, args) if arg is None else (op, args, arg, type(arg))  # True == 1, hence the type


class Graph:
    """The nodes of one model instance.

    Args:
        cell_sizes: the number of codes of each cell.

    Attributes:
        applied: the memo of `simplify.apply`: models build the same expressions again and again.
        made: the operation that made the codes of a container; see `Made`.
        orders: the conditions that compare elements of a container to sort them.
        by_place: for each source line that reads an element of a sorted container by its place, the container's domain.
    """

    has_variables: ClassVar[bool] = False
    """Whether the lifted operations may occur in it."""

    def __init__(self, cell_sizes: Iterable[int]) -> None:
        self.cell_sizes = tuple(cell_sizes)
        self.nodes: list[Node] = []
        self._interned: dict[object, Node] = {}
        self._constants: dict[int, Node] = {}
        self._cells: list[Node] = []
        self._go_on: Callable[[], None] = _nobody_asks
        self.applied: dict[tuple[Op, tuple[Node, ...]], Node] = {}
        self.made: dict[tuple[Node, ...], Made] = {}
        self.orders: set[Node] = set()
        self.by_place: dict[str, object] = {}
        self.true = self.node(Op.CONST, arg=True)
        self.false = self.node(Op.CONST, arg=False)

    def node(self, op: Op, args: tuple[Node, ...] = (), arg: Hashable = None) -> Node:
        """Return the only node of this operation with these arguments; it is made if it is new.

        Raises:
            ModelError: its value could leave the 64-bit range.
        """
        key = _key(op, args, arg)
        found = self._interned.get(key)
        if found is not None:
            return found
        is_bool, lo, hi = True, 0, 1
        if op not in CONDITIONS:
            if arg is None:
                is_bool, (lo, hi) = False, range_of(op, [(a.lo, a.hi) for a in args])
            else:
                is_bool, lo, hi = self._range(op, args, arg)
            if lo < _LEAST or hi > _FAR:
                message = (
                    f"{user_frame()}: the value of this expression can leave the range of 64-bit numbers ({lo}..{hi}); "
                    f"use smaller domains."
                )
                raise ModelError(message)
        return self._added(key, op, args, arg, is_bool, lo, hi)

    def copied(self, node: Node, args: tuple[Node, ...]) -> Node:
        """Return the only node of a node's operation with other arguments, which have the ranges of its own."""
        key = _key(node.op, args, node.arg)
        found = self._interned.get(key)
        if found is not None:
            return found
        return self._added(key, node.op, args, node.arg, node.is_bool, node.lo, node.hi)

    def _added(
        self, key: object, op: Op, args: tuple[Node, ...], arg: Hashable, is_bool: bool, lo: int, hi: int
    ) -> Node:
        """Make a node, under its key."""
        nodes = self.nodes
        index = len(nodes)
        made = self._interned[key] = Node(self, op, args, arg, is_bool, lo, hi, index)
        nodes.append(made)
        if index % _BETWEEN_QUESTIONS == 0:
            self._go_on()
        return made

    @contextmanager
    def asking(self, go_on: Callable[[], None]) -> Iterator[None]:
        """Call a function again and again while this context makes nodes; its exception ends the tracing."""
        before, self._go_on = self._go_on, go_on
        try:
            yield
        finally:
            self._go_on = before

    def const(self, value: int) -> Node:
        """Return the node of an int constant."""
        found = self._constants.get(value)
        if found is None:
            found = self._constants[value] = self.node(Op.CONST, arg=int(value))
        return found

    def boolean(self, value: bool) -> Node:
        """Return the node of a bool constant."""
        return self.true if value else self.false

    def cell(self, number: int) -> Node:
        """Return the node that reads the code of a cell."""
        if self.cell_sizes[number] == 1:
            return self.const(0)
        return self.node(Op.CELL, arg=number)

    def cells(self) -> list[Node]:
        """Return a new list of the nodes that read the codes of all cells."""
        if not self._cells:
            self._cells = [self.cell(number) for number in range(len(self.cell_sizes))]
        return list(self._cells)

    def _range(self, op: Op, args: tuple[Node, ...], arg: Hashable) -> tuple[bool, int, int]:
        """Return whether an operation with an argument of its own is a condition, and its least and greatest value."""
        if op is Op.CONST:
            assert isinstance(arg, int)
            return (True, 0, 1) if isinstance(arg, bool) else (False, arg, arg)
        if op is Op.CELL:
            assert isinstance(arg, int)
            return False, 0, self.cell_sizes[arg] - 1
        if isinstance(arg, Variable):
            return False, 0, arg.size - 1
        if isinstance(arg, Location):
            return False, arg.lo, arg.hi
        assert isinstance(arg, Binder), "an AND or OR is a condition"
        if arg.is_bool:
            return True, 0, 1
        return (False, 0, arg.variable.size) if arg.word == "count" else (False, args[0].lo, args[0].hi)


def range_of(op: Op, args: list[tuple[int, int]]) -> tuple[int, int]:
    """Return the least and greatest value of an int operation, given the ranges of its arguments."""
    if op is Op.ITE:
        (_, (alo, ahi), (blo, bhi)) = args
        return min(alo, blo), max(ahi, bhi)
    if op is Op.SELECT:
        (ilo, ihi), *elements = args
        inside = elements[max(ilo, 0) : ihi + 1] or [(0, 0)]
        lo, hi = min(e[0] for e in inside), max(e[1] for e in inside)
        return (lo, hi) if ilo >= 0 and ihi < len(elements) else (min(lo, 0), max(hi, 0))
    alo, ahi = args[0]
    if op is Op.BIT:
        return (0 if alo < 0 or ahi > 62 else 1 << alo), 1 << min(max(ahi, 0), 62)
    if op is Op.COUNT:
        return 0, ahi.bit_length()
    blo, bhi = args[1]
    return _binary_range(op, alo, ahi, blo, bhi)


def _binary_range(op: Op, alo: int, ahi: int, blo: int, bhi: int) -> tuple[int, int]:
    match op:
        case Op.ADD:
            return alo + blo, ahi + bhi
        case Op.SUB:
            return alo - bhi, ahi - blo
        case Op.MUL:
            corners = (alo * blo, alo * bhi, ahi * blo, ahi * bhi)
            return min(corners), max(corners)
        case Op.DIV:
            return alo // blo, ahi // blo
        case Op.MOD:
            same = alo // blo == ahi // blo
            return (alo % blo, ahi % blo) if same else (0, blo - 1)
        case Op.MIN:
            return min(alo, blo), min(ahi, bhi)
        case Op.MAX:
            return max(alo, blo), max(ahi, bhi)
        case Op.BITAND:
            return 0, min(ahi, bhi)
        case Op.BITOR:
            return max(alo, blo), (1 << max(ahi.bit_length(), bhi.bit_length())) - 1
        case Op.BITDIFF:
            return 0, ahi
    raise AssertionError(op)


_arguments: Callable[[Node], Sequence[Node]] = attrgetter("args")


def reachable(roots: Iterable[Node], needs: Callable[[Node], Sequence[Node]] = _arguments) -> list[Node]:
    """Return the roots and all nodes that they depend on, arguments before the nodes that use them.

    Args:
        roots: some nodes.
        needs: returns the nodes that a node depends on; these are some of its arguments.
    """
    seen: dict[int, Node] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node.index not in seen:
            seen[node.index] = node
            stack.extend(needs(node))
    return [seen[i] for i in sorted(seen)]


def fold(
    roots: Iterable[Node],
    rule: Callable[[Node, list[T]], T],
    known: dict[Node, T] | None = None,
    needs: Callable[[Node], Sequence[Node]] = _arguments,
) -> list[T]:
    """Return a value for each root, made bottom-up without recursion.

    Args:
        roots: the nodes whose values are wanted.
        rule: returns the value of a node from the values of the nodes that it needs.
        known: the values that are known; the values made here are added to them.
        needs: returns the nodes that a node needs; these are some of its arguments.
    """
    wanted, values = list(roots), {} if known is None else known
    missing: dict[Node, Sequence[Node]] = {}
    stack = list(wanted)
    while stack:
        node = stack.pop()
        if node not in values and node not in missing:
            missing[node] = needed = needs(node)
            stack.extend(needed)
    for node in sorted(missing, key=attrgetter("index")):
        values[node] = rule(node, [values[each] for each in missing[node]])
    return [values[root] for root in wanted]


def meanings(roots: Iterable[Node]) -> list[str]:
    """Return a digest of each expression, by which expressions of two graphs are compared.

    The digest does not depend on the other nodes of the graph. The arguments of an equality stand in the order of their
    creation, so the digest ignores their order.
    """

    def digest(node: Node, parts: list[str]) -> str:
        content = repr((node.op.value, node.arg, node.is_bool, sorted(parts) if node.op is Op.EQ else parts))
        return hashlib.sha256(content.encode()).hexdigest()

    return fold(roots, digest)
