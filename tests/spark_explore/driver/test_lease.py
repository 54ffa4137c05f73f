"""One driver at a time works on a run directory, on this machine and on stores that have no locks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from insync.explorer import Limits, Progress, StopReason
from insync.explorer import check as check_locally
from insync.explorer.search.manifest import read_manifest
from insync.machine.stores.run_folder import RunFolder
from insync.runtime.errors import UserError
from insync.runtime.watch import Stopped
from insync.spark_explore import SparkOptions, check
from insync.spark_explore.driver import lease
from insync.spark_explore.driver.lease import LEASE, sole_driver
from insync_played_spark import playing_spark
from insync_process import took_at_most
from insync_spark_stores import on_a_store
from insync_toys import TokenRing

pytest.importorskip("pyarrow")

MODEL = TokenRing(nodes=3)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drivers are thought dead after half a second."""
    for name, seconds in (("_BEAT_SECONDS", 0.05), ("_DEAD_SECONDS", 0.5), ("_LOOK_SECONDS", 0.02)):
        monkeypatch.setattr(lease, name, seconds)


def never() -> None:
    return None


def local(folder: Path) -> RunFolder:
    return RunFolder(str(folder))


@pytest.mark.parametrize("at", [local, on_a_store])
def test_a_second_driver_gets_a_sentence_until_the_first_has_ended(
    tmp_path: Path, at: Callable[[Path], RunFolder]
) -> None:
    run = at(tmp_path)
    with sole_driver(run, never) as warning:
        assert warning is None
        said = rf"^{tmp_path}: another .* is using this run directory.*\. Wait until it has ended, or name another\.$"
        for _ in range(2):
            with pytest.raises(UserError, match=said), sole_driver(at(tmp_path), never):
                pass
    began = time.monotonic()
    with sole_driver(run, never):
        pass
    assert took_at_most(0.4, began), "nobody is waited for"
    assert not (tmp_path / LEASE).exists()


def _left_behind(folder: Path, content: bytes | None = None) -> None:
    """Leave the lease of a driver that died."""
    run = on_a_store(folder)
    with ExitStack() as stack:
        stack.enter_context(sole_driver(run, never))
        written = (folder / LEASE).read_bytes() if content is None else content
    (folder / LEASE).write_bytes(written)


@pytest.mark.parametrize("content", [None, b"", b"\xff{"])
def test_the_lease_of_a_driver_that_is_dead_is_taken_over(tmp_path: Path, content: bytes | None) -> None:
    _left_behind(tmp_path, content)
    began = time.monotonic()
    with sole_driver(on_a_store(tmp_path), never):
        assert time.monotonic() - began >= 0.5
        with pytest.raises(UserError, match="another driver is using"), sole_driver(on_a_store(tmp_path), never):
            pass
    assert not (tmp_path / LEASE).exists()


def test_somebody_who_does_not_want_to_wait_for_a_dead_driver(tmp_path: Path) -> None:
    _left_behind(tmp_path)
    with pytest.raises(Stopped), sole_driver(on_a_store(tmp_path), lambda: StopReason.INTERRUPT):
        pass
    assert (tmp_path / LEASE).exists()


def test_a_driver_that_was_thought_dead_leaves_the_lease_to_the_one_that_has_it(tmp_path: Path) -> None:
    run = on_a_store(tmp_path)
    with sole_driver(run, never):
        other = b"of another driver"
        run.write(LEASE, other)
        time.sleep(0.2)
        assert run.read(LEASE) == other
    assert run.read(LEASE) == other


@pytest.mark.parametrize("store", [False, True])
def test_two_searches_in_one_run_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: bool) -> None:
    """The second gets a sentence while the first works; if it takes over in spite of that, the first one stops."""
    if store:
        monkeypatch.setattr(RunFolder, "is_local", property(lambda run: False))
    options = SparkOptions(partitions=2, warm_states=1, run_dir=str(tmp_path / "run"))
    resumed = replace(options, resume=True)
    said: list[str] = []

    def while_it_works(progress: Progress) -> None:
        if progress.level == 3:
            with pytest.raises(UserError) as refused:
                check(MODEL, options=resumed)
            said.append(str(refused.value))

    with playing_spark(monkeypatch, tmp_path / "executor"):
        found = check(MODEL, options=options, reporter=while_it_works)
        assert found.levels == check_locally(MODEL).levels
        assert len(said) == 1
        assert "is using this run directory" in said[0]


def test_a_driver_stops_before_it_writes_when_another_has_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.spark_explore.driver.check.sole_driver", lambda run, interrupted: ExitStack())
    monkeypatch.setattr("insync.spark_explore.driver.search._LONGEST", ((1 << 62, 1),))
    options = SparkOptions(partitions=2, warm_states=1, run_dir=str(tmp_path / "run"))
    resumed = replace(options, resume=True)
    others: list[tuple[int, ...]] = []

    def another(progress: Progress) -> None:
        if progress.level == 3 and not others:
            others.append(check(MODEL, options=resumed, limits=Limits(depth=4)).levels)

    with playing_spark(monkeypatch, tmp_path / "executor"):
        with pytest.raises(
            UserError, match=r"another driver has taken over .* \(it is number 2, and this one is number 1\)"
        ):
            check(MODEL, options=options, reporter=another)
        assert len(others[0]) == 4
        assert read_manifest(RunFolder(str(tmp_path / "run"))).epoch == 2
        assert check(MODEL, options=resumed).levels == check_locally(MODEL).levels
    assert threading.active_count() == 1
