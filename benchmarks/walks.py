"""Measure how soon random walks come to each defect of the catalogue, by the way in which they choose their steps.

    python benchmarks/walks.py [--seeds N] [--steps N] [--depth N] [DEFECT ...]

For each entry about states, and each strategy, it prints the median over the seeds of the steps that were taken up to
the share of walks in which the first one fails, and in brackets how many of the seeds came to one within the limit.
Shares double, so a median may be twice as much as is needed.
"""

from __future__ import annotations

import argparse
import math
import statistics

from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.machine.kernels import Kernels, Part, compile_kernels
from insync.machine.packed import PackedRows
from insync.machine.walker import Strategy, Walker
from insync.properties.registry import judge, run_properties_of

LARGEST_SHARE = 1024
ROW = "{:<8}{:>7}" + "{:>18}" * len(Strategy)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--steps", type=int, default=10_000_000, help="most steps of a seed")
    parser.add_argument("--depth", type=int, default=60)
    parser.add_argument("defects", nargs="*", metavar="DEFECT")
    given = parser.parse_args()
    print(ROW.format("defect", "states", *Strategy))
    found = dict.fromkeys(Strategy, 0)
    for name, defect in DEFECTS.items():
        model = Cluster(**defect.witness)
        if defect.breaks in run_properties_of(model) or (given.defects and name not in given.defects):
            continue
        program, nodes = model.program, judge(model, [defect.breaks]).nodes
        kernels = compile_kernels(program, nodes, (Part.WALK,))
        initials = PackedRows.of(program.initials.rows, program.schema.words)
        cells = []
        for strategy in Strategy:
            taken = [first_failure(kernels, initials, seed, strategy, given) for seed in range(given.seeds)]
            middle = statistics.median(taken)
            found[strategy] += math.isfinite(middle)
            hits = sum(map(math.isfinite, taken))
            cells.append(f"{middle:,.0f} ({hits})" if math.isfinite(middle) else f"- ({hits})")
        print(ROW.format(name, defect.length or "-", *cells), flush=True)
    print(ROW.format("found", "", *found.values()))


def first_failure(
    kernels: Kernels, initials: PackedRows, seed: int, strategy: Strategy, given: argparse.Namespace
) -> float:
    """Return how many steps were taken up to the share with the first walk that fails; infinity if none does."""
    walker = Walker.of(kernels, initials, seed, given.depth, strategy)
    first, share, steps = 0, 1, 0
    try:
        while steps < given.steps:
            walked = walker.walk(first, first + share)
            steps += sum(walked.steps)
            if walked.failed is not None:
                return steps
            first, share = first + share, min(2 * share, LARGEST_SHARE)
    finally:
        walker.close()
    return math.inf


if __name__ == "__main__":
    main()
