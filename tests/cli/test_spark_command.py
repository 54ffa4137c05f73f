"""The options of the Spark engine, and `insync spark`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from insync.cli.main import run
from insync_process import COMMAND, processes_of, started, took_at_most, wait_for

SMALL = ["kip101", "--replicas", "2", "--property", "strong_isr"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", *SMALL, "--tables-on-disk"], "--tables-on-disk needs the Spark engine; add --engine spark"),
        (["check", *SMALL, "--resume", "/nonexistent/run"], "this is no run directory"),
        (["simulate", *SMALL, "--master", "yarn"], "--master needs the Spark engine; add --engine spark"),
        (["check", *SMALL, "--engine", "spark", "--threads", "2"], "--threads applies to the local engine only"),
        (["check", *SMALL, "--engine", "spark", "--master", "a", "--remote", "b"], "name two places to run"),
        (["check", *SMALL, "--engine", "spark", "--run-dir", "a", "--resume", "b"], "--run-dir begins a run"),
        (["check", *SMALL, "--engine", "spark", "--resume", "/nonexistent/run"], "this is no run directory"),
        (["spark", "export", "/nonexistent/run", "out"], "this is no run directory"),
        (["spark", "prepare"], "Spark needs no preparation any more"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_mistakes_are_said_before_spark_is_started(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(arguments) == 2
    assert said in capsys.readouterr().err


def of_its_own(*arguments: str) -> tuple[int, dict[str, Any]]:
    """Return exit code and result of a command in a process of its own, as this one may have a session by now."""
    done = subprocess.run([*COMMAND, *arguments, "--json"], capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.spark
def test_check_and_export_on_spark(tmp_path: Path) -> None:
    run_dir, out = str(tmp_path / "run"), str(tmp_path / "tables")
    given = ["check", *SMALL, "--no-symmetry", "--quiet"]
    code, local = of_its_own(*given)
    on_spark = of_its_own(*given, "--engine", "spark", "--master", "local[2]", "--run-dir", run_dir)
    spark = on_spark[1]
    assert (code, on_spark[0], local["engine"], spark["engine"]) == (1, 1, "local", "spark")
    for result in (local, spark):
        for name in ("engine", "seconds", "peak_memory_bytes"):
            del result[name]
    assert spark == local
    code, resumed = of_its_own(*given, "--engine", "spark", "--resume", run_dir)
    assert (code, {name: resumed[name] for name in local}) == (1, local)
    code, tables = of_its_own("spark", "export", run_dir, out)
    assert (code, tables["model"], tables["bounds"]) == (0, local["model"], local["bounds"])
    assert tables["states"] == {"table": f"{out}/states", "rows": local["distinct_states"]}
    assert tables["transitions"]["table"] == f"{out}/transitions"


@pytest.mark.slow
@pytest.mark.spark
def test_simulate_on_spark() -> None:
    given = ["simulate", *SMALL, "--walks", "5000", "--quiet"]
    code, local = of_its_own(*given)
    on_spark = of_its_own(*given, "--engine", "spark", "--master", "local[2]", "--partitions", "3")
    spark = on_spark[1]
    assert on_spark[0] == code
    for result in (local, spark):
        for name in ("engine", "seconds", "peak_memory_bytes"):
            result.pop(name, None)
    assert spark == local


TOLD_START = """
import sys
from insync.cli.main import main
from insync.spark_explore.driver import session

built = session._built

def told(*given):
    print("starting", file=sys.stderr, flush=True)
    return built(*given)

session._built = told
main()
"""


def left_in(folder: Path, moment: str) -> list[Path]:
    """Return what is left in a folder, but for that in which pyspark waits for the port of a JVM that it starts."""
    left = list(folder.iterdir())
    return [] if moment == "starting" and len(left) == 1 and left[0].name.startswith("tmp") else left


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(400)
@pytest.mark.parametrize("moment", ["starting", "Progress("])
@pytest.mark.parametrize("command", ["check", "simulate"])
def test_ctrl_c_ends_spark_at_once_and_leaves_nothing(command: str, moment: str, tmp_path: Path) -> None:
    folder, run_dir = tmp_path / "tmp", str(tmp_path / "run")
    folder.mkdir()
    large = ["--log-size", "3", "--max-records", "3", "--max-leader-epoch", "4"]  # half an hour
    given = [command, "kip320", *large, "--engine", "spark", "--master", "local[2]", "--json"]
    rest = ["--run-dir", run_dir] if command == "check" else ["--walks", "1000000000"]
    process = started(
        [*given, *rest], script=TOLD_START, own_session=True, TMPDIR=str(folder), SPARK_LOCAL_DIRS=str(folder)
    )
    wait_for(process, "starting")
    if moment == "Progress(":
        wait_for(process, *(("Progress(", "Progress(0)") if command == "check" else ("Progress: ", "starting Spark")))
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = process.communicate(timeout=200)
    assert took_at_most(5, began), "it takes a second"
    found = json.loads(out)
    assert (process.returncode, found["verdict"], found["stopped_by"]) == (3, "incomplete", "interrupt")
    assert "Traceback" not in err
    until = time.monotonic() + 30
    while time.monotonic() < until and (processes_of(process.pid) or left_in(folder, moment)):
        time.sleep(0.2)
    assert (processes_of(process.pid), left_in(folder, moment)) == ([], [])
    if command == "check" and moment == "Progress(":
        assert sum(found["levels"]) == found["distinct_states"] > 0
        deeper = ["--resume", run_dir, "--max-depth", str(len(found["levels"]) + 1)]
        done = subprocess.run([*COMMAND, *given, *deeper], capture_output=True, text=True, check=False)
        resumed = json.loads(done.stdout)
        assert (done.returncode, resumed["stopped_by"]) == (3, "depth")
        assert resumed["levels"][:-1] == found["levels"]


@pytest.mark.slow
def test_a_run_that_is_not_there_is_missed_before_anything_of_spark_is_imported() -> None:
    code = (
        "import sys; from insync.cli.main import run; code = run(['spark', 'export', '/nonexistent/run', 'out'])\n"
        "sys.exit(10 * code + any(name.startswith(('pyspark', 'pyarrow', 'pandas')) for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, "this is no run directory" in done.stderr) == (20, True)
