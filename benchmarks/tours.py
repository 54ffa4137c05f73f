"""Measure tours of a system in plain Python: the replicated log of the examples, right, at several bounds.

    python benchmarks/tours.py [--runs N]

For each space it prints the transitions, the walks, the steps that these take, and the processor seconds of the tour in
a process of its own, exploration and compilation included: the median of N runs.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SPACES = ((3, 3), (3, 4), (4, 3), (3, 5), (4, 4))
"""Brokers and records."""


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--one", nargs=2, type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        print(*one(*given.one))
        return
    print(f"{'brokers':>7} {'records':>7} {'transitions':>11} {'walks':>7} {'steps':>9} {'processor s':>11}")
    for space in SPACES:
        command = [sys.executable, __file__, "--one", *map(str, space)]
        runs = [
            subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            for _ in range(given.runs)
        ]
        seconds = median(float(run[-1]) for run in runs)
        transitions, walks, steps = map(int, runs[0][:-1])
        print(f"{space[0]:>7} {space[1]:>7} {transitions:>11,} {walks:>7,} {steps:>9,} {seconds:>11.2f}", flush=True)


def one(brokers: int, records: int) -> tuple[int, int, int, float]:
    """Return transitions, walks, steps and processor seconds of a tour."""
    sys.path.insert(0, str(EXAMPLES))
    from replicated_log import FixedLog, ReplicatedLog, offset_appended  # type: ignore[import-not-found]

    from insync.explorer import tour

    class Driver:
        """Drives the log, with as many brokers and records as the model has."""

        def __init__(self) -> None:
            self.log = FixedLog([f"b{number + 1}" for number in range(brokers)])

        def append(self, leader: str) -> int:
            return int(self.log.append())

        def copy(self, follower: str) -> None:
            self.log.copy(follower)

        def commit(self) -> None:
            self.log.commit()

        def take_over(self, leader: str) -> None:
            self.log.take_over(leader)

        def observe(self) -> dict[str, object]:
            logs = {broker: [*log, *[None] * (records - len(log))] for broker, log in self.log.logs.items()}
            return {"leader": self.log.leader, "log": logs, "committed": self.log.committed}

    bounds = {"brokers": brokers, "records": records}
    before = resource.getrusage(resource.RUSAGE_SELF)
    result = tour(ReplicatedLog, Driver, bounds=bounds, outputs={"append": offset_appended})
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert result.verdict == "holds"
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result.transitions, result.walks, result.steps, seconds


if __name__ == "__main__":
    main()
