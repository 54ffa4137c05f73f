"""The JVM of a session of our own, with a shell script in its place."""

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

from insync.runtime.watch import Stopped, Watch
from insync.spark_explore.driver.jvm import DriverJvm

pyspark = pytest.importorskip("pyspark")

Start = Callable[[str], DriverJvm]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Start a script as the JVM; it may use PID, a file that says which process it is."""

    def started(script: str) -> DriverJvm:
        home = tmp_path / "home" / "bin"
        home.mkdir(parents=True)
        submit = home / "spark-submit"
        submit.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\n{script}\n")
        submit.chmod(0o755)
        monkeypatch.setenv("SPARK_HOME", str(home.parent))
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        with (tmp_path / "log").open("wb") as log:
            return DriverJvm(pyspark.SparkConf(loadDefaults=False), log)

    return started


def gone(tmp_path: Path) -> bool:
    """Whether the process ends within some seconds."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            os.kill(int((tmp_path / "pid").read_text() or "0"), 0)
        except ProcessLookupError:
            return True
        except (FileNotFoundError, ValueError):
            pass
        time.sleep(0.02)
    return False


def nothing_is_left(tmp_path: Path) -> bool:
    """Whether the folder of the JVM is removed within some seconds."""
    until = time.monotonic() + 20
    while list(tmp_path.glob("insync-jvm-*")):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def test_who_gives_up_while_it_starts_leaves_nothing(start: Start, tmp_path: Path) -> None:
    jvm, stop = start("exec sleep 100"), threading.Event()

    def stop_once_it_runs() -> None:
        while not (tmp_path / "pid").exists():
            time.sleep(0.01)
        stop.set()

    threading.Thread(target=stop_once_it_runs).start()
    with pytest.raises(Stopped):
        jvm.connect(Watch(stop=stop))
    jvm.leave()
    assert gone(tmp_path)
    assert nothing_is_left(tmp_path)


def test_one_that_ends_too_early_is_an_error(start: Start, tmp_path: Path) -> None:
    jvm = start("exit 3")
    with pytest.raises(RuntimeError, match="it ended with exit code 3"):
        jvm.connect(Watch())
    jvm.end()
    assert nothing_is_left(tmp_path)


def test_it_ends_when_its_input_is_closed(start: Start, tmp_path: Path) -> None:
    jvm = start("exec cat")
    while not (tmp_path / "pid").exists():
        time.sleep(0.02)
    jvm.end()
    assert gone(tmp_path)
    assert nothing_is_left(tmp_path)


def test_one_that_does_not_end_is_killed_and_leaves_nothing(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.spark_explore.driver.jvm._END_SECONDS", 0.1)
    jvm = start("trap : TERM; while :; do sleep 0.1; done")
    while not (tmp_path / "pid").exists():
        time.sleep(0.02)
    assert list(tmp_path.glob("insync-jvm-*"))
    jvm.end()
    assert gone(tmp_path)
    assert nothing_is_left(tmp_path)


DRIVER = """
import sys, tempfile
import pyspark
from insync.spark_explore.driver.jvm import DriverJvm
with tempfile.TemporaryFile() as log:
    jvm = DriverJvm(pyspark.SparkConf(loadDefaults=False), log)
    print("started", flush=True)
    jvm.connect(Watch())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_signal_that_ends_the_driver_while_it_starts_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    home = tmp_path / "home" / "bin"
    home.mkdir(parents=True)
    (home / "spark-submit").write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec cat\n")
    (home / "spark-submit").chmod(0o755)
    variables = {**os.environ, "SPARK_HOME": str(home.parent), "TMPDIR": str(tmp_path)}
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER], env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with driver:
        assert driver.stdout is not None
        driver.stdout.readline()
        while not (tmp_path / "pid").exists():
            time.sleep(0.02)
        driver.send_signal(number)
    assert gone(tmp_path)
    assert nothing_is_left(tmp_path)
