"""A session that the search made itself: nothing is left of it, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from insync_process import processes_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(200)]

SCRIPT = """
import os, signal, sys, threading, time
from insync.model.catalogue import find_model
from insync.explorer import Limits
from insync.spark_explore import SparkOptions, check

def main(how):
    model = find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)
    stop = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    def reporter(progress):
        if how == "fail" and progress.level > 5:
            raise ZeroDivisionError
        if how == "stop" and progress.level > 5:
            os.kill(os.getpid(), signal.SIGINT)
        if how == "kill" and progress.level > 5:
            print("ready", flush=True)
            time.sleep(60)
    limits = Limits(seconds=0.7 if how == "starting" else None)
    options = SparkOptions(master="local[2]", warm_states=1)
    result = check(model, options=options, limits=limits, reporter=reporter, stop=stop)
    print(result.verdict, result.stopped_by, result.distinct_states)

if __name__ == "__main__":
    main(sys.argv[1])
"""


def start(how: str, tmp_path: Path) -> subprocess.Popen[str]:
    folder = tmp_path / "tmp"
    folder.mkdir()
    places = {"TMPDIR": str(folder), "SPARK_LOCAL_DIRS": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, how],
        env={**os.environ, **places},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


AGAIN = """
from insync.model.catalogue import find_model
from insync.explorer import Limits
from insync.spark_explore import SparkOptions, check

model = find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)
for seconds in (0.7, None):
    result = check(model, options=SparkOptions(master="local[2]", warm_states=1), limits=Limits(seconds=seconds))
    print(result.verdict, result.stopped_by, result.distinct_states)
"""


def test_a_search_that_follows_one_that_ended_while_its_session_started() -> None:
    done = subprocess.run([sys.executable, "-c", AGAIN], capture_output=True, text=True, check=False)
    first, last = done.stdout.splitlines() or [done.stderr, ""]
    assert first.startswith("incomplete time ")
    assert last == "holds None 5973"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("how", ["starting", "end", "fail", "stop", "kill"])
def test_nothing_is_left(tmp_path: Path, how: str) -> None:
    process = start(how, tmp_path)
    try:
        if how == "kill":
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            process.kill()
        out, err = process.communicate(timeout=150)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    err = err.replace("WARNING: Using incubator modules: jdk.incubator.vector\n", "")  # the JVM says so of itself
    if how == "end":
        assert (out, err) == ("holds None 5973\n", "")
    elif how == "starting":
        assert "time" in out.lower(), (out, err)
        assert err == ""
    elif how == "stop":
        assert "interrupt" in out.lower(), (out, err)
        assert err == ""
    elif how == "fail":
        assert "ZeroDivisionError" in err
    end = time.monotonic() + (20 if how in ("starting", "kill", "stop") else 2)
    while time.monotonic() < end and (processes_of(process.pid) or any((tmp_path / "tmp").iterdir())):
        time.sleep(0.2)
    assert processes_of(process.pid) == []
    assert [path.name for path in (tmp_path / "tmp").iterdir()] == []
