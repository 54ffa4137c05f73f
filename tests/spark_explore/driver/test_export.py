"""The exported tables are the state graph, with the names and values of the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from insync.explorer.named_model import UnnamedModel
from insync.explorer.run_identity import code_of, identity_of
from insync.explorer.search.explored import LevelSummary
from insync.explorer.search.manifest import Manifest, write_manifest
from insync.explorer.search.run_levels import RunLevels
from insync.machine.stores.run_folder import RunFolder
from insync.model import Model
from insync.model.catalogue import find_model
from insync.model.evaluator import Evaluator
from insync.properties.registry import judge
from insync.runtime.errors import UserError
from insync.spark_explore import SparkOptions, check, export
from insync.spark_explore.wire.code_bundle import insync_version
from insync_evaluator import successors
from insync_initials import Cabinet
from insync_post import Post
from insync_toys import TOYS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KIP320 = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)


def name_of(model: Model) -> str:
    return f"{model.name}-{'-'.join(map(str, dict(model.b).values()))}"


def key(model: Model, codes: tuple[int, ...]) -> bytes:
    return b"".join(word.to_bytes(8, "big") for word in model.program.schema.pack(codes))


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        Post(homes=1),
        *[pytest.param(one, marks=pytest.mark.slow) for one in (KIP320, *TOYS[:3], Cabinet())],
    ],
    ids=name_of,
)
def test_the_tables_are_what_the_evaluator_says(spark: SparkSession, tmp_path: Path, model: Model) -> None:
    options = SparkOptions(session=spark, partitions=2, warm_states=20, run_dir=str(tmp_path / "run"))
    result = check(model, properties=[], options=options, keep_going=True, symmetry=False)
    out = str(tmp_path / "out")
    states, steps = export(str(tmp_path / "run"), out, SparkOptions(session=spark))
    assert (states, steps) == (result.distinct_states, result.transitions)

    evaluator = Evaluator(model.program)
    by_key = {}
    for row in spark.read.parquet(f"{out}/states").collect():
        fields = row.asDict(recursive=True)
        by_key[bytes(fields.pop("state"))] = (fields.pop("depth"), fields)
    assert len(by_key) == states
    expected = {}
    frontier = list(model.program.initials)
    depths = dict.fromkeys(frontier, 1)
    for codes in frontier:
        expected[key(model, codes)] = (depths[codes], model.decode(codes))
        for _, after in successors(evaluator, codes):
            if after not in depths:
                depths[after] = depths[codes] + 1
                frontier.append(after)
    assert by_key == expected

    labels = [str(action) for action in model.program.actions]
    found = sorted(
        (bytes(row["state"]), row["step"], bytes(row["next"]))
        for row in spark.read.parquet(f"{out}/transitions").collect()
    )
    wanted = sorted(
        (key(model, codes), labels[action], key(model, after))
        for codes in frontier
        for action, after in successors(evaluator, codes)
    )
    assert found == wanted


@pytest.mark.slow
def test_the_queries_of_the_guide(spark: SparkSession, tmp_path: Path) -> None:
    model = KIP320
    options = SparkOptions(session=spark, partitions=2, warm_states=100, run_dir=str(tmp_path / "run"))
    result = check(model, options=options, symmetry=False)
    export(str(tmp_path / "run"), str(tmp_path / "out"), SparkOptions(session=spark))
    for table in ("states", "transitions"):
        spark.read.parquet(f"{tmp_path}/out/{table}").createOrReplaceTempView(table)
    guide = (Path(__file__).parents[3] / "docs" / "guide" / "spark.md").read_text()
    queries = [block.split("```")[0] for block in guide.split("```sql\n")[1:]]
    assert len(queries) == 2
    sizes, new = (spark.sql(query).collect() for query in queries)
    assert sum(row["states"] for row in sizes) == result.distinct_states
    assert {row["isr_size"] for row in sizes} == {0, 1, 2}
    # Each state but the first was first reached by some step.
    assert sum(row["steps"] for row in new) >= result.distinct_states - 1
    assert {row["action"] for row in new} <= set(result.actions)


def run_of(folder: Path, model: Model, named: str) -> str:
    """Write the manifest of a run that names a model, whatever it searched, and return its directory."""
    code = code_of(model.program, judge(model, ()).nodes, None)
    identity = replace(identity_of(model, (), code, False, insync_version()), model=named)
    first = LevelSummary(1, 1, steps=[1], files={0: bytes(16), 1: bytes(16)})
    manifest = Manifest(identity, "0" * 16, "driver", 1, 2, RunLevels(1, {1: first}))
    write_manifest(RunFolder(str(folder / "run")), manifest)
    return str(folder / "run")


@pytest.mark.parametrize("way", ["sent.py", "{}/sent.py", "../sent.py"])
def test_a_run_directory_runs_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.chdir(tmp_path)
    named, marker = way.format(tmp_path), tmp_path / "ran"
    (tmp_path / named).write_text(f"from pathlib import Path\nPath({str(marker)!r}).touch()\n")
    run = run_of(tmp_path, KIP320, f"{named}:Sent")
    with pytest.raises(UnnamedModel, match=r"/run: this is a run of Sent, a model in .*sent\.py\. Only the run names"):
        export(run, str(tmp_path / "out"))
    assert not marker.exists()
    with pytest.raises(UserError, match="defines no model 'Sent'"):
        export(run, str(tmp_path / "out"), model=f"{named}:Sent")
    assert marker.exists()


def test_the_model_that_is_named_is_that_of_the_run(tmp_path: Path) -> None:
    run = run_of(tmp_path, KIP320, "lost.py:Lost")
    with pytest.raises(UserError, match=r"made by other rules than those of kip279\. Name its model"):
        export(run, str(tmp_path / "out"), model="kip279")


def test_there_must_be_a_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no run directory"):
        export(str(tmp_path), str(tmp_path / "out"))
