"""The archive of Spark's classes is made by a small search, once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from insync.spark_explore.driver import prepare as module
from insync.spark_explore.driver.class_archive import archive_options
from insync.spark_explore.driver.prepare import prepare


def test_the_archive_is_made_once_of_the_classes_of_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched, begun = list[Any](), list[str]()

    @contextmanager
    def session(given: object, master: str, memory: object, flags: str) -> Iterator[str]:
        begun.append(flags)
        beside = Path(flags.removeprefix(' -XX:ArchiveClassesAtExit="').removesuffix('"'))
        assert not beside.exists(), "the JVM would write no archive over another file"
        yield "session"
        assert searched, "the classes are those of a search"
        beside.write_text("classes")

    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "require_packages", lambda: None)
    monkeypatch.setattr(module, "require_java", lambda: "java")
    monkeypatch.setattr(module, "open_session", session)
    monkeypatch.setattr(module, "check", lambda model, options: searched.append(options.session))
    assert archive_options("java") == ""
    archive = prepare()
    assert (archive.read_text(), searched) == ("classes", ["session"])
    assert archive_options("java") == f' -XX:SharedArchiveFile="{archive}"'
    assert archive_options("another java") == ""
    assert prepare() == archive
    assert len(begun) == 1
    archive.write_text("glasses")
    assert archive_options("java") == "", "it is damaged"
