from __future__ import annotations

import threading

from insync.explorer import Limits, StopReason, Verdict
from insync.spark_explore import check, simulate
from insync_toys import TokenRing


def test_what_is_stopped_while_it_compiles_starts_no_spark() -> None:
    stop = threading.Event()
    stop.set()
    found = check(TokenRing(), stop=stop)
    assert (found.verdict, found.stopped_by, found.distinct_states) == (Verdict.INCOMPLETE, StopReason.INTERRUPT, 0)
    assert found.engine == "spark"
    assert (found.engine, set(found.seconds)) == ("spark", {"compile", "search"})
    walked = simulate(TokenRing(), stop=stop)
    assert (walked.verdict, walked.stopped_by, walked.walks) == (Verdict.INCOMPLETE, StopReason.INTERRUPT, 0)


def test_the_time_of_a_search_begins_with_its_compilation() -> None:
    found = check(TokenRing(), limits=Limits(seconds=1e-9))
    assert (found.verdict, found.stopped_by, found.levels) == (Verdict.INCOMPLETE, StopReason.TIME, ())
    assert found.engine == "spark"
