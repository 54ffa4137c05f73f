"""The namespace as a zip, for workers that lack insync."""

from __future__ import annotations

import importlib.metadata
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import pytest

from insync.runtime.errors import UserError
from insync.spark_explore.driver.requirements import require_java, require_packages
from insync.spark_explore.driver.session import prepare_workers
from insync.spark_explore.driver.ship import write_namespace
from insync.spark_explore.wire.code_bundle import STAMP, insync_version, require_version


def test_a_python_without_insync_imports_it_from_the_zip(tmp_path: Path) -> None:
    path = tmp_path / "namespace.zip"
    write_namespace(path)
    names = ZipFile(path).namelist()
    assert {"insync/", "insync/model/", "insync/spark_explore/", "insync/machine/emit/"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.startswith("insync/cli")]
    assert ZipFile(path).read(f"insync/spark_explore/wire/{STAMP}").decode() == insync_version()
    assert len(names) == len(set(names))
    # Without `site` no .pth file is read, so the environment's packages are there and this checkout is not.
    script = (
        f"import sys; sys.path[:0] = [{str(path)!r}, {site_packages()!r}];"
        "from insync.spark_explore.wire.code_bundle import insync_version, require_version;"
        "from insync.spark_explore.executor.level_task import level_task;"
        "from insync.machine.kernels import words_key;"
        "import insync.model; print(insync_version(), insync.model.__file__, words_key('store', 2))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    version, file, key = done.stdout.split()
    assert version == insync_version()
    assert file.startswith(str(path))
    from insync.machine.kernels import words_key

    assert key == words_key("store", 2)


def site_packages() -> str:
    return str(Path(pytest.__file__).parents[1])


def test_what_was_shipped_says_its_version_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pkgutil, "get_data", lambda package, name: f"{package}/{name}".encode())
    assert insync_version.__wrapped__() == "insync.spark_explore.wire/VERSION"

    def missing(*_: object) -> bytes:
        raise FileNotFoundError

    monkeypatch.setattr(pkgutil, "get_data", missing)
    assert insync_version.__wrapped__() == importlib.metadata.version("insync")

    def not_installed(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", not_installed)
    assert insync_version.__wrapped__() == "unknown"


def test_another_version_is_refused() -> None:
    require_version(insync_version())
    with pytest.raises(UserError, match=r"The driver runs insync 9\.9 and a worker runs insync"):
        require_version("9.9")


def test_what_is_missing_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UserError, match=r"Spark needs Java, and .* cannot be run .* set JAVA_HOME to it"):
        require_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="there is none on the PATH"):
        require_java()
    old = tmp_path / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    old.chmod(0o755)
    with pytest.raises(UserError, match=r"needs Java 17 or newer, and .* is Java 11"):
        require_java()


@pytest.mark.parametrize(
    ("name", "version", "said"),
    [
        ("pyspark", None, "needs the Python package pyspark, which is not installed"),
        ("pyspark", (3, 5), "needs pyspark 4.1 or newer, and 3.5 is installed"),
        ("pandas", (3, 0), "needs pandas from 2.2 to below 3, and 3.0 is installed"),
    ],
)
def test_packages_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, name: str, version: tuple[int, ...] | None, said: str
) -> None:
    from insync.spark_explore.driver import requirements

    real = requirements._version
    monkeypatch.setattr(requirements, "_version", lambda asked: version if asked == name else real(asked))
    with pytest.raises(UserError, match=said):
        require_packages()


class _Remote:
    """A session of Spark Connect that keeps what is sent to the workers."""

    def __init__(self) -> None:
        self.sent: list[tuple[set[str], bool]] = []

    def addArtifacts(self, path: str, pyfile: bool) -> None:
        self.sent.append((set(ZipFile(path).namelist()), pyfile))


_Remote.__module__ = "pyspark.sql.connect.session"


@pytest.mark.parametrize(("ship", "times"), [(None, 1), (True, 1), (False, 0)])
def test_workers_elsewhere_are_sent_the_namespace_unless_they_have_it(ship: bool | None, times: int) -> None:
    session: Any = _Remote()
    prepare_workers(session, "run", ship)
    assert len(session.sent) == times
    assert all(pyfile and {"insync/", "insync/machine/emit/"} <= names for names, pyfile in session.sent)
    with pytest.raises(UserError, match="name a run directory that they and this one reach"):
        prepare_workers(session, None, ship)


@pytest.mark.parametrize(
    ("command", "ship", "times"),
    [
        (sys.executable, None, 0),
        (str(Path(sys.executable).with_name("python3")), None, 0),
        ("/another/bin/python", None, 1),
        ("/another/bin/python", False, 0),
        (sys.executable, True, 1),
    ],
)
def test_workers_on_this_machine_are_sent_it_if_they_run_another_python(
    command: str, ship: bool | None, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of a session that was made with PYSPARK_PYTHON, or without it outside of an environment."""
    monkeypatch.setattr("insync.spark_explore.driver.session.spark_folder", lambda: tmp_path)
    sent: list[str] = []
    session: Any = SimpleNamespace(
        sparkContext=SimpleNamespace(master="local[2]", pythonExec=command, addPyFile=sent.append)
    )
    prepare_workers(session, None, ship)
    assert len(sent) == times
