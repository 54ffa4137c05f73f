"""Where the first state that two engines treat differently is looked for."""

from __future__ import annotations

import pytest

from insync.explorer.evaluator.difference import _states
from insync_toys import Clock


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_every_level_up_to_the_depth_is_looked_at(depth: int) -> None:
    seen = list(_states(Clock(), depth))
    assert sorted({level for level, _ in seen}) == list(range(1, depth + 1))
    assert len({codes for _, codes in seen}) == len(seen), "each state once"
