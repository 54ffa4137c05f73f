"""The guides to pytest and Hypothesis are right: their code is the examples', their commands print what they show."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
GUIDES = {name: (ROOT / "docs" / "guide" / f"{name}.md").read_text() for name in ("pytest", "hypothesis")}
BLOCKS: list[tuple[str, str, str]] = [
    (guide, title, code)
    for guide, text in GUIDES.items()
    for title, code in re.findall(r"^```python\n# (\S+\.py)\n((?:.*\n)*?)```$", text, re.MULTILINE)
]
CONSOLE: list[tuple[str, str, str]] = [
    (guide, command, shown)
    for guide, text in GUIDES.items()
    for block in re.findall(r"^```console\n((?:.*\n)*?)```$", text, re.MULTILINE)
    for command, shown in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
]


def test_every_block_is_looked_at() -> None:
    assert sum(text.count("```python") for text in GUIDES.values()) == len(BLOCKS)
    assert sum(text.count("\n$ ") for text in GUIDES.values()) == len(CONSOLE)


@pytest.mark.parametrize(("guide", "title", "code"), [block for block in BLOCKS if (EXAMPLES / block[1]).exists()])
def test_the_code_is_that_of_the_example(guide: str, title: str, code: str) -> None:
    assert code in (EXAMPLES / title).read_text()


def pytest_in(folder: Path, *arguments: str) -> str:
    # Where CI is set, Hypothesis takes another profile, which draws other examples than those that the guide shows.
    options = ["-p", "no:cacheprovider", "--basetemp", str(folder / "tmp"), "--hypothesis-profile=default"]
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "120"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env=environment,
    )
    return done.stdout + done.stderr


@pytest.mark.slow_but("pytest-pytest test_first.py-shown0")
@pytest.mark.parametrize(("guide", "command", "shown"), CONSOLE)
def test_a_command_prints_what_the_guide_shows(guide: str, command: str, shown: str, tmp_path: Path) -> None:
    for example in EXAMPLES.glob("*.py"):
        shutil.copy(example, tmp_path)
    for own, title, code in BLOCKS:
        if own == guide and not (EXAMPLES / title).exists():
            (tmp_path / title).write_text(code)
    printed = pytest_in(tmp_path, *command.removeprefix("pytest ").split())
    at = 0
    for line in shown.splitlines():
        pattern = re.escape(line).replace(re.escape("..."), ".*") + r"\s*$"
        found = re.compile(rf"^{pattern}" if line.startswith(("E", ">")) else re.escape(line), re.MULTILINE).search(
            printed, at
        )
        assert found is not None, f"{line!r} is not printed, or not in this order:\n{printed}"
        at = found.end()


SCRIPTS = [code for _, title, code in BLOCKS if not title.startswith("test_") and not (EXAMPLES / title).exists()]


@pytest.mark.parametrize("code", SCRIPTS)
def test_a_script_runs(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(EXAMPLES)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout == "holds 948 of 948 transitions in 372 walks of 3,238 steps; 516 transitions take over\n", (
        done.stderr
    )


@pytest.mark.slow
def test_the_examples_pass(tmp_path: Path) -> None:
    for example in EXAMPLES.glob("*.py"):
        shutil.copy(example, tmp_path)
    printed = pytest_in(tmp_path, "-q")
    assert re.search(r"^14 passed", printed, re.MULTILINE), printed
