"""From a state back to the initial one, over the levels in the run directory, by a job for each step."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from insync.explorer.limits import Watch
from insync.explorer.search.trace_back import traced_back
from insync.explorer.stepping.stepper import Move
from insync.machine.kernels import Kernels
from insync.machine.packed import Words
from insync.model import Model
from insync.spark_explore.driver.jobs import run_plan, seeded_plan
from insync.spark_explore.executor.predecessors import PredecessorJob, least_in_pieces, predecessor_task
from insync.spark_explore.executor.worker import Assignment
from insync.spark_explore.wire.run_states import RunStates

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["PathFinder"]


class PathFinder:
    """Finds the way to a state that the search found.

    Args:
        spark: the session.
        given: what the driver hands to the tasks, when the search is over.
        states: the states in the run directory.
        kernels: the compiled program.
        model: what was searched; its evaluator confirms the steps.
        watch: says when to stop.
    """

    def __init__(
        self, spark: SparkSession, given: Assignment, states: RunStates, kernels: Kernels, model: Model, watch: Watch
    ) -> None:
        self.spark, self.given, self.states = spark, given, states
        self.kernels, self.model, self.watch = kernels, model, watch

    def path_to(self, target: Words, level: int) -> list[Move]:
        """Return a shortest sequence of moves to a state of a level: the one that the local search returns.

        Raises:
            Stopped: the watch ended it. It does not end the way to a state in the levels that the driver made.
        """
        return traced_back(self.model, target, level, self._step_back, self.kernels.representative)

    def _step_back(self, target: Words, level: int) -> Words | None:
        return self._here(target, level) if level <= self.states.warm else self._there(target, level)

    def _here(self, target: Words, level: int) -> Words | None:
        """The driver made the first levels itself, and looks through them itself."""
        pieces = (self.states.pieces(partition, level) for partition in range(self.given.place.partitions))
        return least_in_pieces(self.kernels, (piece for part in pieces for piece in part), target)

    def _there(self, target: Words, level: int) -> Words | None:
        task = predecessor_task(PredecessorJob(self.given, level, target))
        spark, partitions = self.spark, self.given.place.partitions
        rows = run_plan(spark, lambda: seeded_plan(spark, partitions, level, task), self.watch)
        return min((tuple(array("Q", row.block)) for row in rows), default=None)
