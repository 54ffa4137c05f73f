"""Measure the Spark engine beside the local one: seconds, bytes shuffled, memory, the cost of a state as spaces grow.

    python benchmarks/spark.py [--master local[2]] [--partitions N] [--large] [--levels] [--option NAME=VALUE ...]

Every search runs in a process of its own, so the time includes starting Python and Spark. The machine should have
nothing else to do. Options are those of `SparkOptions`, such as warm_states=1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

NAMES = ("replicas", "log_size", "max_records", "max_leader_epoch")
CASES = [(3, 2, 2, 2), (3, 3, 3, 2)]
LARGE = (3, 3, 3, 3)
ROW = "{:<20}{:>12}{:>9}{:>8}{:>9}{:>9}{:>9}{:>9}{:>12}{:>11}{:>9}{:>9}"
COLUMNS = "states,total s,CPU s,start s,search s,local s,us/state,shuffled MB,B/state,peak MB,JVM MB"


def main() -> None:
    """Run the cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--partitions", type=int)
    parser.add_argument("--large", action="store_true", help="also the space of 64.7 million states")
    parser.add_argument("--only", help="bounds, such as 3,3,3,2, in place of all")
    parser.add_argument("--levels", action="store_true", help="what each level took")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(_measure(json.loads(given.child))))
        return
    cases = [tuple(map(int, given.only.split(",")))] if given.only else [*CASES, *([LARGE] if given.large else [])]
    print(ROW.format("kip320", *COLUMNS.split(",")))
    for bounds in cases:
        case = {"bounds": dict(zip(NAMES, bounds, strict=True)), "master": given.master, "options": _options(given)}
        found = _in_a_process(case)
        local = _in_a_process({**case, "local": True})
        print(_row(bounds, found, local), flush=True)
        if given.levels:
            _print_levels(found["levels"])


def _options(given: argparse.Namespace) -> dict[str, int]:
    options = {name: int(value) for name, _, value in (text.partition("=") for text in given.option)}
    return options | ({"partitions": given.partitions} if given.partitions else {})


def _row(bounds: tuple[int, ...], found: dict, local: dict) -> str:  # type: ignore[type-arg]
    states, shuffled = found["states"], sum(level["bytes_in"] for level in found["levels"].values())
    return ROW.format(
        ",".join(map(str, bounds)),
        f"{states:,}",
        f"{found['total']:.1f}",
        f"{found['cpu']:.1f}",
        f"{found['seconds']['start']:.1f}",
        f"{found['seconds']['search']:.1f}",
        f"{local['seconds']['search']:.2f}",
        f"{1e6 * found['seconds']['search'] / states:.2f}",
        f"{shuffled / 1e6:,.0f}",
        f"{shuffled / states:.1f}",
        f"{found['peak'] >> 20}",
        f"{found['peak_jvm'] >> 20}",
    )


def _print_levels(levels: dict) -> None:  # type: ignore[type-arg]
    names = ("seconds", "insert", "find", "check", "expand", "send")
    print(f"   level     states{''.join(f'{name:>9}' for name in names)}    in MB  read MB write MB")
    every = sorted(levels.items(), key=lambda item: int(item[0]))
    in_all = {name: sum(sums.get(name, 0) for _, sums in every) for name in every[0][1]}
    for level, sums in [*every, ("all", in_all)]:
        parts = [f"{sums.get(name, 0):9.2f}" for name in names]
        sizes = [f"{sums[name] / 1e6:9.1f}" for name in ("bytes_in", "bytes_read", "bytes_written")]
        print(f"   {level:>5}{sums['states']:>11,.0f}{''.join((*parts, *sizes))}")


def _in_a_process(case: dict) -> dict:  # type: ignore[type-arg]
    began = time.perf_counter()
    child = subprocess.Popen([sys.executable, __file__, "--child", json.dumps(case)], stdout=subprocess.PIPE, text=True)
    watch = _MemoryWatch(child.pid)
    out, _ = child.communicate(timeout=1800)
    total = time.perf_counter() - began
    watch.end()
    if child.returncode:
        raise SystemExit(child.returncode)
    found: dict = json.loads(out)  # type: ignore[type-arg]
    return found | {
        "total": total,
        "peak": watch.peak,
        "peak_jvm": watch.peak_jvm,
        "cpu": sum(watch.cpu.values()),
    }


class _MemoryWatch:
    """Samples the memory of a process and all below it; what they share is counted once (PSS)."""

    def __init__(self, pid: int) -> None:
        self.peak = self.peak_jvm = 0
        self.cpu: dict[int, float] = {}
        self._pid, self._over = pid, threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        while not self._over.wait(0.5):
            sizes = {pid: memory_of(pid) for pid in family(self._pid)}
            self.cpu |= {pid: seconds for pid in sizes if (seconds := _cpu_of(pid))}
            self.peak = max(self.peak, sum(sizes.values()))
            self.peak_jvm = max([self.peak_jvm, *(size for pid, size in sizes.items() if _name(pid) == "java")])

    def end(self) -> None:
        self._over.set()
        self._thread.join()


def family(pid: int) -> list[int]:
    """Return a process and all below it."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [pid, *(below for child in children for below in family(child))]


def memory_of(pid: int) -> int:
    """Return the memory of a process in bytes; its part of what it shares with others."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)


def _cpu_of(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _measure(case: dict) -> dict:  # type: ignore[type-arg]
    from insync.model.catalogue import find_model

    model = find_model("kip320")(**case["bounds"])
    if case.get("local"):
        from insync.explorer import check as check_locally

        result = check_locally(model, threads=min(os.cpu_count() or 1, 2), symmetry=False)
        return {"states": result.distinct_states, "seconds": dict(result.seconds)}
    from insync.spark_explore import SparkOptions, check

    levels: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))

    def note(figures: dict[str, float]) -> None:
        level = int(figures.pop("level"))
        for name, value in figures.items():
            levels[level][name] += value

    options = SparkOptions(master=case["master"], **case["options"])
    result = check(model, options=options, symmetry=False, task_reporter=note)  # what is recorded visits every state
    for level, sums in levels.items():
        sums["states"] = result.levels[level - 1] if level <= len(result.levels) else 0
    return {"states": result.distinct_states, "seconds": dict(result.seconds), "levels": levels}


if __name__ == "__main__":
    main()
