"""What a process leaves that was killed together with its parent is removed by the next, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.conformance.own_folder import _locked, _sweep, own_folder


def test_what_nobody_has_locked_is_removed(tmp_path: Path) -> None:
    mine, gone, begun, other = (tmp_path / name for name in ("insync-kafka-a", "insync-kafka-b", "insync-kafka-c", "d"))
    for folder in (mine, gone, begun, other):
        folder.mkdir()
    _locked(gone).close()
    with _locked(mine):
        _sweep(tmp_path, "insync-kafka-")
        assert [folder.exists() for folder in (mine, gone, begun, other)] == [True, False, True, True]
    _sweep(tmp_path, "insync-kafka-")
    assert not mine.exists()


@pytest.mark.parametrize("in_memory", [True, False])
def test_who_asks_for_a_folder_removes_those_that_were_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: bool
) -> None:
    monkeypatch.setattr("insync.conformance.own_folder._MEMORY", tmp_path if in_memory else tmp_path / "nowhere")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "elsewhere" if in_memory else tmp_path))
    first, owner = own_folder("insync-kafka-")
    second, other = own_folder("insync-kafka-")
    assert {first.parent, second.parent} == {tmp_path}
    assert first.exists()
    owner.close()
    third, last = own_folder("insync-kafka-")
    assert [folder.exists() for folder in (first, second, third)] == [False, True, True]
    for file in (other, last):
        file.close()
