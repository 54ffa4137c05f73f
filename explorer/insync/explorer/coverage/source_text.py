"""The author's source: of a call that was noticed, the text of the condition that it was given."""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache

from insync.model.expressions.source import Spot

__all__ = ["argument_line", "argument_text", "premise_text"]


def argument_text(spot: Spot, place: int = 0) -> str:
    """Return an argument of a call as it is written, in one line.

    It is the whole call where the arguments are not written one by one, as in `require(*conditions)`, and the line
    where the call is not found: it stands in a `with` beside another, or the file is not what was imported.

    Args:
        spot: what was noticed: the call, or the `with` statement that it opens.
        place: of the argument.
    """
    call = _call(spot)
    if call is None:
        return linecache.getline(spot.file, spot.line).strip()
    argument = _argument(call, place)
    return ast.unparse(call if argument is None else argument)


def argument_line(spot: Spot, place: int) -> int:
    """Return the line in which an argument of a call begins, or the call where they are not written one by one."""
    call = _call(spot)
    argument = None if call is None else _argument(call, place)
    return spot.line if argument is None else argument.lineno


def premise_text(spot: Spot) -> tuple[str, str]:
    """Return the word that was given a premise, and the premise as it is written: of `for_all` the whole call."""
    call = _call(spot)
    name = None if call is None else getattr(call.func, "attr", getattr(call.func, "id", None))
    if name == "for_all":
        return "for_all", " ".join(spot.source.split())
    return "Implies", argument_text(spot)


def _argument(call: ast.Call, place: int) -> ast.expr | None:
    given = call.args[: place + 1]
    alone = len(given) > place and not any(isinstance(one, ast.Starred) for one in given)
    return given[place] if alone else None


def _call(spot: Spot) -> ast.Call | None:
    linecache.checkcache(spot.file)  # a model that was edited is loaded again
    known = _calls("".join(linecache.getlines(spot.file)))
    return known.get((spot.line, spot.column, spot.end_line, spot.end_column))


@lru_cache(maxsize=64)
def _calls(source: str) -> dict[tuple[int, int, int | None, int | None], ast.Call]:
    """Return the calls in a file by where they stand, and those that open a `with` by where that stands."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # it has been changed since it was imported
        return {}
    found: dict[tuple[int, int, int | None, int | None], ast.Call] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found[_span(node)] = node
        elif isinstance(node, ast.With) and len(node.items) == 1 and isinstance(node.items[0].context_expr, ast.Call):
            found[_span(node)] = node.items[0].context_expr
    return found


def _span(node: ast.Call | ast.With) -> tuple[int, int, int | None, int | None]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
