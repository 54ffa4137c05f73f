"""A run directory of the local engine: whoever goes on with a run finds what a search without a stop finds."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import CheckResult, Limits, StopReason, check
from insync.explorer.run_lock import RunLock
from insync.explorer.search import breadth_first as search_module
from insync.explorer.search.breadth_first import BreadthFirstSearch
from insync.explorer.search.explored import Explored
from insync.explorer.search.run_directory import RunDirectory
from insync.machine.stores import compressed
from insync.machine.stores.run_files import RunFiles
from insync.model import Model
from insync.model.catalogue import find_model
from insync.properties.registry import invariants_of
from insync.runtime.errors import UserError
from insync_toys import TOYS, Overflow

SMALL = {"replicas": 2, "log_size": 1, "max_records": 2, "max_leader_epoch": 1}
KIP101 = find_model("kip101")(**{**SMALL, "log_size": 2})
KIP320 = find_model("kip320")(**SMALL)
MODELS = [*TOYS, Overflow(last=3), KIP320, KIP101, find_model("async_isr")(replicas=3, max_offset=1, max_version=1)]
STATES = Limits(states=3_000)


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, huge_pages=None)


@pytest.mark.slow_for("model11-True", "model12-True")
@pytest.mark.parametrize(
    ("model", "keep_going"),
    [*((model, True) for model in MODELS), *((model, False) for model in MODELS[-4:])],
    ids=lambda value: value.identity if isinstance(value, Model) else str(value),
)
def test_a_run_that_goes_on_finds_what_one_without_a_stop_finds(model: Model, keep_going: bool, tmp_path: Path) -> None:
    """Stopped after one level, gone on for some, and then to the end with other threads; and once more at its end."""
    names = list(invariants_of(model))

    def found(limits: Limits, resume: bool = True, threads: int = 2) -> CheckResult:
        return check(
            model,
            properties=names,
            keep_going=keep_going,
            limits=limits,
            threads=threads,
            run_dir=tmp_path / "run",
            resume=resume,
        )

    whole = check(model, properties=names, keep_going=keep_going, limits=STATES)
    first = found(Limits(depth=1), resume=False)
    assert first.levels == whole.levels[:1]
    some = found(Limits(depth=4))
    assert some.levels == whole.levels[:4]
    assert facts(found(STATES, threads=1)) == facts(found(STATES)) == facts(whole)


@pytest.mark.parametrize("up_to", [0, 40])
def test_it_may_be_kept_as_codes_and_as_states_before(
    up_to: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = KIP101
    whole = check(model, keep_going=True)
    check(model, keep_going=True, limits=Limits(depth=6), run_dir=tmp_path)
    monkeypatch.setattr(search_module, "MOST_WHOLE", up_to)
    coded = check(model, keep_going=True, limits=Limits(depth=8), run_dir=tmp_path, resume=True)
    assert (coded.kept, coded.levels) == ("codes", whole.levels[:8])
    again = check(model, keep_going=True, run_dir=tmp_path, resume=True)
    assert facts(again) == facts(replace(whole, kept="codes"))


def test_every_level_is_there_and_nothing_else(tmp_path: Path) -> None:
    found = check(KIP320, run_dir=str(tmp_path / "a" / "run"), partitions=2)
    run = tmp_path / "a" / "run"
    names = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}
    levels = {f"states/p{part:05}/{level:05}-{level:05}" for level in range(1, found.depth + 1) for part in range(2)}
    assert names == {*levels, "lock", "manifest.json"}


def test_a_run_is_gone_on_with_or_begun_as_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no manifest\.json, so this is no run directory\. Give one that"):
        check(KIP320, run_dir=tmp_path, resume=True)
    with pytest.raises(UserError, match="resume=True goes on with a run; name its folder"):
        check(KIP320, resume=True)
    check(KIP320, run_dir=tmp_path)
    with pytest.raises(UserError, match=r"there is a run in this directory already\. Go on with it by --resume"):
        check(KIP320, run_dir=tmp_path)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"model": "kip279"}, "another model: model is kip320 there and kip279 here"),
        ({"bounds": {**SMALL, "replicas": 3}}, "other bounds: bounds is replicas 2, .* here"),
        ({"properties": ["leader_in_isr"]}, "other properties: properties is strong_isr there and leader_in_isr here"),
        ({"symmetry": True}, "a search of another kind: symmetric is False there and True here"),
        ({"within": ["weak_isr"]}, "a search that was confined otherwise: within is none there and weak_isr here"),
    ],
    ids=["model", "bounds", "properties", "symmetry", "within"],
)
def test_only_the_same_search_goes_on(other: dict[str, object], what: str, tmp_path: Path) -> None:
    given = {"model": "kip320", "bounds": SMALL, "properties": ["strong_isr"], "symmetry": False, "run_dir": tmp_path}
    check(**given, limits=Limits(depth=3))  # type: ignore[arg-type]
    with pytest.raises(UserError, match=f"this run was made by {what}"):
        check(**{**given, **other}, resume=True)  # type: ignore[arg-type]


def begun(folder: Path) -> Path:
    check(KIP320, threads=2, limits=Limits(depth=7), run_dir=folder)
    return folder / "states/p00001/00006-00006"


def cut(level: Path) -> None:
    level.write_bytes(level.read_bytes()[:-1])


def changed(level: Path) -> None:
    content = bytearray(level.read_bytes())
    content[random.Random(level.parents[2].name).randrange(16, len(content))] ^= 1
    level.write_bytes(content)


def exchanged(level: Path) -> None:
    level.write_bytes(level.with_name("00005-00005").read_bytes())


def of_another_partition(level: Path) -> None:
    level.write_bytes((level.parents[1] / "p00000" / level.name).read_bytes())


@pytest.mark.parametrize(
    "damage",
    [cut, changed, exchanged, of_another_partition, lambda level: level.write_bytes(b"")],
)
def test_a_damaged_level_is_refused_and_never_counted(damage: Callable[[Path], object], tmp_path: Path) -> None:
    level = begun(tmp_path)
    damage(level)
    with pytest.raises(UserError, match=r"states/p0000\d/00006-00006: this file is not what the run has written"):
        check(KIP320, run_dir=tmp_path, resume=True)


def test_a_level_that_is_gone_is_missed(tmp_path: Path) -> None:
    begun(tmp_path).unlink()
    with pytest.raises(UserError, match=r"states/p00001/00006-00006: this file is missing\. The run directory is"):
        check(KIP320, run_dir=tmp_path, resume=True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "this file is not what the run has written there"),
        (
            '{"format": "insync-run/4"}',
            "format is 'insync-run/4', and this insync reads 'insync-run/5'. Search again in",
        ),
        ('{"format": "insync-levels/4"}', "format is 'insync-levels/4', and this insync reads 'insync-run/5'"),
        ('{"format": "insync-run/5"}', "this file is not what the run has written there"),
    ],
)
def test_a_manifest_of_something_else_is_refused(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(UserError, match=said):
        check(KIP320, run_dir=tmp_path, resume=True)


def test_a_folder_that_cannot_be_written_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"file: the run directory cannot be written \(Not a directory\)\. Name one"):
        check(KIP320, run_dir=tmp_path / "file")


def test_a_full_disk_ends_it_and_what_is_there_goes_on(tmp_path: Path) -> None:
    model = find_model("kip101")(replicas=3, log_size=1, max_records=2, max_leader_epoch=1)
    whole = check(model, keep_going=True, symmetry=False)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, limits[1]))
        with pytest.raises(UserError, match=r"the run directory cannot be written \(File too large\)\. Name one with"):
            check(model, keep_going=True, symmetry=False, run_dir=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert not list(tmp_path.rglob("*.part"))
    assert facts(check(model, keep_going=True, symmetry=False, run_dir=tmp_path, resume=True)) == facts(whole)


@pytest.mark.parametrize("model", [KIP320, KIP101], ids=lambda model: str(model.name))
def test_who_is_stopped_while_levels_are_read_knows_what_the_run_had_found(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A violation has no trace then: the states of its level are not there."""
    done = check(model, run_dir=tmp_path)
    stop = threading.Event()
    insert = RunDirectory.insert_level

    def stopping(self: RunDirectory, level: int, *given: object) -> None:
        insert(self, level, *given)  # type: ignore[arg-type]
        stop.set()

    monkeypatch.setattr(RunDirectory, "insert_level", stopping)
    found = check(model, run_dir=tmp_path, resume=True, stop=stop)
    assert (found.stopped_by, found.levels, found.violations) == (StopReason.INTERRUPT, done.levels, ())
    untraced = [warning for warning in found.warnings if "The search for a trace of" in warning]
    assert len(untraced) == len(done.violations)


def test_where_codes_become_too_wide_the_levels_are_read_and_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All begins again in memory; a file that the manifest counts stays as it is."""
    model = find_model("kip320")(**{**SMALL, "max_leader_epoch": 2})
    whole, written, begun = check(model, symmetry=False), list[str](), list[int]()
    begin, write = BreadthFirstSearch._begin_with, RunFiles.write_sorted

    def writing(files: RunFiles, partition: int, level: int, *given: Any) -> bytes:
        written.append(str(level))
        return write(files, partition, level, *given)

    def beginning(search: BreadthFirstSearch, *given: Any) -> None:
        begun.append(len(written))
        begin(search, *given)

    monkeypatch.setattr(RunFiles, "write_sorted", writing)
    monkeypatch.setattr(BreadthFirstSearch, "_begin_with", beginning)
    monkeypatch.setattr(search_module, "MOST_WHOLE", 40)
    monkeypatch.setattr(compressed, "MOST_CODE_BITS", 18)
    assert facts(check(model, symmetry=False, run_dir=tmp_path, threads=1)) == facts(whole)
    assert len(begun) > 1
    assert begun[-1] > 5
    assert len(set(written)) == len(written) == whole.depth
    assert facts(check(model, symmetry=False, run_dir=tmp_path, resume=True)) == facts(whole)


def test_one_search_at_a_time_uses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a run is resumed or begun meanwhile; when a search has ended, by an error too, the next one may."""
    refused, keep = list[str](), RunDirectory.keep

    def keeping(self: RunDirectory, space: Explored, *given: object) -> None:
        keep(self, space, *given)  # type: ignore[arg-type]
        if len(space.levels) in (2, 3):
            for resume in (True, False):
                with pytest.raises(UserError) as error:
                    check(KIP320, run_dir=tmp_path, resume=resume)
                refused.append(str(error.value))
        if len(space.levels) == 3:
            raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(RunDirectory, "keep", keeping)
        with pytest.raises(ZeroDivisionError):
            check(KIP320, run_dir=tmp_path)
    in_use = f"{tmp_path}: another search is using this run directory. Wait until it has ended, or name another."
    there = f"{tmp_path}: there is a run in this directory already. Go on with it by --resume, or name another."
    assert refused == [in_use, there] * 2
    assert facts(check(KIP320, run_dir=tmp_path, resume=True)) == facts(check(KIP320))


def test_a_run_that_has_no_level_yet_is_in_use(tmp_path: Path) -> None:
    with RunLock(tmp_path), pytest.raises(UserError, match="another search is using this run directory"):
        check(KIP320, run_dir=tmp_path)


def test_where_there_are_no_locks_the_result_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr(fcntl, "flock", refuse)
    found = check(KIP320, run_dir=tmp_path)
    assert "this file system has no locks (Operation not supported)" in found.warnings[-1]
    assert replace(facts(found), warnings=()) == replace(facts(check(KIP320)), warnings=())


@pytest.mark.parametrize("name", ["states/p00000/00003-00003", "manifest.json"])
def test_a_folder_in_the_place_of_a_file_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir(parents=True)
    with pytest.raises(UserError, match=rf"/{name}: the run directory cannot be written \(Is a directory\)\. Name one"):
        check(KIP320, run_dir=tmp_path, threads=1)


def test_a_complete_run_that_may_only_be_read_gives_its_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = check(KIP320, run_dir=tmp_path)
    (tmp_path / "lock").unlink()
    opened = os.open

    def opening(path: Path, flags: int, *given: int, **more: int) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return opened(path, flags, *given, **more)

    monkeypatch.setattr(os, "open", opening)
    assert facts(check(KIP320, run_dir=tmp_path, resume=True)) == facts(whole)


def levels_in(folder: Path) -> int:
    """How many levels the manifest counts."""
    manifest = folder / "manifest.json"
    return len(json.loads(manifest.read_text())["levels"]) if manifest.exists() else 0


def killed(folder: Path, level: int, seconds: float, most_whole: int, most_rows: int) -> None:
    """Search in another process, which is killed so many seconds after it has begun to write a level.

    Up to `most_whole` states are kept whole, then as codes, which are divided anew; `most_rows` are sorted at once.
    """
    text = f"""
from insync.explorer import check
from insync.explorer.search import breadth_first, run_directory
from insync.kafka.published import Kip101
breadth_first.MOST_WHOLE = {most_whole}
run_directory.LEAST_ROWS = run_directory.MOST_ROWS = {most_rows}
model = Kip101(replicas=3, log_size=2, max_records=2, max_leader_epoch=2)
check(model, symmetry=False, keep_going=True, threads=2, run_dir={str(folder)!r})
"""
    with subprocess.Popen([sys.executable, "-c", text]) as process:
        while process.poll() is None and not list(folder.glob(f"states/*/{level:05}-*")):
            time.sleep(0.0005)
        time.sleep(seconds)
        process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_after_a_kill_at_any_moment_it_goes_on(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = random.Random(seed)
    model = find_model("kip101")(replicas=3, log_size=2, max_records=2, max_leader_epoch=2)
    whole = check(model, symmetry=False, keep_going=True)
    level = drawn.randint(2, whole.depth - 8)
    most_whole, most_rows = drawn.choice([1 << 22, 3000, 100]), drawn.choice([1 << 20, 5000, 500])
    killed(tmp_path, level, 0.02 * drawn.random(), most_whole, most_rows)
    assert 1 <= levels_in(tmp_path) < whole.depth  # it was killed on its way
    monkeypatch.setattr(search_module, "MOST_WHOLE", drawn.choice([1 << 22, most_whole]))
    found = check(model, symmetry=False, keep_going=True, run_dir=tmp_path, resume=True)
    assert replace(facts(found), kept="") == replace(facts(whole), kept="")
    assert levels_in(tmp_path) == whole.depth
