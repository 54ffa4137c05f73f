"""Fetching by Maven: what it is asked for, and what is said where it fails. Maven itself is a script here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from insync.conformance.jars.maven import _complaint, copy_by_maven
from insync.conformance.jars.store import fetch, is_stored
from insync.runtime.errors import UserError
from insync_jars import release, repository

JAR = ("org.example", "a&b", "1.0")


def maven(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a script in the place of Maven."""
    folder.mkdir()
    program = folder / "mvn"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")


def test_without_maven_it_is_said_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"there is no mvn on the PATH\. Install it\. Or give --repository DIR"):
        copy_by_maven([JAR], tmp_path)


def test_what_maven_calls_an_error_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven(tmp_path / "bin", monkeypatch, "echo '[ERROR] Unknown place -> [Help 1]'; echo '[ERROR] more'; exit 1")
    with pytest.raises(UserError, match=r"^Maven cannot fetch Kafka's jars: Unknown place\. Check the network"):
        copy_by_maven([JAR], tmp_path)


def test_maven_gets_the_coordinates_and_no_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The fifth argument is the file after -f.
    maven(tmp_path / "bin", monkeypatch, f'cp "$5" {tmp_path}/pom.xml; echo "$@" > {tmp_path}/arguments')
    copy_by_maven([JAR], tmp_path / "out", without=[("*", "*")])
    pom, arguments = (tmp_path / "pom.xml").read_text(), (tmp_path / "arguments").read_text()
    assert "<artifactId>a&amp;b</artifactId><version>1.0</version>" in pom
    assert "<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>" in pom
    assert f"-DoutputDirectory={tmp_path}/out" in arguments
    assert "://" not in pom + arguments


def test_mavens_folder_of_a_project_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it is the next `.mvn` above, such as one in /tmp, whose options and extensions are code that Maven runs."""
    maven(tmp_path / "bin", monkeypatch, f'cd "${{5%/*}}"; ls -A > {tmp_path}/there')
    copy_by_maven([JAR], tmp_path / "out")
    assert (tmp_path / "there").read_text().split() == [".mvn", "pom.xml"]


def test_a_release_is_fetched_by_maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))
    source = repository(tmp_path / "repository")
    copies = f'for a in "$@"; do case $a in -DoutputDirectory=*) cp -r {source}/. "${{a#*=}}";; esac; done'
    maven(tmp_path / "bin", monkeypatch, copies)
    assert fetch(release()) == 2
    assert is_stored(release())


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("", "it says nothing"),
        (" \n ", "it says nothing"),
        ("  it was stopped\nby somebody \n", "it was stopped\nby somebody"),
        ("[INFO] begun\n[ERROR] No jar. -> [Help 1]\n[ERROR] Try again.", "No jar"),
        ("\x1b[1;31m[ERROR]\x1b[m No jar:", "No jar"),
        ("[ERROR] " + "x" * 400, "x" * 400),
        ("[ERROR] " + "x" * 401, "x" * 397 + "..."),
    ],
)
def test_the_first_complaint_of_maven_is_told(output: str, said: str) -> None:
    assert _complaint(output) == said
