"""The way back through levels on Spark: the least of what the tasks answer, or nothing."""

from __future__ import annotations

import ctypes
from array import array
from types import SimpleNamespace
from typing import Any

import pytest

from insync.machine.packed import Words
from insync.runtime.watch import Limits, Watch
from insync.spark_explore.driver import check
from insync.spark_explore.driver.check import PathFinder
from insync.spark_explore.wire.packets import Kind, Row


def answer(words: Words) -> Row:
    block = array("Q", words).tobytes()
    keep = ctypes.create_string_buffer(block, len(block))
    return Row(0, Kind.FOUND, 3, 1, ctypes.addressof(keep), len(block), keep)


@pytest.mark.parametrize(
    ("answers", "least"), [([], None), ([(7, 1)], (7, 1)), ([(7, 1), (2**63, 0), (3, 9), (3, 8)], (3, 8))]
)
def test_the_least_of_the_answers_is_taken(
    answers: list[Words], least: Words | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[tuple[object, ...]] = []
    watch, states = Watch(Limits(), None), SimpleNamespace(together=2)
    assignment = SimpleNamespace(place=SimpleNamespace(partitions=4))

    def run_plan(spark: object, plan: Any, given: Watch, what: str) -> list[Row]:
        plan()
        assert (spark, given, what) == ("spark", watch, "a trace, level 3")
        return [answer(words) for words in answers]

    monkeypatch.setattr(check, "run_plan", run_plan)
    monkeypatch.setattr(check, "seeded_plan", lambda *given: planned.append(given))
    monkeypatch.setattr(check, "predecessor_task", lambda job: (job.level, job.target))
    nobody: Any = None
    finder = PathFinder("spark", assignment, states, nobody, nobody, watch)  # type: ignore[arg-type]
    assert finder._step_back((5, 5), 3) == least
    assert planned == [("spark", 4, 3, (3, (5, 5)))]
    monkeypatch.setattr(finder, "_here", lambda target, level: (*target, level))
    assert finder._step_back((5, 5), 2) == (5, 5, 2), "the driver has made this level itself"
