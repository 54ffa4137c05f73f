"""One run directory for both engines: a run that one has begun goes on with the other, and back."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import CheckResult, Limits
from insync.explorer import check as check_locally
from insync.explorer.search import beyond_memory
from insync.machine.stores import row_encoding
from insync.model import Model
from insync.model.catalogue import find_model
from insync.properties.registry import invariants_of
from insync.runtime.errors import UserError
from insync.runtime.watch import Watch
from insync.spark_explore import SparkOptions, check, export
from insync_played_spark import PlayedSpark, playing_spark
from insync_toys import TOYS, Overflow

pytest.importorskip("pyarrow")
KIP320 = find_model("kip320")(replicas=2, log_size=1, max_records=2, max_leader_epoch=2)
DEFECT = find_model("kip101")(replicas=3, log_size=1, max_records=2, max_leader_epoch=1)
MODELS = [KIP320, DEFECT, Overflow(last=3), *TOYS]
BOUNDS = {"replicas": 2, "log_size": 1, "max_records": 2, "max_leader_epoch": 2}


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, engine="", kept="", huge_pages=None)


@pytest.fixture
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    with playing_spark(monkeypatch, tmp_path / "executor") as spark:
        yield Engines(tmp_path / "run", spark)


class Engines:
    """Searches with one engine or the other in one run directory."""

    def __init__(self, run: Path, spark: PlayedSpark) -> None:
        self.run, self.spark = run, spark

    def local(self, model: Model | str, **given: Any) -> CheckResult:
        return check_locally(model, run_dir=self.run, resume=self.run.exists(), threads=2, partitions=3, **given)

    def on_spark(self, model: Model | str, **given: Any) -> CheckResult:
        resume = (self.run / "manifest.json").exists()
        options = SparkOptions(partitions=3, warm_states=4, run_dir=str(self.run), resume=resume)
        return check(model, options=options, **given)


@pytest.mark.parametrize("keep_going", [True, False])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.name}")
@pytest.mark.parametrize("order", ["local spark local spark", "spark local spark local"])
def test_engines_take_turns(model: Model, keep_going: bool, order: str, engines: Engines) -> None:
    names = list(invariants_of(model))
    whole = check_locally(model, properties=names, keep_going=keep_going, limits=Limits(states=3_000))
    depths = [whole.depth // 3 + 1, -(-2 * whole.depth // 3), whole.depth]
    for engine, depth in zip(order.split(), [*depths, None], strict=True):
        search = engines.local if engine == "local" else engines.on_spark
        found = search(model, properties=names, keep_going=keep_going, limits=Limits(depth=depth, states=3_000))
        assert found.levels == whole.levels[:depth]
    assert facts(found) == facts(whole)


@pytest.mark.parametrize(("bits", "encoding"), [(None, "codes"), (20, "pairs"), (10, "states")])
def test_a_search_beyond_memory_goes_on_on_spark_and_back(
    bits: int | None, encoding: str, engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codes become states there; tables of them are refused before."""
    model = find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)
    whole = check_locally(model, symmetry=False)
    asked, may_use = itertools.count(), Watch.may_use
    monkeypatch.setattr(beyond_memory, "LEAST_ROWS", 1)
    monkeypatch.setattr(beyond_memory, "MOST_BUFFER_BYTES", 1 << 12)
    with monkeypatch.context() as full:
        full.setattr(Watch, "may_use", lambda self, size: next(asked) != 25 and may_use(self, size))
        if bits is not None:
            full.setattr(row_encoding, "MOST_CODE_BITS", bits)
            full.setattr(row_encoding, "ROOMS", (1.0,))
        begun = engines.local(model, symmetry=False, limits=Limits(depth=14))
    assert begun.kept == "files"
    assert {path.parents[1].name for path in engines.run.glob("*/*/*")} == {encoding}
    if encoding != "states":
        with pytest.raises(UserError, match=r"this run has codes in place of states, as memory was full\. Go on with"):
            export(str(engines.run), str(tmp_path / "tables"))
    assert engines.on_spark(model, symmetry=False, limits=Limits(depth=16)).levels == whole.levels[:16]
    assert {path.parents[1].name for path in engines.run.glob("*/*/*")} == {"states", "merged"}
    found = engines.local(model, symmetry=False, limits=Limits(depth=18))
    assert (found.kept, found.levels) == ("files", whole.levels[:18])
    assert facts(engines.on_spark(model, symmetry=False)) == facts(whole)


def test_a_run_of_spark_goes_over_to_the_disk_of_this_machine(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files stay where they have states as well: the first of them has several levels, and is divided."""
    model = find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)
    whole = check_locally(model, symmetry=False)
    engines.on_spark(model, symmetry=False, limits=Limits(depth=12))
    (first,) = {path.name for path in engines.run.glob("states/*/00001-*")} - {"00001-00001"}
    monkeypatch.setattr(beyond_memory, "LEAST_ROWS", 1)
    monkeypatch.setattr(beyond_memory, "MOST_BUFFER_BYTES", 1 << 12)
    monkeypatch.setattr(row_encoding, "MOST_CODE_BITS", 3)
    monkeypatch.setattr(row_encoding, "ROOMS", (1.0,))
    asked, may_use = itertools.count(), Watch.may_use
    with monkeypatch.context() as full:
        full.setattr(Watch, "may_use", lambda self, size: next(asked) != 3 and may_use(self, size))
        found = engines.local(model, symmetry=False, limits=Limits(depth=15))
    assert (found.kept, found.levels) == ("files", whole.levels[:15])
    assert not list(engines.run.glob(f"states/*/{first}"))
    assert engines.on_spark(model, symmetry=False, limits=Limits(depth=17)).levels == whole.levels[:17]
    assert facts(engines.local(model, symmetry=False)) == facts(whole)


def test_a_level_that_was_not_counted_yet_may_not_be_on_the_disk(engines: Engines) -> None:
    """After a loss of power it is made again, whatever is left of it."""
    whole = check_locally(KIP320, symmetry=False)
    engines.local(KIP320, symmetry=False, limits=Limits(depth=5))
    before = (engines.run / "manifest.json").read_bytes()
    engines.local(KIP320, symmetry=False, limits=Limits(depth=7))
    (engines.run / "manifest.json").write_bytes(before)
    for path in engines.run.glob("states/p00001/*"):
        if path.name > "00006":
            path.write_bytes(bytes(path.stat().st_size))
    assert facts(engines.on_spark(KIP320, symmetry=False)) == facts(whole)


def killed(text: str, run: Path, levels: int) -> None:
    """Run a search in a process, and kill it when the files of a level are there."""
    with subprocess.Popen([sys.executable, "-c", text], stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not list(run.glob(f"states/*/{levels:05}-*")):
            time.sleep(0.001)
        process.kill()


LOCAL = """
from insync.explorer import check
check("kip320", bounds={bounds!r}, symmetry=False, run_dir={run!r}, threads=2, resume={resume})
"""
ON_SPARK = """
import pytest
from pathlib import Path
from insync.spark_explore import SparkOptions, check
from insync_played_spark import playing_spark
with pytest.MonkeyPatch.context() as patch, playing_spark(patch, Path({run!r} + "-executor")):
    patch.setattr("insync.spark_explore.driver.search._LONGEST", ((1 << 62, 2),))
    options = SparkOptions(partitions=2, warm_states=1, run_dir={run!r}, resume={resume})
    check("kip320", bounds={bounds!r}, symmetry=False, options=options)
"""


@pytest.mark.parametrize("texts", [(LOCAL, ON_SPARK), (ON_SPARK, LOCAL)], ids=["local first", "Spark first"])
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_either_engine_goes_on_after_the_other_was_killed(
    texts: tuple[str, str], seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "support"), prepend=os.pathsep)
    drawn, run = random.Random(seed), tmp_path / "run"
    whole = check_locally("kip320", bounds=BOUNDS, symmetry=False)
    levels = sorted(drawn.sample(range(3, whole.depth - 2), 2))
    for text, level, resume in zip(texts, levels, (False, True), strict=True):
        killed(text.format(bounds=BOUNDS, run=str(run), resume=resume), run, level)
        assert (run / "manifest.json").exists()
    with playing_spark(monkeypatch, tmp_path / "executor") as spark:
        engines = Engines(run, spark)
        last: Callable[..., CheckResult] = engines.local if texts[0] is LOCAL else engines.on_spark
        assert facts(last("kip320", bounds=BOUNDS, symmetry=False)) == facts(whole)
