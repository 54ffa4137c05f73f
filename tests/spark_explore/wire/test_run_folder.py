"""Files of a run directory are whole or not there."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from insync.machine.stores.run_folder import RunFolder
from insync.runtime.errors import UserError
from insync.spark_explore.wire.run_folder import run_folder
from insync_spark_stores import on_a_store

pytest.importorskip("pyarrow")


def test_a_path_is_on_this_machine(tmp_path: Path) -> None:
    assert run_folder(str(tmp_path)).is_local
    assert run_folder(f"file://{tmp_path}").is_local


def test_a_file_replaces_the_one_before_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    run = RunFolder(str(tmp_path))
    for content in (b"one", b"two"):
        run.write("a/b", content)
    assert run.read("a/b") == b"two"
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]
    assert run.has("a/b")
    assert not run.has("a")


class CannotRenameOver:
    """A filesystem like HDFS."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.killed_at: str | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def move(self, source: str, target: str) -> None:
        if Path(target).exists():
            message = "the target exists"
            raise OSError(message)
        if self.killed_at is not None and self.killed_at in source:
            raise KeyboardInterrupt
        self._real.move(source, target)


def test_a_file_is_replaced_where_rename_does_not_replace(tmp_path: Path) -> None:
    run = on_a_store(tmp_path, "hdfs")
    files: Any = CannotRenameOver(run._fs)
    run._fs = files
    for content in (b"one", b"two", b"three"):
        run.write("manifest", content)
        assert run.read("manifest") == content
        assert [path.name for path in tmp_path.iterdir()] == ["manifest"], "nothing is left beside it"
    files.killed_at = ".part"
    with pytest.raises(KeyboardInterrupt):
        run.write("manifest", b"four")
    assert run.read("manifest") == b"three"
    files.killed_at = None
    run.write("manifest", b"five")
    assert run.read("manifest") == b"five"
    run.write("manifest", b"six")
    assert not run.has("manifest.old")


def test_what_cannot_be_written_or_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    run = RunFolder(str(tmp_path / "file"))
    attempts: list[Callable[[], None]] = [run.make, lambda: run.write("a", b""), lambda: run.write("a/b", b"")]
    for attempt in attempts:
        with pytest.raises(UserError, match=r"/file[/ab]*: the run directory cannot be written \(Not a directory\)\."):
            attempt()
    assert run.read("a") is None
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UserError, match=r"/new: the run directory cannot be written \(Permission denied\)\."):
        RunFolder(str(tmp_path / "new")).make()
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match=r"/folder: this file is not what the run has"):
        RunFolder(str(tmp_path)).read("folder")


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A manifest counts what was written before, so a power loss must not take that and leave the manifest."""
    calls: list[str] = []
    real_sync, real_replace = os.fsync, Path.replace

    def sync(descriptor: int) -> None:
        calls.append(f"flush {Path(f'/proc/self/fd/{descriptor}').readlink().name.split('.')[0]}")
        real_sync(descriptor)

    def replace(path: Path, target: Path) -> Path:
        calls.append(f"name {target.name}")
        return real_replace(path, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", replace)
    run = RunFolder(str(tmp_path / "run"))
    run.write("a/b", b"1")
    run.write("a/b", b"2")
    kept = ["flush b", "name b", "flush a"]
    assert calls == [f"flush {tmp_path.name}", "flush run", *kept, *kept]
    calls.clear()
    RunFolder(str(tmp_path / "run"), flushed=False).write("c/d", b"1")
    assert calls == ["name d"]


def break_off(run: RunFolder, name: str) -> None:
    with run.creating(name) as write:
        write(b"half")
        raise KeyboardInterrupt


@pytest.mark.parametrize("kind", ["local", "hdfs", "s3"])
def test_of_a_file_that_was_not_finished_nothing_is_left(tmp_path: Path, kind: str) -> None:
    run = RunFolder(str(tmp_path)) if kind == "local" else on_a_store(tmp_path, kind)
    run.write("states/p00000/00001-00001", b"whole")
    for name in ("00001-00001", "00002-00002"):
        with pytest.raises(KeyboardInterrupt):
            break_off(run, f"states/p00000/{name}")
    assert run.read("states/p00000/00001-00001") == b"whole", "one that was whole is the old one"
    run.remove("states/p00000/00001-00001")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_what_a_killed_process_was_writing_is_removed(tmp_path: Path) -> None:
    run = RunFolder(str(tmp_path))
    names = ("manifest.json", "states/p00000/00001-00001")
    for name in names:
        run.write(name, b"")
        (tmp_path / f"{name}.0123456789ab.part").write_bytes(b"half")
    run.remove_parts()
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} == set(names)


def test_what_is_no_file_is_not_listed(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.write("merged/whole", b"")
    (tmp_path / "merged" / "folder").mkdir()
    (tmp_path / "merged" / "loop").symlink_to("loop")
    assert run.names("merged") == ["whole"]
    assert run.names("none") == []


def test_tasks_that_write_at_the_same_time_make_their_folders_together(tmp_path: Path) -> None:
    run = RunFolder(str(tmp_path), flushed=False)
    with ThreadPoolExecutor(8) as pool:
        for attempt in range(40):
            list(pool.map(lambda name: run.write(name, b""), [f"{attempt}/a/b/{each}" for each in range(8)]))
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 320
