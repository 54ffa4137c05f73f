"""Initial states: those that bound initial methods allow, given by conditions on variables and enumerated.

Proofs use the conditions. Searches use the states, each once, sorted by their packed words.
"""

from __future__ import annotations

import math
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import overload

from insync.model.domains.layout import WORD, Schema
from insync.model.domains.sorts import Parameter
from insync.model.expressions.graph import Graph, Node, Op, reachable
from insync.model.expressions.semantics import MEANING
from insync.model.expressions.simplify import apply, substituted
from insync.model.expressions.source import Required
from insync.runtime.errors import ModelError

__all__ = [
    "Beginning",
    "Initials",
]


@dataclass(frozen=True, slots=True)
class Beginning:
    """An initial method with its parameters bound: the states that it allows.

    Its expressions are on variables, not on the cells of a state: `CELL` number n is variable n.

    Attributes:
        label: the method and its parameters in words; empty for the plain method `initial`.
        place: the author's file and line.
        graph: the graph of its expressions; `cell_sizes` has the number of values of each variable.
        conditions: the conditions on the variables: the method's `require`, and `well_formed`.
        cells: the code of each cell of the state, as an expression.
        expected: checks that must hold wherever the conditions do, each with the message for where it fails.
        well_formed: the conditions under which the variables are codes of values.
        shown: checks that interval analysis showed to hold; code that changes the conditions must make them again.
        name: the name of the method; empty for the plain method `initial`.
        parameters: each parameter's name and value.
        required: the conditions of the method's `require`, as they were written.
    """

    label: str
    place: str
    graph: Graph
    conditions: tuple[Node, ...]
    cells: tuple[Node, ...]
    expected: tuple[tuple[Node, str], ...] = ()
    well_formed: tuple[Node, ...] = ()
    shown: tuple[tuple[Node, str], ...] = ()
    name: str = ""
    parameters: tuple[tuple[str, Parameter], ...] = ()
    required: tuple[Required, ...] = ()

    def pinned(self, codes: Sequence[int]) -> Beginning:
        """Return this beginning with the further condition that the state has these codes."""
        pairs = zip(self.cells, codes, strict=True)
        equal = [apply(Op.EQ, node, self.graph.const(code)) for node, code in pairs]
        wanted = [node for node in equal if node is not self.graph.true]
        return replace(self, conditions=(*self.conditions, *wanted))


def packed_number(schema: Schema, number: int) -> int:
    """Return the shift of a cell's code in a state that is packed into one number, the first word most significant."""
    cell = schema.cells[number]
    return WORD * (schema.words - 1 - cell.word) + cell.shift


class Initials(Sequence[tuple[int, ...]]):
    """The distinct initial states as codes, the least packed state first.

    There may be too many to enumerate. Then access to the states, and to their number, raises ModelError. The
    beginnings describe them all the same, which is enough for a proof.

    Args:
        schema: the packed layout of a state.
        beginnings: the bound initial methods.
        go_on: called again and again during the enumeration; an exception that it raises ends it.

    Attributes:
        beginnings: this argument.
        enumerated: whether there are few enough.

    Raises:
        ModelError: one of the states has a value outside its field's domain.
    """

    def __init__(self, schema: Schema, beginnings: tuple[Beginning, ...], go_on: Callable[[], None]) -> None:
        self._schema, self.beginnings = schema, beginnings
        self._too_many: str | None = None
        found: dict[int, int] = {}
        try:
            for number, beginning in enumerate(beginnings):
                add_states(found, beginning, number, schema, go_on)
        except TooManyStates as error:
            self._too_many = str(error)
            found = {}
        ordered = sorted(found)
        self._rows = _rows_of(schema, ordered)
        self._origins = array("I", (found[state] for state in ordered)) if len(beginnings) > 1 else array("I")

    def changed(self, beginnings: Mapping[int, Beginning], go_on: Callable[[], None]) -> Initials:
        """Return the initial states with some beginnings replaced, by their numbers.

        Raises:
            ModelError: one of the new states has a value outside its field's domain.
        """
        made = tuple(beginnings.get(number, one) for number, one in enumerate(self.beginnings))
        return Initials(self._schema, made, go_on)

    def some_meet(self, conditions: Sequence[Node]) -> bool:
        """Return whether conditions all hold in some initial state; also True if deciding that takes too long."""
        for beginning in self.beginnings:
            more = substituted(beginning.graph, conditions, beginning.cells)
            asked = replace(beginning, conditions=(*beginning.conditions, *more))
            found: dict[int, int] = {}
            try:
                add_states(found, asked, 0, self._schema, lambda: None, most=0)
            except TooManyStates:  # one was found, or too many were tried
                return True
            if found:
                return True
        return False

    @property
    def enumerated(self) -> bool:
        return self._too_many is None

    @property
    def rows(self) -> array[int]:
        """The words of each packed state, one state after the other."""
        if self._too_many is not None:
            raise TooManyStates(self._too_many)
        return self._rows

    def __len__(self) -> int:
        return len(self.rows) // self._schema.words

    @overload
    def __getitem__(self, place: int) -> tuple[int, ...]: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[tuple[int, ...], ...]: ...

    def __getitem__(self, place: int | slice) -> tuple[int, ...] | tuple[tuple[int, ...], ...]:
        if isinstance(place, slice):
            return tuple(self[each] for each in range(*place.indices(len(self))))
        return self._schema.unpack(self.words(range(len(self))[place]))

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return (self._schema.unpack(self.words(place)) for place in range(len(self)))

    def __contains__(self, codes: object) -> bool:
        return isinstance(codes, tuple) and self._allowing(codes) is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Initials) and self.rows == other.rows

    def __hash__(self) -> int:
        return hash(self.rows.tobytes())

    def words(self, place: int) -> tuple[int, ...]:
        """Return the words of the packed state at a place."""
        size = self._schema.words
        return tuple(self.rows[place * size : (place + 1) * size])

    @property
    def example(self) -> tuple[int, ...] | None:
        """The first state, or any one where they are not enumerated; None where none is found soon."""
        if self.enumerated:
            return self[0]
        states = (a_state(beginning, self._schema) for beginning in self.beginnings)
        state = next((state for state in states if state is not None), None)
        return None if state is None else self._schema.unpack(_rows_of(self._schema, [state]))

    def place_of(self, codes: tuple[int, ...]) -> int | None:
        """Return the place of a state; None where it is not an initial one."""
        wanted = self._schema.pack(codes)
        place = bisect_left(range(len(self)), wanted, key=self.words)
        found = place < len(self) and self.words(place) == wanted
        return place if found and self._schema.unpack(wanted) == codes else None

    def origin(self, codes: tuple[int, ...]) -> str | None:
        """Return the label of the first beginning that allows a state; None if there is a single beginning."""
        allowing = self._allowing(codes) if len(self.beginnings) > 1 else None
        return None if allowing is None else self.beginnings[allowing].label

    def _allowing(self, codes: tuple[int, ...]) -> int | None:
        """Return the number of the first beginning that allows a state; None where it is not an initial one."""
        if self.enumerated:
            place = self.place_of(codes)
            return None if place is None else self._origins[place] if self._origins else 0
        found: dict[int, int] = {}
        for number, beginning in enumerate(self.beginnings):
            add_states(found, beginning.pinned(codes), number, self._schema, lambda: None)
        return next(iter(found.values()), None)


def _rows_of(schema: Schema, states: Sequence[int]) -> array[int]:
    """Return the words of states that are packed into one number each (see `packed_number`)."""
    rows = array("Q")
    rows.frombytes(b"".join(state.to_bytes(8 * schema.words, "big") for state in states))
    if sys.byteorder == "little":
        rows.byteswap()
    return rows


# ------------------------------------------------------------------------------------------------------ the enumeration
#
# Nested loops over the variables, in a Python function that is generated for the beginning: half a million states take
# seconds. A condition is tested as soon as its variables are known. The order of the variables is greedy: next come
# those of the condition with the fewest combinations of values left to try.


MOST_STATES = 2_000_000
"""The most initial states of a model."""

MOST_TRIED = 100_000_000
"""The most values of variables that are tried to find the states: about a minute."""

_OFTEN = 1 << 16  # values between two calls of `go_on`
_LOOPS = 15  # the loops of one function: Python allows 20 nested blocks

_OPERATORS = {
    Op.ADD: "{} + {}",
    Op.SUB: "{} - {}",
    Op.MUL: "{} * {}",
    Op.MIN: "{0} if {0} < {1} else {1}",
    Op.MAX: "{1} if {0} < {1} else {0}",
    Op.EQ: "{} == {}",
    Op.LT: "{} < {}",
    Op.LE: "{} <= {}",
    Op.NOT: "not {}",
    Op.ITE: "{1} if {0} else {2}",
    Op.BITAND: "{} & {}",
    Op.BITOR: "{} | {}",
    Op.BITDIFF: "{} & ~{}",
}
"""Operations as Python expressions; for the others the function calls `MEANING`."""


class TooManyStates(ModelError):
    """There are more than `MOST_STATES` initial states, or finding them takes too long."""


def a_state(beginning: Beginning, schema: Schema) -> int | None:
    """Return a state that a beginning allows, packed into one number; None if none is found within `MOST_TRIED`."""
    found: dict[int, int] = {}
    with suppress(TooManyStates):
        add_states(found, beginning, 0, schema, lambda: None, most=0)
    return next(iter(found), None)


def add_states(
    found: dict[int, int],
    beginning: Beginning,
    number: int,
    schema: Schema,
    go_on: Callable[[], None],
    most: int | None = None,
) -> None:
    """Add the states that a beginning allows, each packed into one number, unless they are there already.

    Args:
        found: the number of the first beginning for each state so far.
        beginning: the bound initial method.
        number: the number of the beginning.
        schema: the packed layout of a state.
        go_on: called again and again; an exception that it raises ends the enumeration.
        most: the most states that `found` may have; None is `MOST_STATES`.

    Raises:
        TooManyStates: there are more than that, or more than `MOST_TRIED` values to try.
        ModelError: one of them has a value outside its field's domain.
    """
    if not (beginning.conditions or beginning.expected) and all(node.op is Op.CONST for node in beginning.cells):
        packed = (node.lo << packed_number(schema, cell) for cell, node in enumerate(beginning.cells))
        found.setdefault(sum(packed), number)
        return
    search = _Search(beginning, schema)
    if most is None:
        search.require_few()
        most = MOST_STATES
    tried = told = 0

    def tries(values: int) -> None:
        nonlocal tried, told
        tried += values
        if tried >= told:
            told = tried + _OFTEN
            go_on()
        if tried > MOST_TRIED:
            message = (
                f"{beginning.place}: more than {MOST_TRIED:,} values must be tried to find the initial states of "
                f"{beginning.label!r}. Assign what is known in place of ANY, or use smaller bounds."
            )
            raise TooManyStates(message)
        if len(found) > most:
            raise TooManyStates(_too_many(beginning))

    def outside(check: int) -> None:
        message = beginning.expected[check][1]
        raise ModelError(message)

    names: dict[str, object] = {"number": number, "add": found.setdefault, "tries": tries, "outside": outside}
    names |= {f"meaning_{op.value}": meaning for op, meaning in MEANING.items()}
    exec(search.text(), names)  # noqa: S102  (the text is made of nodes, here)
    run = names["part0"]
    assert callable(run)
    run()
    tries(0)


def _too_many(beginning: Beginning) -> str:
    return (
        f"{beginning.place}: there are more than {MOST_STATES:,} initial states. Use smaller bounds, or "
        f"`insync prove`, which does not need them one by one."
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the generated function: the name that it defines, if any, the names that it uses, if it is a loop."""

    text: str
    defines: str = ""
    uses: tuple[str, ...] = ()
    loop: bool = False


class _Search:
    """Generates the text of the function that enumerates the states of a beginning."""

    def __init__(self, beginning: Beginning, schema: Schema) -> None:
        self.beginning, self.schema = beginning, schema
        self.sizes = beginning.graph.cell_sizes
        self.conditions = list(_conjuncts(beginning.conditions))
        self.outputs = [*beginning.cells, *(node for node, _ in beginning.expected)]
        self.needed = reachable([*self.conditions, *self.outputs])
        self.reads = _variables_read(self.needed)
        self.order = self._order()
        places = {variable: place for place, variable in enumerate(self.order, start=1)}
        self.levels = {
            index: max((places[variable] for variable in read), default=0) for index, read in self.reads.items()
        }
        self.lines: list[_Line] = []
        self.written: set[int] = set()

    def require_few(self) -> None:
        """Raise TooManyStates for too many free cells without a condition: each of their values is another state."""
        free = {node.arg: self.sizes[node.cell] for node in self.beginning.cells if node.op is Op.CELL}
        if not self.conditions and math.prod(free.values()) > MOST_STATES:
            raise TooManyStates(_too_many(self.beginning))

    def text(self) -> str:
        """Return the text of the functions `part0`, `part1`, ...; each calls the next."""
        self._pack(0, "0")
        for level in range(len(self.order) + 1):
            if level:
                self._loop(level)
            self._level(level)
        for place, (node, _) in enumerate(self.beginning.expected):
            self._write(f"if not {_name(node)}: outside({place})", [node])
        self.lines.append(_Line(f"add(p{len(self.order)}, number)", uses=(f"p{len(self.order)}",)))
        return _in_parts(self.lines)

    def _order(self) -> list[int]:
        """Return the variables in the order of their loops."""
        order: dict[int, None] = {}
        waiting = list(self.conditions)
        while waiting:
            chosen = min(waiting, key=lambda condition: self._cost(condition, order))
            order.update(dict.fromkeys(sorted(self.reads[chosen.index] - set(order))))
            waiting = [condition for condition in waiting if self.reads[condition.index] - set(order)]
        return list(dict.fromkeys([*order, *sorted(set().union(*self.reads.values()))]))

    def _cost(self, condition: Node, known: Mapping[int, None]) -> int:
        left = self.reads[condition.index] - set(known)
        if len(left) == 1 and self._told(condition, next(iter(left))) is not None:
            return 1
        return math.prod(self.sizes[variable] for variable in left)

    def _told(self, condition: Node, variable: int) -> Node | None:
        """Return the expression that a condition equates with a variable, if there is one."""
        if condition.op is Op.EQ:
            for one, other in (condition.args, condition.args[::-1]):
                if one.op is Op.CELL and one.arg == variable and variable not in self.reads[other.index]:
                    return other
        return None

    def _loop(self, level: int) -> None:
        variable = self.order[level - 1]
        node, size = self.beginning.graph.cell(variable), self.sizes[variable]
        due = [condition for condition in self.conditions if self.levels[condition.index] == level]
        told = next((expression for one in due if (expression := self._told(one, variable)) is not None), None)
        if told is None:
            self.lines.append(_Line(f"tries({size})"))
            self._write(f"for {_name(node)} in range({size}):", [], node, loop=True)
        else:
            value = _name(told)
            self._write(f"for {_name(node)} in ({value},) if 0 <= {value} < {size} else ():", [told], node, loop=True)
        self.written.add(node.index)

    def _level(self, level: int) -> None:
        """Write the conditions and values that depend on variables up to a level, the conditions first."""
        for condition in self.conditions:
            if self.levels[condition.index] == level:
                for node in reachable([condition]):
                    self._value(node)
                self._write(f"if not {_name(condition)}: {'continue' if level else 'return'}", [condition])
        for node in self.needed:
            if self.levels[node.index] == level:
                self._value(node)
        if level:
            self._pack(level, f"p{level - 1}")

    def _value(self, node: Node) -> None:
        if node.index in self.written or node.op is Op.CONST:
            return
        self.written.add(node.index)
        names = list(map(_name, node.args))
        if node.op in (Op.AND, Op.OR):
            text = f" {node.op.value} ".join(names)
        elif node.op in _OPERATORS:
            text = _OPERATORS[node.op].format(*names)
        else:
            text = f"meaning_{node.op.value}({', '.join(names)})"
        self._write(f"{_name(node)} = {text}", node.args, node)

    def _pack(self, level: int, before: str) -> None:
        cells = enumerate(self.beginning.cells)
        due = [(cell, node) for cell, node in cells if self.levels[node.index] == level]
        parts = [before, *(f"{_name(node)} << {packed_number(self.schema, cell)}" for cell, node in due)]
        uses = [before, *(_name(node) for _, node in due)]
        self.lines.append(_Line(f"p{level} = {' | '.join(parts)}", f"p{level}", tuple(uses)))

    def _write(self, text: str, uses: Iterable[Node], defines: Node | None = None, *, loop: bool = False) -> None:
        used = tuple(_name(node) for node in uses)
        self.lines.append(_Line(text, "" if defines is None else _name(defines), used, loop))


def _name(node: Node) -> str:
    return repr(node.arg) if node.op is Op.CONST else f"n{node.index}"


def _conjuncts(conditions: Iterable[Node]) -> Iterable[Node]:
    for condition in conditions:
        if condition.op is Op.AND:
            yield from _conjuncts(condition.args)
        else:
            yield condition


def _variables_read(nodes: Sequence[Node]) -> dict[int, frozenset[int]]:
    read: dict[int, frozenset[int]] = {}
    for node in nodes:
        own = {node.cell} if node.op is Op.CELL else set()
        read[node.index] = frozenset(own.union(*(read[argument.index] for argument in node.args)))
    return read


def _in_parts(lines: Sequence[_Line]) -> str:
    """Return the lines as functions of at most `_LOOPS` loops; later functions receive the names that they use."""
    parts: list[list[_Line]] = [[]]
    for line in lines:
        if line.loop and sum(one.loop for one in parts[-1]) == _LOOPS:
            parts.append([])
        parts[-1].append(line)
    text: list[str] = []
    for number, part in enumerate(parts):
        before = {line.defines for one in parts[:number] for line in one if line.defines}
        text.append(f"def part{number}({', '.join(_needed(parts[number:], before))}):")
        depth = 1
        for line in part:
            text.append(" " * depth + line.text)
            depth += line.loop
        if number + 1 < len(parts):
            known = before | {line.defines for line in part if line.defines}
            text.append(" " * depth + f"part{number + 1}({', '.join(_needed(parts[number + 1 :], known))})")
    return "\n".join(text)


def _needed(parts: Iterable[Sequence[_Line]], known: set[str]) -> list[str]:
    """Return the names that some lines use and earlier lines define, sorted."""
    return sorted({name for part in parts for line in part for name in line.uses} & known)
