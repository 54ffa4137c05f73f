"""The seconds of a result are parts of the time that passed while it was made."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import pytest

from insync.explorer import Limits, agree, check, liveness, mutate, simulate
from insync.explorer.agree import evaluator_engine
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync_lamp import Lamp
from insync_runs import Crossing

SOME = Limits(depth=3)
ENGINES = {"evaluator": evaluator_engine}

MADE: list[tuple[str, Callable[[], Mapping[str, float]], list[str]]] = [
    ("check", lambda: check(Lamp, properties=[], limits=SOME, threads=1).seconds, ["compile", "search"]),
    ("violated", lambda: check(Lamp, threads=1).seconds, ["compile", "search", "trace"]),
    ("stopped", lambda: check(Lamp, limits=Limits(seconds=1e-9), threads=1).seconds, ["compile", "search"]),
    ("evaluator", lambda: check_by_evaluator(Lamp(), properties=[], limits=SOME).seconds, ["search", "trace"]),
    ("simulate", lambda: simulate(Lamp, properties=[], walks=1, depth=1, threads=1).seconds, ["compile", "search"]),
    ("liveness", lambda: liveness(Crossing).seconds, ["explore", "decide"]),
    ("agree", lambda: {o.engine: o.seconds for o in agree(Lamp, engines=ENGINES, limits=SOME).opinions}, ["evaluator"]),
    ("mutate", lambda: {"all": mutate(Crossing, actions=["look"], threads=1).seconds}, ["all"]),
]


@pytest.mark.parametrize(("make", "names"), [pytest.param(make, names, id=name) for name, make, names in MADE])
def test_the_parts_are_no_more_than_the_whole(make: Callable[[], Mapping[str, float]], names: list[str]) -> None:
    started = time.perf_counter()
    seconds = make()
    whole = time.perf_counter() - started
    assert list(seconds) == names
    assert all(part >= 0 for part in seconds.values())
    assert sum(seconds.values()) <= whole
