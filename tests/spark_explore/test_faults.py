"""Whatever dies in the middle of a level, counts and traces are those of an undisturbed run."""

from __future__ import annotations

import inspect
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from insync.explorer import CheckResult, Limits, Progress
from insync.explorer import check as check_locally
from insync.model import BoundValues, Condition, Int, Model, State, StateView, action, invariant, require
from insync.model.catalogue import find_model
from insync.runtime.errors import UserError
from insync.spark_explore import SparkOptions, check
from insync_corners import Late
from insync_spark_faults import failing_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPACE = find_model("kip320")(replicas=2, log_size=2, max_records=1, max_leader_epoch=2)
DEFECT = find_model("kip101")(replicas=3, log_size=2, max_records=2, max_leader_epoch=2)


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")


def strike(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, level: int, fault: str) -> Path:
    from insync.spark_explore.executor.level_task import level_task

    mark = tmp_path / "struck"
    broken = failing_once(level_task, level, str(mark), fault)
    monkeypatch.setattr("insync.spark_explore.driver.jobs.level_task", broken)
    return mark


EARLY = [pytest.param(fault, marks=pytest.mark.slow) for fault in ("raise", "raise-early", "worker-early")]


@pytest.mark.parametrize("fault", ["worker", *EARLY])
def test_a_task_that_dies_once_changes_nothing(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fault: str
) -> None:
    mark = strike(monkeypatch, tmp_path, 9, fault)
    options = SparkOptions(session=spark, partitions=2, warm_states=100)
    found = check(SPACE, options=options)
    assert mark.exists()
    assert facts(found) == facts(check_locally(SPACE))


@pytest.mark.slow
@pytest.mark.parametrize("failures", [[True, False, True, True, False], [False, True, True, True]])
def test_a_job_that_spark_gives_up_is_tried_twice_more(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, failures: list[bool]
) -> None:
    from insync.spark_explore.driver.jobs import JobFailed, run_plan

    coming = iter(failures)

    def sometimes(*args: Any) -> Any:
        if next(coming, False):
            message = "A Spark job failed: the test's"
            raise JobFailed(message)
        return run_plan(*args)

    monkeypatch.setattr("insync.spark_explore.driver.jobs.run_plan", sometimes)
    options = SparkOptions(session=spark, partitions=2, warm_states=100)
    if failures[-1]:
        with pytest.raises(UserError, match="A Spark job failed: the test's"):
            check(SPACE, options=options)
    else:
        assert facts(check(SPACE, options=options)) == facts(check_locally(SPACE))


def test_a_worker_with_another_insync_refuses(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.spark_explore.driver.check.insync_version", lambda: "9.9")
    with pytest.raises(UserError, match=r"^The driver runs insync 9\.9 and a worker runs insync .* shipped to them\.$"):
        check(SPACE, options=SparkOptions(session=spark, partitions=2, warm_states=100))


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_in_the_same_session(spark: SparkSession, tmp_path: Path) -> None:
    options = SparkOptions(session=spark, partitions=2, warm_states=100, run_dir=str(tmp_path))
    stopped = check(SPACE, limits=Limits(depth=11), options=options)
    assert (stopped.stopped_by, stopped.depth) == ("depth", 11)
    resumed = check(SPACE, options=replace(options, resume=True))
    assert facts(resumed) == facts(check_locally(SPACE))


@pytest.mark.slow
def test_an_interrupt_while_a_trace_is_looked_for_claims_nothing_without_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    whole, stop = check_locally(DEFECT, properties=["strong_isr"]), threading.Event()
    options = SparkOptions(session=spark, partitions=2, warm_states=100, run_dir=str(tmp_path))

    def at_the_last_level(progress: Progress) -> None:
        if progress.level == whole.depth:
            stop.set()

    ended = check(DEFECT, properties=["strong_isr"], options=options, reporter=at_the_last_level, stop=stop)
    assert (ended.verdict, ended.stopped_by, ended.violations) == ("incomplete", "interrupt", ())
    assert ended.levels == whole.levels[:-1]
    assert len(ended.warnings) == 1
    assert ended.warnings[0].startswith(f"strong_isr fails after {whole.depth} states; there was no time to find the")
    resumed = replace(options, resume=True)
    assert facts(check(DEFECT, properties=["strong_isr"], options=resumed)) == facts(whole)


@pytest.mark.slow
def test_a_run_that_ended_with_a_violation_can_go_on_to_the_end(spark: SparkSession, tmp_path: Path) -> None:
    model = find_model("truncate_to_high_watermark")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)
    options = SparkOptions(session=spark, partitions=2, warm_states=50, run_dir=str(tmp_path))
    assert facts(check(model, options=options)) == facts(check_locally(model))
    whole = check(model, options=replace(options, resume=True), keep_going=True)
    assert facts(whole) == facts(check_locally(model, keep_going=True))


@pytest.mark.slow
@pytest.mark.parametrize("warm_states", [pytest.param(1, marks=pytest.mark.slow), 100])
def test_a_run_that_ended_with_a_refused_step_can_go_on_to_the_end(
    spark: SparkSession, tmp_path: Path, warm_states: int
) -> None:
    """The step is refused on Spark, or in the first levels, which the driver searches itself."""
    options = SparkOptions(session=spark, partitions=2, warm_states=warm_states, run_dir=str(tmp_path))
    ended = check(Late(), options=options)
    assert facts(ended) == facts(check_locally(Late()))
    assert {found.name: found.verdict for found in ended.properties} == {"ok": "incomplete", "type_ok": "violated"}
    whole = check(Late(), options=replace(options, resume=True), keep_going=True)
    assert facts(whole) == facts(check_locally(Late(), keep_going=True))


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["worker", "worker-early"])
def test_the_trace_is_the_same_after_a_fault(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fault: str
) -> None:
    mark = strike(monkeypatch, tmp_path, 8, fault)
    found = check(
        DEFECT, properties=["strong_isr"], options=SparkOptions(session=spark, partitions=3, warm_states=1000)
    )
    assert mark.exists()
    assert facts(found) == facts(check_locally(DEFECT, properties=["strong_isr"]))


DRIVER = """
import sys
from insync.model.catalogue import find_model
from insync.spark_explore import SparkOptions, check
if __name__ == "__main__":
    model = find_model("kip101")(replicas=3, log_size=2, max_records=2, max_leader_epoch=2)
    options = SparkOptions(master="local[2]", partitions=2, warm_states=100, run_dir=sys.argv[1])
    check(model, properties=["strong_isr"], options=options)
"""


@pytest.mark.slow
@pytest.mark.parametrize("levels", [0, 1])
def test_a_run_whose_driver_was_killed_goes_on(spark: SparkSession, tmp_path: Path, levels: int) -> None:
    run = tmp_path / "run"
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(run)], start_new_session=True)
    try:
        wait_for(lambda: searched(run) >= levels and next(run.glob("states/p00001/0000[789]-*"), None) is not None)
    finally:
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
    resumed = check(
        DEFECT, properties=["strong_isr"], options=SparkOptions(session=spark, run_dir=str(run), resume=True)
    )
    assert facts(resumed) == facts(check_locally(DEFECT, properties=["strong_isr"]))


class Chain(Model):
    """Nine steps lead to the state in which `small` fails."""

    def declare(self, b: BoundValues) -> State:
        return State(x=Int(0, 15))

    @action
    def go(self, s: StateView) -> None:
        """Take the next number."""
        require(s.x < 10)
        s.x += 1

    @invariant
    def small(self, s: StateView) -> Condition:
        """The number is small."""
        condition: Condition = s.x < 9
        return condition


@pytest.mark.slow
@pytest.mark.parametrize(("warm", "level"), [(1, 1), (3, 1), (3, 4)])
def test_a_bit_that_was_flipped_in_the_states_does_not_make_holds_of_violated(
    spark: SparkSession, tmp_path: Path, warm: int, level: int
) -> None:
    options = SparkOptions(session=spark, partitions=1, warm_states=warm, run_dir=str(tmp_path))
    stopped = check(Chain(), limits=Limits(depth=4), options=options)
    assert (stopped.verdict, stopped.depth) == ("incomplete", 4)
    (path,) = tmp_path.glob(f"states/p00000/{level:05}-*")
    whole = path.read_bytes()
    path.write_bytes(whole[:-8] + bytes([whole[-8] ^ 1 << 2]) + whole[-7:])
    with pytest.raises(UserError, match=rf"^{path}: this file is not what the run has written there\. The run dir"):
        check(Chain(), options=replace(options, resume=True))
    path.write_bytes(whole)
    assert facts(check(Chain(), options=replace(options, resume=True))) == facts(check_locally(Chain()))


@pytest.mark.slow
@pytest.mark.parametrize("damaged", ["manifest.json", "states/p00000/00004-00004"])
def test_what_the_command_says_of_damage(spark: SparkSession, tmp_path: Path, damaged: str) -> None:
    model = tmp_path / "chain.py"
    words = "BoundValues, Condition, Int, Model, State, StateView, action, invariant, require"
    model.write_text(f"from insync.model import {words}\n\n\n{inspect.getsource(Chain)}")
    options = SparkOptions(session=spark, partitions=1, warm_states=1, run_dir=str(tmp_path / "run"))
    check(f"{model}:Chain", limits=Limits(depth=4), options=options)
    path = tmp_path / "run" / damaged
    whole = path.read_bytes()
    path.write_bytes(whole[:-8] + bytes([whole[-8] ^ 1 << 2]) + whole[-7:])
    command = [sys.executable, "-c", "from insync.cli.main import main; main()", "check", f"{model}:Chain", "--quiet"]
    command += ["--engine", "spark", "--master", "local[1]", "--resume", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    said = f"Error: {path}: this file is not what the run has written there. The run directory is damaged; search again"
    of_java = "WARNING: Using incubator modules: jdk.incubator.vector\n"  # where Spark has started
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.removeprefix(of_java) == f"{said} in another --run-dir.\n"


@pytest.mark.slow
def test_a_run_that_is_over_is_not_searched_again(spark: SparkSession, tmp_path: Path) -> None:
    options = SparkOptions(session=spark, partitions=2, warm_states=100, run_dir=str(tmp_path))
    first = check(SPACE, options=options)
    again = check(SPACE, options=replace(options, resume=True))
    assert facts(again) == facts(first)
    with pytest.raises(UserError, match="a run in this directory already"):
        check(SPACE, options=options)


@pytest.mark.parametrize(
    ("model", "names", "said"),
    [
        (find_model("kip101")(replicas=2), None, "another model: model is kip320 there and kip101 here"),
        (find_model("kip320")(replicas=2, log_size=1), None, "other bounds: bounds is replicas 2, log_size 2"),
        (SPACE, [], "other properties: properties is .* there and none here"),
    ],
    ids=["model", "bounds", "properties"],
)
def test_another_search_does_not_go_on_with_a_run(
    spark: SparkSession, tmp_path: Path, model: object, names: list[str] | None, said: str
) -> None:
    options = SparkOptions(session=spark, partitions=2, warm_states=100_000, run_dir=str(tmp_path))
    check(SPACE, options=options)
    with pytest.raises(UserError, match=said):
        check(model, properties=names, options=replace(options, resume=True))  # type: ignore[arg-type]


def searched(run: Path) -> int:
    """How many levels the manifest has beyond those of the driver."""
    try:
        return len(json.loads((run / "manifest.json").read_text())["levels"])
    except FileNotFoundError:
        return -1


def wait_for(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 90
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)
