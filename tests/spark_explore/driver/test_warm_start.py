from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest

from insync.explorer import Limits
from insync.explorer.search.explored import Explored
from insync.machine.kernels import compile_kernels
from insync.machine.packed import PackedRows
from insync.machine.store_kernels import order_kernels
from insync.machine.stores.run_files import RunFiles
from insync.machine.stores.run_folder import RunFolder
from insync.model.catalogue import find_model
from insync.spark_explore.driver.warm_start import WarmStart
from insync_run_files import read_states
from insync_toys import TokenRing


@pytest.mark.parametrize("stopped", [False, True])
def test_a_start_that_is_stopped_leaves_the_levels_that_are_complete(stopped: bool, tmp_path: Path) -> None:
    program, stop = TokenRing().program, threading.Event()
    if stopped:
        stop.set()
    kernels = compile_kernels(program)
    initials = PackedRows.of(program.initials.rows, program.schema.words)
    with closing(WarmStart(kernels, initials, 2, Limits(), True, stop)) as warm:
        states = RunFiles(RunFolder(str(tmp_path)), "run", order_kernels(program.schema.words), warm.levels)
        start = warm.write(states)
    files = [states.level(partition, 1) for partition in range(2)]
    assert start.levels[1].files == {number: file.digest for number, file in enumerate(files)}
    assert sum(span.count for file in files for span in file.spans) == sum(file.count for file in files)
    assert [sum(len(read_states(states, part, level + 1)) for part in range(2)) for level in range(warm.levels)] == (
        [start.levels[number].visited for number in range(1, warm.levels + 1)]
    )
    assert start.together == start.depth == warm.levels
    space, is_over = start.space(Limits(), True)
    assert (space.visited, is_over) == (warm._space.visited, not stopped), "nothing is left for Spark"
    assert (start.visited(start.depth), start.expanded) == ((1, 0) if stopped else (6, start.depth))


def test_the_memory_of_a_start_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, closed = TokenRing().program, list[Explored]()
    monkeypatch.setattr(Explored, "release", lambda space: closed.append(space))
    kernels, initials = compile_kernels(program), PackedRows.of(program.initials.rows, program.schema.words)
    with closing(WarmStart(kernels, initials, 2, Limits(), True, None)) as warm:
        warm.write(RunFiles(RunFolder(str(tmp_path)), "run", order_kernels(program.schema.words), warm.levels))
    (space,) = closed
    assert len(space.partitions) == 2


def test_a_start_ends_when_enough_was_found_and_spark_is_there() -> None:
    """It is called within levels too; what was found of the next level is left out."""
    model = find_model("kip320")(replicas=3, log_size=2, max_records=1, max_leader_epoch=1)
    program, asked = model.program, list[int]()

    def is_enough(known: int) -> bool:
        asked.append(known)
        return known > 100

    kernels, initials = compile_kernels(program), PackedRows.of(program.initials.rows, program.schema.words)
    with closing(WarmStart(kernels, initials, 2, Limits(), True, None)) as warm:
        whole = warm._space.visited
    with closing(WarmStart(kernels, initials, 2, Limits(), True, None, is_enough)) as warm:
        assert warm.levels == 1 + next(at for at in range(len(whole)) if sum(whole[: at + 1]) > 100)
        assert warm._space.visited == whole[: warm.levels]
    assert warm.levels < len(whole)
    assert asked == sorted(asked)
