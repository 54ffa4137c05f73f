"""Search on a standalone cluster of this machine with 1, 2, 4 or 8 executors: what each keeps, and what a level reads.

    python benchmarks/spark_cluster.py [--workers 1,2,4] [--bounds 3,2,2,2] [--partitions N] [--kills N --seed S]
                                       [--memory MIB] [--warm STATES] [--levels]

With --kills executors are killed at random levels, and speculation is on. The result must be that of the local engine.

The columns: bytes of files that executors have on their disks beside Spark's own, at the worst moment; what a level
reads over the size of the files with the states of all levels before it, at the worst of the levels that know half of
the states; sorted files of the partition that has most, of how many it may have; the largest memory of an executor with
its Python workers; executors that were killed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark import family, memory_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from insync.explorer import Progress

NAMES = ("replicas", "log_size", "max_records", "max_leader_epoch")
ROW = "{:>8}{:>13}{:>8}{:>9}{:>18}{:>12}{:>9}{:>10}{:>8}"
COLUMNS = "workers,states,levels,total s,executors' bytes,read/known,files,peak MiB,killed"


def main() -> None:
    """Run the cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--bounds", default="3,2,2,2")
    parser.add_argument("--partitions", type=int)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--memory", type=int, default=1024, help="of a worker, in MiB")
    parser.add_argument("--warm", type=int, default=1000, help="states that the driver searches itself")
    parser.add_argument("--levels", action="store_true", help="print each level when it is complete")
    given = parser.parse_args()
    bounds = dict(zip(NAMES, map(int, given.bounds.split(",")), strict=True))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    print(ROW.format(*COLUMNS.split(",")))
    for workers in map(int, given.workers.split(",")):
        _row(workers, bounds, given)


@contextmanager
def cluster(workers: int, memory: int, folder: str, speculation: bool) -> Iterator[SparkSession]:
    """Yield the session of a standalone cluster, whose workers have one core each.

    Args:
        workers: how many.
        memory: of a worker, in MiB.
        folder: where Spark has its files.
        speculation: whether Spark runs slow tasks twice.
    """
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.master(f"local-cluster[{workers},1,{memory}]")
    settings = {
        "spark.local.dir": f"{folder}/scratch", "spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false",
        "spark.shuffle.compress": "false", "spark.speculation": str(speculation).lower(),
        "spark.excludeOnFailure.enabled": "false", "spark.task.maxFailures": "8",
    }  # fmt: skip
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def _row(workers: int, bounds: dict[str, int], given: argparse.Namespace) -> None:
    """Print the row of a cluster, and end the script if the local engine finds anything else."""
    from insync.explorer import check as check_locally
    from insync.machine.stores.known_files import most_files
    from insync.model.catalogue import find_model
    from insync.spark_explore import SparkOptions, check

    model, partitions = find_model("kip320")(**bounds), given.partitions or 4 * workers
    with tempfile.TemporaryDirectory() as folder, cluster(workers, given.memory, folder, given.kills > 0) as spark:
        spy = Spy(Path(folder), given.kills, given.seed, given.levels)
        began = time.perf_counter()
        options = SparkOptions(session=spark, partitions=partitions, warm_states=given.warm, run_dir=f"{folder}/run")
        found = check(model, options=options, symmetry=False, reporter=spy.report, task_reporter=spy.note)
        seconds = time.perf_counter() - began
        files = _most_files_of(f"{folder}/run", partitions, model.program.schema.words)
        worst = _most_read(Path(folder, "run"), spy.read)
    print(ROW.format(
        workers, f"{found.distinct_states:,}", found.depth, f"{seconds:.1f}", spy.kept, f"{worst:.2f}",
        f"{files} of {most_files(found.depth)}", spy.peak >> 20, spy.killed,
    ), flush=True)  # fmt: skip
    local = check_locally(model, symmetry=False)
    one, other = (replace(each, seconds={}, peak_memory_bytes=0, engine="", kept="") for each in (found, local))
    if one != other:
        message = f"The local engine finds {other}, and Spark {one}."
        raise SystemExit(message)


def _most_read(run: Path, read: dict[int, float]) -> float:
    """Return the most that a level has read, over the size of the files with the states of all levels before it."""
    sizes: dict[int, int] = defaultdict(int)
    for path in run.glob("states/*/*"):
        sizes[int(path.name.split("-")[1])] += path.stat().st_size
    known = {level: sum(size for last, size in sizes.items() if last < level) for level in read}
    return max(read[level] / known[level] for level in read if known[level] > sum(sizes.values()) / 2)


def _most_files_of(folder: str, partitions: int, words: int) -> int:
    """Return how many sorted files has the partition of a run that has most."""
    from insync.explorer.search.manifest import read_manifest
    from insync.machine.store_kernels import order_kernels
    from insync.machine.stores.run_files import RunFiles
    from insync.machine.stores.run_folder import RunFolder

    run = RunFolder(folder)
    manifest = read_manifest(run)
    states = RunFiles(run, manifest.run, order_kernels(words), manifest.levels.together)
    return max(len(states.level(part, manifest.levels.depth).spans) for part in range(partitions))


class Spy:
    """Looks at the executors' disks and memory after each level, adds up what tasks read, and kills executors."""

    def __init__(self, folder: Path, kills: int, seed: int, tells: bool = False) -> None:
        self.folder, self.kept, self.peak, self.killed, self._tells = folder, 0, 0, 0, tells
        self.read: dict[int, float] = defaultdict(float)
        self._random, self._left, self._began = random.Random(seed), kills, time.perf_counter()

    def report(self, progress: Progress) -> None:
        """Look at what there is when a level is complete."""
        if self._tells:
            level, states = progress.level, progress.distinct_states
            print(f"   level {level}: {states:,} states, {time.perf_counter() - self._began:.0f} s", flush=True)
        sizes = (sum(map(memory_of, family(pid))) for pid in _executors(os.getpid()))
        self.peak = max([self.peak, *sizes])
        scratch = self.folder / "scratch"
        every = (path for path in scratch.rglob("*") if path.is_file() and "blockmgr" not in str(path))
        own = [path for path in every if not path.name.endswith((".zip", ".crc", "_cache", "_lock"))]
        self.kept = max(self.kept, sum(path.stat().st_size for path in own))
        if self._left and self._random.random() < 0.3:
            executors = _executors(os.getpid())
            if executors:
                os.kill(self._random.choice(executors), signal.SIGKILL)
                self._left, self.killed = self._left - 1, self.killed + 1

    def note(self, figures: dict[str, float]) -> None:
        """Add up what the tasks of a level have read."""
        self.read[int(figures["level"])] += figures["bytes_read"]


def _executors(pid: int) -> list[int]:
    """Return the processes below one that are executors of Spark."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            children = [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
        for child in children:
            try:
                line = Path(f"/proc/{child}/cmdline").read_bytes()
            except OSError:
                continue
            found += [child] if b"CoarseGrainedExecutorBackend" in line else []
            found += _executors(child)
    return found


if __name__ == "__main__":
    main()
