from __future__ import annotations

import threading
from typing import NoReturn

import pytest

from insync.explorer import Limits, StopReason, Verdict
from insync.runtime.watch import Stopped
from insync.spark_explore import check, simulate
from insync_toys import TokenRing


def test_what_is_stopped_while_it_compiles_starts_no_spark() -> None:
    stop = threading.Event()
    stop.set()
    found = check(TokenRing(), stop=stop)
    assert (found.verdict, found.stopped_by, found.distinct_states) == (Verdict.INCOMPLETE, StopReason.INTERRUPT, 0)
    assert (found.engine, set(found.seconds)) == ("spark", {"compile", "search"})
    walked = simulate(TokenRing(), stop=stop)
    assert (walked.verdict, walked.stopped_by, walked.walks) == (Verdict.INCOMPLETE, StopReason.INTERRUPT, 0)


def test_the_time_of_a_search_begins_with_its_compilation() -> None:
    found = check(TokenRing(), limits=Limits(seconds=1e-9))
    assert (found.verdict, found.stopped_by, found.levels) == (Verdict.INCOMPLETE, StopReason.TIME, ())
    assert found.engine == "spark"


def test_what_is_stopped_while_spark_starts_has_looked_at_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def starting(*given: object, **named: object) -> NoReturn:
        raise Stopped(StopReason.TIME)

    monkeypatch.setattr("insync.spark_explore.driver.check.begin_session", starting)
    found = check(TokenRing())
    assert (found.verdict, found.stopped_by, found.levels) == (Verdict.INCOMPLETE, StopReason.TIME, ())
    assert (found.engine, set(found.seconds)) == ("spark", {"compile", "search"})
