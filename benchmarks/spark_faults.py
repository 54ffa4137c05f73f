"""Search on standalone clusters of this machine while executors are killed, and the driver, which is then resumed.

    python benchmarks/spark_faults.py [--runs 20] [--seed 1] [--bounds 3,2,2,1] [--workers 2]

Each run has a seed of its own. It begins in a process that is killed when a level is complete that is drawn, and goes
on in another one. In both, two executors are killed at levels that are drawn, and Spark runs slow tasks twice
(speculation). In every other run one of the two processes is the local engine. The result must be that of a search
without a stop in every field but engine, times, memory and how states are kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from spark_cluster import NAMES, Spy, cluster

KILLS = 2


def main() -> None:
    """Run all, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bounds", default="3,2,2,1")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        _search(json.loads(given.child))
        return
    bounds = dict(zip(NAMES, map(int, given.bounds.split(",")), strict=True))
    wrong = [seed for seed in range(given.seed, given.seed + given.runs) if not _same(seed, bounds, given.workers)]
    print(f"{given.runs - len(wrong)} of {given.runs} runs found what the local engine finds; wrong: {wrong or 'none'}")
    raise SystemExit(bool(wrong))


def _same(seed: int, bounds: dict[str, int], workers: int) -> bool:
    drawn, began = random.Random(seed), time.perf_counter()
    engines = [["spark", "spark"], ["local", "spark"], ["spark", "spark"], ["spark", "local"]][seed % 4]
    with tempfile.TemporaryDirectory() as folder:
        case = {"bounds": bounds, "workers": workers, "folder": folder, "kills": KILLS}
        level = drawn.randint(4, 14)
        first = _started({**case, "engine": engines[0], "resume": False, "seed": drawn.random()})
        while first.poll() is None and _levels_in(Path(folder)) < level:
            time.sleep(0.001)
        was_killed = first.poll() is None
        first.kill()
        first.communicate()
        second = _started({**case, "engine": engines[1], "resume": True, "seed": drawn.random()})
        said, _ = second.communicate(timeout=900)
    found = json.loads(said) if second.returncode == 0 else {"equal": False}
    killed = f"killed in level {level}" if was_killed else "had ended"
    print(
        f"seed {seed}: {engines[0]} ({killed}), then {engines[1]}: {'equal' if found['equal'] else 'NOT EQUAL'}, "
        f"{found.get('killed', 0)} executors killed after that, {time.perf_counter() - began:.0f} s", flush=True,
    )  # fmt: skip
    return bool(found["equal"])


def _started(case: dict[str, Any]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, "--child", json.dumps(case)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip


def _levels_in(folder: Path) -> int:
    try:
        return len(json.loads((folder / "run" / "manifest.json").read_text())["levels"])
    except FileNotFoundError:
        return 0


def _search(case: dict[str, Any]) -> None:
    from insync.explorer import check as check_locally
    from insync.model.catalogue import find_model
    from insync.spark_explore import SparkOptions, check

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    model, run, killed = find_model("kip320")(**case["bounds"]), f"{case['folder']}/run", 0
    if case["engine"] == "local":
        found = check_locally(model, symmetry=False, run_dir=run, resume=case["resume"], threads=2, partitions=4)
    else:
        with cluster(case["workers"], 1024, case["folder"], speculation=True) as spark:
            spy = Spy(Path(case["folder"]), case["kills"], case["seed"])
            options = SparkOptions(session=spark, partitions=4, warm_states=20, run_dir=run, resume=case["resume"])
            found = check(model, options=options, symmetry=False, reporter=spy.report)
            killed = spy.killed
    local = check_locally(model, symmetry=False)
    same: dict[str, Any] = {"seconds": {}, "peak_memory_bytes": 0, "engine": "", "kept": "", "huge_pages": None}
    print(json.dumps({"equal": replace(found, **same) == replace(local, **same), "killed": killed}))


if __name__ == "__main__":
    main()
