"""A step backwards: where the states of a level lie in the run directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.spark_explore.executor.predecessors import level_pieces
from insync.spark_explore.wire.run_folder import RunFolder

pytest.importorskip("pyarrow")


@pytest.mark.parametrize("warm", [1, 2, 3])
def test_levels_of_the_warm_start_lie_in_one_file_and_those_after_it_in_their_own(tmp_path: Path, warm: int) -> None:
    run, levels = RunFolder(str(tmp_path / "run")), [bytes([number]) * 8 for number in range(5)]
    run.write_states(0, 1, [1] * warm, 1, b"".join(levels[:warm]))
    for number in range(warm, len(levels)):
        run.write_states(0, number + 1, [1], 1, levels[number])
    assert [b"".join(level_pieces(run, warm, 0, number + 1)) for number in range(len(levels))] == levels
