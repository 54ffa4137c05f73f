"""Run directories in which bytes, lines and whole files are damaged: each is refused with a sentence that names a file.

Every kind of file is damaged: levels as they were in memory, sorted files of codes and of states, and the manifest.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import Limits, check
from insync.explorer.search import beyond_memory
from insync.explorer.search.manifest import MANIFEST, read_manifest, write_manifest
from insync.machine.stores import row_encoding, sorted_file
from insync.machine.stores.run_folder import RunFolder
from insync.model.catalogue import find_model
from insync.runtime.checksums import json_with_digest
from insync.runtime.errors import UserError
from insync.runtime.watch import Watch
from insync_damaged import damaged
from insync_file_damage import Trial, damages

HOLDS = find_model("kip320")(replicas=2, log_size=1, max_records=2, max_leader_epoch=1)
FAILS = find_model("kip101")(replicas=3, log_size=1, max_records=2, max_leader_epoch=1)
FORMS = ("memory", "codes", "states")
SIGNED = {"kind": "manifest", "format": "insync-run/5"}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks small, so that a file has several, and buffers; nothing is flushed, as no power is lost here."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr(sorted_file, "BLOCK", 16)
    monkeypatch.setattr(beyond_memory, "LEAST_ROWS", 1)
    monkeypatch.setattr(beyond_memory, "MOST_BUFFER_BYTES", 1 << 12)


def kind(form: str) -> str:
    """The kind of the files of states."""
    return "states" if form == "memory" else form


def begun(folder: Path, form: str, depth: int = 7) -> Path:
    """Search some levels, which are kept in one form."""
    with pytest.MonkeyPatch.context() as patch:
        if form != "memory":
            asked, may_use = itertools.count(), Watch.may_use
            patch.setattr(Watch, "may_use", lambda self, size: next(asked) != 4 and may_use(self, size))
        if form == "states":
            patch.setattr(row_encoding, "MOST_CODE_BITS", 3)
            patch.setattr(row_encoding, "ROOMS", (1.0,))
        check(HOLDS, limits=Limits(depth=depth), threads=1, partitions=2, run_dir=folder)
    assert list(folder.glob(f"{kind(form)}/*/*"))
    return folder


def resumed(folder: Path) -> object:
    result = check(HOLDS, threads=1, run_dir=folder, resume=True)
    return replace(result, seconds={}, peak_memory_bytes=0, huge_pages=None)


def attempted(tmp_path: Path, form: str, seed: int, count: int) -> Trial:
    """Damage a run so many times; two other runs lend files, and one of its own is not counted."""
    run = begun(tmp_path / "run", form)
    stray = f"{kind(form)}/p00001/00008-00008"
    (run / stray).write_bytes((run / f"{kind(form)}/p00001/00007-00007").read_bytes())
    others = [begun(tmp_path / "other", form), begun(tmp_path / "more", "codes" if form == "memory" else "memory", 9)]
    trial = Trial(run, tmp_path, resumed, lambda name: name not in {"lock", stray})
    for damage in damages(run, seed, count, others):
        trial.attempt(damage)
    return trial


@pytest.mark.parametrize("form", FORMS)
def test_a_damaged_run_is_refused(form: str, tmp_path: Path, small: None) -> None:
    outcomes = attempted(tmp_path, form, 1, 30).outcomes
    assert outcomes["refused"] > outcomes["same"]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(2, 7))
def test_a_damaged_run_is_refused_wherever_it_is_damaged(form: str, seed: int, tmp_path: Path, small: None) -> None:
    outcomes = attempted(tmp_path, form, seed, 150).outcomes
    assert outcomes["refused"] > outcomes["same"] > 5


def signed(folder: Path, entries: dict[str, Any]) -> None:
    """Write a manifest whose digest is right, whatever it says."""
    (folder / MANIFEST).write_text(json_with_digest(SIGNED, entries))


@pytest.fixture
def manifest(tmp_path: Path, small: None) -> dict[str, Any]:
    """The manifest of a run that is violated, and at its end."""
    assert check(FAILS, threads=1, partitions=2, symmetry=False, run_dir=tmp_path).violations
    entries: dict[str, Any] = json.loads((tmp_path / MANIFEST).read_text())
    del entries["digest"]
    return entries


def test_a_manifest_with_an_odd_value_is_refused_whoever_signed_it(manifest: dict[str, Any], tmp_path: Path) -> None:
    """What is accepted is of the right kinds throughout: it is written again as it was read."""
    short = tmp_path / "short"
    short.mkdir()
    levels, refused = [*manifest["levels"][:2], manifest["levels"][-1]], 0
    for _, entries in damaged({**manifest, "levels": levels}):
        signed(short, entries)
        text = (short / MANIFEST).read_text()
        try:
            found = read_manifest(RunFolder(short))
        except UserError as error:
            said = str(error)
            assert said.startswith(f"{short / MANIFEST}: ")
            refused += 1
        else:
            write_manifest(RunFolder(short), found)
            assert (short / MANIFEST).read_text() == text
    assert refused > 500


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "file"),
    [
        (lambda found: found["levels"][5].__setitem__("visited", found["levels"][5]["visited"] + 1), MANIFEST),
        (
            lambda found: found["levels"][3].__setitem__(
                "files", " ".join(reversed(found["levels"][3]["files"].split()))
            ),
            "states/p00000/00004-00004",
        ),
        (lambda found: found["levels"].reverse(), MANIFEST),
        (lambda found: found.__setitem__("run", "0" * 16), "states/p00000/00001-00001"),
        (lambda found: found.__setitem__("encoding", "codes"), MANIFEST),
        (lambda found: found.update(encoding="codes", on_disk=True), "codes/p00000/00001-00001"),
        (lambda found: found.__setitem__("on_disk", 1), MANIFEST),
        (lambda found: found.__setitem__("partitions", 3), MANIFEST),
        (lambda found: found["levels"][2]["steps"].pop(), MANIFEST),
        (lambda found: found["levels"][2]["violations"].pop(), MANIFEST),
        (lambda found: found["levels"][2]["violations"][0].__setitem__(0, 1), MANIFEST),
    ],
)
def test_what_a_manifest_says_has_to_fit_the_files(
    change: Change, file: str, manifest: dict[str, Any], tmp_path: Path
) -> None:
    change(manifest)
    signed(tmp_path, manifest)
    with pytest.raises(UserError, match=file):
        check(FAILS, threads=1, symmetry=False, run_dir=tmp_path, resume=True)


def test_counts_that_can_be_made_again_are_compared(manifest: dict[str, Any], tmp_path: Path) -> None:
    for name in ("states", "visited"):
        manifest["levels"][5][name] += 1
    signed(tmp_path, manifest)
    with pytest.raises(UserError, match=r"states/p00000/00006-00006: this file is not what the run has written"):
        check(FAILS, threads=1, symmetry=False, run_dir=tmp_path, resume=True)


def test_a_finished_run_that_is_violated_stays_so(manifest: dict[str, Any], tmp_path: Path) -> None:
    text = (tmp_path / MANIFEST).read_text()
    entries = json.loads(text)
    for level in entries["levels"]:
        level["violations"] = [[0, None] for _ in level["violations"]]
    (tmp_path / MANIFEST).write_text(json.dumps(entries, indent=1))
    with pytest.raises(UserError, match=r"manifest\.json: this file is not what the run has written there\. The run"):
        check(FAILS, threads=1, symmetry=False, run_dir=tmp_path, resume=True)
    (tmp_path / MANIFEST).write_text(text)
    assert check(FAILS, threads=1, symmetry=False, run_dir=tmp_path, resume=True).violations


@pytest.mark.parametrize("form", FORMS)
def test_an_earlier_manifest_of_the_same_run_goes_on_from_there(form: str, tmp_path: Path, small: None) -> None:
    """Its files are there as they were, and the later ones are written again."""
    run = begun(tmp_path, form)
    earlier = (run / MANIFEST).read_bytes()
    whole = resumed(run)
    (run / MANIFEST).write_bytes(earlier)
    assert resumed(run) == whole
