"""The guides to liveness, refinement, second opinions, why, diff and groups are right: they print what they say."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest

pytest.importorskip("scipy")
pytest.importorskip("networkx")
pytest.importorskip("z3")

GUIDES = Path(__file__).parents[2] / "docs" / "guide"
TEXTS = {
    name: (GUIDES / f"{name}.md").read_text()
    for name in ("liveness", "refinement", "second-opinions", "why-and-diff", "cluster-model")
}
BLOCKS = [
    pytest.param(block, id=f"{name}-{number}")
    for name, text in TEXTS.items()
    for number, block in enumerate(re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
]
TIME = re.compile(r"\d+(?:\.\d+)? s\b|\d+ min \d+ s\b")
LINE = re.compile(r"\.py:\d+\b")

Insync = Callable[..., Any]


def timeless(text: str) -> list[str]:
    """The lines without what changes from run to run, and with any edit of the source that they speak of."""
    return [LINE.sub(".py:N", TIME.sub("T s", line)).rstrip() for line in text.splitlines()]


@pytest.mark.slow_for(
    "liveness-0",
    "second-opinions-0",
    "second-opinions-1",
    "why-and-diff-0",
    "why-and-diff-1",
    "why-and-diff-2",
    "why-and-diff-3",
)
@pytest.mark.parametrize("block", BLOCKS)
def test_the_commands_print_what_the_guide_says(
    insync: Insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("lock.py", "one_truth.py", "raft.py"):
        copyfile(GUIDES.parents[1] / "examples" / name, name)
    texts = TEXTS["liveness"] + TEXTS["refinement"]
    files = re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", texts, re.MULTILINE | re.DOTALL)
    assert {"strict.py", "fair_lock.py", "ticking.py", "commit.py", "two_phase.py"} <= {name for name, _ in files}
    for name, source in files:
        Path(name).write_text(source)
    for part in block.split("$ insync ")[1:]:
        command, _, expected = part.partition("\n")
        code, out, err = insync(*shlex.split(command))
        assert code in (0, 1), err
        printed = iter(timeless(out))
        for line in timeless(expected):
            if line not in ("", "..."):
                assert line in printed, (
                    f"{command}: the guide has {line!r}, and then the command printed {list(printed)}"
                )


def test_every_block_of_the_guides_is_run() -> None:
    assert len(BLOCKS) == sum(text.count("```console") for text in TEXTS.values())
    assert sum(text.count("```python") for text in TEXTS.values()) == 8


@pytest.mark.slow_for("why-and-diff")
@pytest.mark.parametrize("guide", ["liveness", "why-and-diff"])
def test_the_python_of_the_guide_runs(guide: str) -> None:
    (source,) = re.findall(r"^```python\n# from_python.py\n(.*?)^```$", TEXTS[guide], re.MULTILINE | re.DOTALL)
    exec(compile(source, "from_python.py", "exec"), {})  # noqa: S102 -- our own guide
