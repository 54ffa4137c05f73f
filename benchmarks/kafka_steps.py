"""Measure how fast Kafka's own classes take the walks of the model: steps a second, and what a step costs each side.

    python benchmarks/kafka_steps.py [--kafka VERSION] [--walks N] [--seed N] [--warm STEPS] [--processes N]
                                     [--clusters N]

The walks are those of `insync kafka conform --part walks`, with every field compared after each step. The first
STEPS of them are left out, as Java's classes are loaded and compiled then. Then clusters of three brokers
are made one after the other, each beside no other work: the time of a command that asks for another cluster than the
one before, so that none is made ahead. Processor seconds are read from /proc, so it needs Linux.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from insync.conformance.classes.harness import Harness
from insync.conformance.comparing.conform import WALKS, conform_walks
from insync.conformance.comparing.walking_process import WalkingProcess
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.jars.pinned import pinned
from insync.conformance.jars.store import stored_jars
from insync.explorer.progress import WalkProgress
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import release_of
from insync.runtime.workers import available_cores

TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kafka", default="4.1.2", metavar="VERSION")
    parser.add_argument("--walks", type=int, default=600)
    parser.add_argument("--seed", type=int, default=7000)
    parser.add_argument("--warm", type=int, default=10_000, metavar="STEPS")
    parser.add_argument("--processes", type=int, default=available_cores())
    parser.add_argument("--clusters", type=int, default=200)
    given = parser.parse_args()
    jars = stored_jars(pinned(given.kafka))
    model = Cluster(**{"release": release_of(jars.version).value, **WALKS})
    with kafkas(jars, given.processes) as (harness, beside):
        seen = Watched(harness, beside)
        found = conform_walks(model, harness, beside=beside, walks=given.walks, seed=given.seed, reporter=seen)
        seen.note(found.coverage.steps, found.seconds)
    print(
        f"Kafka {jars.version}, seed {given.seed}, {given.processes} processes: {found.verdict.value}, "
        f"{found.walks} walks, {found.coverage.steps:,} steps, {found.coverage.fields:,} fields compared"
    )
    seen.print(given.warm)
    if given.clusters:
        with Harness(jars) as alone:
            spent = sorted(opened(alone, model, given.clusters))
        nine = spent[len(spent) * 9 // 10]
        print(f"a cluster of 3 brokers: median {statistics.median(spent):.1f} ms, nine of ten within {nine:.1f} ms")


@contextmanager
def kafkas(jars: JarSet, processes: int) -> Iterator[tuple[Harness, list[WalkingProcess]]]:
    """Start what takes walks at once, as the command does: one here, the others in processes of their own."""
    with ExitStack() as running:
        harness = running.enter_context(Harness(jars))
        yield harness, [running.enter_context(WalkingProcess(jars)) for _ in range(processes - 1)]


@dataclass(frozen=True, slots=True)
class Moment:
    """How far the walks were, and the processor seconds of each side by then."""

    seconds: float
    steps: int
    model: float
    kafka: float


class Watched:
    """A reporter that notes about once a second how far the walks are, and what that has cost.

    Args:
        harness: Kafka for the walks of this process.
        beside: the other processes.
    """

    def __init__(self, harness: Harness, beside: list[WalkingProcess]) -> None:
        self._harness, self._beside = harness, beside
        self.moments: list[Moment] = []

    def __call__(self, progress: WalkProgress) -> None:
        """Note how far it is."""
        self.note(progress.steps, progress.seconds)

    def note(self, steps: int, seconds: float) -> None:
        """Note how far it is, with the processor seconds so far."""
        walking = [process.process_id for process in self._beside]
        kafka = [self._harness.process_id, *(child for parent in walking for child in children(parent))]
        self.moments.append(Moment(seconds, steps, cpu([os.getpid(), *walking]), cpu(kafka)))

    def print(self, warm: int) -> None:
        """Print what was noted after a warm-up of so many steps."""
        first = next((moment for moment in self.moments if moment.steps >= warm), self.moments[0])
        last = self.moments[-1]
        steps, seconds = last.steps - first.steps, last.seconds - first.seconds
        if not steps:
            print(f"nothing was walked after {warm:,} steps: give more --walks")
            return
        model, kafka = (last.model - first.model) / steps, (last.kafka - first.kafka) / steps
        print(
            f"after {first.steps:,} steps: {steps / seconds:,.0f} steps/s ({steps:,} steps in {seconds:.1f} s); "
            f"processor time a step: {1000 * model:.3f} ms for the model, {1000 * kafka:.3f} ms for Kafka"
        )


def children(process: int) -> list[int]:
    """Return the ids of the processes of Java that a process has started."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(child) for child in listed if Path(f"/proc/{child}/comm").read_text().strip() == "java"]


def cpu(processes: Iterable[int]) -> float:
    """Return the processor seconds of some processes, of all their threads, user's and system's."""
    stats = [Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split() for process in processes]
    return sum(int(stat[11]) + int(stat[12]) for stat in stats) / TICKS


def opened(harness: Harness, model: Cluster, count: int) -> Iterator[float]:
    """Ask for clusters that differ from one to the next, and yield the milliseconds of each once Java is warm."""
    for number in range(2 * count):
        begun = time.perf_counter()
        harness.take(
            "open",
            brokers=model.b.replicas,
            replicas=list(range(1, model.b.replicas + 1)),
            elr=model.features.elr,
            configuration={"min.insync.replicas": str(1 + number % 2)},
        )
        if number >= count:
            yield (time.perf_counter() - begun) * 1000


if __name__ == "__main__":
    main()
