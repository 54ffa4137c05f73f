"""The pages of the Python API: for each public module its functions, then its classes, then its errors."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from navigation import DOORS

__all__ = ["api_page", "write_api"]


def write_api(folder: Path) -> None:
    """Write a page for each public module."""
    folder.mkdir(parents=True)
    for door in DOORS:
        (folder / f"{door}.rst").write_text(api_page(door))


def api_page(door: str) -> str:
    """Return the page of a public module: directives, of which Sphinx makes what the docstrings say."""
    module = importlib.import_module(door)
    named = {name: getattr(module, name) for name in module.__all__}
    errors = [name for name, one in named.items() if inspect.isclass(one) and issubclass(one, BaseException)]
    classes = [name for name, one in named.items() if inspect.isclass(one) and name not in errors]
    functions = [name for name, one in named.items() if inspect.isroutine(one)]
    rest = [name for name in named if name not in {*errors, *classes, *functions}]
    lines = [door, "=" * len(door), "", f".. automodule:: {door}", "   :no-members:", ""]
    lines += _section("Functions", "autofunction", functions, door)
    lines += _section("Classes", "autoclass", classes, door)
    lines += _section("Errors", "autoexception", errors, door)
    lines += _section("Values and types", "py:data", rest, door)
    return "\n".join(lines)


def _section(title: str, directive: str, names: list[str], door: str) -> Iterator[str]:
    if not names:
        return
    yield from (title, "-" * len(title), "")
    for name in names:
        yield f".. {directive}:: {door}.{name}"
        if _is_described_before(door, name):
            yield "   :no-index:"  # Sphinx refuses two entries of one object
        if directive == "autoclass":
            yield "   :members:"
        if directive == "py:data":
            yield from ("", *(f"   {line}" for line in _said_of(door, name).splitlines()))
        yield ""


def _is_described_before(door: str, name: str) -> bool:
    """Return whether the page of an earlier public module has the same object."""
    before = [importlib.import_module(other) for other in DOORS[: DOORS.index(door)]]
    found = getattr(importlib.import_module(door), name)
    return any(name in other.__all__ and getattr(other, name) is found for other in before)


def _said_of(door: str, name: str) -> str:
    """Return what stands below the assignment of a name, in the module from which a public module has it."""
    imports = [node for node in ast.walk(_tree(door)) if isinstance(node, ast.ImportFrom)]
    home = next(node.module or "" for node in imports if name in {alias.name for alias in node.names})
    body = _tree(home).body
    for statement, after in pairwise(body):
        if isinstance(statement, ast.Assign) and name in {getattr(one, "id", "") for one in statement.targets}:
            said = after.value if isinstance(after, ast.Expr) else None
            return str(said.value) if isinstance(said, ast.Constant) else ""
    return ""


def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(importlib.import_module(module)))
