"""Executors that are processes of their own: a cluster on one machine, in a process that has no other session."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SUPPORT = Path(__file__).parents[1] / "support"

SCRIPT = """
import sys
from dataclasses import replace
from insync.explorer import check as check_locally
from insync.model.catalogue import find_model
from insync.spark_explore import SparkOptions, check
from insync.spark_explore.driver import jobs
from insync.spark_explore.driver.session import open_session

def facts(result):
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")

def main(fault, folder):
    space = find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)
    defect = find_model("kip101")(replicas=3, log_size=2, max_records=2, max_leader_epoch=2)
    with open_session(None, "local-cluster[2,1,1024]", None) as spark:
        def same(model, names, run, ship):
            options = SparkOptions(session=spark, partitions=4, warm_states=200, run_dir=f"{folder}/{run}", ship=ship)
            found = check(model, properties=names, options=options)
            assert facts(found) == facts(check_locally(model, properties=names)), run
        if fault == "none":
            same(space, None, "space", None)
            same(defect, ["strong_isr"], "defect", None)
            try:
                check(space, options=SparkOptions(session=spark))
            except Exception as error:
                assert "--run-dir" in str(error), error
        else:
            from insync_spark_faults import failing_once
            jobs.level_task = failing_once(jobs.level_task, 9, f"{folder}/struck", fault)
            same(space, None, "space", None)
    print("equal")

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


@pytest.mark.parametrize("fault", ["none", "executor", "executor-early", "worker"])
def test_counts_and_traces_are_those_of_the_local_engine(tmp_path: Path, fault: str) -> None:
    path = tmp_path / "script.py"
    path.write_text(f"import sys\nsys.path.insert(0, {str(SUPPORT)!r})\n{SCRIPT}")
    done = subprocess.run(
        [sys.executable, str(path), fault, str(tmp_path)], capture_output=True, text=True, timeout=280, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("equal", 0), done.stderr[-3000:]
    assert fault == "none" or (tmp_path / "struck").exists()
