"""Expressions of a model as C: one line for each node, in 64-bit numbers, with the meaning that the evaluator gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from insync.model.expressions.graph import Node, Op, reachable

__all__ = ["C_FUNCTIONS", "C_TEXT", "CText"]

C_FUNCTIONS = """\
typedef long long number;
static number min_(number a, number b) { return a < b ? a : b; }
static number max_(number a, number b) { return a > b ? a : b; }
static number div_(number a, number n) { return a >= 0 ? a / n : -((n - 1 - a) / n); }
static number mod_(number a, number n) { return a - n * div_(a, n); }
static number ite_(number c, number a, number b) { return c ? a : b; }
static number bit_(number i) { return i >= 0 && i <= 62 ? 1LL << i : 0; }
static number test_(number m, number i) { return i >= 0 && i <= 62 ? (m >> i) & 1 : 0; }
static number count_(number m) { return __builtin_popcountll(m); }
"""
"""What the lines call: the operations that C has not, or has with another meaning."""


def _joined(operator: str) -> Callable[..., str]:
    return lambda *texts: f"({f' {operator} '.join(texts)})"


def _called(function: str) -> Callable[..., str]:
    return lambda *texts: f"{function}({', '.join(texts)})"


def _selected(index: str, *elements: str) -> str:
    """Return the element at an index, 0 outside: a chain of comparisons."""
    text = "0"
    for place in range(len(elements) - 1, -1, -1):
        text = f"ite_(({index} == {place}), {elements[place]}, {text})"
    return text


C_TEXT: dict[Op, Callable[..., str]] = {
    Op.ADD: _joined("+"),
    Op.SUB: _joined("-"),
    Op.MUL: _joined("*"),
    Op.DIV: _called("div_"),
    Op.MOD: _called("mod_"),
    Op.MIN: _called("min_"),
    Op.MAX: _called("max_"),
    Op.EQ: _joined("=="),
    Op.LT: _joined("<"),
    Op.LE: _joined("<="),
    Op.AND: _joined("&&"),
    Op.OR: _joined("||"),
    Op.NOT: lambda a: f"(!{a})",
    Op.ITE: _called("ite_"),
    Op.SELECT: _selected,
    Op.BITAND: _joined("&"),
    Op.BITOR: _joined("|"),
    Op.BITDIFF: lambda a, b: f"({a} & ~{b})",
    Op.BIT: _called("bit_"),
    Op.TEST: _called("test_"),
    Op.COUNT: _called("count_"),
}
"""For every operation but CONST and CELL its text, given the texts of its arguments."""

assert set(C_TEXT) == set(Op) - {Op.CONST, Op.CELL}


class CText:
    """The body of a C function that reads the cells of one state, each node being computed once.

    Args:
        variables: how the function reads each cell, by the cell's number.

    Attributes:
        lines: what is written so far.
    """

    def __init__(self, variables: Mapping[int, str]) -> None:
        self._variables = variables
        self._texts: dict[int, str] = {}
        self.lines: list[str] = []

    def value(self, node: Node) -> str:
        """Return the text of a node's value, having written the lines that it needs."""
        if node.index not in self._texts:
            for needed in reachable([node]):
                if needed.index not in self._texts:
                    self._texts[needed.index] = self._written(needed)
        return self._texts[node.index]

    def require(self, conditions: Sequence[Node], otherwise: str) -> None:
        """Write the conditions one after the other; the first that does not hold ends the function."""
        for condition in conditions:
            text = self.value(condition)
            self.lines.append(f"if (!{text}) {otherwise}")

    def _written(self, node: Node) -> str:
        if node.op is Op.CONST:
            assert isinstance(node.arg, int)
            value = int(node.arg)
            return str(value) if abs(value) < 2**31 else f"{value}LL"
        name = f"n{node.index}"
        if node.op is Op.CELL:
            assert isinstance(node.arg, int)
            text = self._variables[node.arg]
        else:
            text = C_TEXT[node.op](*[self._texts[arg.index] for arg in node.args])
        self.lines.append(f"number {name} = {text};")
        return name
