"""The manifest of a run directory is read as it was written, or refused in a sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from insync.explorer.run_identity import Identity
from insync.explorer.search.explored import LevelSummary
from insync.explorer.search.manifest import Manifest, read_manifest, refuse_old_run, write_manifest
from insync.explorer.search.run_levels import RunLevels
from insync.machine.packed import Found
from insync.machine.stores.run_folder import RunFolder
from insync.runtime.checksums import json_with_digest
from insync.runtime.errors import UserError

IDENTITY = Identity("0.1", "kip320", {"replicas": 2}, ("strong_isr",), "c0de", within=("weak_isr",))
RUN = "0123456789abcdef"
DIGESTS = {part: bytes(range(16 * part, 16 * part + 16)) for part in range(4)}
LABEL = {"kind": "manifest", "format": "insync-run/5"}


def levels() -> RunLevels:
    made = RunLevels(1, {1: LevelSummary(1, 1, violations=[Found()], steps=[2], files=DIGESTS)})
    for part in range(4):
        made.figures(2).files[part] = bytes([part] * 16)
        made.figures(2).add_states(1, 1, 0, [Found()])
    return made


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(str(tmp_path))
    write_manifest(folder, Manifest(IDENTITY, RUN, "mine", 3, 4, levels()))
    return folder


def test_a_manifest_is_read_as_it_was_written(run: RunFolder) -> None:
    read = read_manifest(run)
    assert (read.identity, read.run, read.epoch, read.partitions) == (IDENTITY, RUN, 3, 4)
    assert read.levels == levels()
    assert read.levels.counted.digest_of(1, 2) == DIGESTS[2]


def test_a_state_may_have_several_steps_that_are_refused(run: RunFolder) -> None:
    made = levels()
    made.figures(1).refused = Found(3, (0,))
    write_manifest(run, Manifest(IDENTITY, RUN, "mine", 4, 4, made))
    assert read_manifest(run).levels.figures(1).refused.count == 3


DAMAGED = (
    r"/manifest\.json: this file is not what the run has written there\. The run directory is damaged; search again"
)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            '{"format": "insync-run/2"}',
            r"/manifest\.json: format is 'insync-run/2', and this insync reads 'insync-run/",
        ),
        (
            '{"format": "insync-levels/4"}',
            r"/manifest\.json: format is 'insync-levels/4', and this insync reads 'insync-run/5'",
        ),
        ('{"format": "something"}', DAMAGED),
        ('{"format": 3}', DAMAGED),
        ("[]", DAMAGED),
        ("[" * 100_000, DAMAGED),
        ("", DAMAGED),
        ("\udcff", DAMAGED),
    ],
)
def test_what_is_no_manifest_of_this_format_is_refused(run: RunFolder, tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "manifest.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError, match=said):
        read_manifest(run)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(UserError, match=r"there is no manifest\.json, so this is no run directory"):
        read_manifest(run)


def changed(entries: dict[str, Any], path: str, value: object) -> None:
    *above, last = path.split("/")
    found: Any = entries
    for name in above:
        found = found[int(name) if isinstance(found, list) else name]
    at: Any = int(last) if isinstance(found, list) else last
    if value is ...:
        del found[at]
    else:
        found[at] = value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("run", "../../../home"),
        ("run", 7),
        ("run", ...),
        ("partitions", 5),
        ("partitions", -4),
        ("partitions", True),
        ("epoch", "3"),
        ("driver", 3),
        ("bounds", 3),
        ("properties", ...),
        ("actions", 2),
        ("actions", ...),
        ("together", 0),
        ("together", 2),
        ("together", 3),
        ("encoding", "other"),
        ("encoding", "codes"),
        ("on_disk", 0),
        ("levels", []),
        ("levels", {}),
        ("levels/1/visited", -1),
        ("levels/1/visited", 1.5),
        ("levels/1/visited", None),
        ("levels/1/visited", 3),
        ("levels/1/states", [1]),
        ("levels/1/files", ""),
        ("levels/1/files", "00" * 63),
        ("levels/0/files", "00" * 64),
        ("levels/0/steps", [1, 2]),
        ("levels/0/steps", ["1"]),
        ("levels/0/steps", None),
        ("levels/0/stepless", [1]),
        ("levels/0/stepless", True),
        ("levels/0/stepless", 2),
        ("levels/1/outside", -1),
        ("levels/1/outside", 5),
        ("levels/0/refused", [0]),
        ("levels/0/refused", [1, [-1]]),
        ("levels/0/refused", [1, None]),
        ("levels/1/violations", [[0]]),
        ("levels/1/violations", [[5, [1]]]),
        ("levels/1", 3),
    ],
)
def test_figures_that_are_none_are_refused_though_the_digest_is_right(
    run: RunFolder, tmp_path: Path, path: str, value: object
) -> None:
    """As somebody may have made it."""
    entries = json.loads((tmp_path / "manifest.json").read_text())
    del entries["digest"]
    (tmp_path / "manifest.json").write_text(json_with_digest(LABEL, entries))
    assert read_manifest(run).epoch == 3, "nothing is changed yet"
    changed(entries, path, value)
    (tmp_path / "manifest.json").write_text(json_with_digest(LABEL, entries))
    with pytest.raises(UserError, match=DAMAGED):
        read_manifest(run)


@pytest.mark.parametrize(
    "other", [{"driver": "other", "epoch": 2}, {"driver": "other", "epoch": 3}, {"run": "f" * 16, "epoch": 4}]
)
def test_a_driver_that_another_has_followed_writes_nothing(run: RunFolder, other: dict[str, Any]) -> None:
    mine = replace(read_manifest(run), **other)
    with pytest.raises(UserError, match=r"another driver has taken over this run directory \(it is number 3, and this"):
        write_manifest(run, mine)
    assert read_manifest(run).run == RUN
    write_manifest(run, replace(mine, run=RUN, driver="other", epoch=4))
    assert read_manifest(run).epoch == 4


def test_a_new_run_needs_a_directory_without_one(run: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is a run in this directory already\. Go on with it by --resume, or"):
        refuse_old_run(run)
    refuse_old_run(RunFolder(str(tmp_path / "other")))
