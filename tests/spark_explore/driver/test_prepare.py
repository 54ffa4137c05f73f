"""The archive of Spark's classes is in its place whole or not at all, whatever an earlier try has left beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from insync.spark_explore.driver import prepare as module
from insync.spark_explore.driver.prepare import prepare


@pytest.mark.parametrize("left", [None, "an older try"])
def test_the_archive_is_written_beside_its_place_and_then_put_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: str | None
) -> None:
    archive, searched = tmp_path / "new" / "classes.jsa", list[Any]()
    beside = archive.with_suffix(".part")
    if left is not None:
        beside.parent.mkdir()
        beside.write_text(left)

    @contextmanager
    def session(given: object, master: str, memory: object, flags: str) -> Iterator[str]:
        assert not beside.exists(), "the JVM would write no archive over another file"
        assert flags == f' -XX:ArchiveClassesAtExit="{beside}"'
        yield "session"
        assert searched, "the classes are those of a search"
        beside.write_text("classes")

    monkeypatch.setattr(module, "require_packages", lambda: None)
    monkeypatch.setattr(module, "require_java", lambda: "java")
    monkeypatch.setattr(module, "archive_path", {"java": archive}.__getitem__)
    monkeypatch.setattr(module, "open_session", session)
    monkeypatch.setattr(module, "check", lambda model, options: searched.append(options.session))
    assert prepare() == archive
    assert (archive.read_text(), beside.exists(), searched) == ("classes", False, ["session"])
