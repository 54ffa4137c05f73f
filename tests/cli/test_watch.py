"""`insync check --watch` checks a model again when it is saved, whatever is wrong with it, and ends with Ctrl-C."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.cli import rerun
from insync.cli.rerun import watched_files
from insync_process import SLOW_LLVM, processes_of, started, took_at_most, wait_for

Insync = Callable[..., Any]
ROOT = Path(__file__).parents[2]


def test_what_a_file_imports_from_its_folder_is_watched(tmp_path: Path) -> None:
    files = {
        "model.py": "import enum, words\nfrom pack.deep import part\nfrom . import nothing",
        "words.py": "def later():\n    import model, late",
        "late.py": "",
        "other.py": "",
        "pack/__init__.py": "",
        "pack/deep/__init__.py": "import pack.near",
        "pack/deep/part.py": "",
        "pack/near.py": "class (",
        "pack/far.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = {path.relative_to(tmp_path).as_posix() for path in watched_files(tmp_path / "model.py") if path.is_file()}
    assert found == set(files) - {"other.py", "pack/far.py"}
    assert tmp_path / "enum.py" in watched_files(tmp_path / "model.py"), "which may come to be"


def test_a_file_that_is_not_there_is_waited_for(tmp_path: Path) -> None:
    assert watched_files(tmp_path / "model.py") == {tmp_path / "model.py"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kip320"], "kip320 has none of yours"),
        ([], "no model is named"),
        (["lock.py"], "lock.py has none of yours"),
    ],
)
def test_there_must_be_a_file_to_wait_for(insync: Insync, arguments: list[str], message: str) -> None:
    code, out, err = insync("check", "--watch", *arguments)
    assert (code, out) == (2, "")
    assert f"--watch waits for a file to be saved, and {message}. Name path/to/file.py:ModelName." in err


def test_the_command_is_run_again_without_the_option(monkeypatch: pytest.MonkeyPatch, insync: Insync) -> None:
    run: list[object] = []

    def rerun(*given: object) -> int:
        run.append(given)
        return 130

    monkeypatch.setattr("insync.cli.rerun.rerun_when_saved", rerun)
    assert insync("check", "x/lock.py:Lock", "--watch", "--nonsense", "--workers=3").code == 130
    assert run == [(Path("x/lock.py"), ["check", "x/lock.py:Lock", "--nonsense", "--workers=3"])]
    assert "--watch" in insync("check", "kip320", "--watch", "--help").out


def test_a_file_is_checked_each_time_it_is_saved_until_ctrl_c(tmp_path: Path) -> None:
    """It is saved with a mistake, which the watch outlives, and then what it lacks is there."""
    file = tmp_path / "lock.py"
    shutil.copy(ROOT / "examples" / "lock.py", file)
    line = ["check", "--watch", f"{file}:Lock", "--quiet"]
    process = started(line, own_session=True, INSYNC_CACHE_DIR=str(tmp_path / "cache"), INSYNC_CODE="quick")
    assert process.stdout is not None
    assert process.stderr is not None
    time.sleep(0.3)
    file.write_text(file.read_text() + "\nimport words\n")
    line_of_import = len(file.read_text().splitlines())
    wait_for(process, f"Error: {file}:{line_of_import}: cannot be loaded: ModuleNotFoundError: No module named 'words'")
    wait_for(process, "Watching 1 file; Ctrl-C ends it.")
    (tmp_path / "words.py").write_text("")
    while "violated: one_inside" not in process.stdout.readline():
        assert process.poll() is None
    wait_for(process, "Watching 2 files; Ctrl-C ends it.")
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, took_at_most(4, began)) == (130, True)
    assert "Traceback" not in err
    assert processes_of(process.pid) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_check_at_work_ends_with_the_watch(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told to end, or else ended: the process that it is compiles for 100 seconds."""
    command = ["-P", "-c", SLOW_LLVM]
    script = (
        "from insync.cli import rerun; from insync.cli.main import main; import sys\n"
        f"rerun._COMMAND[1:] = {command!r}\n"
        "main()\n"
    )
    line = ["check", "--watch", f"{ROOT / 'examples' / 'lock.py'}:Lock"]
    process = started(line, script=script, own_session=True, INSYNC_CACHE_DIR=str(tmp_path))
    wait_for(process, "compiling")
    assert len(processes_of(process.pid)) == 2
    began = time.monotonic()
    process.send_signal(number)
    process.communicate(timeout=30)
    assert took_at_most(4, began)
    assert process.returncode == 130
    assert processes_of(process.pid) == []


def test_a_file_that_is_saved_in_several_steps_is_checked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "model.py"
    steps = iter(["a", "b", "c"])
    file.write_text("")
    before = rerun._stamps([file])

    def sleep(_: float) -> None:
        if (text := next(steps, "")) != "":
            file.write_text(text * (ord(text) - 90))

    monkeypatch.setattr("insync.cli.rerun.time.sleep", sleep)
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    rerun._wait(process, before)
    assert next(steps, None) is None
