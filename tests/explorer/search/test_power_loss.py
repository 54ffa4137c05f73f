"""A run directory after a loss of power: the last level that was complete is there, and the search goes on from it."""

from __future__ import annotations

import errno
import itertools
import json
import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import CheckResult, check
from insync.explorer.search import beyond_memory, run_directory
from insync.explorer.search.explored import Explored
from insync.explorer.search.run_directory import RunDirectory
from insync.machine.stores import run_folder, sorted_file
from insync.model.catalogue import find_model
from insync.runtime.errors import UserError
from insync.runtime.watch import Watch
from insync_power_loss import LosingDisk

MODEL = find_model("kip320")(replicas=2, log_size=1, max_records=2, max_leader_epoch=1)


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, kept="", huge_pages=None)


WHOLE = facts(check(MODEL))


def search(folder: Path, resume: bool = False) -> CheckResult:
    return check(MODEL, threads=1, partitions=2, run_dir=folder, resume=resume)


def levels_in(folder: Path) -> int:
    manifest = folder / "manifest.json"
    return len(json.loads(manifest.read_text())["levels"]) if manifest.exists() else 0


@pytest.fixture
def patch(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(sorted_file, "BLOCK", 16)
    monkeypatch.setattr(beyond_memory, "LEAST_ROWS", 1)
    monkeypatch.setattr(beyond_memory, "MOST_BUFFER_BYTES", 1 << 12)
    return monkeypatch


def go_over(patch: pytest.MonkeyPatch, after: int) -> None:
    """Have the memory full the n-th time that somebody asks."""
    asked, may_use = itertools.count(), Watch.may_use
    patch.setattr(Watch, "may_use", lambda self, size: next(asked) != after and may_use(self, size))


def test_files_are_flushed_then_named_then_counted(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    disk = LosingDisk(tmp_path)
    patch.setattr(run_directory, "_RARELY", 0)
    with patch.context() as watched:
        disk.watch(watched)
        search(tmp_path)
    steps = [re.sub(r"\.\w{12}\.part", ".part", " ".join(call)) for call in disk.calls]
    names = [f"states/p{number:05}/00004-00004" for number in (0, 1)]
    level = [step for name in names for step in (f"open {name}.part", f"rename {name}")]
    level += [*(f"flush {name}" for name in names), *(f"flush {Path(name).parent}/" for name in names)]
    level += ["open manifest.json.part", "flush manifest.json.part", "rename manifest.json", "flush ./"]
    start = steps.index(level[0])
    assert steps[start : start + len(level)] == level


def test_levels_that_follow_each_other_soon_are_counted_together_and_all_in_the_end(
    tmp_path: Path, patch: pytest.MonkeyPatch
) -> None:
    """Also where an error ends the search; and what could not be flushed is not counted by trying again."""
    patch.setattr(run_directory, "_RARELY", 10**9)
    counted, kept = list[int](), RunDirectory.keep

    def keep(self: RunDirectory, space: Explored, *given: Any) -> None:
        kept(self, space, *given)
        counted.append(levels_in(tmp_path))
        if len(space.levels) == 5:
            raise ZeroDivisionError

    with patch.context() as failing:
        failing.setattr(RunDirectory, "keep", keep)
        with pytest.raises(ZeroDivisionError):
            search(tmp_path)
    assert counted == [1, 1, 1, 1, 1]
    assert levels_in(tmp_path) == 5
    failures = iter([OSError(errno.EIO, os.strerror(errno.EIO))])

    def flush_once(path: Path) -> None:
        for failure in failures:
            raise failure

    with patch.context() as failing:
        failing.setattr(run_folder, "flush_file", flush_once)
        with pytest.raises(UserError, match="the run directory cannot be written"):
            search(tmp_path, resume=True)
    assert levels_in(tmp_path) == 5
    assert facts(search(tmp_path, resume=True)) == WHOLE
    assert levels_in(tmp_path) == WHOLE.depth


def test_a_new_folder_is_flushed_into_those_above(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    flushed, opened, open_it = list[str](), dict[int, str](), os.open

    def opening(path: str | Path, flags: int, *given: int) -> int:
        descriptor = open_it(path, flags, *given)
        opened[descriptor] = str(path)
        return descriptor

    with patch.context() as watched:
        watched.setattr(os, "open", opening)
        watched.setattr(os, "fsync", lambda descriptor: flushed.append(opened[descriptor]))
        search(tmp_path / "a" / "run")
    assert flushed[:2] == [str(tmp_path), str(tmp_path / "a")]


@dataclass
class Losses:
    """Loses the power after some calls, and goes on from what is there then."""

    scratch: Path
    seed: int
    is_drawn: Callable[[int], bool]
    images: list[tuple[Path, int, str]] = field(default_factory=list)
    kept: int = 0

    def after(self, disk: LosingDisk) -> None:
        what, name = disk.calls[-1]
        if (what, name) == ("flush", "./"):
            self.kept = max(
                self.kept, levels_in(disk.folder) if disk.calls[-2:-1] == [("rename", "manifest.json")] else 0
            )
        number = len(disk.calls)
        if self.is_drawn(number):
            image = disk.image(self.scratch / f"image-{number}", random.Random(f"{self.seed} {number}"))
            self.images.append((image, self.kept, f"after {what} {name}"))

    def wrong(self) -> list[str]:
        """Go on from each image; return what is wrong with any."""
        found = []
        for image, kept, said in self.images:
            try:
                there = levels_in(image)
                if there < kept:
                    found.append(f"{said}: {there} levels are left of {kept}")
                elif there and facts(search(image, resume=True)) != WHOLE:
                    found.append(f"{said}: another result")
            except (UserError, ValueError) as error:
                found.append(f"{said}: {error}")
        return found


def lost(
    tmp_path: Path,
    patch: pytest.MonkeyPatch,
    seed: int,
    each: int,
    full_after: int,
    forgets: Callable[[str], bool] = lambda name: False,
    rarely: int = 0,
) -> Losses:
    patch.setattr(run_directory, "_RARELY", rarely)
    losses = Losses(tmp_path, seed, lambda number: random.Random(f"{seed} {number}").randrange(each) == 0)
    folder = tmp_path / "run"
    folder.mkdir()
    with patch.context() as watched:
        go_over(watched, full_after)
        LosingDisk(folder, forgets, losses.after).watch(watched)
        assert search(folder).kept == ("files" if full_after >= 0 else "states")
    return losses


@pytest.mark.parametrize("full_after", [-1, 6])
def test_after_a_loss_of_power_it_goes_on_from_a_complete_level(
    full_after: int, tmp_path: Path, patch: pytest.MonkeyPatch
) -> None:
    """In memory, and where it goes over to disk."""
    losses = lost(tmp_path, patch, 1, 10, full_after)
    assert len(losses.images) > 8
    assert losses.wrong() == []


@pytest.mark.slow
@pytest.mark.parametrize(("full_after", "rarely"), [(-1, 0), (3, 0), (12, 0), (-1, 2), (12, 2)])
@pytest.mark.parametrize("seed", range(2, 4))
def test_after_a_loss_of_power_at_any_call_it_goes_on(
    seed: int, full_after: int, rarely: int, tmp_path: Path, patch: pytest.MonkeyPatch
) -> None:
    losses = lost(tmp_path, patch, seed, 1, full_after, rarely=rarely)
    assert len(losses.images) > 80
    assert losses.wrong() == []


@pytest.mark.parametrize("what", ["levels", "manifest", "folder"])
def test_a_flush_that_is_left_out_would_be_noticed(what: str, tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    forgets = {
        "levels": lambda name: name.startswith("states/p") and not name.endswith("/"),
        "manifest": lambda name: name.startswith("manifest"),
        "folder": lambda name: name.endswith("/"),
    }
    losses = lost(tmp_path, patch, 3, 4, -1, forgets[what])
    assert losses.wrong()
