"""Measure `insync ask`: seconds until the first line and until the whole answer, and processor seconds.

    python benchmarks/ask.py [--repeat N] [CASE ...]

Each command runs once before it is measured, so that its machine code is in the cache. A figure is the median.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILES = {
    "msk.tf": (
        'resource "aws_msk_configuration" "this" {\n  kafka_versions = ["3.9.x.kraft"]\n  server_properties = <<EOT\n'
        "default.replication.factor=3\nmin.insync.replicas=2\nunclean.leader.election.enable=false\nEOT\n}\n"
    ),
    "topics.txt": (
        "Topic: orders\tTopicId: a\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=2\n"
        "Topic: logs\tTopicId: b\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=1\n"
    ),
}
CASES = {
    "4.1": ["--release", "4.1"],
    "4.1 min 1": ["--release", "4.1", "--min-insync-replicas", "1"],
    "4.1 elr off": ["--release", "4.1", "--elr", "off"],
    "4.1 acks 1 min 1 unclean": [
        "--release",
        "4.1",
        "--acks",
        "1",
        "--min-insync-replicas",
        "1",
        "--unclean-leader-election",
        "on",
    ],
    "3.9": ["--release", "3.9"],
    "2.8.1 min 1": ["--release", "2.8.1", "--min-insync-replicas", "1"],
    "2.0": ["--release", "2.0"],
    "0.10.2": ["--release", "0.10.2"],
    "RF 4": ["--release", "4.1", "--replicas", "4"],
    "RF 5": ["--release", "4.1", "--replicas", "5", "--min-insync-replicas", "3"],
    "two groups": ["--config", "msk.tf", "--config", "topics.txt"],
}


def main() -> None:
    """Measure the cases, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"by default all of {', '.join(CASES)}")
    given = parser.parse_args()
    print(f"{'case':<28}{'first line':>12}{'answer':>10}{'processor':>12}{'lines':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (Path(folder) / name).write_text(text)
        for name in given.cases or CASES:
            run(CASES[name], folder)
            first, whole, processor, lines = zip(*(run(CASES[name], folder) for _ in range(given.repeat)), strict=True)
            seconds = [f"{statistics.median(one):.1f} s" for one in (first, whole, processor)]
            print(f"{name:<28}{seconds[0]:>12}{seconds[1]:>10}{seconds[2]:>12}{max(lines):>8}", flush=True)


def run(arguments: list[str], folder: str) -> tuple[float, float, float, int]:
    """Return seconds to the first line and to the end, processor seconds, and the number of lines of an answer."""
    before, begun = os.times(), time.perf_counter()
    command = [sys.executable, "-P", "-c", "from insync.cli.main import main; main()", "ask", "--quiet", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as started:
        assert started.stdout is not None
        started.stdout.readline()
        first = time.perf_counter() - begun
        lines = 1 + sum(1 for _ in started.stdout)
    after = os.times()
    if started.returncode not in (0, 1, 3):
        message = f"insync ask {' '.join(arguments)} ended with exit code {started.returncode}."
        raise SystemExit(message)
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return first, time.perf_counter() - begun, spent, lines


if __name__ == "__main__":
    main()
