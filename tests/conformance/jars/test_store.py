"""Jars in the cache: whole and as they are pinned, or not there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from insync.conformance.jars import store
from insync.conformance.jars.store import fetch, is_stored, jar_folder, stored_jars
from insync.runtime.errors import UserError
from insync_jars import CONTENT, release, repository


@pytest.fixture(autouse=True)
def _a_cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))


def test_jars_of_a_repository_are_kept(tmp_path: Path) -> None:
    assert not is_stored(release())
    assert fetch(release(), repository(tmp_path / "repository")) == 2
    kept = stored_jars(release())
    assert [path.read_bytes() for path in kept.paths] == list(CONTENT.values())
    assert [path.name for path in kept.of_kafka] == [path.name for path in kept.paths]
    assert fetch(release(), tmp_path / "nowhere") == 0  # nothing is missing


def test_maven_is_asked_for_the_jars_of_tests_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[list[str], str]] = []

    def copy(wanted: list[tuple[str, str, str]], folder: Path, *, without: object, classifier: str) -> None:
        asked.append(([artifact for _, artifact, _ in wanted], classifier))

    monkeypatch.setattr(store, "copy_by_maven", copy)
    first, *others = release().jars
    with pytest.raises(UserError, match="Nothing was kept"):
        fetch(replace(release(), jars=(first, *(replace(jar, classifier="test") for jar in others))))
    assert asked == [(["kafka_2.13"], ""), (["kafka-clients"], "test")]


def test_a_damaged_jar_is_fetched_again(tmp_path: Path) -> None:
    fetch(release(), repository(tmp_path))
    damaged = stored_jars(release()).paths[0]
    damaged.write_bytes(b"")
    assert not is_stored(release())
    assert fetch(release(), tmp_path) == 1
    assert damaged.read_bytes() == CONTENT["kafka_2.13"]


def test_another_content_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    other = repository(tmp_path / "repository", **{"kafka-clients": b"what it is not"})
    with pytest.raises(
        UserError, match=r"kafka-clients-9\.9\.9\.jar .* has the SHA-256 .* is pinned for Kafka 9\.9\.9"
    ):
        fetch(release(), other)
    assert list(jar_folder().iterdir()) == []


def test_a_repository_without_a_jar_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    lacking = repository(tmp_path / "repository")
    (lacking / release().jars[1].place).unlink()
    with pytest.raises(
        UserError, match=r"has no org/example/kafka-clients/.* which Kafka 9\.9\.9 needs\. Nothing was kept"
    ):
        fetch(release(), lacking)
    assert list(jar_folder().iterdir()) == []


def test_what_was_not_fetched_is_said_with_the_command_that_fetches_it() -> None:
    with pytest.raises(
        UserError, match=r"^The jars of Kafka 9\.9\.9 are not in .*\. Fetch them: insync kafka fetch 9\.9\.9$"
    ):
        stored_jars(release())


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(UserError, match=r"cannot be written .* Give INSYNC_CACHE_DIR a folder"):
        fetch(release(), repository(tmp_path))


def test_a_jar_with_another_content_of_the_same_size_is_said_and_fetched_again(tmp_path: Path) -> None:
    fetch(release(), repository(tmp_path))
    damaged = stored_jars(release()).paths[0]
    damaged.write_bytes(b"a_server")
    with pytest.raises(
        UserError, match=r"is damaged: its SHA-256 is not the one .* Fetch it again: insync kafka fetch 9\.9\.9$"
    ):
        stored_jars(release())
    assert fetch(release(), tmp_path) == 1
    assert damaged.read_bytes() == CONTENT["kafka_2.13"]
