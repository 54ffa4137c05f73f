"""Kafka's released sources: the files that a patch changes, from the source jars of the release."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from insync.conformance.jars.maven import copy_by_maven
from insync.machine.objects import cache_folder
from insync.model.errors import UserError

__all__ = ["module_of", "released_sources", "source_folder"]

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


def source_folder() -> Path:
    """Return where source jars are kept."""
    return cache_folder() / "kafka" / "sources"


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
    kept = source_folder() / f"{artifact}-{version}-sources.jar"
    if kept.is_file():
        return kept
    inside = Path(*_GROUP.split("."), artifact, version, kept.name)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".new-") as name:
            source = repository
            if source is None:
                source = Path(name)
                copy_by_maven([(_GROUP, artifact, version)], source, without=[("*", "*")], classifier="sources")
            if not (source / inside).is_file():
                message = f"{source} has no {inside}, the sources of Kafka {version}."
                raise UserError(message)
            new = Path(name) / kept.name
            shutil.copyfile(source / inside, new)
            os.replace(new, kept)
    except OSError as error:
        message = (
            f"{error.filename or kept.parent}: cannot be written ({error.strerror or error}), and Kafka's sources are "
            "kept there. Give INSYNC_CACHE_DIR a folder that you may write to."
        )
        raise UserError(message) from error
    return kept
