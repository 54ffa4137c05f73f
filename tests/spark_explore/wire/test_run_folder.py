"""Files of a run directory are whole or not there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.model.errors import UserError
from insync.spark_explore.wire import run_folder
from insync.spark_explore.wire.run_folder import RunFolder

pytest.importorskip("pyarrow")


def test_a_path_is_on_this_machine(tmp_path: Path) -> None:
    assert RunFolder(str(tmp_path)).is_local
    assert RunFolder(f"file://{tmp_path}").is_local


def test_states_come_back_level_by_level(tmp_path: Path) -> None:
    run = RunFolder(f"file://{tmp_path}/run")
    run.write_states(3, 5, [2, 0, 1], 1, bytes(range(24)))
    assert not run.has_states(3, 5)  # of this level alone
    file = run.open_states(3, 5, 7)
    assert (file.words, file.first, file.counts) == (1, 5, (2, 0, 1))
    assert [b"".join(file.pieces(level)) for level in (5, 6, 7)] == [bytes(range(16)), b"", bytes(range(16, 24))]
    file.close()


@pytest.mark.parametrize("states", [1, 4, 5, 11])
def test_pieces_are_of_whole_states_and_no_longer_than_they_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, states: int
) -> None:
    monkeypatch.setattr(run_folder, "_PIECE_BYTES", 100)
    run, row = RunFolder(str(tmp_path)), 8 * 3
    content = bytes(number % 251 for number in range(states * row))
    run.write_states(0, 1, [states], 3, content)
    file = run.open_states(0, 1, 1)
    pieces = list(file.pieces(1))
    file.close()
    assert b"".join(pieces) == content
    assert [len(piece) % row for piece in pieces] == [0] * -(-states // 4)
    assert max(map(len, pieces)) <= 100


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
    run = RunFolder(str(tmp_path))
    files = CannotRenameOver(run._fs)
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


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        *(lambda whole, most=most: whole[:most] for most in (9, 15, 16, 17, 39, 40, 41, 47, 48, 49)),
        lambda whole: whole[:-1],
        lambda whole: whole[:-8],
        lambda whole: whole + bytes(1),
        lambda whole: whole + bytes(8),
        lambda whole: bytes(1) + whole[1:],
        lambda whole: whole[:38] + bytes([255]) * 2 + whole[40:],
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    run = RunFolder(str(tmp_path))
    run.write_states(0, 2, [3], 1, bytes(24))
    path = tmp_path / "states" / "p00000" / "00002-00002"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UserError, match="not a whole file of states"):
        run.open_states(0, 2, 2)
    with pytest.raises(UserError, match="cannot be read"):
        run.open_states(0, 9, 9)


def test_what_cannot_be_written_or_reached_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        RunFolder(str(tmp_path / "file")).write("a", b"")
    with pytest.raises(UserError, match="no filesystem for this run directory"):
        RunFolder("gopher://nowhere/x")
