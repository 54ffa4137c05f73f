"""Patches: which are known, whether they are diffs of Kafka's sources, and jars with one in them."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from insync.conformance.jars.distribution import distribution_jars
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.patches import patched_jars
from insync.conformance.patches.compilers import compile_sources
from insync.conformance.patches.patched_jars import known_patches, patched_kafka, read_patch
from insync.conformance.patches.source_files import module_of
from insync.kafka.defects.findings import finding_of
from insync.runtime.cache import kept_folder
from insync.runtime.errors import UserError

PATH = "server/src/main/java/org/example/Heart.java"
SOURCE = "package org.example;\n\nclass Heart {\n    int beats() {\n        return 1;\n    }\n}\n"
DIFF = f"--- a/{PATH}\n+++ b/{PATH}\n@@ -5,1 +5,1 @@\n-        return 1;\n+        return 2;\n"


@pytest.fixture(autouse=True)
def _an_empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", known_patches())
def test_every_patch_is_of_a_defect_and_of_sources_that_can_be_fetched(name: str) -> None:
    assert finding_of("-".join(name.split("-")[:2])) is not None
    patch = read_patch(name, "9.9.9")
    assert patch.text.partition("\n---")[0].strip()  # it says why
    for path in patch.paths:
        assert module_of(path, name)[0].startswith("kafka")


def test_a_patch_that_ends_in_a_release_is_for_that_one_and_those_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patched_jars, "_DIFFS", tmp_path)
    for name in ("N-01", "N-01-3.9", "N-01-4.1", "N-01-4.10", "N-01-NAMED"):
        (tmp_path / f"{name}.patch").write_text(DIFF)
    chosen = {version: read_patch("n-01", version).name for version in ("3.7.2", "3.9.2", "4.0.2", "4.2.1", "4.11.0")}
    assert chosen == {
        "3.7.2": "N-01-3.9",
        "3.9.2": "N-01-3.9",
        "4.0.2": "N-01-4.1",
        "4.2.1": "N-01-4.10",
        "4.11.0": "N-01",
    }
    assert read_patch("N-01-named", "3.9.2").name == "N-01-NAMED"


@pytest.mark.parametrize("given", ["N-99", "no.patch"])
def test_a_patch_that_is_not_there_is_one_sentence(given: str) -> None:
    with pytest.raises(UserError, match=rf"^'{given}' is neither a file nor one of insync's patches: N-01"):
        read_patch(given, "4.3.1")


@pytest.mark.parametrize("path", ["docs/upgrade.md", "tools/src/main/java/A.java", "core/src/main/java/"])
def test_a_file_that_is_no_source_of_the_server_is_refused(path: str) -> None:
    with pytest.raises(UserError, match=r"must be MODULE/src/main/java/"):
        module_of(path, "x.patch")


@pytest.fixture
def release(tmp_path: Path) -> JarSet:
    """A Kafka of two jars, one of which has a class whose source is kept."""
    paths = []
    for artifact, entries in {
        "kafka_2.13": {"kafka/A.class": "a"},
        "kafka-server": {"org/example/Heart.class": "released", "org/example/Heart$1.class": "x", "org/example/B": "b"},
    }.items():
        path = tmp_path / f"{artifact}-9.9.9-0123456789ab.jar"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in entries.items():
                archive.writestr(name, content)
        paths.append(path)

    def sources(folder: Path) -> None:
        with zipfile.ZipFile(folder / "kafka-server-9.9.9-sources.jar", "w") as archive:
            archive.writestr("org/example/Heart.java", SOURCE)

    kept_folder("kafka/sources", "kafka-server-9.9.9", sources, "the sources")
    digests = tuple(hashlib.sha256(path.read_bytes()).hexdigest() for path in paths)
    return JarSet("9.9.9", tuple(paths), digests)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for a compiler: a class file is its source."""

    def made(texts: dict[str, str], jars: JarSet, work: Path, place: str) -> Path:
        for path, text in texts.items():
            file = work / "classes" / module_of(path, place)[1].replace(".java", ".class")
            file.parent.mkdir(parents=True)
            file.write_text(text)
        return work / "classes"

    monkeypatch.setattr(patched_jars, "compile_sources", made)


@pytest.mark.usefixtures("compiled")
def test_the_patched_class_is_in_its_jar_and_the_rest_as_released(release: JarSet, tmp_path: Path) -> None:
    (tmp_path / "beat.patch").write_text(DIFF)
    made = patched_kafka(read_patch(str(tmp_path / "beat.patch"), "9.9.9"), release)
    found = distribution_jars(made.libs)
    assert found.version == "9.9.9-with-beat"
    assert [path.name for path in found.paths] == ["kafka-server-9.9.9.jar", "kafka_2.13-9.9.9-with-beat.jar"]
    with zipfile.ZipFile(made.libs / "kafka-server-9.9.9.jar") as archive:
        assert archive.namelist() == ["org/example/B", "org/example/Heart.class"]
        assert archive.read("org/example/Heart.class").decode() == SOURCE.replace("return 1", "return 2")
    assert (made.artifacts, made.classes) == (("kafka-server",), ("org/example/Heart.class",))


@pytest.mark.usefixtures("compiled")
def test_what_was_patched_is_kept(release: JarSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "beat.patch").write_text(DIFF)
    patch = read_patch(str(tmp_path / "beat.patch"), "9.9.9")
    first = patched_kafka(patch, release)
    monkeypatch.delattr(patched_jars, "compile_sources")
    assert patched_kafka(patch, release) == first


@pytest.mark.usefixtures("compiled")
def test_another_patch_of_that_name_and_another_release_of_that_version_are_patched_anew(
    release: JarSet, tmp_path: Path
) -> None:
    file = tmp_path / "beat.patch"
    file.write_text(DIFF)
    first = patched_kafka(read_patch(str(file), "9.9.9"), release)
    file.write_text(DIFF.replace("return 2", "return 3"))
    second = patched_kafka(read_patch(str(file), "9.9.9"), release)
    rebuilt = patched_kafka(read_patch(str(file), "9.9.9"), JarSet("9.9.9", release.paths, ("0", "1")))
    assert len({first.libs, second.libs, rebuilt.libs}) == 3
    for made, returned in ((first, "return 2"), (second, "return 3")):
        with zipfile.ZipFile(made.libs / "kafka-server-9.9.9.jar") as archive:
            assert returned in archive.read("org/example/Heart.class").decode()


def test_a_class_that_the_release_has_not_is_said(release: JarSet, tmp_path: Path) -> None:
    (tmp_path / "other.patch").write_text(DIFF.replace("Heart", "Brain"))
    with pytest.raises(UserError, match=r"Kafka 9\.9\.9 has no .*Brain\.java\. Name the release that"):
        patched_kafka(read_patch(str(tmp_path / "other.patch"), "9.9.9"), release)


@pytest.mark.kafka
def test_a_patch_that_does_not_compile_says_what_javac_says(release: JarSet, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"(?s)^x.patch cannot be compiled against Kafka 9\.9\.9:.*';' expected"):
        compile_sources({PATH: SOURCE.replace(";", "", 2)}, release, tmp_path, "x.patch")
