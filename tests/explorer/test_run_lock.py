"""The lock of a run directory: one search at a time, until its process ends."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from insync.explorer.run_lock import LOCK_FILE, RunLock
from insync.runtime.errors import UserError

IN_USE = r"another search is using this run directory\. Wait until it has ended, or name another\."
HOLD = "import sys, time; from pathlib import Path; from insync.explorer.run_lock import RunLock; "


def is_held(folder: Path) -> bool:
    """Whether another process finds the lock taken."""
    text = f"{HOLD}RunLock(Path({str(folder)!r}))"
    ended = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0 or "another search is using" in ended.stderr
    return ended.returncode != 0


def test_one_process_has_it_until_it_is_released(tmp_path: Path) -> None:
    with RunLock(tmp_path):
        assert is_held(tmp_path)
    assert not is_held(tmp_path)
    lock = RunLock(tmp_path)
    lock.release()
    lock.release()
    assert lock.warning is None
    assert [path.name for path in tmp_path.iterdir()] == [LOCK_FILE]


def test_of_two_threads_one_has_it(tmp_path: Path) -> None:
    refused = list[str]()

    def second() -> None:
        try:
            RunLock(tmp_path).release()
        except UserError as error:
            refused.append(str(error))

    for held in (True, False):
        with RunLock(tmp_path if held else tmp_path.parent):
            thread = threading.Thread(target=second)
            thread.start()
            thread.join()
    assert refused == [
        f"{tmp_path}: another search is using this run directory. Wait until it has ended, or name another."
    ]


def test_it_is_released_when_the_block_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), RunLock(tmp_path):
        raise ZeroDivisionError
    RunLock(tmp_path).release()


def test_it_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    text = f"{HOLD}lock = RunLock(Path({str(tmp_path)!r})); print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(UserError, match=IN_USE):
            RunLock(tmp_path)
        process.send_signal(signal.SIGKILL)
    RunLock(tmp_path).release()


FORKS = f"""{HOLD}
import os
lock = RunLock(Path(sys.argv[1]))
if not os.fork():
    print("forked", flush=True)
time.sleep(60)
"""


def test_a_child_process_does_not_keep_it(tmp_path: Path) -> None:
    """Neither one that is forked, after its parent was killed, nor one that runs another program."""
    with subprocess.Popen(
        [sys.executable, "-c", FORKS, str(tmp_path)], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "forked\n"
        with pytest.raises(UserError, match=IN_USE):
            RunLock(tmp_path)
        process.kill()
        process.wait(timeout=60)
        lock = RunLock(tmp_path)
        os.killpg(process.pid, signal.SIGKILL)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        lock.release()
        RunLock(tmp_path).release()
        other.communicate(b"\n", timeout=60)


def test_it_is_released_while_a_child_is_being_forked(tmp_path: Path) -> None:
    """The child may not have closed its descriptor yet: here it never does."""
    lock = RunLock(tmp_path)
    assert lock._descriptor is not None
    inherited = os.dup(lock._descriptor)
    lock.release()
    RunLock(tmp_path).release()
    os.close(inherited)


def test_a_file_system_without_locks_is_named_and_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with RunLock(tmp_path) as lock:
        assert lock.warning == (
            f"{tmp_path}: this file system has no locks (No locks available), so nothing keeps two searches from "
            "using this run directory at once. See to it that only one does."
        )


@pytest.mark.parametrize("error", [errno.EACCES, errno.EROFS])
def test_a_folder_that_can_only_be_read_needs_no_lock(
    error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, flags: int, mode: int = 0) -> int:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "open", refuse)
    with RunLock(tmp_path) as lock:
        assert lock.warning is None


@pytest.mark.parametrize("what", ["folder", "link"])
def test_something_else_in_its_place_is_refused(what: str, tmp_path: Path) -> None:
    if what == "folder":
        (tmp_path / LOCK_FILE).mkdir()
    else:
        (tmp_path / LOCK_FILE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match=r"lock: the lock file of the run directory cannot be opened \(.*\)\. Remove"):
        RunLock(tmp_path)
    assert not (tmp_path / "elsewhere").exists()
