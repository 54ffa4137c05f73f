"""The notebooks of the documentation show what their cells give when they are run now."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from insync.explorer import CheckResult, LivenessResult
from insync.explorer.tables import Shown

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("scipy")

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def run(source: str, scope: dict[str, Any]) -> tuple[str, object]:
    """What a cell prints, and the value of its last line, as a notebook runs it."""
    tree = ast.parse(source)
    last = tree.body[-1]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if not isinstance(last, ast.Expr):
            exec(compile(tree, "<cell>", "exec"), scope)  # noqa: S102 -- the notebook's own code
            return printed.getvalue(), None
        exec(compile(ast.Module(tree.body[:-1], []), "<cell>", "exec"), scope)  # noqa: S102
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), scope)  # noqa: S307
    return printed.getvalue(), value


def told(result: Shown) -> list[str]:
    """What the HTML of a result must say: its verdict, and the steps of its traces."""
    if isinstance(result, CheckResult):
        traces = [violation.trace for violation in result.violations]
        return [result.verdict, *(step.label for trace in traces for step in trace.steps)]
    assert isinstance(result, LivenessResult)
    return [result.verdict, *(found.name for found in result.properties)]


def shown(cell: dict[str, Any], kind: str) -> str:
    """What the outputs of a cell have as text of a kind."""
    outputs = cell["outputs"]
    if kind == "stream":
        return "".join("".join(output["text"]) for output in outputs if output["output_type"] == "stream")
    return "".join("".join(output["data"].get(kind, "")) for output in outputs if "data" in output)


def test_there_is_an_introduction() -> None:
    assert [path.name for path in NOTEBOOKS] == ["introduction.ipynb"]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_show_what_is_on_record(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("__main__")  # that of a notebook has no file
    monkeypatch.setitem(sys.modules, "__main__", module)
    results = 0
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        printed, value = run("".join(cell["source"]), vars(module))
        assert printed == shown(cell, "stream")
        assert shown(cell, "text/plain") == ("" if value is None else repr(value))
        if isinstance(value, Shown):
            html = shown(cell, "text/html")  # how it looks may change without a record of it; what it says may not
            assert html.startswith('<div class="insync">')
            assert [said for said in told(value) if escape(said) not in html] == [], "`make notebooks` records it again"
            results += 1
    assert results >= 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_says_nothing_of_the_machine_that_ran_it(path: Path) -> None:
    text = path.read_text()
    notebook = json.loads(text)
    assert re.findall(r"/(?:tmp|root|home|usr|Users|work)/[\w.-]+", text) == []
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    assert {output["output_type"] for output in outputs} == {"stream", "execute_result"}
