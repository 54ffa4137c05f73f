"""Conditions of a model as text, in the names of its fields and members."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from insync.model import Model, ReadableState
from insync.model.domains.composite import OptionalScalar, Scalar, Set, State
from insync.model.domains.domain import Element, Field, Holds, Leaf, Length, Step, plain
from insync.model.expressions.graph import GROUND, Node, Op, Quantifier

__all__ = ["AFTER", "BEFORE", "Reading", "field_read", "plain", "read_pair", "read_state", "show", "shown"]

LONGEST = 160
"""The most characters of a condition; a longer one is not shown."""

_INFIX = {
    Op.ADD: "+", Op.SUB: "-", Op.MUL: "*", Op.DIV: "//", Op.MOD: "%", Op.EQ: "==", Op.LT: "<", Op.LE: "<=",
    Op.BITAND: "&", Op.BITOR: "|", Op.BITDIFF: "-",
}  # fmt: skip
_TURNED = {Op.LT: ">", Op.LE: ">="}
"""Of a comparison whose first side is a constant: the sign with which the constant comes second."""
_NAMED = {Op.MIN: "minimum", Op.MAX: "maximum", Op.BIT: "set of", Op.COUNT: "size of"}
_JOINING = {Op.BITAND, Op.BITOR, Op.BITDIFF}
_OF_THEIR_OWN = {Op.CONST, Op.CELL, Op.AND, Op.OR, Op.NOT, Op.TEST, Op.ITE, Op.SELECT}

assert {*_INFIX, *_NAMED} | _OF_THEIR_OWN == GROUND


def field_read(state: ReadableState, leaf: Leaf) -> tuple[str, object]:
    """Return the path and value of a cell; for a cell past the end of a list, path and value of the list's length."""
    path, value = "", state
    for step in leaf.steps:
        if isinstance(step, Element) and isinstance(value, list) and step.place >= len(value):
            return Length().after(path), len(value)
        if value is not None:
            value = step.read(value)
        path = step.after(path)
    return path, value


BEFORE, AFTER = "before", "after"
"""The names of the two states of a step."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The cells that a condition reads: those of a state, or of the states before and after a step.

    Attributes:
        leaves: the cells.
        decode: returns the readable value of all cells.
    """

    leaves: Sequence[Leaf]
    decode: Callable[[tuple[int, ...]], ReadableState]


def read_state(model: Model) -> Reading:
    """Return the cells of a condition on a state."""
    return Reading(_leaves(model.state), model.decode)


def read_pair(model: Model) -> Reading:
    """Return the cells of a condition on the states before and after a step, as `before.field` and `after.field`."""
    own = _leaves(model.state)
    both = [Leaf((Field(name), *leaf.steps), leaf.domain) for name in (BEFORE, AFTER) for leaf in own]

    def decode(codes: tuple[int, ...]) -> ReadableState:
        return {BEFORE: model.decode(codes[: len(own)]), AFTER: model.decode(codes[len(own) :])}

    return Reading(both, decode)


class _TooLong(Exception):
    pass


def show(model: Model, node: Node) -> str:
    """Return a condition on a state as text; empty where that would be too long."""
    return shown(read_state(model), node)


def shown(reading: Reading, node: Node) -> str:
    """Return a condition as text; empty where that would be too long."""
    try:
        text = _Shown(reading).text(node, 0)
    except _TooLong:
        return ""
    return text if len(text) <= LONGEST else ""


@lru_cache(maxsize=8)
def _leaves(state: State) -> list[Leaf]:
    """Return the cells of a state; cached, as many conditions of one model are shown."""
    return list(state.leaves())


class _Shown:
    def __init__(self, reading: Reading) -> None:
        self.leaves = reading.leaves

    def text(self, node: Node, depth: int) -> str:
        if depth > 12:
            raise _TooLong
        if node.op is Op.CONST:
            return str(node.value).lower()
        if self._place(node, depth) is not None:
            return self._number(node, 0, depth)
        if node.op is Op.EQ:
            return self._equality(node, depth)
        if node.op is Op.ADD and node.args[1].op is Op.CONST and self._place(node.args[0], depth) is not None:
            return self._number(node.args[0], node.args[1].lo, depth)
        if node.op is Op.TEST and node.args[1].op is Op.CONST:
            text = self._membership(node.args[0], node.args[1].lo, depth)
            if text:
                return text
        known = self._set(node)
        parts = [self._member_of(known, a, depth) for a in node.args]
        if node.quantifier is not None:
            parts = _said_once(node.quantifier, parts)
        if sum(map(len, parts)) > LONGEST:
            raise _TooLong
        return self._operation(node, parts)

    def _equality(self, node: Node, depth: int) -> str:
        """Return an equality, in which a constant that is compared with a field has its name: `leader == b1`."""
        a, b = node.args
        one, other = self._place(a, depth), self._place(b, depth)
        if one is not None and b.op is Op.CONST:
            return _comparison(*one, b.lo)
        if one is not None and other is not None and _first(one[1].domain) == _first(other[1].domain):
            return f"{one[0]} == {other[0]}"
        known = self._set(a)
        return f"{self._member_of(known, a, depth)} == {self._member_of(known, b, depth)}"

    def _place(self, node: Node, depth: int) -> tuple[str, Leaf] | None:
        """Return the path and a cell, or one of the cells among which an index selects: `term[leader]`."""
        if node.op is Op.CELL:
            leaf = self.leaves[node.cell]
            return leaf.after(""), leaf
        if node.op is not Op.SELECT or not all(one.op is Op.CELL for one in node.args[1:]) or len(node.args) < 3:
            return None
        cells = [one.cell for one in node.args[1:]]
        first, stride = self.leaves[cells[0]], cells[1] - cells[0]
        at = _one_place_apart([self.leaves[cell].steps for cell in cells])
        if at is None or cells != list(range(cells[0], cells[-1] + 1, stride or 1)):
            return None
        element = first.steps[at]
        assert isinstance(element, Element)
        lowest = int(element.label) if element.label.isdigit() else None
        before = self.leaves[cells[0] - stride].steps if cells[0] >= stride else ()
        if lowest is None and _one_place_apart([before, first.steps]) == at:
            return None  # these are only some of the members, and the index counts from the first of them
        index = Element(0, self._index(node.args[0], lowest or 0, depth + 1))
        return replace(first, steps=(*first.steps[:at], index, *first.steps[at + 1 :])).after(""), first

    def _index(self, node: Node, lowest: int, depth: int) -> str:
        """Return the text of an index of places that are numbered from `lowest`."""
        more = lowest
        if node.op is Op.ADD and node.args[1].op is Op.CONST:
            node, more = node.args[0], lowest + node.args[1].lo
        if self._place(node, depth) is not None:
            return self._number(node, more, depth).removeprefix("(").removesuffix(")")
        text = self.text(node, depth)
        return f"{text} {'-' if more < 0 else '+'} {abs(more)}" if more else text

    def _set(self, node: Node) -> Set | None:
        """Return the domain of a set that is a field, or is joined from fields; None for any other expression."""
        if node.op is Op.CELL:
            domain = self.leaves[node.cell].domain
            return domain if isinstance(domain, Set) else None
        if node.op not in _JOINING:
            return None
        return next((known for known in map(self._set, node.args) if known is not None), None)

    def _member_of(self, known: Set | None, node: Node, depth: int) -> str:
        """Return the text of an expression; a constant is a set of a domain, if that is known."""
        if known is not None and node.op is Op.CONST:
            return plain(known.readable(node.lo))
        return self.text(node, depth + 1)

    def _number(self, node: Node, more: int, depth: int) -> str:
        """Return a cell's code plus a number as text, in terms of its value: codes begin with 0, values need not."""
        place = self._place(node, depth)
        assert place is not None
        offset = more - _first(place[1].domain)
        sign = "-" if offset < 0 else "+"
        return f"({place[0]} {sign} {abs(offset)})" if offset else place[0]

    def _membership(self, node: Node, number: int, depth: int) -> str:
        """Return a test for one member with the member's name, `isr contains b1`; empty where it has no name."""
        place = self._place(node, depth)
        domain = None if place is None else place[1].domain
        if place is None or not isinstance(domain, Set) or not 0 <= number < node.hi.bit_length():
            return ""
        return f"{place[0]} contains {domain.readable(1 << number)[0]}"

    def _operation(self, node: Node, parts: list[str]) -> str:
        op = node.op
        if op in (Op.AND, Op.OR):
            if node.quantifier is not None:
                word = "for all" if op is Op.AND else "some"
                return f"({word} {node.quantifier.variable}: {(' and ' if op is Op.AND else ' or ').join(parts)})"
            return f"({(' and ' if op is Op.AND else ' or ').join(parts)})"
        if op is Op.NOT:
            return f"not {parts[0]}"
        if op in _TURNED:
            constant_first = node.args[0].op is Op.CONST
            return f"{parts[1]} {_TURNED[op]} {parts[0]}" if constant_first else f"{parts[0]} {_INFIX[op]} {parts[1]}"
        if op in _INFIX:
            return f"({parts[0]} {_INFIX[op]} {parts[1]})"
        if op is Op.TEST:
            return f"{parts[0]} contains {parts[1]}"
        if op is Op.ITE:
            return f"({parts[1]} if {parts[0]} else {parts[2]})"
        if op is Op.SELECT:
            return f"[{', '.join(parts[1:])}][{parts[0]}]"
        return f"{_NAMED[op]}({', '.join(parts)})"


def _said_once(quantifier: Quantifier, parts: list[str]) -> list[str]:
    """Return one text in terms of the variable where the texts of all elements have the same form; else these texts."""
    other = re.compile(rf"(?<!\w){re.escape(quantifier.variable)}(?!\w)")  # a field, say, of the variable's name
    if len(parts) < 2 or len(parts) != len(quantifier.labels) or any(map(other.search, parts)):
        return parts
    forms = {_in_terms_of(quantifier.variable, *each) for each in zip(quantifier.labels, parts, strict=True)}
    return list(forms) if len(forms) == 1 else parts


def _in_terms_of(variable: str, label: str, text: str) -> str:
    """Return a text with a variable in place of an element; a number is replaced only where it is an index."""
    element = re.escape(label)
    return re.sub(rf"(?<=\[){element}(?=\])" if label.isdigit() else rf"(?<!\w){element}(?!\w)", variable, text)


def _one_place_apart(paths: Sequence[Sequence[Step]]) -> int | None:
    """Return the place of the only step in which paths differ, if these lead to elements; else None."""
    if len({len(path) for path in paths}) > 1:
        return None
    differing = [at for at, steps in enumerate(zip(*paths, strict=True)) if len(set(steps)) > 1]
    return differing[0] if len(differing) == 1 and isinstance(paths[0][differing[0]], Element) else None


def _first(domain: Scalar | None) -> int:
    """Return the number that code 0 stands for; for an optional number that is one less than its least number."""
    if isinstance(domain, OptionalScalar):
        return (domain.of.first or 0) - 1
    return 0 if domain is None else domain.first or 0


def _comparison(path: str, leaf: Leaf, code: int) -> str:
    """Return the text of the condition that a cell has a code."""
    if leaf.domain is not None:
        return f"{path} == {plain(leaf.domain.readable(code))}"
    last = leaf.steps[-1]
    if isinstance(last, Holds):
        return f"{path.removesuffix(last.after(''))} {'contains' if code else 'lacks'} {last.text}"
    return f"{path} {'!=' if code else '=='} none"
