"""Entries of the catalogue, verified by several processes: as by one, in their order, and gone when it ends."""

from __future__ import annotations

import re
import signal
import threading
import time
from pathlib import Path

import pytest

from insync.kafka.defects import all_defects
from insync.kafka_questions import verification
from insync.kafka_questions.verification import EntrySearch, verified_entries
from insync_process import started

FEW = [all_defects()[name] for name in ("R-50", "R-48")]


@pytest.fixture
def with_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "_WORTH_PROCESSES", 2)


WITH_PROCESSES = """
import threading
from insync.kafka_questions import verification
from insync.kafka.defects import all_defects

verification._WORTH_PROCESSES = 2
few = [all_defects()[name] for name in ("R-50", "R-48")]
for one in verification.verified_entries(few, verification.EntrySearch(2, None, threading.Event())):
    print(one.entry["name"])
"""


def without_time(said: str) -> str:
    return re.sub(r"; [\d.]+ s$", "", said)


@pytest.mark.usefixtures("with_processes")
def test_several_processes_find_what_one_finds() -> None:
    beside = list(verified_entries(FEW, EntrySearch(2, None, threading.Event())))
    alone = list(verified_entries(FEW, EntrySearch(1, None, threading.Event())))
    assert [(one.outcome, one.entry) for one in beside] == [(one.outcome, one.entry) for one in alone]
    assert [without_time(one.said) for one in beside] == [without_time(one.said) for one in alone]
    assert all(one.outcome for one in beside)


def test_nothing_in_the_current_folder_is_a_module_of_theirs(tmp_path: Path) -> None:
    """Python starts such processes by `python -c`, which would look into the current folder first."""
    (tmp_path / "multiprocessing.py").write_text("open('ran', 'w').close()\n")
    script = "import os, sys\nsys.path.remove('')\nos.chdir(sys.argv.pop(1))\n" + WITH_PROCESSES
    process = started([str(tmp_path)], script=script)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err, (tmp_path / "ran").exists()) == (0, "", False)
    assert out == "R-50\nR-48\n"


def children(process: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def run(process: int) -> bool:
    path = Path(f"/proc/{process}/stat")
    try:
        return path.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 3), (signal.SIGKILL, -signal.SIGKILL)])
def test_the_processes_end_with_the_command(sent: signal.Signals, code: int) -> None:
    with started(["defects", "--verify", "--threads", "2"]) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("  ok ")
        own = children(process.pid)
        assert len(own) >= 2
        process.send_signal(sent)
        began = time.monotonic()
        out, err = process.communicate(timeout=60)
        assert process.returncode == code
        assert time.monotonic() - began < 10
        assert "Traceback" not in err
        assert (sent is signal.SIGKILL) != ("Stopped by Ctrl-C; not tried: " in out)
        while any(map(run, own)) and time.monotonic() - began < 20:
            time.sleep(0.1)
        assert not any(map(run, own))
