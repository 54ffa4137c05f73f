"""`insync kafka cluster` as a process: ready, and gone without a trace whoever is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from insync.conformance.jars.pinned import pinned_for_cluster
from insync.conformance.jars.store import is_stored
from insync_process import end_processes, processes_of, started

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


@pytest.fixture
def ready() -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """The command with a cluster that is ready, and the folder of that."""
    if not is_stored(pinned_for_cluster("4.3.1")):
        pytest.skip("insync kafka fetch 4.3.1 --cluster, with INSYNC_CACHE_DIR set, fetches what this needs")
    process = started(["kafka", "cluster", "--kafka", "4.3.1", "--json", "--quiet"])
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline()
    assert line, process.stderr.read()
    told = json.loads(line)
    assert sorted(told["brokers"]) == ["b1", "b2", "b3"]
    yield process, Path(told["folder"])
    end_processes()


def until(attempt: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not attempt():
        assert time.monotonic() < end
        time.sleep(0.1)


def nodes_in(folder: Path) -> list[int]:
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                command = (process / "cmdline").read_text()
            except OSError:
                continue
            if "kafka.Kafka" in command and str(folder) in command:
                found.append(int(process.name))
    return found


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_all_ends_with_the_command(ready: tuple[subprocess.Popen[str], Path], end: signal.Signals) -> None:
    process, folder = ready
    assert len(nodes_in(folder)) == 4
    process.send_signal(end)
    assert process.wait(120) == (0 if end is signal.SIGINT else -end)
    until(lambda: not nodes_in(folder) and not folder.exists())
    assert not [command for command in processes_of(process.pid) if str(folder) in command]


def test_a_broker_that_dies_ends_the_command_with_a_sentence(ready: tuple[subprocess.Popen[str], Path]) -> None:
    process, folder = ready
    os.kill(nodes_in(folder)[-1], signal.SIGKILL)
    assert process.wait(120) == 2
    assert process.stderr is not None
    said = process.stderr.read()
    assert "of Kafka 4.3.1 was ended by SIGKILL, " in said
    assert said.count("\n") == 1
    until(lambda: not folder.exists())
