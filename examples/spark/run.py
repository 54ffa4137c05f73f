"""A search for spark-submit: the master and all settings come from there.

spark-submit ... run.py RUN_DIR [--resume]
"""

from __future__ import annotations

import sys

from insync.explorer import Progress
from insync.spark_explore import SparkOptions, check

MODEL = "kip320"
BOUNDS = {"replicas": 3, "log_size": 3, "max_records": 3, "max_leader_epoch": 3}


def show(progress: Progress) -> None:
    """Print a line for each level."""
    print(f"level {progress.level}: {progress.distinct_states:,} states, {progress.seconds:.0f} s", flush=True)


def main(run_dir: str, *given: str) -> None:
    """Search, or go on with a search, and print its result."""
    options = SparkOptions(run_dir=run_dir, resume="--resume" in given)
    result = check(MODEL, bounds=BOUNDS, options=options, reporter=show)
    print(f"{result.verdict}: {result.distinct_states:,} states, depth {result.depth}")
    for warning in result.warnings:
        print(f"warning: {warning}")


if __name__ == "__main__":
    main(*sys.argv[1:])
