"""Kafka's released sources: the files that a patch changes, from the source jars of the release."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from insync.conformance.jars.maven import copy_by_maven
from insync.machine.cache import kept_folder
from insync.model.errors import UserError

__all__ = ["module_of", "released_sources"]

_GROUP = "org.apache.kafka"
_MODULES = {
    "clients": "kafka-clients",
    "core": "kafka_2.13",
    "metadata": "kafka-metadata",
    "raft": "kafka-raft",
    "server": "kafka-server",
    "server-common": "kafka-server-common",
    "storage": "kafka-storage",
}
"""The artifact of each module of Kafka's repository, by its folder there."""


def module_of(path: str, place: str) -> tuple[str, str]:
    """Return the artifact of a file of Kafka's repository, and its name inside of it.

    Args:
        path: the file, such as `server/src/main/java/org/apache/kafka/server/replica/Replica.java`.
        place: what messages call who names it.

    Raises:
        UserError: it is no source of a module that insync knows.
    """
    module, _, rest = path.partition("/src/main/")
    language, _, name = rest.partition("/")
    if module not in _MODULES or language not in ("java", "scala") or not name:
        known = ", ".join(_MODULES)
        message = (
            f"{place}: {path!r} must be MODULE/src/main/java/... or .../scala/..., where MODULE is one of {known}."
        )
        raise UserError(message)
    return _MODULES[module], name


def released_sources(
    version: str, paths: Iterable[str], place: str, repository: Path | None = None
) -> Mapping[str, str]:
    """Return the text of files of a release, by their paths in Kafka's repository.

    Args:
        version: the release.
        paths: the files.
        place: what messages call who names them.
        repository: a folder in Maven's layout with the source jars; None fetches those that are not kept, by Maven.

    Raises:
        UserError: a source jar is not to be had, or has no such file.
    """
    texts: dict[str, str] = {}
    for path in paths:
        artifact, name = module_of(path, place)
        jar = _source_jar(artifact, version, repository)
        with zipfile.ZipFile(jar) as archive:
            if name not in archive.namelist():
                message = f"{place}: Kafka {version} has no {path}. The patch is for another release."
                raise UserError(message)
            texts[path] = archive.read(name).decode("utf-8")
    return texts


def _source_jar(artifact: str, version: str, repository: Path | None) -> Path:
    jar = f"{artifact}-{version}-sources.jar"
    inside = Path(*_GROUP.split("."), artifact, version, jar)

    def copy(folder: Path) -> None:
        source = repository
        if source is None:
            source = folder.parent / "fetched"
            source.mkdir()
            copy_by_maven([(_GROUP, artifact, version)], source, without=[("*", "*")], classifier="sources")
        if not (source / inside).is_file():
            message = f"{source} has no {inside}, the sources of Kafka {version}."
            raise UserError(message)
        shutil.copyfile(source / inside, folder / jar)

    return kept_folder("kafka/sources", f"{artifact}-{version}", copy, "the sources of Kafka") / jar
