"""What is done where nobody says otherwise; an argument that is None or has no default is not listed."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from insync import explorer, spark_explore
from insync.explorer import Limits
from insync.explorer.traces.grid import render_grid
from insync.machine.walker import Strategy
from insync.spark_explore import SparkOptions
from insync_meanings import Record

VERBS: list[tuple[Callable[..., object], dict[str, object]]] = [
    (explorer.check, {"keep_going": False, "symmetry": True, "resume": False}),
    (
        explorer.simulate,
        {"walks": 10_000, "depth": 100, "seed": 0, "strategy": Strategy.MIXED, "abstract_states": False},
    ),
    (explorer.liveness, {}),
    (explorer.diff, {}),
    (explorer.graph, {}),
    (explorer.mutate, {"runs": False}),
    (explorer.prove, {"lemmas": (), "infer": False, "mine": False, "automatic": False, "unbounded": False}),
    (explorer.bounded_check, {"lemmas": (), "infer": False}),
    (explorer.agree, {}),
    (explorer.replay, {}),
    (explorer.tour, {"step_seconds": 10.0}),
    (explorer.why, {}),
    (spark_explore.check, {"keep_going": False, "symmetry": True}),
    (
        spark_explore.simulate,
        {"walks": 10_000, "depth": 100, "seed": 0, "strategy": Strategy.MIXED, "abstract_states": False},
    ),
    (spark_explore.export, {}),
]

OBJECTS: list[tuple[type, dict[str, object]]] = [
    (Limits, {}),
    (SparkOptions, {"resume": False, "warm_states": 500_000, "tables_on_disk": False}),
]


@pytest.mark.parametrize(("verb", "expected"), VERBS, ids=lambda one: getattr(one, "__module__", ""))
def test_a_verb_has_these_defaults(verb: Callable[..., object], expected: dict[str, object]) -> None:
    given = inspect.signature(verb).parameters.values()
    assert {one.name: one.default for one in given if one.default not in (one.empty, None)} == expected


@pytest.mark.parametrize(("kind", "expected"), OBJECTS, ids=lambda one: getattr(one, "__name__", ""))
def test_what_is_given_to_them_has_these_defaults(kind: type, expected: dict[str, object]) -> None:
    given = inspect.signature(kind).parameters
    assert set(given) == {field.name for field in fields(kind)}
    assert {name: one.default for name, one in given.items() if one.default not in (one.empty, None)} == expected


def test_a_grid_is_as_wide_as_a_line_of_code() -> None:
    given = inspect.signature(render_grid).parameters
    assert given["width"].default == 120
    assert given["header"].default is True


ROOT = Path(__file__).parents[1]
RECORD = Record(Path(__file__).parent / "defaults.json")
FOLDERS = ("model", "explorer", "spark_explore", "conformance")


def stated(package: str) -> dict[str, str]:
    """The numbers and truth values of arguments that are left out, of all that the modules of a package offer."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / package / "insync").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        offered = set(re.findall(r'"(\w+)"', text.partition("__all__ = [")[2].partition("]")[0]))
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in offered:
                of_this = f"{'.'.join(path.relative_to(ROOT / package / 'insync').with_suffix('').parts)}."
                found |= {of_this + name: value for name, value in _defaults(node, node.name)}
    return found


def _defaults(node: ast.FunctionDef | ast.ClassDef, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.FunctionDef):
        given = node.args
        both = [*given.posonlyargs, *given.args]
        pairs: list[tuple[str, ast.expr | None]] = [
            *zip([one.arg for one in both][len(both) - len(given.defaults) :], given.defaults, strict=True),
            *zip([one.arg for one in given.kwonlyargs], given.kw_defaults, strict=True),
        ]
    else:
        pairs = [(ast.unparse(one.target), one.value) for one in node.body if isinstance(one, ast.AnnAssign)]
        for one in node.body:
            if isinstance(one, ast.FunctionDef) and (not one.name.startswith("_") or one.name == "__init__"):
                yield from _defaults(one, f"{name}.{one.name}")
    for argument, value in pairs:
        if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
            yield f"{name}({argument})", ast.unparse(value)


@pytest.mark.parametrize("package", FOLDERS)
def test_every_number_and_truth_value_that_is_meant_where_nothing_is_said(package: str) -> None:
    found, known = stated(package), RECORD.known(package)
    assert known
    assert {name: found[name] for name in known} == known, "`make records` records what is meant"


if __name__ == "__main__":
    for folder in FOLDERS:
        RECORD.write(folder, stated(folder))
