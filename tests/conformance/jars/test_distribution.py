"""The jars of an unpacked Kafka."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from insync.conformance.jars.distribution import distribution_jars
from insync.runtime.errors import UserError


def libs(folder: Path, *names: str) -> Path:
    for name in names:
        with zipfile.ZipFile(folder / name, "w") as jar:
            jar.writestr("name", name)
    return folder


def test_the_release_is_what_the_server_is_named_after(tmp_path: Path) -> None:
    found = distribution_jars(libs(tmp_path, "kafka_2.13-4.3.1.jar", "kafka_2.13-4.3.1-sources.jar", "zstd.jar"))
    assert found.version == "4.3.1"
    assert [path.name for path in found.paths] == ["kafka_2.13-4.3.1.jar", "zstd.jar"]
    assert len(set(found.digests)) == 2


def test_a_build_of_ones_own_keeps_its_name(tmp_path: Path) -> None:
    assert distribution_jars(libs(tmp_path, "kafka_2.13-4.4.0-SNAPSHOT.jar")).version == "4.4.0-SNAPSHOT"


@pytest.mark.parametrize(
    ("names", "said"),
    [((), "has no jar named kafka_2.13-VERSION.jar"), (("kafka_2.13-4.3.1.jar", "kafka_2.13-4.1.0.jar"), "several")],
)
def test_a_folder_that_is_no_distribution_is_refused(tmp_path: Path, names: tuple[str, ...], said: str) -> None:
    with pytest.raises(UserError, match=said):
        distribution_jars(libs(tmp_path, *names))


def test_a_jar_of_which_a_part_is_missing_is_refused(tmp_path: Path) -> None:
    folder = libs(tmp_path, "kafka_2.13-4.3.1.jar", "zstd.jar")
    whole = (folder / "zstd.jar").read_bytes()
    (folder / "zstd.jar").write_bytes(whole[:-30])
    with pytest.raises(UserError, match=r"zstd\.jar is no whole jar: a part of it is missing\. Unpack or build"):
        distribution_jars(folder)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is not a folder\. Name the folder libs"):
        distribution_jars(tmp_path / "libs")


def test_the_jars_are_in_the_order_of_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["a.jar", "b.jar", "kafka_2.13-4.3.1.jar", "zstd.jar"]
    folder = libs(tmp_path, *names)
    found = sorted(folder.glob("*.jar"), reverse=True)
    monkeypatch.setattr(Path, "glob", lambda *_: iter(found))
    assert [path.name for path in distribution_jars(folder).paths] == names
