"""Whoever starts programs may be killed: the programs end, and their folder is gone. The programs are shells here."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from insync.runtime.child_processes import Ended, Guarded
from insync.runtime.errors import UserError

PARENT = """
import sys
from pathlib import Path
from insync.runtime.child_processes import Guarded

folder = Path(sys.argv[1])
folder.mkdir()
processes = Guarded(folder, (folder / "owner").open("w"))
print(processes.start("1", ["sleep", "600"], folder / "output"), processes.guardian_id, flush=True)
sys.stdin.read()
"""


def until(attempt: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not attempt():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def processes(tmp_path: Path) -> Guarded:
    folder = tmp_path / "cluster"
    folder.mkdir()
    return Guarded(folder, (folder / "owner").open("w"))


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
@pytest.mark.parametrize("victim", ["parent", "guardian"])
def test_programs_end_with_whoever_started_them(tmp_path: Path, victim: str) -> None:
    folder = tmp_path / "cluster"
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        program, guardian = map(int, parent.stdout.readline().split())
        assert is_running(program)
        os.kill(parent.pid if victim == "parent" else guardian, signal.SIGKILL)
        until(lambda: not is_running(program))
        if victim == "parent":
            until(lambda: not folder.exists())
        parent.kill()


def test_a_program_that_is_paused_ends_too(processes: Guarded, tmp_path: Path) -> None:
    program = processes.start("1", ["sleep", "600"], tmp_path / "output")
    assert processes.signal("1", signal.SIGSTOP)
    processes.close()
    assert not is_running(program)
    assert not (tmp_path / "cluster").exists()


def test_an_interrupted_question_leaves_no_answer_to_the_next_one(processes: Guarded, tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    processes.start("1", ["sleep", "600"], tmp_path / "output")
    os.kill(processes.guardian_id, signal.SIGSTOP)
    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        with pytest.raises(KeyboardInterrupt):
            processes.ended()
    finally:
        signal.signal(signal.SIGUSR1, before)
        os.kill(processes.guardian_id, signal.SIGCONT)
    assert processes.signal("1", signal.SIGCONT)
    assert processes.ended() == {}
    processes.close()


def test_a_program_hears_the_signal_to_end(processes: Guarded, tmp_path: Path) -> None:
    processes.start(
        "1", ["sh", "-c", "trap 'echo bye; exit 7' TERM; echo here; while :; do sleep 0.05; done"], tmp_path / "out"
    )
    until(lambda: "here" in (tmp_path / "out").read_text())
    assert processes.ended() == {}
    processes.signal("1", signal.SIGTERM)
    until(lambda: bool(processes.ended()))
    assert processes.ended() == {"1": Ended(7, processes.ended()["1"].work)}
    assert (tmp_path / "out").read_text() == "here\nbye\n"
    assert not processes.signal("1", signal.SIGTERM)
    processes.close()


def test_what_cannot_be_started_is_said(processes: Guarded, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^No program can be run in .*no-such-program.*\.$"):
        processes.start("1", ["/no-such-program"], tmp_path / "output")
    processes.close()


def test_a_folder_is_made_and_one_that_cannot_be_is_said(tmp_path: Path) -> None:
    made = Guarded(tmp_path / "made")
    assert (tmp_path / "made").stat().st_mode & 0o077 == 0
    made.close()
    assert not (tmp_path / "made").exists()
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"^No program can be run in .*/file/folder: .*Not a directory.*\.$"):
        Guarded(tmp_path / "file" / "folder")
