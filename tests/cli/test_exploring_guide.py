"""The guide to exploring is right: its sessions print what it says, and its Python runs."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "guide" / "exploring.md").read_text()
SESSIONS = re.findall(r"^```console\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
LINE = re.compile(r"\.py:\d+")
"""A place in a model, which moves whenever somebody writes something above it."""

Insync = Callable[..., Any]


@pytest.mark.parametrize("session", SESSIONS)
def test_a_session_prints_what_the_guide_says(insync: Insync, monkeypatch: pytest.MonkeyPatch, session: str) -> None:
    command, *lines = session.splitlines()
    typed = [line.removeprefix("> ") for line in lines if line.startswith("> ")]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(typed)))
    code, out, err = insync(*shlex.split(command.removeprefix("$ insync ")), "--quiet")
    assert (code, err) == (0, "")
    printed = iter(LINE.sub(".py:N", out).splitlines())
    for line in [LINE.sub(".py:N", line) for line in lines]:
        if line not in ("", "..."):
            assert line in printed, f"the guide has {line!r}, and then the command printed {list(printed)}"


def test_the_guide_shows_sessions() -> None:
    assert len(SESSIONS) == 2


def test_the_python_of_the_guide_runs() -> None:
    (source,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "exploring.py", "exec"), {})  # noqa: S102 -- our own guide
    assert " does not hold, with " in printed.getvalue()
