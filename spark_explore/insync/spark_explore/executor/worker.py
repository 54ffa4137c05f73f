"""What a Python worker keeps between tasks of a run: compiled code and buffers, and no states."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from insync.machine.conditions import Checker
from insync.machine.expander import Expander
from insync.machine.kernels import Kernels, load
from insync.machine.store_kernels import code_kernels_of, order_kernels
from insync.machine.stores.compressed import CodeKernels
from insync.machine.stores.run_files import CountedFiles, RunFiles
from insync.spark_explore.executor.candidates import Candidates
from insync.spark_explore.wire.code_bundle import Recipe, read_recipe, require_version
from insync.spark_explore.wire.packets import LEAST_CODED, CodeMemory, GatheredCodes, Kind, Row, Sending, WholeStates
from insync.spark_explore.wire.run_folder import run_folder

__all__ = [
    "Assignment",
    "RunPlace",
    "Worker",
    "code_of",
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
        together: the last of the levels that are in one file per partition.
        flushed: whether files are flushed to the disk; see `RunFolder`.
        limit: the most bytes of memory for the candidates of an executor.
    """

    uri: str
    run: str
    version: str
    code: str
    partitions: int
    together: int
    flushed: bool = True
    limit: int | None = None


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
    """

    def __init__(self, place: RunPlace, written: bytes) -> None:
        recipe, self.kernels = code_of(place.version, written)
        self.states = RunFiles(
            run_folder(place.uri, place.flushed), place.run, order_kernels(recipe.sizes.words), place.together
        )
        self._limit = place.limit
        self._known, self._partitions = recipe.initials.first(recipe.sizes.words), place.partitions
        self._components = recipe.components
        self._codes: dict[int, CodeKernels] = {}

    @cached_property
    def candidates(self) -> Candidates:
        """The candidates of the present task."""
        return Candidates(self.states, spark_folder(), self._limit)

    @cached_property
    def expander(self) -> Expander:
        """The expander."""
        size = min(_PACKET_BYTES, _BUFFERS_BYTES // self._partitions)
        return self.kernels.expander(self._partitions, size, self._known)

    @cached_property
    def checker(self) -> Checker:
        """The checker."""
        return self.kernels.checker()

    def sending(self, states: int) -> Sending:
        """Return the sender for the candidates of a level with `states` states in this partition."""
        if states < LEAST_CODED or not self._components:
            return WholeStates(self.kernels.sizes.row_bytes)
        return GatheredCodes(self.codes(), self._code_memory)

    def received(self, row: Row) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the candidates in a packet. A run is valid until the next one is requested."""
        if row.kind is Kind.PACKET:
            yield row.address, row.count
        else:
            yield from self._code_memory.reader.states(row.address, row.count)

    def codes(self, rounds: int = 0) -> CodeKernels:
        """Return the functions for codes; `rounds` as in `digits_of`."""
        if rounds not in self._codes:
            self._codes[rounds] = code_kernels_of(self._components, self.kernels.sizes.words, rounds)
        return self._codes[rounds]

    @cached_property
    def _code_memory(self) -> CodeMemory:
        return CodeMemory(self.codes(), self._partitions)

    def close(self) -> None:
        """Close all files, and free all memory."""
        self.states.close()
        for name in ("candidates", "expander", "checker", "_code_memory"):
            if name in vars(self):
                getattr(self, name).close()


_code: dict[tuple[str, bytes], tuple[Recipe, Kernels]] = {}


def code_of(version: str, written: bytes) -> tuple[Recipe, Kernels]:
    """Return a recipe that `write_recipe` wrote, and its code, which stays compiled in this process.

    Args:
        version: the version of insync that the driver runs.
        written: the recipe.

    Raises:
        UserError: this process runs another version.
    """
    if (version, written) not in _code:
        require_version(version)
        recipe = read_recipe(written)
        _code.clear()
        _code[version, written] = recipe, load(recipe.texts)
    return _code[version, written]


_workers: dict[RunPlace, Worker] = {}


def worker_for(given: Assignment) -> Worker:
    """Return this process's worker for a run; there is one at a time, as its buffers take memory."""
    place = given.place
    if place not in _workers:
        while _workers:
            _workers.popitem()[1].close()
        _workers[place] = Worker(place, given.recipe)
        # Spark collects garbage after every task; with these libraries loaded, that takes longer than a small level.
        gc.freeze()
    _workers[place].states.counted = given.counted
    return _workers[place]


# -------------------------------------------------------------------------------------------------------- local folders


def spark_folder() -> Path:
    """Return the folder for files of this driver or executor that Spark removes when it ends."""
    from pyspark import SparkFiles

    return Path(SparkFiles.getRootDirectory())
