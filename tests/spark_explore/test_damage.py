"""Whatever is damaged in a run directory on Spark, no other answer comes of it: a sentence names the file."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from insync.explorer import CheckResult, Limits
from insync.explorer import check as check_locally
from insync.explorer.search.manifest import Manifest, write_manifest
from insync.machine.stores.run_folder import RunFolder
from insync.model import Model
from insync.model.catalogue import find_model
from insync.spark_explore import SparkOptions, check, export
from insync.spark_explore.wire.code_bundle import recipe_for, write_recipe
from insync_file_damage import Trial, damages
from insync_played_spark import playing_spark

pytest.importorskip("pyarrow")

SPACE = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=2)
DEFECT = find_model("truncate_to_high_watermark")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")


@dataclass(frozen=True, slots=True)
class Runs:
    """Searches in run directories.

    Attributes:
        folder: has the run directories, and what an executor keeps.
    """

    folder: Path

    def begun(self, name: str, model: Model, depth: int | None = None) -> Path:
        """Search to some depth, and return the run directory."""
        options = SparkOptions(partitions=2, warm_states=4, run_dir=str(self.folder / name))
        check(model, limits=Limits(depth=depth), symmetry=False, options=options)
        return self.folder / name


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runs]:
    with playing_spark(monkeypatch, tmp_path / "executor"):
        yield Runs(tmp_path)


def resumed(model: Model, run: Path) -> CheckResult:
    options = SparkOptions(run_dir=str(run), resume=True)
    return facts(check(model, symmetry=False, options=options))


def exported(run: Path) -> tuple[int, int]:
    return export(str(run), str(run / "out"))


FEW, MANY = 8, pytest.param(400, marks=[pytest.mark.slow, pytest.mark.timeout(600)])


@pytest.mark.parametrize("count", [FEW, MANY])
def test_a_run_that_goes_on(runs: Runs, count: int) -> None:
    """Every file is read, by the driver or by a task."""
    run, other = (runs.begun(name, DEFECT, depth=6) for name in ("run", "other"))
    trial = Trial(run, runs.folder / "copies", lambda copy: resumed(DEFECT, copy), is_read)
    assert trial.expected == facts(check_locally(DEFECT, symmetry=False))
    for damage in damages(run, 38, count, [other]):
        trial.attempt(damage)
    assert trial.outcomes["refused"] > count // 2


@pytest.mark.parametrize("count", [FEW, MANY])
def test_a_run_that_is_over_and_whose_trace_is_looked_for_again(runs: Runs, count: int) -> None:
    """The way back ends before the last level, whose files are of no use any more."""
    run, other = (runs.begun(name, DEFECT) for name in ("run", "other"))
    last = max(path.name for path in run.glob("states/p00000/*"))
    trial = Trial(run, runs.folder / "copies", lambda copy: resumed(DEFECT, copy), lambda name: name == "manifest.json")
    for damage in damages(run, 3, count, [other]):
        trial.attempt(damage)
    assert trial.outcomes["refused"] > count // 3
    assert int(last[:5]) > len(facts(check_locally(DEFECT, symmetry=False)).violations[0].trace.steps)


@pytest.mark.parametrize("count", [FEW, MANY])
def test_tables_that_are_written(runs: Runs, count: int) -> None:
    run, other = (runs.begun(name, SPACE, depth=5) for name in ("run", "other"))
    trial = Trial(run, runs.folder / "copies", exported, is_read)
    for damage in damages(run, 5, count, [other]):
        trial.attempt(damage)
    assert trial.outcomes["refused"] > count // 3


def is_read(name: str) -> bool:
    """Whether every run reads a file; a merged one may have been merged again."""
    return name != "lock" and not name.startswith("merged/")


def test_there_is_nothing_in_a_run_directory_that_is_run(runs: Runs) -> None:
    """What executors compile comes from the driver, whatever lies in the run directory under the name that it had."""
    run = runs.begun("run", DEFECT, depth=6)
    names = {path.relative_to(run).parts[0] for path in run.rglob("*") if path.is_file()}
    assert names == {"manifest.json", "lock", "merged", "states"}
    assert all(b"define" not in path.read_bytes() for path in run.rglob("*") if path.is_file())
    (run / "recipe.json.z").write_bytes(write_recipe(recipe_for(SPACE.program)))
    assert resumed(DEFECT, run) == facts(check_locally(DEFECT, symmetry=False))


def test_files_of_a_level_that_the_manifest_does_not_count_yet(runs: Runs) -> None:
    """A driver that was killed leaves them; they are taken if they are whole, and made again if not."""
    run, ahead = runs.begun("run", DEFECT, depth=6), runs.begun("ahead", DEFECT, depth=6)
    resumed(DEFECT, ahead)
    shutil.copy(run / "manifest.json", runs.folder)
    resumed(DEFECT, run)
    shutil.copy(runs.folder / "manifest.json", run)
    (made,) = run.glob("states/p00001/00007-*")
    assert resumed(DEFECT, run) == facts(check_locally(DEFECT, symmetry=False))
    for content in (made.read_bytes()[:-1], next(ahead.glob("states/p00001/00007-*")).read_bytes()):
        shutil.copy(runs.folder / "manifest.json", run)
        made.write_bytes(content)
        assert resumed(DEFECT, run) == facts(check_locally(DEFECT, symmetry=False))


def test_a_driver_that_dies_after_any_job_is_followed_by_one_that_repeats_it(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of the levels that it did not count are there, and so are those that were merged for them."""
    model = find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)
    run, counted = runs.folder / "run", list[bytes]()

    def keep(folder: RunFolder, manifest: Manifest) -> None:
        write_manifest(folder, manifest)
        counted.append((run / "manifest.json").read_bytes())

    monkeypatch.setattr("insync.spark_explore.driver.search._LONGEST", ((1 << 62, 4),))
    monkeypatch.setattr("insync.spark_explore.driver.check.write_manifest", keep)
    runs.begun("run", model)
    expected = facts(check_locally(model, symmetry=False))
    assert expected.depth > 16
    for content in counted[-2::-1]:
        (run / "manifest.json").write_bytes(content)
        assert resumed(model, run) == expected, "the levels that were not counted are taken as they are"
