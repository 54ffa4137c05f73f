"""What is foretold of a search that goes on from disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.explorer import Progress, check
from insync.explorer.progress import estimated_end
from insync.explorer.search.beyond_memory import disk_need


def test_while_levels_grow_fast_the_next_one_is_told(tmp_path: Path) -> None:
    levels = check("kip320", bounds={"replicas": 3, "max_leader_epoch": 1}, symmetry=False).levels
    early = [end for end in range(5, 12) if estimated_end(levels[:end]) is None]
    assert len(early) > 2
    for end in early:
        known = sum(levels[:end])
        need = disk_need(tmp_path, 4.0, levels[:end], Progress(end, 0, known, 0.0, 0, 30.0), slower=2.0)
        assert (need.bytes, need.seconds) == (0, 0)
        assert need.least_states == known + round(levels[end - 1] ** 2 / levels[end - 2])
        assert 0.7 < need.least_states / sum(levels[: end + 1]) < 1.5
        assert need.million_seconds == pytest.approx(2 * 1e6 * 30.0 / known, rel=0.01)


def test_of_nothing_nothing_is_foretold(tmp_path: Path) -> None:
    need = disk_need(tmp_path, 4.0, [], Progress(0, 0, 0, 0.0, 0, 1.0))
    assert (need.bytes, need.least_states, need.million_seconds) == (0, 0, 0.0)
    only_one = disk_need(tmp_path, 4.0, [5], Progress(1, 5, 5, 0.0, 0, 1.0))
    assert only_one.least_states == 6
