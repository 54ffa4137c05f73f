"""Measure what docs/guide/spark.md says of Spark: beside other engines in turn, on clusters, with faults, and at size.

    python benchmarks/spark_record.py ratios|cores|cluster|faults|large|all [--rounds 3] [--out build/spark_record.txt]

ratios    kip320 3,3,3,2 on local[*] and a plain session with one `mapInArrow` job, in turn; 3,3,3,3 on local[2] and the
          local engine, in turn: seconds of whole processes, start-up included, their medians, bytes shuffled
cores     3,3,3,3 on local[1] and on local[2], two partitions: seconds, and bytes by level: `spark.py`
cluster   3,2,2,2 on standalone clusters with 1, 2, 4 and 8 executors: `spark_cluster.py`
faults    20 seeded runs with executors and drivers killed: `spark_faults.py`
large     kip320 3,3,3,4 without symmetry, two workers with 2 GB each, eight partitions: 824,574,349 states. It takes
          10 GB of disk in the folder of temporary files (TMPDIR)

The machine should have nothing else to do. What is printed is also appended to the file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

HERE = Path(__file__).parent

_ONCE = ("spark.py", "--only", "3,3,3,3", "--partitions", "2", "--levels")
_SCRIPTS: dict[str, list[tuple[str, ...]]] = {
    "cores": [(*_ONCE, "--master", "local[1]"), (*_ONCE, "--master", "local[2]")],
    "cluster": [("spark_cluster.py", "--workers", "1,2,4,8", "--bounds", "3,2,2,2")],
    "faults": [("spark_faults.py", "--runs", "20")],
    "large": [(
        *("spark_cluster.py", "--workers", "2", "--bounds", "3,3,3,4", "--partitions", "8"),
        *("--memory", "2048", "--warm", "500000", "--levels"),
    )],
}  # fmt: skip
_PARTS = ("ratios", *_SCRIPTS)

PLAIN = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[*]").getOrCreate()
print(spark.range(0, 2, 1, 2).mapInArrow(lambda batches: batches, "id bigint").toArrow().num_rows)
spark.stop()
"""
CHECK = """
import json, sys
from insync.model.catalogue import find_model
given = json.loads(sys.argv[1])
model = find_model("kip320")(**dict(zip(("replicas", "log_size", "max_records", "max_leader_epoch"), given["bounds"])))
shuffled = 0
if given["engine"] == "local":
    from insync.explorer import check
    result = check(model, symmetry=False, threads=2)
else:
    from insync.spark_explore import SparkOptions, check
    def note(figures):
        global shuffled
        shuffled += figures["bytes_in"]
    options = SparkOptions(master=given["engine"])
    result = check(model, symmetry=False, options=options, task_reporter=note)
print(json.dumps({"states": result.distinct_states, "seconds": result.seconds, "shuffled": shuffled}))
"""


def main() -> None:
    """Measure what is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=(*_PARTS, "all"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("build/spark_record.txt"))
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with given.out.open("a") as out:
        record = _Record(out)
        now = datetime.now(UTC)
        record(
            f"{now:%Y-%m-%d %H:%M} UTC, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f} at the start"
        )
        for name in _PARTS if given.what == "all" else (given.what,):
            record(f"-- {name}")
            if name == "ratios":
                _ratios(record, given.rounds)
            else:
                for script in _SCRIPTS[name]:
                    _script(record, *script)


class _Record:
    """Prints lines, and appends them to a file."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def __call__(self, line: str) -> None:
        for out in (sys.stdout, self._out):
            print(line, file=out, flush=True)


def _script(record: _Record, name: str, *given: str) -> None:
    command = [sys.executable, str(HERE / name), *given]
    record(" ".join(["python", f"benchmarks/{name}", *given]))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            record(line.rstrip())
    if process.returncode:
        record(f"exit code {process.returncode}")


def _ratios(record: _Record, rounds: int) -> None:
    for bounds, first, second in (((3, 3, 3, 2), "local[*]", "plain"), ((3, 3, 3, 3), "local[2]", "local")):
        taken: dict[str, list[float]] = {first: [], second: []}
        for _ in range(rounds):
            for engine, seconds in taken.items():
                said, total = _timed(engine, bounds)
                seconds.append(total)
                record(f"{','.join(map(str, bounds))} {engine}: {total:.2f} s {said}")
        one, other = (statistics.median(seconds) for seconds in taken.values())
        record(f"{','.join(map(str, bounds))}: medians {one:.2f} and {other:.2f} s, ratio {one / other:.2f}")


def _timed(engine: str, bounds: tuple[int, ...]) -> tuple[str, float]:
    given = [PLAIN] if engine == "plain" else [CHECK, json.dumps({"engine": engine, "bounds": bounds})]
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", *given], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
    )
    return done.stdout.strip(), time.perf_counter() - began


if __name__ == "__main__":
    main()
