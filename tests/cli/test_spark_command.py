"""The options of the Spark engine, and `insync spark`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from insync.cli.main import run

SMALL = ["kip101", "--replicas", "2", "--property", "strong_isr"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", *SMALL, "--resume", "x"], "--resume needs the Spark engine; add --engine spark"),
        (["simulate", *SMALL, "--master", "yarn"], "--master needs the Spark engine; add --engine spark"),
        (["check", *SMALL, "--engine", "spark", "--threads", "2"], "--threads applies to the local engine only"),
        (["check", *SMALL, "--engine", "spark", "--master", "a", "--remote", "b"], "name two places to run"),
        (["check", *SMALL, "--engine", "spark", "--run-dir", "a", "--resume", "b"], "--run-dir begins a run"),
        (["check", *SMALL, "--engine", "spark", "--resume", "/nonexistent/run"], "this is no run directory"),
        (["spark", "export", "/nonexistent/run", "out"], "this is no run directory"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_mistakes_are_said_before_spark_is_started(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.spark
def test_check_and_export_on_spark(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run_dir, out = str(tmp_path / "run"), str(tmp_path / "tables")
    given = ["check", *SMALL, "--json", "--quiet"]
    assert run(given) == 1
    local = json.loads(capsys.readouterr().out)
    assert run([*given, "--engine", "spark", "--master", "local[2]", "--run-dir", run_dir]) == 1
    spark = json.loads(capsys.readouterr().out)
    assert (local["engine"], spark["engine"]) == ("local", "spark")
    for result in (local, spark):
        for name in ("engine", "seconds", "peak_memory_bytes"):
            del result[name]
    assert spark == local
    assert run([*given, "--engine", "spark", "--resume", run_dir]) == 1
    resumed = json.loads(capsys.readouterr().out)
    assert {name: resumed[name] for name in local} == local
    assert run(["spark", "export", run_dir, out, "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert (tables["model"], tables["bounds"]) == (local["model"], local["bounds"])
    assert tables["states"] == {"table": f"{out}/states", "rows": local["distinct_states"]}
    assert tables["transitions"]["table"] == f"{out}/transitions"


@pytest.mark.slow
@pytest.mark.spark
def test_simulate_on_spark(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["simulate", *SMALL, "--walks", "5000", "--json", "--quiet"]
    code = run(given)
    local = json.loads(capsys.readouterr().out)
    assert run([*given, "--engine", "spark", "--master", "local[2]", "--partitions", "3"]) == code
    spark = json.loads(capsys.readouterr().out)
    for result in (local, spark):
        for name in ("engine", "seconds", "peak_memory_bytes"):
            result.pop(name, None)
    assert spark == local


def test_a_run_that_is_not_there_is_missed_before_anything_of_spark_is_imported() -> None:
    code = (
        "import sys; from insync.cli.main import run; code = run(['spark', 'export', '/nonexistent/run', 'out'])\n"
        "sys.exit(10 * code + any(name.startswith(('pyspark', 'pyarrow', 'pandas')) for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, "this is no run directory" in done.stderr) == (20, True)
