"""Measure what it costs to count the abstract states of random walks: the same walks with and without, in turn.

    python benchmarks/abstract_states.py [--pairs N] [--steps N] [MODEL ...]

A line is a model: steps, abstract states, the processor seconds of both (medians), and the median of their ratios. With
`whole` before its name the abstraction of the model is left out, so that the whole state counts.
"""

from __future__ import annotations

import argparse
import statistics
import time

from insync.explorer import SimulationResult, simulate
from insync.model import Model
from insync.model.catalogue import find_model

MODELS = ["cluster", "kip320", "kraft", "whole:kip320", "whole:cluster"]
DEPTH = 100
ROW = "{:<16}{:>12}{:>18}{:>14}{:>14}{:>8}"


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--steps", type=int, default=2_000_000)
    parser.add_argument("models", nargs="*", default=MODELS)
    given = parser.parse_args()
    print(ROW.format("model", "steps", "abstract states", "without, s", "with, s", "ratio"))
    for written in given.models:
        whole, _, name = written.rpartition(":")
        kind = find_model(name)
        if whole:
            kind.abstraction = Model.abstraction  # type: ignore[method-assign]
        model = kind()
        pairs = []
        for _ in range(given.pairs + 1):
            pairs.append([measured(model, given.steps, noting) for noting in (False, True)])
        pairs = pairs[1:]  # the first one compiles
        result = pairs[0][1][1]
        assert result.abstract_states is not None
        seconds = [statistics.median(pair[which][0] for pair in pairs) for which in (0, 1)]
        ratio = statistics.median(pair[1][0] / pair[0][0] for pair in pairs)
        figures = f"{result.steps:,}", f"{result.abstract_states.distinct:,}", *(f"{spent:.2f}" for spent in seconds)
        print(ROW.format(written, *figures, f"{ratio:.2f}"), flush=True)


def measured(model: Model, steps: int, noting: bool) -> tuple[float, SimulationResult]:
    """Return the processor seconds of some walks on one thread, and what they found."""
    began = time.process_time()
    result = simulate(model, properties=[], walks=steps // DEPTH, depth=DEPTH, threads=1, abstract_states=noting)
    return time.process_time() - began, result


if __name__ == "__main__":
    main()
