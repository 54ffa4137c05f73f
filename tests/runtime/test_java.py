"""Java on this machine: which one is taken, and what is said where it is missing or too old."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.runtime.errors import UserError
from insync.runtime.java import Java, find_compiler, find_java


@pytest.fixture(autouse=True)
def _no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


def java(folder: Path, version: str, name: str = "java") -> Path:
    """Make a program that says that it is a Java of this version."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(0o755)
    return program


def test_the_one_on_the_path_is_taken(tmp_path: Path) -> None:
    program = java(tmp_path, "17.0.15")
    found = find_java("It")
    assert (found.program, found.version) == (str(program), "17")


def test_java_home_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java(tmp_path, "17.0.15")
    program = java(tmp_path / "home" / "bin", "21")
    compiler = java(tmp_path / "home" / "bin", "21", "javac")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert (find_java("It").program, find_java("It").version) == (str(program), "21")
    assert find_compiler("It") == str(compiler)


def test_one_without_a_number_is_taken_as_it_is() -> None:
    assert Java("java", "a java of my own").version == "a java of my own"


def test_none_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^It needs Java, and there is none on the PATH\. Install a JDK 17 or newer"):
        find_java("It")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UserError, match=r"^It needs Java, and .*/bin/java cannot be run .* set JAVA_HOME to it\.$"):
        find_java("It")


@pytest.mark.parametrize(("version", "named"), [("16.0.2", "16"), ("11.0.2", "11"), ("1.8.0_392", "8")])
def test_an_old_one_is_refused(tmp_path: Path, version: str, named: str) -> None:
    java(tmp_path, version)
    with pytest.raises(UserError, match=rf"^It needs Java 17 or newer, and .* is Java {named}\."):
        find_java("It")


def test_a_runtime_without_a_compiler_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^It needs a Java compiler, and there is no javac on the PATH\."):
        find_compiler("It")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UserError, match=r"there is no javac at .*/bin/javac\. Install a JDK 17 or newer"):
        find_compiler("It")
