"""The incidents of docs/guide/cluster.md: each command that explains one runs, and says what the page says of it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from insync.cli.main import run

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "cluster.md"
TABLE = PAGE.read_text(encoding="utf-8").split("## One command for each incident")[1].split("\n## ")[0]
COMMANDS = [found for found in re.findall(r"`(insync (?:ask|defects)[^`]*)`", TABLE) if found != "insync ask"]


def test_the_page_has_150_lines_at_most() -> None:
    assert len(PAGE.read_text(encoding="utf-8").splitlines()) <= 150


def test_every_incident_has_a_command() -> None:
    rows = [line for line in TABLE.splitlines() if line.startswith("| ") and "---" not in line][1:]
    assert len(rows) >= 11
    assert all("`insync " in row for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_of_an_incident_explains_it(capsys: pytest.CaptureFixture[str], command: str) -> None:
    _, *arguments = shlex.split(command)
    code = run([*arguments, *(["--quiet"] if arguments[0] == "ask" else [])])
    out, err = capsys.readouterr()
    if command == "insync defects KAFKA-3919":
        assert "not searched for: a log is a row of records" in out
    assert code in (0, 1), err
    explained = re.search(r"--explain (\S+)", command)
    if explained is not None:
        assert "The harm is done in step" in out
        assert "What it takes:" in out
