"""The guide to protocols of messages is right: its code is the example's, and its output is what the command prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guide" / "messages.md").read_text()
EXAMPLE = (ROOT / "examples" / "election.py").read_text()
CODE: list[str] = re.findall(r"^```python\n# election.py\n((?:.*\n)*?)```$", GUIDE, re.MULTILINE)
CONSOLE = [
    (command, shown)
    for block in re.findall(r"^```console\n((?:.*\n)*?)```$", GUIDE, re.MULTILINE)
    for command, shown in re.findall(r"^\$ insync (.+)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
]


def test_every_block_is_looked_at() -> None:
    assert GUIDE.count("```python") == len(CODE)
    assert GUIDE.count("$ insync") == len(CONSOLE)


@pytest.mark.parametrize("code", CODE)
def test_the_code_is_that_of_the_example(code: str) -> None:
    assert code in EXAMPLE


def test_the_pieces_one_after_the_other_are_the_example() -> None:
    example = EXAMPLE.partition("from __future__ import annotations\n")[2]
    pieces = "\n".join(CODE)
    assert [line for line in pieces.splitlines() if line] == [line for line in example.splitlines() if line]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "shown"), CONSOLE)
def test_the_command_prints_what_the_guide_shows(command: str, shown: str, tmp_path: Path) -> None:
    (tmp_path / "election.py").write_text(EXAMPLE)
    result = subprocess.run(
        [sys.executable, "-c", "from insync.cli.main import main; main()", *command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "120"},
    )
    assert shown in result.stdout.replace(f"{tmp_path.resolve()}/", ""), result.stderr
    assert result.returncode == (1 if "fails" in shown else 0)
