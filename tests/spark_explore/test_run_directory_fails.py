"""A run directory that is missing, no directory, or full in the middle of a level: a sentence, and the run goes on."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from insync.explorer import CheckResult
from insync.explorer import check as check_locally
from insync.runtime.errors import UserError
from insync.spark_explore import SparkOptions, check
from insync_played_spark import playing_spark
from insync_toys import TokenRing

pytest.importorskip("pyarrow")

MODEL = TokenRing(nodes=3)


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")


@pytest.mark.parametrize("name", ["manifest.json", "states/p00001/00003-00003"])
def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("insync.spark_explore.driver.search._LONGEST", ((1 << 62, 1),))
    real, run, written = os.write, tmp_path / "run", list[str]()

    def write(descriptor: int, content: bytes) -> int:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if path.startswith(f"{run}/{name}"):
            written.append(path)
            if "states" in path or len(written) > 3:
                raise OSError(errno.ENOSPC, "whatever")
        return real(descriptor, content)

    options = SparkOptions(partitions=2, warm_states=1, run_dir=str(run))
    with playing_spark(monkeypatch, tmp_path / "executor"):
        with monkeypatch.context() as full:
            full.setattr(os, "write", write)
            with pytest.raises(UserError) as refused:
                check(MODEL, options=options)
        assert str(refused.value).startswith(
            f"{run}/{name}: the run directory cannot be written (No space left on device). Name one with room"
        )
        assert not [path for path in run.rglob("*") if path.name.endswith(".part")]
        assert facts(check(MODEL, options=replace(options, resume=True))) == facts(check_locally(MODEL))


def test_a_run_directory_that_is_none_is_told_before_spark_is_started(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "missing", tmp_path / "file"):
        with pytest.raises(UserError, match=rf"^{path}: there is no manifest\.json, so this is no run directory"):
            check(MODEL, options=SparkOptions(run_dir=str(path), resume=True, master="nowhere"))
    with pytest.raises(UserError, match=rf"^{tmp_path}/file: the run directory cannot be written \(Not a directory\)"):
        check(MODEL, options=SparkOptions(run_dir=str(tmp_path / "file"), master="nowhere"))
    assert not (tmp_path / "missing").exists()


def test_files_are_on_the_disk_before_the_manifest_counts_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their content, and then their names: a loss of power could leave a manifest that counts what is not there."""
    flushed, named, counted = set[str](), set[str](), list[set[str]]()
    real_sync, real_replace = os.fsync, Path.replace

    def sync(descriptor: int) -> None:
        real_sync(descriptor)
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        flushed.update([path.name] if path.is_file() else [str(each) for each in path.iterdir() if each.is_file()])

    def replace(path: Path, target: Path) -> Path:
        if target.name == "manifest.json":
            entries = json.loads(path.read_text())
            warm = entries["together"]
            ranges = [(1, warm), *((level, level) for level in range(warm + 1, len(entries["levels"]) + 1))]
            names = [f"states/p{part:05}/{first:05}-{last:05}" for first, last in ranges for part in range(2)]
            counted.append({str(tmp_path / "run" / name) for name in names})
            assert counted[-1] <= named <= flushed
        elif target.is_relative_to(tmp_path / "run"):
            assert path.name in flushed
            named.add(str(target))
        return real_replace(path, target)

    monkeypatch.setattr("insync.spark_explore.driver.search._LONGEST", ((1 << 62, 1),))
    with playing_spark(monkeypatch, tmp_path / "executor"):
        monkeypatch.setattr(os, "fsync", sync)
        monkeypatch.setattr(Path, "replace", replace)
        check(MODEL, options=SparkOptions(partitions=2, warm_states=1, run_dir=str(tmp_path / "run")))
    assert len(counted) > 3
    assert [len(each) for each in counted] == sorted(len(each) for each in counted)
