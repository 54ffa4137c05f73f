"""The damage that other tests do to files: it is drawn by a seed, changes what it says, and is noticed if accepted."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from insync.runtime.errors import UserError
from insync_file_damage import Damage, Trial, damages


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for run in "ab":
        made = tmp_path / run
        made.mkdir()
        (made / "manifest.json").write_text(f'{{\n "run": "{run}",\n "levels": [1, 20]\n}}')
        (made / "level-1").write_bytes(run.encode() + bytes(range(200)))
        (made / "level-2").write_bytes(b"")
    return tmp_path / "a"


def content(folder: Path) -> dict[str, bytes | None]:
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


def test_each_damage_changes_the_files_that_it_names_and_a_seed_draws_the_same(folder: Path, tmp_path: Path) -> None:
    found = list(damages(folder, 1, 300, [tmp_path / "b"]))
    assert [each.said for each in found] == [each.said for each in damages(folder, 1, 300, [tmp_path / "b"])]
    assert [each.said for each in found] != [each.said for each in damages(folder, 2, 300, [tmp_path / "b"])]
    assert len({each.said for each in found}) > 150
    before = content(folder)
    for number, damage in enumerate(found):
        copy = shutil.copytree(folder, tmp_path / str(number))
        damage.inflict(copy)
        after = content(copy)
        assert {name for name in before if after.get(name) != before[name]} == set(damage.files), damage.said


def test_what_accepts_damage_or_fails_otherwise_is_noticed(folder: Path, tmp_path: Path) -> None:
    cut = Damage("cut", ("level-1",), lambda copy: (copy / "level-1").write_bytes(b""))

    def attempt(read: Callable[[Path], object], matters: bool = True) -> Trial:
        scratch = Path(tempfile.mkdtemp(dir=tmp_path))
        trial = Trial(folder, scratch, read, lambda name: matters)
        trial.attempt(cut)
        return trial

    with pytest.raises(AssertionError, match="cut"):
        attempt(content)
    with pytest.raises(AssertionError, match="accepted: cut"):
        attempt(lambda copy: 7)
    assert attempt(lambda copy: 7, matters=False).outcomes == {"same": 1}
    with pytest.raises(IndexError):
        attempt(lambda copy: (copy / "level-1").read_bytes()[0])
    for said, is_enough in (("level-1: this is damaged", True), ("manifest.json: no", False), ("level-1\n", False)):

        def refuse(copy: Path, said: str = said) -> bytes:
            if not (copy / "level-1").read_bytes():
                raise UserError(said)
            return b""

        if is_enough:
            assert attempt(refuse).outcomes == {"refused": 1}
        else:
            with pytest.raises(AssertionError):
                attempt(refuse)
