"""The search that goes on with sorted files when the memory is full: what it says is what it says in memory."""

from __future__ import annotations

import itertools
import json
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insync.explorer import CheckResult, Limits, Progress, StopReason, check
from insync.explorer.progress import Phase
from insync.explorer.search import beyond_memory
from insync.machine.stores import collapse, known_files, row_encoding, sorted_file
from insync.machine.stores.external import ExternalStore
from insync.machine.stores.known_files import KnownFiles, most_files
from insync.machine.stores.sorted_rows import RowBuffer
from insync.model import Model
from insync.model.catalogue import find_model
from insync.properties.registry import invariants_of
from insync.runtime.errors import UserError
from insync.runtime.memory import Block, resident_memory
from insync.runtime.watch import Watch
from insync_toys import TOYS, Overflow

KIP320 = find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)
KIP101 = find_model("kip101")(replicas=3, log_size=1, max_records=2, max_leader_epoch=1)
ASYNC = find_model("async_isr")(replicas=3, max_offset=1, max_version=1)
QUICK: list[tuple[Model, bool]] = [(Overflow(last=3), True), (Overflow(last=3), False), (KIP101, True), (KIP101, False)]
OTHERS = [(model, True) for model in (*TOYS, KIP320, ASYNC)]
ENOUGH = Limits(states=5_000)
Full = Callable[..., None]


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Full:
    return filling(monkeypatch)


def filling(monkeypatch: pytest.MonkeyPatch) -> Full:
    """Say that the memory is full the n-th time that somebody asks, and how large buffers and blocks are then."""
    may_use = Watch.may_use

    def arrange(after: int = 4, rows: int = 4096, block: int = 100) -> None:
        calls = itertools.count()
        monkeypatch.setattr(Watch, "may_use", lambda self, size: next(calls) != after and may_use(self, size))
        monkeypatch.setattr(beyond_memory, "LEAST_ROWS", 1)
        monkeypatch.setattr(beyond_memory, "MOST_BUFFER_BYTES", 8 * rows)
        monkeypatch.setattr(sorted_file, "BLOCK", block)

    return arrange


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, kept="", huge_pages=None)


@pytest.mark.parametrize(
    ("model", "keep_going"),
    [*QUICK, *(pytest.param(*other, marks=pytest.mark.slow) for other in OTHERS)],
    ids=lambda value: value.identity if isinstance(value, Model) else str(value),
)
def test_the_result_does_not_depend_on_where_states_are(
    model: Model, keep_going: bool, full: Full, tmp_path: Path
) -> None:
    names = list(invariants_of(model))

    def found(number: int, threads: int = 1, partitions: int = 1, **more: object) -> CheckResult:
        return check(
            model,
            properties=names,
            keep_going=keep_going,
            limits=ENOUGH,
            threads=threads,
            partitions=partitions,
            run_dir=tmp_path / str(number),
            **more,  # type: ignore[arg-type]
        )

    whole = check(model, properties=names, keep_going=keep_going, limits=ENOUGH)
    full(after=4)
    one = found(0)
    full(after=6, rows=100, block=10)
    two = found(1, threads=2, partitions=3)
    assert whole.depth < 4 or {one.kept, two.kept} == {"files"}
    assert [facts(one), facts(two), facts(found(1, resume=True))] == [facts(whole)] * 3


@settings(max_examples=6, deadline=None)
@given(
    keep_going=st.booleans(),
    rows=st.integers(60, 400),
    block=st.integers(5, 30),
    partitions=st.integers(1, 3),
    stops=st.lists(st.integers(4, 12), max_size=2),
)
def test_merging_files_changes_nothing(
    keep_going: bool, rows: int, block: int, partitions: int, stops: list[int]
) -> None:
    """States, levels, and the traces that are found back over the levels are those without merging, and in memory."""
    asked = {"keep_going": keep_going, "properties": list(invariants_of(KIP101))}
    files, read, real = dict[str, int](), list[int](), KnownFiles.open

    def opened(known: KnownFiles[Any]) -> None:
        real(known)
        read.append(len(known.files))

    def found(name: str) -> CheckResult:
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            filling(patch)(4, rows, block)
            patch.setattr(KnownFiles, "open", opened)
            if name == "levels":
                patch.setattr(known_files, "most_files", lambda level: 1000)
            more = {"run_dir": Path(folder), "partitions": partitions, **asked}
            for number, depth in enumerate([*sorted(stops), None]):
                result = check(KIP101, limits=Limits(depth=depth), resume=number > 0, **more)  # type: ignore[arg-type]
            assert result.kept == "files" or not keep_going
        files[name] = max(read, default=0)
        read.clear()
        return result

    whole = check(KIP101, **asked)  # type: ignore[arg-type]
    assert whole.violations
    assert [facts(found(name)) for name in ("merged", "levels")] == [facts(whole)] * 2
    assert files["merged"] <= most_files(whole.depth)
    assert not keep_going or files["levels"] == whole.depth > files["merged"]


@pytest.mark.parametrize("after", [9, *(pytest.param(after, marks=pytest.mark.slow) for after in (3, 21))])
def test_a_run_on_disk_goes_on_level_by_level(after: int, full: Full, tmp_path: Path) -> None:
    whole = check(KIP320, symmetry=False)
    full(after, rows=200)
    result = check(KIP320, symmetry=False, limits=Limits(depth=14), run_dir=tmp_path, partitions=2)
    assert result.kept == "files"
    for depth in (14, 15, 17, 10, 18, 100):
        result = check(KIP320, symmetry=False, limits=Limits(depth=depth), run_dir=tmp_path, resume=True)
    assert facts(result) == facts(whole)
    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    levels = [f"codes/p{part:05}/{level:05}-{level:05}" for level in range(1, whole.depth + 1) for part in range(2)]
    assert names == {"lock", "manifest.json", *levels}


def test_a_run_in_memory_goes_over_when_it_is_taken_up(full: Full, tmp_path: Path) -> None:
    whole = check(KIP101, keep_going=True)
    assert whole.violations
    check(KIP101, keep_going=True, limits=Limits(depth=7), run_dir=tmp_path)
    full(after=3)
    again = check(KIP101, keep_going=True, run_dir=tmp_path, resume=True)
    assert again.kept == "files"
    assert facts(again) == facts(whole)
    assert not list(tmp_path.glob("states/*/*"))


@pytest.mark.parametrize(
    ("bits", "form"),
    [
        (20, "pairs"),
        (10, "states"),
        pytest.param(3, "states", marks=pytest.mark.slow),
    ],
)
def test_where_codes_become_too_wide_rows_are_codes_of_pairs_or_states(
    bits: int, form: str, full: Full, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = check(KIP320, symmetry=False)
    monkeypatch.setattr(row_encoding, "MOST_CODE_BITS", bits)
    monkeypatch.setattr(row_encoding, "ROOMS", (1.0,))
    full(after=25, rows=300)
    again = check(KIP320, symmetry=False, run_dir=tmp_path, partitions=2)
    assert again.kept == "files"
    assert facts(again) == facts(whole)
    assert facts(check(KIP320, symmetry=False, run_dir=tmp_path, resume=True)) == facts(whole)
    files = {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {form, "lock", "manifest.json"}


def test_where_dictionaries_would_take_what_codes_save_rows_are_states(
    full: Full, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collapse, "_LITTLE", 0)
    full(after=25)
    assert check(KIP320, symmetry=False, run_dir=tmp_path).kept == "files"
    assert list(tmp_path.glob("states/*/*"))


@pytest.mark.parametrize("after", [30, pytest.param(45, marks=pytest.mark.slow)])
def test_memory_that_shrinks_on_the_way_makes_it_incomplete_and_it_goes_on(
    after: int, full: Full, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = check(KIP320, symmetry=False)
    full(after=4, rows=500)
    may_use, calls = Watch.may_use, itertools.count()
    with monkeypatch.context() as patch:
        patch.setattr(Watch, "may_use", lambda self, size: next(calls) < after and may_use(self, size))
        ended = check(KIP320, symmetry=False, run_dir=tmp_path)
    assert (ended.verdict, ended.stopped_by, ended.kept) == ("incomplete", "memory", "files")
    assert 3 < ended.depth < whole.depth
    assert ended.levels == whole.levels[: ended.depth]
    assert facts(check(KIP320, symmetry=False, run_dir=tmp_path, resume=True)) == facts(whole)


def test_without_room_for_buffers_it_ends_as_it_does_without_a_disk(
    full: Full, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = check(KIP101, keep_going=True)
    full(after=20)
    monkeypatch.setattr(beyond_memory, "LEAST_ROWS", 1 << 40)
    ended = check(KIP101, keep_going=True, run_dir=tmp_path)
    assert (ended.stopped_by, ended.levels) == (StopReason.MEMORY, whole.levels[: ended.depth])
    assert ended.depth > 3
    full(after=20)
    assert facts(check(KIP101, keep_going=True, run_dir=tmp_path, resume=True)) == facts(whole)


def test_a_limit_that_is_too_little_for_a_run_on_disk_says_how_much_is_enough(full: Full, tmp_path: Path) -> None:
    whole = check(KIP320, symmetry=False)
    begun(tmp_path, full, 6)
    with pytest.raises(UserError, match=r"for sorted files with threads=\d and partitions=2; give \d+M") as refused:
        check(
            KIP320, symmetry=False, run_dir=tmp_path, resume=True, limits=Limits(memory_bytes=resident_memory() + 1000)
        )
    found = re.search(r"memory_bytes=(\d+)", str(refused.value))
    assert found is not None
    limits = Limits(memory_bytes=int(found[1]))
    assert facts(check(KIP320, symmetry=False, run_dir=tmp_path, resume=True, limits=limits)) == facts(whole)


def test_what_it_will_take_is_told_before_it_begins(
    full: Full, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Progress] = []
    model = find_model("kip320")(replicas=3, log_size=2, max_records=2, max_leader_epoch=1)
    whole = check(model, symmetry=False)
    full(after=32)
    monkeypatch.setattr("insync.explorer.progress.Pulse.due", lambda self: True)
    found = check(model, symmetry=False, run_dir=tmp_path, reporter=told.append)
    assert facts(found) == facts(whole)
    said = [progress for progress in told if progress.phase is Phase.DISK]
    assert len(said) == 1
    need = said[0].disk
    assert need is not None
    assert said[0].end is not None
    files = sum(path.stat().st_size for path in tmp_path.glob("codes/*/*"))
    assert files / 2 < need.bytes < 4 * files
    assert need.seconds > 0
    assert need.free > need.bytes
    at_last = told[-1].disk
    assert at_last is not None
    assert 0.9 * files < at_last.bytes < 2.1 * files  # merged files lie beside those of the levels
    assert at_last.seconds < need.seconds
    assert all(progress.disk is None for progress in told[: told.index(said[0])])


def test_all_memory_is_given_back(full: Full, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it goes over twice, and when it goes on."""
    held, opened, init, close = set[int](), list[int](), Block.__init__, Block.close

    def begin(self: Block, size: int, huge: bool = True) -> None:
        init(self, size, huge)
        held.add(id(self))
        opened.append(size)

    def end(self: Block) -> None:
        close(self)
        held.discard(id(self))

    monkeypatch.setattr(Block, "__init__", begin)
    monkeypatch.setattr(Block, "close", end)
    monkeypatch.setattr(row_encoding, "MOST_CODE_BITS", 16)
    full(after=12, rows=200)
    told = list[Progress]()
    limits = Limits(depth=10)
    check(KIP320, symmetry=False, run_dir=tmp_path, limits=limits, reporter=told.append, partitions=2)
    assert [progress.phase for progress in told].count(Phase.DISK) == 3  # codes, codes of pairs, states
    assert opened
    assert not held
    check(KIP320, symmetry=False, run_dir=tmp_path, resume=True)
    assert not held


def test_who_stops_it_gets_whole_levels(full: Full, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, stop = check(KIP320, symmetry=False), threading.Event()
    settle, calls = ExternalStore.detect_duplicates, itertools.count()

    def stopping(self: ExternalStore) -> object:
        if next(calls) == 12:
            stop.set()
        return settle(self)

    full(after=4)
    with monkeypatch.context() as patch:
        patch.setattr(ExternalStore, "detect_duplicates", stopping)
        ended = check(KIP320, symmetry=False, run_dir=tmp_path, stop=stop, partitions=1)
    assert (ended.stopped_by, ended.depth) == ("interrupt", 12)
    assert ended.levels == whole.levels[:12]
    stop = threading.Event()
    stop.set()
    none = check(KIP320, symmetry=False, run_dir=tmp_path, resume=True, stop=stop)
    assert none.stopped_by == "interrupt"
    assert facts(check(KIP320, symmetry=False, run_dir=tmp_path, resume=True)) == facts(whole)


def begun(folder: Path, full: Full, depth: int = 12) -> list[Path]:
    """A run on disk that is not at its end; its files."""
    full(after=4)
    result = check(KIP320, symmetry=False, limits=Limits(depth=depth), run_dir=folder, partitions=2)
    assert result.kept == "files"
    return sorted(folder.glob("codes/*/*"))


def test_a_damaged_file_is_refused_and_never_counted(full: Full, tmp_path: Path) -> None:
    drawn, files = random.Random(1), begun(tmp_path, full)
    assert len(files) == 24
    for path in drawn.sample(files, 3):
        content = path.read_bytes()
        changed = bytearray(content)
        changed[drawn.randrange(len(content))] ^= 1 << drawn.randrange(8)
        other = files[files.index(path) - 1].read_bytes()
        for damage in (bytes(changed), content[: drawn.randrange(len(content))], other):
            path.write_bytes(damage)
            with pytest.raises(UserError, match=rf"{path.parent.name}/{path.name}: this file is not what the run has"):
                check(KIP320, symmetry=False, run_dir=tmp_path, resume=True)
        path.write_bytes(content)
    path.unlink()
    with pytest.raises(UserError, match=rf"{path.parent.name}/{path.name}: this file is missing\. The run direct"):
        check(KIP320, symmetry=False, run_dir=tmp_path, resume=True)


def test_a_file_that_is_damaged_while_the_search_works_is_noticed(
    full: Full, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish, calls = ExternalStore.publish, itertools.count()

    def damaging(self: ExternalStore) -> None:
        publish(self)
        if next(calls) == 11:
            path = tmp_path / "codes/p00000/00011-00011"
            content = bytearray(path.read_bytes())
            content[40] ^= 1
            path.write_bytes(content)

    full(after=4)
    monkeypatch.setattr(ExternalStore, "publish", damaging)
    with pytest.raises(UserError, match="codes/p00000/00011-00011: this file is not what the run has"):
        check(KIP320, symmetry=False, run_dir=tmp_path, partitions=1)


@pytest.mark.parametrize("size", [1_500, pytest.param(700, marks=pytest.mark.slow)])
def test_a_full_disk_is_said_and_what_is_there_goes_on(size: int, full: Full, tmp_path: Path) -> None:
    whole = check(KIP320, symmetry=False)
    begun(tmp_path, full, 6)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        with pytest.raises(UserError, match=r"the run directory cannot be written \(File too large\)\. Name one with"):
            check(KIP320, symmetry=False, run_dir=tmp_path, resume=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert not list(tmp_path.rglob("*.part"))
    assert facts(check(KIP320, symmetry=False, run_dir=tmp_path, resume=True)) == facts(whole)


def killed(folder: Path, level: int, seconds: float) -> None:
    """Search in another process, which is killed so many seconds after it has begun a sorted file of a level."""
    text = f"""
import itertools
from insync.explorer import check
from insync.explorer.search import beyond_memory
from insync.machine.stores import sorted_file
from insync.runtime.watch import Watch
from insync.model.catalogue import find_model
sorted_file.BLOCK = 100
calls, may_use = itertools.count(), Watch.may_use
Watch.may_use = lambda self, size: next(calls) != 20 and may_use(self, size)
beyond_memory.LEAST_ROWS, beyond_memory.MOST_BUFFER_BYTES = 1, 1 << 14
model = find_model("kip101")(replicas=3, log_size=2, max_records=2, max_leader_epoch=1)
check(model, keep_going=True, symmetry=False, threads=2, run_dir={str(folder)!r})
"""
    with subprocess.Popen([sys.executable, "-c", text]) as process:
        while process.poll() is None and not list(folder.glob(f"codes/*/{level:05}-*")):
            time.sleep(0.0005)
        time.sleep(seconds)
        process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_after_a_kill_at_any_moment_it_goes_on(seed: int, full: Full, tmp_path: Path) -> None:
    """While levels are taken up, while one is written, between its file and the manifest."""
    drawn = random.Random(seed)
    model = find_model("kip101")(replicas=3, log_size=2, max_records=2, max_leader_epoch=1)
    whole = check(model, keep_going=True, symmetry=False)
    assert whole.violations
    killed(tmp_path, drawn.randint(1, whole.depth), 0.05 * drawn.random())
    is_on_disk = json.loads((tmp_path / "manifest.json").read_text())["on_disk"]
    full(after=-1 if is_on_disk else 0, rows=2048)
    found = check(model, keep_going=True, symmetry=False, run_dir=tmp_path, resume=True)
    assert found.kept == "files"
    assert facts(found) == facts(whole)


def test_a_state_that_is_not_struck_out_is_noticed(full: Full, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same tests fail on files of which a row is passed over."""
    whole, strike = check(KIP320, symmetry=False), RowBuffer.strike

    def careless(self: RowBuffer, first: int, end: int, known: int, size: int) -> None:
        strike(self, first, end, known, size - 1 if size > 90 else size)

    full(after=4)
    monkeypatch.setattr(RowBuffer, "strike", careless)
    found = check(KIP320, symmetry=False, limits=Limits(states=20_000), run_dir=tmp_path)
    assert facts(found) != facts(whole)
