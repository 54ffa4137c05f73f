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
    if how == "end":
        assert (out, err) == ("Verdict.HOLDS None 5973\n", "") or out.startswith("holds None 5973"), err
        assert err == ""
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


def test_the_class_archive_is_made_once_and_used(tmp_path: Path) -> None:
    cache = tmp_path / "a cache"
    make = "from insync.spark_explore.driver.prepare import prepare; print(prepare())"
    use = (
        "from insync.spark_explore.driver.session import open_session\n"
        "with open_session(None, 'local[2]', None) as spark:\n"
        "    print(spark.conf.get('spark.driver.extraJavaOptions'), spark.range(5).count())"
    )
    said = []
    for script in (make, use):
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "INSYNC_CACHE_DIR": str(cache)},
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        said.append(done.stdout.strip())
    assert Path(said[0]).stat().st_size > 10 << 20
    assert [path.suffix for path in cache.iterdir() if path.name.startswith("spark-")] == [".jsa"]
    assert f'-XX:SharedArchiveFile="{said[0]}"' in said[1]
    assert said[1].endswith(" 5")
