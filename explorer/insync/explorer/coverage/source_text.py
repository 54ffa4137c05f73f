"""The author's source: of a call that was noticed, the text of the condition that it was given."""

from __future__ import annotations

import ast
import linecache
from functools import cache

from insync.model.noticed import Spot

__all__ = ["argument_line", "argument_text", "premise_text"]


def argument_text(spot: Spot, word: str, place: int = 0) -> str:
    """Return an argument of a call as it is written, in one line.

    It is the whole call where the arguments are not written one by one, as in `require(*conditions)`, and the line
    where the call is not found: it is called by another name, or stands in a `with` beside another.

    Args:
        spot: what was noticed: the call, or the `with` statement that it opens.
        word: the name of what is called.
        place: of the argument.
    """
    call = _calls(spot.file).get((word, spot.line, spot.column))
    if call is None:
        return linecache.getline(spot.file, spot.line).strip()
    given = call.args[: place + 1]
    if len(given) <= place or any(isinstance(one, ast.Starred) for one in given):
        return ast.unparse(call)
    return ast.unparse(given[place])


def argument_line(spot: Spot, word: str, place: int) -> int:
    """Return the line in which an argument of a call begins, or the call where they are not written one by one."""
    call = _calls(spot.file).get((word, spot.line, spot.column))
    if call is None or len(call.args) <= place or any(isinstance(one, ast.Starred) for one in call.args[: place + 1]):
        return spot.line
    return call.args[place].lineno


def premise_text(spot: Spot) -> tuple[str, str]:
    """Return the word that was given a premise, and the premise as it is written: of `for_all` the whole call."""
    if ("Implies", spot.line, spot.column) in _calls(spot.file):
        return "Implies", argument_text(spot, "Implies")
    return "for_all", " ".join(spot.source.split())


@cache
def _calls(file: str) -> dict[tuple[str, int, int], ast.Call]:
    """Return the calls of plain names in a file, by the name and where they begin, or the `with` that opens them."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:  # it has been changed since it was imported
        return {}
    found: dict[tuple[str, int, int], ast.Call] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found[node.func.id, node.lineno, node.col_offset] = node
        elif isinstance(node, ast.With):
            opened = node.items[0].context_expr
            if len(node.items) == 1 and isinstance(opened, ast.Call) and isinstance(opened.func, ast.Name):
                found[opened.func.id, node.lineno, node.col_offset] = opened
    return found
