from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from insync.runtime.child_processes import Workshop
from insync.runtime.errors import UserError
from insync.runtime.watch import GivenUp, Limits, Watch

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
    with Workshop(watch()) as shop:
        shop.write("said", "hello")
        ran = shop.run(["cat", "said"])
        assert (ran.code, ran.output) == (0, "hello")
        assert ran.work >= 0
        assert shop.run(["sh", "-c", "echo no >&2; exit 3"]).code == 3
        assert shop.run(["sh", "-c", "kill -9 $$"]).code == -9
        folder = shop.folder
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()


def test_a_program_that_is_not_there_is_a_sentence() -> None:
    with Workshop(watch()) as shop, pytest.raises(UserError, match=r"^No program can be run in .*nowhere.*\.$"):
        shop.run(["/nowhere/at/all"])


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
        with Workshop(watch(2.0 if how == "time" else None, stop)) as shop:
            folders.append(shop.folder)
            other = threading.Thread(target=interrupt)
            other.start()
            try:
                shop.run(["sh", "-c", ENDLESS])
            finally:
                other.join()
                asked.append(time.monotonic())

    def interrupt() -> None:
        known.extend(ids(folders[0]))
        if how == "interrupt":
            stop.set()

    folders: list[Path] = []
    with pytest.raises(GivenUp) as ended:
        endless()
    assert time.monotonic() - asked[0] < 1.0
    assert str(ended.value.reason) == how
    assert not folders[0].exists()
    assert all(map(gone, known))


SCRIPT = f"""
import threading
from insync.runtime.child_processes import Workshop
from insync.runtime.watch import Limits, Watch

with Workshop(Watch(Limits(), None)) as shop:
    print(shop.folder, shop._programs.guardian_id, flush=True)
    shop.run(["sh", "-c", {ENDLESS!r}])
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
