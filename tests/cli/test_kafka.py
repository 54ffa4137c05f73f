"""`insync kafka`: what it says without Java, without Maven, and without jars."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.conformance.jars.pinned import pinned_versions

Insync = Callable[..., Any]


@pytest.fixture(autouse=True)
def _an_empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))


def test_the_releases_are_listed(insync: Insync) -> None:
    code, out, err = insync("kafka", "versions")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert [row[0] for row in rows[1 : len(pinned_versions()) + 1]] == list(pinned_versions())
    assert "fetched" not in out.splitlines()[1]


def test_the_releases_are_listed_as_json(insync: Insync, tmp_path: Path) -> None:
    listed = json.loads(insync("kafka", "versions", "--json").out)
    assert listed["folder"] == str(tmp_path / "cache" / "kafka" / "jars")
    assert [entry["kafka"] for entry in listed["versions"]] == list(pinned_versions())
    assert not any(entry["stored"] for entry in listed["versions"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fetch", "4.1"], "Error: Kafka '4.1' is not a release that insync knows. Near it: 4.1.0, 4.1.1, 4.1.2."),
        (["fetch", "4.1.0"], "there is no mvn on the PATH. Install it. Or give --repository DIR"),
        (["fetch", "4.1.0", "--repository", "nowhere"], "nowhere has no "),
    ],
    ids=["release", "maven", "repository"],
)
def test_a_mistake_is_one_sentence(
    insync: Insync, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], said: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, err = insync("kafka", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
