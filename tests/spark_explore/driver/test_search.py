"""How many levels a job on Spark makes, and what is done where one fails; Spark itself is played here."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from insync.explorer.progress import Progress
from insync.explorer.search.explored import Explored, LevelSummary
from insync.explorer.search.run_levels import RunLevels
from insync.machine.packed import Found
from insync.machine.stores.run_files import CountedFiles
from insync.runtime.errors import UserError
from insync.runtime.watch import Limits, Stopped, StopReason, Watch
from insync.spark_explore.driver import jobs, search
from insync.spark_explore.driver.jobs import JobFailed
from insync.spark_explore.driver.search import SparkSearch
from insync.spark_explore.executor.worker import Assignment, RunPlace
from insync.spark_explore.wire.packets import Kind, Row, closed_block, expanded_block, figures_block

NOTHING = Found()
Fault = Exception | threading.Event | None
PARTS = 2


def row(part: int, kind: Kind, level: int, count: int, block: bytes) -> Row:
    keep = ctypes.create_string_buffer(block, len(block))
    return Row(part, kind, level, count, ctypes.addressof(keep), len(block), keep)


class Played:
    """Spark that finds levels of these sizes, the first two of which the driver has searched itself.

    Attributes:
        jobs: for each job the level from which it began, and how many it made.
        said: what Spark's user interface says of each.
        more: states that each task knows and nobody has counted.
        faults: what the next attempts at a job raise; None for one that succeeds, an event for one that fails as
            somebody asks for the end.
    """

    more = 0

    def __init__(self, *levels: int) -> None:
        self.levels = levels
        self.jobs: list[tuple[int, int]] = []
        self.said: list[str] = []
        self.faults: list[Fault] = []
        self.saved = 0
        self.reports: list[Progress] = []
        self.told: list[dict[str, float]] = []
        self.counted: list[CountedFiles] = []

    def run(self, spark: object, plan: Callable[[], tuple[Assignment, int, int]], watch: Watch, what: str) -> list[Row]:
        given, level, further = plan()
        self.counted.append(given.counted)
        self.jobs.append((level, further))
        self.said.append(what)
        watch.reason()
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, threading.Event):
            fault.set()
            message = "The executors are gone."
            raise JobFailed(message)
        if fault is not None:
            raise fault
        rows = []
        for part in range(PARTS):
            for each in range(level, level + further):
                steps = expanded_block([each, part], NOTHING, 1, 1)
                known = sum(map(self.size, range(1, each + 1))) if part else 0
                rows.append(row(part, Kind.EXPANDED, each, known + self.more, steps))
                count = self.size(each + 1) // PARTS if part else -(-self.size(each + 1) // PARTS)
                closed = closed_block(bytes([(each + 1) % 256, part] * 8), 3 * count, part, [NOTHING], 1)
                rows.append(row(part, Kind.CLOSED, each + 1, count, closed))
            rows.append(row(part, Kind.FIGURES, level, 0, figures_block({"part": part})))
        return rows

    def size(self, level: int) -> int:
        return self.levels[level - 1] if level <= len(self.levels) else 0

    def save(self) -> None:
        self.saved += 1


Play = Callable[..., tuple[Played, Explored]]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    def played(
        *levels: int,
        limits: Limits | None = None,
        faults: Sequence[Fault] = (),
        stop: threading.Event | None = None,
        known: Mapping[int, LevelSummary] | None = None,
    ) -> tuple[Played, Explored]:
        one = Played(*levels)
        one.faults = list(faults)
        monkeypatch.setattr(jobs, "run_plan", one.run)
        monkeypatch.setattr(search, "level_plan", lambda spark, given, level, further: (given, level, further))
        sizes: Any = SimpleNamespace(words=1, actions=2)
        nobody: Any = None
        files = {part: bytes(16) for part in range(PARTS)}
        first = LevelSummary(levels[0], levels[0], violations=[NOTHING], steps=[0, 0], files=files)
        found = RunLevels(2, {1: first, 2: LevelSummary(levels[1], levels[1], violations=[NOTHING])}, 2)
        found.levels.update(known or {})
        made = SparkSearch(
            nobody, Assignment(RunPlace("there", "run", "1", "c0de", PARTS, 2), b"", found.counted), sizes, found,
            Watch(limits or Limits(), stop), False,
            one.reports.append, one.told.append,
        )  # fmt: skip
        return one, made.run(one.save)

    return played


def test_levels_are_added_up_over_partitions_and_jobs(play: Play) -> None:
    one, space = play(1, 3, 7, 11, 5)
    assert (space.visited, space.levels, space.expanded) == ([1, 3, 7, 11, 5], [1, 3, 21, 33, 15], 5)
    assert space.steps == [PARTS * sum(range(2, 6)), 4]
    assert (space.stepless, space.outside) == ([0, 2, 2, 2, 2], [0, 0, 1, 1, 1])
    assert space.stopped_by is None
    assert one.jobs == [(2, 8)]
    assert one.saved == 1
    assert one.told == [{"part": 0}, {"part": 1}]


def test_each_level_is_told_once_the_last_of_the_drivers_own_included(play: Play) -> None:
    one, space = play(1, 3, *[4] * 10)
    assert one.jobs == [(2, 8), (10, 8)]
    seen = [(each.level, each.frontier, each.distinct_states) for each in one.reports]
    assert seen == [(2, 3, 4), *[(level, 4, 4 * level - 4) for level in range(3, 13)]]
    assert len(space.levels) == 12


@pytest.mark.parametrize(
    ("last", "first_job"),
    [(20_000, 8), (20_001, 6), (200_000, 6), (200_001, 3), (1_000_000, 3), (1_000_001, 2), (1 << 40, 2)],
)
def test_the_larger_a_level_the_fewer_come_in_one_job(play: Play, last: int, first_job: int) -> None:
    one, _ = play(1, last, 9)
    assert one.jobs[0] == (2, first_job)


@pytest.mark.parametrize(("seconds", "levels"), [(60.0, 8), (0.0, 2)])
def test_a_job_has_more_levels_where_they_take_little_time(
    play: Play, monkeypatch: pytest.MonkeyPatch, seconds: float, levels: int
) -> None:
    monkeypatch.setattr(search, "_JOB_SECONDS", seconds)
    one, _ = play(1, *[2_000_000] * 20)
    assert one.jobs[:2] == [(2, 2), (4, levels)]


@pytest.mark.parametrize(
    ("levels", "longest"),
    [
        ((50, 100, 60), 8),  # grew before
        ((100, 60, 60), 8),  # does not shrink
        ((100, 60, 36), 8),  # by the same factor: 21.6, 13.0, 7.8, ... and more than eight to come
        ((100, 50, 20), 3),  # 6.4, 1.6, and an empty one; 0.3 is none
        ((1000, 100, 2), 1),
        ((9, 8, 1), 1),
        ((9, 8, 7), 8),
    ],
)
def test_near_the_end_a_job_makes_no_more_levels_than_are_to_be_expected(
    levels: tuple[int, int, int], longest: int
) -> None:
    left = search._levels_left(levels)
    assert min(left, 8) == longest
    assert search._levels_left(levels[-2:]) > 1000, "two levels say nothing"


def test_no_level_beyond_the_depth_is_made(play: Play) -> None:
    one, space = play(1, 3, 7, 11, 5, limits=Limits(depth=4))
    assert one.jobs == [(2, 2)]
    assert (space.visited, space.stopped_by) == ([1, 3, 7, 11], StopReason.DEPTH)
    one, space = play(1, 3, 7, limits=Limits(depth=2))
    assert (one.jobs, space.visited, space.stopped_by) == ([], [1, 3], StopReason.DEPTH)


def test_tasks_are_told_the_digests_of_the_files_that_are_counted_and_say_those_of_their_own(play: Play) -> None:
    one, _ = play(1, 3, *[4] * 9)
    assert [sorted(counted.digests) for counted in one.counted] == [[1], [1, *range(3, 11)]]
    assert one.counted[1].digests[5] == bytes([5, 0] * 8 + [5, 1] * 8)


def test_files_with_other_states_than_the_manifest_counts_are_damaged(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Played, "more", 1)
    with pytest.raises(UserError, match=r"^there: the files have 6 states up to level 2, and the manifest counts 4\. "):
        play(1, 3, 7)


def test_the_rate_is_that_of_sparks_levels(play: Play) -> None:
    one, _ = play(1, 3_000, *[4] * 10)
    assert [report.level for report in one.reports] == list(range(2, 13))
    assert one.reports[0].states_per_second == 0.0
    assert one.reports[-1].states_per_second > 0.0


def test_a_job_is_described_for_whoever_looks_at_spark(play: Play) -> None:
    one, _ = play(1, 1200, *[4] * 9)
    assert one.said == ["levels 3 to 10 from 1,200 of 1,201 states", "levels 11 to 18 from 4 of 1,233 states"]


def test_a_job_that_fails_is_tried_three_times(play: Play) -> None:
    one, space = play(1, 3, 7, faults=[JobFailed("once"), JobFailed("twice")])
    assert (len(one.jobs), space.visited) == (3, [1, 3, 7])
    with pytest.raises(JobFailed, match="three times"):
        play(1, 3, 7, faults=[JobFailed("once"), JobFailed("twice"), JobFailed("three times")])


def test_who_has_asked_for_the_end_gets_no_further_attempt(play: Play) -> None:
    one, space = play(1, 3, 7, faults=[Stopped(StopReason.TIME)])
    assert (space.visited, space.stopped_by, one.saved) == ([1, 3], StopReason.TIME, 0)
    stop = threading.Event()
    with pytest.raises(JobFailed, match="gone"):
        play(1, 3, 7, faults=[stop, None], stop=stop)
    one, space = play(1, 3, 7, stop=stop)
    assert (one.jobs, space.visited, space.stopped_by) == ([], [1, 3], StopReason.INTERRUPT)


def test_a_level_that_was_expanded_without_what_it_leads_to_is_expanded_again_and_counts_once(play: Play) -> None:
    """As in a run that goes on where its manifest ends."""
    known = LevelSummary(3, 3, violations=[NOTHING])
    known.add_steps([5, 7], NOTHING, 4)
    one, space = play(1, 3, 7, known={2: known})
    assert one.jobs == [(2, 8)]
    assert (space.visited, space.steps) == ([1, 3, 7], [PARTS * sum(range(2, 4)), 2])
    assert space.stepless == [0, 2, 2]
