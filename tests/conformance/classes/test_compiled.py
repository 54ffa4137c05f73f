"""The compiled harness in the cache, with a script in the place of the compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.conformance.classes import compiled, sources
from insync.conformance.classes.compiled import compiled_harness
from insync.conformance.jars.jar_set import JarSet
from insync.runtime.errors import UserError

COMPILER = """#!/bin/sh
while [ "$1" != -d ]; do shift; done
mkdir -p "$2" && echo "$@" > "$2/arguments" && for file; do :; done && cat "$file" > "$2/source"
"""


@pytest.fixture(autouse=True)
def _small_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sources, "FOLDER", tmp_path)
    (tmp_path / "java").mkdir()
    (tmp_path / "java" / "Main.java").write_text("class Main { }")


def compiler(tmp_path: Path, text: str) -> None:
    program = tmp_path / "home" / "bin" / "javac"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(text)
    program.chmod(0o755)


def test_it_is_compiled_once(tmp_path: Path) -> None:
    compiler(tmp_path, COMPILER)
    jars = JarSet("9.9.9", (Path("a.jar"), Path("b.jar")), ("1", "2"))
    folder = compiled_harness(jars)
    assert "-cp a.jar:b.jar" in (folder / "arguments").read_text()
    compiler(tmp_path, "#!/bin/sh\nexit 1\n")
    assert compiled_harness(jars) == folder
    assert [file.name for file in folder.parents[1].iterdir()] == [folder.parent.name]


def test_the_sources_are_there_for_the_compiler(tmp_path: Path) -> None:
    compiler(tmp_path, COMPILER)
    folder = compiled_harness(JarSet("9.9.9", (Path("a.jar"),), ("1",)))
    assert (folder / "source").read_text() == "class Main { }"
    assert [file.name for file in folder.parents[1].iterdir()] == [folder.parent.name], "what it was made in is gone"


def test_other_jars_and_other_sources_are_compiled_apart(tmp_path: Path) -> None:
    compiler(tmp_path, COMPILER)
    folders = {compiled_harness(JarSet("9.9.9", (), (digest,))) for digest in "12"}
    (tmp_path / "java" / "Main.java").write_text("class Main { int a; }")
    folders.add(compiled_harness(JarSet("9.9.9", (), ("1",))))
    assert len(folders) == 3


def test_what_cannot_be_compiled_leaves_nothing(tmp_path: Path) -> None:
    compiler(tmp_path, "#!/bin/sh\necho 'Main.java:1: no such thing' >&2; exit 1\n")
    with pytest.raises(
        UserError, match=r"against these jars of Kafka 9\.9\.9 \(Main\.java:1: no such thing\): they are "
    ):
        compiled_harness(JarSet("9.9.9", (), ()))
    assert list((tmp_path / "cache" / "kafka" / "classes").iterdir()) == []


def test_a_compiler_that_does_not_end_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler(tmp_path, "#!/bin/sh\nexec sleep 20\n")
    monkeypatch.setattr(compiled, "_PATIENCE", 0.1)
    said = (
        r"javac has not compiled the harness against Kafka 9\.9\.9 within 0\.1 seconds\. Try again when less else runs"
    )
    with pytest.raises(UserError, match=said):
        compiled_harness(JarSet("9.9.9", (), ()))
    assert list((tmp_path / "cache" / "kafka" / "classes").iterdir()) == []
