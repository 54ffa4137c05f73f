"""The state of a Python worker between tasks of a run: compiled code, buffers, and mapped tables."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from insync.machine.conditions import Checker
from insync.machine.expander import Expander
from insync.machine.kernels import code_kernels_of, load
from insync.machine.stores.compressed import CodeKernels
from insync.spark_explore.executor.known_states import KnownStates
from insync.spark_explore.executor.sending import LEAST_CODED, CodeMemory, GatheredCodes, Sending, WholeStates
from insync.spark_explore.executor.shared_memory import can_be_anonymous
from insync.spark_explore.executor.sorted_tables import SortedTables
from insync.spark_explore.executor.tables import Tables, leave_tables
from insync.spark_explore.wire.code_bundle import read_recipe, require_version
from insync.spark_explore.wire.packets import Kind, Row
from insync.spark_explore.wire.run_folder import RunFolder
from insync.spark_explore.wire.run_states import RunStates
from insync.spark_explore.wire.states_file import CountedFiles

__all__ = [
    "Assignment",
    "RunPlace",
    "Worker",
    "executor_folder",
    "spark_folder",
    "worker_for",
]


_PACKET_BYTES = 1 << 20
_BUFFERS_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class RunPlace:
    """The parameters of a run for its tasks.

    Attributes:
        uri: the run directory.
        run: the id of the run; a worker keeps nothing of one run for another.
        version: the version of insync that the driver runs.
        code: the digest of the code.
        partitions: how many partitions the states are divided into.
        warm: the last of the levels that the driver wrote, in one file per partition.
        flushed: whether files are flushed to the disk; see `RunFolder`.
        limit: the most bytes of the tables of an executor.
        on_disk: whether tables are sorted files on the local disk of an executor.
    """

    uri: str
    run: str
    version: str
    code: str
    partitions: int
    warm: int
    flushed: bool = True
    limit: int | None = None
    on_disk: bool = False


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the driver hands to its tasks, through Spark.

    Attributes:
        place: the run.
        recipe: the code, from `write_recipe`. It comes from the driver alone: no code is read from a run directory.
        counted: the files of states that the manifest counts at this time.
    """

    place: RunPlace
    recipe: bytes
    counted: CountedFiles


class Worker:
    """The resources of one worker for a run.

    Attributes:
        states: the states in the run directory.
        kernels: the compiled code.
        tables: the executor's tables.
    """

    def __init__(self, place: RunPlace, written: bytes) -> None:
        require_version(place.version)
        recipe = read_recipe(written)
        self.states = RunStates(RunFolder(place.uri, place.flushed), place.run, recipe.sizes.words, place.warm)
        self.kernels = load(recipe.texts)
        self.folder = executor_folder(place.run)
        self.tables = self._tables(place)
        self._known, self._partitions = recipe.initials.first(recipe.sizes.words), place.partitions
        self._components = recipe.components
        self._expander: Expander | None = None
        self._checker: Checker | None = None
        self._memory: CodeMemory | None = None

    def _tables(self, place: RunPlace) -> KnownStates:
        if place.on_disk:
            leave_tables(self.folder)
            return SortedTables(self.folder / "sorted", self.states, self.kernels, place.limit)
        return Tables(self.folder, self.states, self.kernels, place.limit, not can_be_anonymous())

    @property
    def expander(self) -> Expander:
        """The expander, made when first needed."""
        if self._expander is None:
            size = min(_PACKET_BYTES, _BUFFERS_BYTES // self._partitions)
            self._expander = self.kernels.expander(self._partitions, size, self._known)
        return self._expander

    @property
    def checker(self) -> Checker:
        """The checker, made when first needed."""
        if self._checker is None:
            self._checker = self.kernels.checker()
        return self._checker

    def sending(self, states: int) -> Sending:
        """Return the sender for the candidates of a level with `states` states in this partition."""
        if states < LEAST_CODED or not self._components:
            return WholeStates(self.kernels.sizes.row_bytes)
        return GatheredCodes(self._codes, self._code_memory)

    def received(self, row: Row) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the candidates in a packet. A run is valid until the next one is requested."""
        if row.kind is Kind.PACKET:
            yield row.address, row.count
        else:
            yield from self._code_memory.reader.states(row.address, row.count)

    @cached_property
    def _codes(self) -> CodeKernels:
        return code_kernels_of(self._components, self.kernels.sizes.words)

    @property
    def _code_memory(self) -> CodeMemory:
        if self._memory is None:
            self._memory = CodeMemory(self._codes, self._partitions)
        return self._memory

    def close(self) -> None:
        """Free all memory."""
        self.tables.close()
        for part in (self._expander, self._checker, self._memory):
            if part is not None:
                part.close()


_workers: dict[str, tuple[RunPlace, Worker]] = {}


def worker_for(given: Assignment) -> Worker:
    """Return this process's worker for a run; those of runs that are over are closed."""
    worker = _worker_at(given.place, given.recipe)
    worker.states.counted = given.counted
    return worker


def _worker_at(place: RunPlace, recipe: bytes) -> Worker:
    for run, (_, worker) in list(_workers.items()):
        if run != place.run and not worker.folder.is_dir():
            worker.close()
            del _workers[run]
    known = _workers.pop(place.run, None)
    if known is not None:
        if known[0] == place and known[1].folder.is_dir():
            _workers[place.run] = known
            return known[1]
        known[1].close()  # the run was released or has other parameters, and continues
    worker = Worker(place, recipe)
    _workers[place.run] = place, worker
    # Spark collects garbage after every task; with these libraries loaded, that takes longer than a small level.
    gc.freeze()
    return worker


# -------------------------------------------------------------------------------------------------------- local folders


def spark_folder() -> Path:
    """Return the folder for files of this driver or executor that Spark removes when it ends."""
    from pyspark import SparkFiles

    return Path(SparkFiles.getRootDirectory())


def executor_folder(run: str) -> Path:
    """Return the folder of this executor for a run, which Spark removes when the executor ends."""
    return spark_folder() / f"insync-{run}"
