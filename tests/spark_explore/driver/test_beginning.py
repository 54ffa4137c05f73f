"""How a run on Spark begins, goes on, and ends without a trace; neither Spark nor a search is needed for it."""

from __future__ import annotations

import threading
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from insync.explorer import Limits, StopReason, Verdict
from insync.explorer.run_identity import identity_of
from insync.explorer.search.explored import Explored, Hit, LevelSummary
from insync.explorer.search.manifest import Manifest, read_manifest, resumed, write_manifest
from insync.explorer.search.run_levels import RunLevels, SpaceShape
from insync.explorer.task import Needs, Prepared, Task
from insync.machine.packed import Found
from insync.machine.stores.run_files import RunFiles
from insync.machine.stores.run_folder import RunFolder
from insync.properties.registry import judge
from insync.runtime.errors import UserError
from insync.runtime.watch import Stopped, Watch
from insync.spark_explore.driver.check import SparkOptions, open_run
from insync.spark_explore.wire.code_bundle import recipe_for
from insync_toys import TokenRing

module = import_module("insync.spark_explore.driver.check")
MODEL = TokenRing(nodes=2)
RECIPE_OF = recipe_for(MODEL.program)
ACTIONS = len(MODEL.program.actions)
IDENTITY = identity_of(MODEL, ("exclusive",), "c0de", False, "0.1")
SHAPE = SpaceShape(ACTIONS, 1, MODEL.program.schema.words)


def start(partitions: int, broken: Found | None = None) -> RunLevels:
    """Two levels, the second of them not expanded."""
    files = dict.fromkeys(range(partitions), bytes(16))
    first = LevelSummary(1, 1, violations=[Found()], steps=[1] * ACTIONS, files=files)
    return RunLevels(ACTIONS, {1: first, 2: LevelSummary(2, 2, violations=[broken or Found()])}, 2)


class Warm:
    """First levels that nobody has searched."""

    def __init__(self, *given: Any) -> None:
        self.given, self.partitions, self.levels, self.closed = given, given[2], 2, False

    def write(self, states: RunFiles) -> RunLevels:
        states.folder.write("states", b"")
        return start(self.partitions)

    def close(self) -> None:
        self.closed = True


def begin(
    run: RunFolder,
    monkeypatch: pytest.MonkeyPatch,
    options: SparkOptions,
    limits: Limits,
    keep_going: bool = False,
    has_started: bool = True,
) -> tuple[Manifest, Warm | None]:
    monkeypatch.setattr(module, "WarmStart", Warm)
    kernels: Any = "kernels"
    watch = Watch(Limits(), None)
    workers: Any = SimpleNamespace(
        partitions=options.partitions or 5, have_session=has_started, have_started=has_started
    )
    warm_start, manifest, taken_over = (vars(module)[name] for name in ("_warm_start", "_manifest", "_taken_over"))
    with warm_start(kernels, RECIPE_OF, workers, options, limits, keep_going, threading.Event()) as warm:
        if warm:
            return manifest(run, IDENTITY, RECIPE_OF, warm), warm
        made = taken_over(run, resumed(run, IDENTITY, SHAPE), SHAPE.words, watch, keep_going)
    return made, None


@pytest.mark.parametrize(("warm", "states", "most"), [(100, None, 100), (100, 40, 40), (100, 400, 100), (1, None, 1)])
def test_the_driver_searches_the_first_levels_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: int, states: int | None, most: int
) -> None:
    run, limits = RunFolder(str(tmp_path / "run")), Limits(depth=7, states=states)
    made, asked = begin(run, monkeypatch, SparkOptions(warm_states=warm), limits, keep_going=True)
    assert asked is not None
    kernels, initials, partitions, within, keep_going, _, is_enough = asked.given
    assert (kernels, partitions, keep_going, asked.closed) == ("kernels", 5, True, True)
    assert within == Limits(depth=7, states=most)
    assert [is_enough(known) for known in (warm - 1, warm)] == [False, True]
    assert initials.count == len(MODEL.program.initials)
    assert (made.identity, made.partitions, made.levels) == (IDENTITY, 5, start(5))
    assert len(made.run) == 16
    assert read_manifest(run).identity == IDENTITY
    assert read_manifest(run).run == made.run


@pytest.mark.parametrize(
    ("warm", "states", "most"),
    [(100, None, 3200), (100, 300, 300), (10**6, None, (1 << 29) // 24), (10**8, None, 10**8)],
)
def test_the_driver_searches_more_levels_while_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: int, states: int | None, most: int
) -> None:
    run, options = RunFolder(str(tmp_path / "run")), SparkOptions(warm_states=warm)
    _, asked = begin(run, monkeypatch, options, Limits(states=states), has_started=False)
    assert asked is not None
    assert asked.given[3] == Limits(states=most)
    assert not asked.given[6](10**9)


def test_the_parts_may_be_chosen_and_a_run_goes_on_with_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunFolder(str(tmp_path / "run"))
    made, _ = begin(run, monkeypatch, SparkOptions(partitions=3), Limits())
    assert made.partitions == 3
    again, asked = begin(run, monkeypatch, SparkOptions(partitions=9, resume=True, run_dir=run.uri), Limits())
    assert (again.run, again.partitions, asked) == (made.run, 3, None)
    assert (made.epoch, again.epoch, read_manifest(run).epoch) == (1, 2, 2), "the first driver is not the one any more"
    place = vars(module)["_place"](run, made, Limits(memory_bytes=9 << 20))
    assert (place.uri, place.run, place.partitions, place.together) == (run.uri, made.run, 3, 2)
    assert (place.limit, place.version) == (9 << 20, IDENTITY.insync)


def stopped_at_start(options: SparkOptions, keep_going: bool = False, levels: RunLevels | None = None) -> Any:
    task = Task(model=MODEL, properties=["exclusive"])

    def stopped(prepared: Prepared) -> Any:
        prepared.clock.lap("compile")
        return vars(module)["_not_begun"](prepared, StopReason.TIME, options, keep_going, levels)

    return task.run(stopped, lambda prepared, reason: None, Needs.PROPERTIES)


def test_what_ends_before_spark_is_there_knows_what_the_run_knew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunFolder(str(tmp_path / "run"))
    made, _ = begin(run, monkeypatch, SparkOptions(partitions=3), Limits())
    fresh = stopped_at_start(SparkOptions(run_dir=run.uri))
    assert (fresh.verdict, fresh.levels, fresh.stopped_by) == (Verdict.INCOMPLETE, (), StopReason.TIME)
    known = stopped_at_start(SparkOptions(run_dir=run.uri, resume=True))
    assert (known.verdict, known.levels, known.stopped_by) == (Verdict.INCOMPLETE, (1, 2), StopReason.TIME)
    searched = stopped_at_start(SparkOptions(run_dir=run.uri), levels=made.levels)
    assert (searched.levels, searched.distinct_states) == ((1, 2), 3), "by the driver, while the workers started"
    write_manifest(run, replace(made, levels=start(3, Found(1, (7,)))))
    unsaid = stopped_at_start(SparkOptions(run_dir=run.uri, resume=True))
    assert (unsaid.levels, unsaid.violations) == ((), ()), "nothing is claimed without a trace"


def test_a_violation_without_time_for_its_trace_counts_for_nothing_yet() -> None:
    levels = start(1)
    levels.figures(2).add_steps([0] * ACTIONS, Found(), 0)
    levels.figures(3).files = {0: bytes(16)}
    levels.figures(3).add_states(1, 1, 0, [Found(1, (9,))])
    judged = judge(MODEL, ["exclusive"])
    space = Explored([1] * ACTIONS, [1, 2, 1], {0: Hit(3, 1, (9,))}, Hit(4, 1, (9,)))

    def path_to(target: object, level: int) -> Any:
        raise Stopped(StopReason.INTERRUPT)

    finder: Any = SimpleNamespace(path_to=path_to)
    traced = vars(module)["_traced"](MODEL, judged, space, levels, finder, False)
    assert (traced.violations, traced.space.levels, traced.space.stopped_by) == ((), [1, 2], StopReason.INTERRUPT)
    later = "there was no time to find the trace, so this counts for nothing yet."
    assert traced.left_out == (f"exclusive fails after 3 states; {later}", f"type_ok fails after 4 states; {later}")


def test_a_temporary_run_directory_is_removed_and_a_given_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.spark_explore.driver.check.spark_folder", lambda: tmp_path)
    with open_run(SparkOptions()) as run:
        run.write("x", b"1")
        folder = Path(run.uri)
        assert folder.parent == tmp_path
        assert folder.is_dir()
    assert not folder.exists()
    with open_run(SparkOptions(run_dir=str(tmp_path / "run"))) as run:
        run.write("x", b"1")
    assert (tmp_path / "run" / "x").read_bytes() == b"1"
    with pytest.raises(UserError, match="To resume a run, name its run directory"):
        module.check(MODEL, options=SparkOptions(resume=True))
