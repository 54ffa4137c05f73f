"""What a process leaves that was killed together with its parent is removed by the next, and nothing else is."""

from __future__ import annotations

from pathlib import Path

from insync.conformance.own_folder import _locked, _sweep


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
