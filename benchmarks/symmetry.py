"""Measure what symmetry saves: searches of kip320 with and without it, in turn, each in a process of its own.

    python benchmarks/symmetry.py [--pairs N] [--threads N] [BOUNDS ...]

BOUNDS are replicas, log size, records and epochs, such as 3,3,3,2. A line is a pair: states, representatives, the
processor seconds of both searches with both properties checked, tracing and compilation left out, and their ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

NAMES = ("replicas", "log_size", "max_records", "max_leader_epoch")
ROW = "{:<10}{:>14}{:>16}{:>14}{:>14}{:>8}{:>14}{:>8}"


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("bounds", nargs="*", default=["3,3,3,2", "3,3,3,3"])
    given = parser.parse_args()
    print(ROW.format("kip320", "states", "representatives", "without, s", "with, s", "ratio", "MiB", "load"))
    for written in given.bounds:
        bounds = dict(zip(NAMES, map(int, written.split(",")), strict=True))
        for _ in range(given.pairs):
            without, used = (measured(bounds, given.threads, symmetry) for symmetry in (False, True))
            assert without["states"] == used["states"]
            seconds = without["processor"], used["processor"]
            memory = "/".join(f"{found['peak_memory_bytes'] / 2**20:,.0f}" for found in (without, used))
            print(
                ROW.format(
                    written,
                    f"{used['states']:,.0f}",
                    f"{used['representatives']:,.0f}",
                    *(f"{spent:.2f}" for spent in seconds),
                    f"{seconds[0] / seconds[1]:.2f}",
                    memory,
                    f"{os.getloadavg()[0]:.0f}",
                ),
                flush=True,
            )


def measured(bounds: dict[str, int], threads: int, symmetry: bool) -> dict[str, float]:
    """Return the figures of one search."""
    case = {"model": "kip320", "bounds": bounds, "threads": threads, "symmetry": symmetry}
    script = Path(__file__).with_name("measure.py")
    done = subprocess.run([sys.executable, str(script), json.dumps(case)], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
