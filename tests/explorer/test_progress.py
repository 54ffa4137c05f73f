"""How often progress is reported, and the rates that it has."""

from __future__ import annotations

import pytest

from insync.explorer import progress
from insync.explorer.progress import Pulse
from insync_clock import StillClock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> StillClock:
    made = StillClock()
    monkeypatch.setattr(progress, "time", made)
    return made


def test_a_pulse_is_due_after_its_period_and_its_rate_is_that_of_the_last_seconds(clock: StillClock) -> None:
    pulse = Pulse(2.0)
    for now, due in ((100.0, False), (101.9, False), (102.0, True), (103.0, True)):
        clock.now = now
        assert pulse.due() == due
    clock.now = 104.0
    assert pulse.rate(20) == 5.0
    assert not pulse.due()
    clock.now = 106.0
    assert pulse.due()
    assert pulse.rate(26) == pytest.approx(26 / 6)
    clock.now = 109.0
    assert pulse.rate(26) == pytest.approx(26 / 9), "a pause of some seconds is no fall to nothing"
    clock.now = 116.0
    assert pulse.rate(46) == 2.0, "of the ten seconds since 106"
    clock.now = 200.0
    assert pulse.rate(46 + 84) == 1.0
