"""A reader of exactly the C that is exported in Promela: its functions as Python, on the values of cells by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from insync.model.expressions.graph import Op
from insync.model.expressions.semantics import MEANING

__all__ = ["Function", "functions_of", "value_of"]

Function = Callable[[dict[str, int]], int | None]
"""Takes the values of cells by name, and may change them."""

_FUNCTION = re.compile(r"^static (?:int|void) ((?:start|guard|step|property|refused|outside)\w*)\(void\) (\{|<%)$")
_LINES = (
    (re.compile(r"number (n\d+) = (.*);"), r"\1 = \2"),
    (re.compile(r"if \((.*)\) return (\d);"), r"if \1: return \2"),
    (re.compile(r"now\.(\w+) = (.*);"), r"now['\1'] = \2"),
    (re.compile(r"return (\d);"), r"return \1"),
    (re.compile(r"steps\[\d+\]\+\+;"), "pass"),
)
_WORDS = (
    (re.compile(r"now\.(\w+)"), r"now['\1']"),
    (re.compile(r"&&"), " and "),
    (re.compile(r"\|\|"), " or "),
    (re.compile(r"!(?!=)"), " not "),
    (re.compile(r"(\d)LL\b"), r"\1"),
    (re.compile(r"\b(refused_\d+)\(\)"), r"\1(now)"),
)
_CALLED = {
    "min_": Op.MIN,
    "max_": Op.MAX,
    "div_": Op.DIV,
    "mod_": Op.MOD,
    "ite_": Op.ITE,
    "bit_": Op.BIT,
    "test_": Op.TEST,
    "count_": Op.COUNT,
}


def functions_of(text: str) -> dict[str, Function]:
    """Return the functions of starts, guards, steps and properties in an exported text, by name.

    A line that is of no exported kind is an error.
    """
    source: list[str] = []
    lines = iter(text.split("\n"))
    for line in lines:
        found = _FUNCTION.match(line)
        if found is not None:
            source.append(f"def {found[1]}(now):")
            source += [f"  {_python(said)}" for said in _body(lines, in_pieces=found[2] == "<%")]
            source.append("  return None")
    scope: dict[str, Any] = {name: MEANING[op] for name, op in _CALLED.items()}
    exec("\n".join(source), scope)  # noqa: S102
    return {name: found for name, found in scope.items() if callable(found) and name not in _CALLED}


def value_of(lines: list[str], text: str, now: dict[str, int]) -> int:
    """Return the value of an exported expression, after the lines that it needs."""
    source = "\n".join(["def value(now):", *(f"  {_python(line)}" for line in lines), f"  return {_words(text)}"])
    scope: dict[str, Any] = {name: MEANING[op] for name, op in _CALLED.items()}
    exec(source, scope)  # noqa: S102
    return int(scope["value"](now))


def _body(lines: Iterator[str], *, in_pieces: bool) -> Iterator[str]:
    """Yield the lines of a function, without the braces around it and around its pieces."""
    for line in lines:
        if line == ("%>" if in_pieces else "}"):
            return
        if line not in ("c_code {", "}"):
            yield line.strip()


def _python(line: str) -> str:
    for pattern, written in _LINES:
        if pattern.fullmatch(line):
            return _words(pattern.sub(written, line), assigned=line.startswith("now."))
    message = f"not of an exported kind: {line}"
    raise ValueError(message)


def _words(text: str, *, assigned: bool = False) -> str:
    for pattern, written in _WORDS[assigned:]:
        text = pattern.sub(written, text)
    return text
