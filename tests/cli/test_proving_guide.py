"""The guide to proving is right: its commands run and print what it says, and its Python runs."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
from pathlib import Path

import pytest

from insync.cli.main import run

pytest.importorskip("z3")

TEXT = (Path(__file__).parents[2] / "docs" / "guide" / "proving.md").read_text()
LOCK = Path(__file__).parents[2] / "examples" / "lock.py"
BLOCKS = re.findall(r"^```console\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
COMMANDS: list[tuple[str, str]] = [
    (command, shown) for part in "".join(BLOCKS).split("$ insync ")[1:] for command, _, shown in [part.partition("\n")]
]
FILES: dict[str, str] = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
TIME = re.compile(r" +\d+(?:\.\d+)? s\b")

PROOF = "prove kip320 --infer --save proof.json"
"""The command that writes the file that others read."""

LONG = (
    "prove --lemmas proof.json",
    "prove kip320 --lemmas proof.json --log-size 3 --max-records 3 --max-leader-epoch 3",
)
"""Commands that ask at full size what test_prove asks at smaller bounds."""


def outcome(command: str, folder: Path) -> tuple[int, str]:
    """Run a command in a folder with the guide's files, and return its exit code and what it prints."""
    shutil.copy(LOCK, folder)
    for name, source in FILES.items():
        (folder / name).write_text(source)
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        code = run([*shlex.split(command), "--quiet"])
    return code, printed.getvalue()


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[int, str]]:
    """The folder with the proof, and what the command that wrote it printed."""
    folder = tmp_path_factory.mktemp("guide")
    return folder, outcome(PROOF, folder)


def timeless(text: str) -> list[str]:
    """Return the lines without times, and with one space for many: the columns depend on the times."""
    return [" ".join(TIME.sub(" T s", line).split()) for line in text.splitlines()]


def test_every_command_is_run() -> None:
    assert len(BLOCKS) == TEXT.count("```console")
    assert len(COMMANDS) == sum(block.count("$ insync ") for block in BLOCKS)
    assert {PROOF, *LONG} <= {command for command, _ in COMMANDS}


@pytest.mark.slow_for(
    "prove truncate_to_high_watermark --replicas 2 --max-records 1 --bmc 12 --property strong_isr",
    "prove kip320 --infer --save proof.json",
    "prove kip279 --lemmas proof.json",
)
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("command", "shown"),
    [pytest.param(*pair, id=pair[0], marks=[pytest.mark.slow] if pair[0] in LONG else []) for pair in COMMANDS],
)
def test_a_command_prints_what_the_guide_says(
    command: str, shown: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if "proof.json" in command:
        folder, written = request.getfixturevalue("proof")
        code, out = written if command == PROOF else outcome(command, folder)
    else:
        code, out = outcome(command, tmp_path)
    assert code in (0, 1, 3)
    assert (code == 0) == ("holds: " in shown)
    printed = iter(timeless(out))
    for line in timeless(shown):
        if line not in ("", "..."):
            assert line in printed, f"the guide has {line!r}, and the command printed\n{out}"


@pytest.mark.slow
def test_the_python_of_the_guide_runs() -> None:
    assert list(FILES) == ["fenced.py", "proving.py"]
    assert len(FILES) == TEXT.count("```python")
    exec(compile(FILES["proving.py"], "proving.py", "exec"), {})  # noqa: S102 -- our own guide
