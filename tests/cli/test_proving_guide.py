"""The guide to proving is right: its commands run and print what it says, and its Python runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("z3")

TEXT = (Path(__file__).parents[2] / "docs" / "guide" / "proving.md").read_text()
BLOCKS = re.findall(r"^```console\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
TIME = re.compile(r" +\d+(?:\.\d+)? s\b")

Insync = Callable[..., Any]


def timeless(text: str) -> list[str]:
    """Return the lines without times, and with one space for many: the columns depend on the times."""
    return [" ".join(TIME.sub(" T s", line).split()) for line in text.splitlines()]


@pytest.mark.timeout(300)
def test_the_commands_print_what_the_guide_says(
    insync: Insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for part in "".join(BLOCKS).split("$ insync ")[1:]:
        command, _, expected = part.partition("\n")
        code, out, err = insync(*shlex.split(command), "--quiet")
        assert code in (0, 1, 3), err
        assert (code == 0) == ("holds: " in expected)
        printed = iter(timeless(out))
        for line in timeless(expected):
            if line not in ("", "..."):
                assert line in printed, f"{command}: the guide has {line!r}, and the command printed\n{out}"


def test_the_python_of_the_guide_runs() -> None:
    (source,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    exec(compile(source, "proving.py", "exec"), {})  # noqa: S102 -- our own guide
