"""Whoever starts programs may be killed: the programs end, and their folder is gone. The programs are shells here."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import pytest

from insync.runtime.child_processes import Ended, GuardedPrograms, ProgramRunner, modules_of_python
from insync.runtime.errors import UserError
from insync.runtime.watch import Limits, Stopped, Watch
from insync_process import took_at_most

PARENT = """
import sys
from pathlib import Path
from insync.runtime.child_processes import GuardedPrograms

folder = Path(sys.argv[1])
folder.mkdir()
processes = GuardedPrograms(folder, (folder / "owner").open("w"))
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
def processes(tmp_path: Path) -> GuardedPrograms:
    folder = tmp_path / "cluster"
    folder.mkdir()
    return GuardedPrograms(folder, (folder / "owner").open("w"))


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


def test_a_program_that_is_paused_ends_too(processes: GuardedPrograms, tmp_path: Path) -> None:
    program = processes.start("1", ["sleep", "600"], tmp_path / "output")
    assert processes.signal("1", signal.SIGSTOP)
    processes.close()
    assert not is_running(program)
    assert not (tmp_path / "cluster").exists()


def test_an_interrupted_question_leaves_no_answer_to_the_next_one(processes: GuardedPrograms, tmp_path: Path) -> None:
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


def test_a_program_hears_the_signal_to_end(processes: GuardedPrograms, tmp_path: Path) -> None:
    processes.start(
        "1", ["sh", "-c", "trap 'echo bye; exit 7' TERM; echo here; while :; do sleep 0.05; done"], tmp_path / "out"
    )
    until(lambda: "here" in (tmp_path / "out").read_text())
    assert processes.ended() == {}
    processes.signal("1", signal.SIGTERM)
    until(lambda: bool(processes.ended()))
    assert processes.ended() == {"1": Ended(7, processes.ended()["1"].cpu_seconds)}
    assert (tmp_path / "out").read_text() == "here\nbye\n"
    assert not processes.signal("1", signal.SIGTERM)
    processes.close()


def test_what_cannot_be_started_is_said(processes: GuardedPrograms, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^No program can be run in .*no-such-program.*\.$"):
        processes.start("1", ["/no-such-program"], tmp_path / "output")
    processes.close()


def test_a_folder_is_made_and_one_that_cannot_be_is_said(tmp_path: Path) -> None:
    made = GuardedPrograms(tmp_path / "made")
    assert (tmp_path / "made").stat().st_mode & 0o077 == 0
    made.close()
    assert not (tmp_path / "made").exists()
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"^No program can be run in .*/file/folder: .*Not a directory.*\.$"):
        GuardedPrograms(tmp_path / "file" / "folder")


# ----------------------------------------------------------------------------------------- programs one after the other


ENDLESS = "echo $$ > id; sleep 600 & echo $! > child; wait"


def watch(seconds: float | None = None, stop: threading.Event | None = None) -> Watch:
    return Watch(Limits(seconds=seconds), stop)


def gone(process: int, within: float = 5.0) -> bool:
    """Whether there is no such process, or soon is none."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_a_program_runs_in_a_folder_that_is_gone_afterwards() -> None:
    with ProgramRunner(watch()) as runner:
        runner.write("said", "hello")
        ran = runner.run(["cat", "said"])
        assert (ran.code, ran.output) == (0, "hello")
        assert ran.cpu_seconds >= 0
        assert runner.run(["sh", "-c", "echo no >&2; exit 3"]).code == 3
        assert runner.run(["sh", "-c", "kill -9 $$"]).code == -9
        folder = runner.folder
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()


def test_a_program_that_is_not_there_is_a_sentence() -> None:
    with ProgramRunner(watch()) as runner, pytest.raises(UserError, match=r"^No program can be run in .*nowhere.*\.$"):
        runner.run(["/nowhere/at/all"])


def ids(folder: Path) -> list[int]:
    """The processes of the endless program, when it has started."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            return [int((folder / name).read_text()) for name in ("id", "child")]
        except (OSError, ValueError):
            time.sleep(0.02)
    raise AssertionError(folder)


@pytest.mark.parametrize("how", ["time", "interrupt"])
def test_what_is_stopped_is_ended_with_all_its_processes_within_a_second(how: str) -> None:
    stop, known, asked = threading.Event(), list[int](), list[float]()

    def endless() -> None:
        with ProgramRunner(watch(2.0 if how == "time" else None, stop)) as runner:
            folders.append(runner.folder)
            other = threading.Thread(target=interrupt)
            other.start()
            try:
                runner.run(["sh", "-c", ENDLESS])
            finally:
                other.join()
                asked.append(time.monotonic())

    def interrupt() -> None:
        known.extend(ids(folders[0]))
        if how == "interrupt":
            stop.set()

    folders: list[Path] = []
    with pytest.raises(Stopped) as ended:
        endless()
    assert took_at_most(1.0, asked[0])
    assert str(ended.value.reason) == how
    assert not folders[0].exists()
    assert all(map(gone, known))


SCRIPT = f"""
import threading
from insync.runtime.child_processes import ProgramRunner
from insync.runtime.watch import Limits, Watch

with ProgramRunner(Watch()) as runner:
    print(runner.folder, runner._programs.guardian_id, flush=True)
    runner.run(["sh", "-c", {ENDLESS!r}])
"""


@pytest.mark.parametrize("victim", ["insync", "guardian"])
def test_nothing_is_left_when_one_is_killed(victim: str) -> None:
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as owner:
        assert owner.stdout is not None
        folder, guardian = owner.stdout.readline().split()
        known = ids(Path(folder.decode()))
        os.kill(owner.pid if victim == "insync" else int(guardian), signal.SIGKILL)
        owner.wait(10)
    assert gone(known[0])
    assert gone(int(guardian))
    if victim == "insync":
        assert gone(known[1])
        assert not Path(folder.decode()).exists()
    elif not gone(known[1], 0):  # the system ends the program itself, whose own processes know nothing of it
        os.kill(known[1], signal.SIGKILL)
    shutil.rmtree(folder.decode(), ignore_errors=True)


# -------------------------------------------------------------------------------------------------- processes of Python


HOSTILE = "open('ran', 'w').close()\n"


def test_they_do_not_take_what_lies_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "multiprocessing.py").write_text(HOSTILE)
    monkeypatch.chdir(tmp_path)
    with modules_of_python():
        process = get_context("spawn").Process(target=os._exit, args=(7,))
        process.start()
    process.join(60)
    assert (process.exitcode, (tmp_path / "ran").exists()) == (7, False)


@pytest.mark.parametrize("before", ["", "1", None])
def test_the_environment_is_as_it_was(before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", before)
    with modules_of_python():
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert os.environ.get("PYTHONSAFEPATH") == before
