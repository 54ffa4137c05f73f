"""Where the first state that two engines treat differently is looked for."""

from __future__ import annotations

from threading import Event

import pytest

from insync.explorer.stepping.difference import _states, first_difference
from insync_toys import Clock


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_every_level_up_to_the_depth_is_looked_at(depth: int) -> None:
    seen = list(_states(Clock(), depth))
    assert sorted({level for level, _ in seen}) == list(range(1, depth + 1))
    assert len({codes for _, codes in seen}) == len(seen), "each state once"


@pytest.mark.parametrize(("stopped", "found"), [(None, True), (False, True), (True, False)])
def test_nothing_is_looked_at_once_somebody_has_stopped_it(
    stopped: bool | None, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.explorer.stepping.difference._Comparison.of_successors", lambda *given: "unlike")
    stop = None if stopped is None else Event()
    if stop is not None and stopped:
        stop.set()
    difference = first_difference(Clock(), properties=[], depth=2, stop=stop)
    assert (difference is not None) == found
    assert difference is None or (difference.level, difference.sentence) == (1, "unlike")
