"""The guide to modelling is right: its code runs, its errors are raised, its output is what the command prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import (
    AbstractStates,
    ActionCoverage,
    Agreement,
    BoundedResult,
    CheckResult,
    DiffResult,
    LivenessResult,
    MutantResult,
    MutationResult,
    OnlyOne,
    ProofResult,
    PropertyCoverage,
    PropertyResult,
    RunResult,
    SimulationResult,
    Trace,
    TraceStep,
    Violation,
    WhyResult,
)
from insync.explorer.testing import Answer
from insync.model import Model, ModelError
from insync.model.abstraction import abstraction_of
from insync.model.catalogue import find_model
from insync.model.define import FINAL, RESERVED
from insync.model.domains.bounds import BoundValues
from insync_evaluator import conditions

ROOT = Path(__file__).parents[2]
PAGES = ("modelling", "states-and-steps", "coming-from")
GUIDE = "\n".join((ROOT / "docs" / "guide" / f"{page}.md").read_text() for page in PAGES)
EXAMPLE = ROOT / "examples" / "lock.py"
BLOCKS: list[tuple[str, str]] = [
    (title, code) for title, code in re.findall(r"^```python\n# (.+)\n((?:.*\n)*?)```$", GUIDE, re.MULTILINE)
]
CONSOLE: list[tuple[str, str]] = re.findall(r"^```console\n\$ insync (.+)\n((?:.*\n)*?)```$", GUIDE, re.MULTILINE)


def blocks(title: str) -> list[str]:
    return [code for found, code in BLOCKS if found == title]


def test_every_block_is_looked_at() -> None:
    assert GUIDE.count("```python") == len(BLOCKS)
    assert GUIDE.count("```console") == len(CONSOLE)
    titles = {title.split(":")[0] for title, _ in BLOCKS}
    files = {"lock.py", "shop.py", "letters.py", "begun.py", "counted.py", "watched.py", "check.py"}
    assert titles == {*files, "wrong", "right"}


@pytest.mark.parametrize("code", blocks("lock.py"))
def test_the_small_model_is_the_example(code: str) -> None:
    assert code in EXAMPLE.read_text()


def test_the_pieces_one_after_the_other_are_the_example() -> None:
    example = EXAMPLE.read_text().partition("from __future__ import annotations\n")[2]
    pieces = "\n".join(blocks("lock.py"))
    assert [line for line in pieces.splitlines() if line] == [line for line in example.splitlines() if line]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> type[Model]:
    path = tmp_path_factory.mktemp("guide") / "shop.py"
    path.write_text("\n".join(blocks("shop.py")))
    return find_model(f"{path}:Shop")


def test_the_model_with_every_domain_is_one(shop: type[Model]) -> None:
    for clerks in (1, 2, 3):
        model = shop(clerks=clerks)
        assert {a.name for a in model.program.actions} >= {"sells", "dawns", "arrives", "forms", "stocks", "swaps"}
        assert list(conditions(model)) == ["teams_are_present", "somebody_sells", "no_two_alike", "sales"]


def test_what_matters_of_the_model_with_every_domain(shop: type[Model]) -> None:
    assert abstraction_of(shop()).names == ("boss", "people", "sold out")


@pytest.mark.parametrize(("title", "code"), [block for block in BLOCKS if block[0].startswith(("wrong", "right"))])
def test_the_pitfalls_are_what_happens(shop: type[Model], title: str, code: str) -> None:
    path = Path(sys.modules[shop.__module__].__file__ or "").with_name("wrong.py")
    names = "from insync.model import *\n"
    source = f"{names}class Wrong(Model):\n    @action\n    def go(self, s):\n{textwrap.indent(code, ' ' * 8)}"
    scope: dict[str, Any] = dict(vars(sys.modules[shop.__module__]))
    exec(compile(source.replace("(Model)", "(Shop)"), str(path), "exec"), scope)  # noqa: S102 -- the guide's own code
    model = scope["Wrong"]()
    if title.startswith("right"):
        assert model.program.actions
    else:
        with pytest.raises(ModelError, match=re.escape(title.removeprefix("wrong: "))) as caught:
            _ = model.program
        assert str(caught.value).startswith(f"{path}:")


def test_the_names_that_are_taken_are_those_of_the_table() -> None:
    table = GUIDE.split("| the name of | cannot be |\n|---|---|\n")[1].split("\n\n")[0]
    told = {row.split("|")[1].strip(): re.findall(r"`(\w+)`", row.split("|")[2]) for row in table.splitlines()}
    assert told["an action, an `@initial` method, a property"] == sorted({*RESERVED, "mro"})
    assert told["another method or attribute"] == sorted(FINAL)
    assert told["a bound, a setting"] == [*sorted(name for name in dir(BoundValues) if name[0] != "_"), "_"]
    for name in FINAL:
        with pytest.raises(ModelError, match=rf"'{name}' is what every model has already, and no model replaces"):
            type("Wrong", (Model,), {name: lambda self: 0})


RESULTS: dict[str, list[type]] = {
    "`check`": [CheckResult],
    "`simulate`": [SimulationResult, AbstractStates],
    "`liveness`": [LivenessResult, RunResult],
    "`bounded_check`": [BoundedResult],
    "`prove`": [ProofResult],
    "`agree`": [Agreement],
    "`mutate`": [MutationResult, MutantResult],
    "`why`": [WhyResult, ActionCoverage, PropertyCoverage],
    "`diff`": [DiffResult, OnlyOne],
    "in pytest `insync_check.answer`": [Answer],
    "each of `properties`": [PropertyResult],
    "each of `violations`": [Violation],
    "a trace": [Trace, TraceStep],
}


def test_results_have_the_attributes_that_the_guide_tells() -> None:
    table = GUIDE.split("| result of | attributes |\n|---|---|\n")[1].split("\n\n")[0]
    rows = [row.strip("| ").split(" | ") for row in table.splitlines()]
    assert [name for name, _ in rows] == list(RESULTS)
    for name, told in rows:
        for attribute in re.findall(r"`(\w+)(?:\(\w+\))?`", told):
            assert any(hasattr(kind, attribute) for kind in RESULTS[name]), (name, attribute)


def insync(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "lock.py").write_text(EXAMPLE.read_text())
    for name in ("watched.py", "begun.py", "counted.py", "letters.py"):
        (folder / name).write_text("\n".join(blocks(name)))
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "120"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "shown"), CONSOLE)
def test_the_command_prints_what_the_guide_shows(arguments: str, shown: str, tmp_path: Path) -> None:
    result = insync(tmp_path, "-c", "from insync.cli.main import main; main()", *arguments.split())
    printed = (result.stdout + result.stderr).replace(f"{tmp_path.resolve()}/", "")
    assert shown in printed
    assert result.returncode == (1 if "fails" in shown else 0)


@pytest.mark.slow
def test_a_property_of_runs_can_stand_beside_the_class(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    result = insync(tmp_path, "-c", "from insync.cli.main import main; main()", "liveness", "watched.py:WatchedLock")
    assert "holds       comes_out  leads_to, for each of 2 bindings" in result.stdout, result.stderr


@pytest.mark.slow
def test_a_check_can_be_made_from_python(tmp_path: Path) -> None:
    result = insync(tmp_path, "-c", blocks("check.py")[0])
    assert (result.returncode, result.stderr) == (0, "")
