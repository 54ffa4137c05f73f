"""Kafka's released sources: the files that a patch changes, from the source jars of the release."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from insync.conformance.jars.maven import copy_by_maven
from insync.runtime.cache import kept_folder
from insync.runtime.errors import UserError

__all__ = ["module_of", "released_sources"]

_GROUP = "org.apache.kafka"
_KINDS = {"main": "sources", "test": "test-sources"}
"""The classifier of the jar that has what is below `src/main` and `src/test` of a module."""
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


def module_of(path: str, place: str, kind: str = "main") -> tuple[str, str]:
    """Return the artifact of a file of Kafka's repository, and its name inside of it.

    Args:
        path: the file, such as `server/src/main/java/org/apache/kafka/server/replica/Replica.java`.
        place: what messages call who names it.
        kind: `main` or `test`, the folder of the module that it must be in.

    Raises:
        UserError: it is no source of a module that insync knows.
    """
    module, _, rest = path.partition(f"/src/{kind}/")
    language, _, name = rest.partition("/")
    if module not in _MODULES or language not in ("java", "scala") or not name:
        known = ", ".join(_MODULES)
        message = (
            f"{place}: {path!r} must be MODULE/src/{kind}/java/... or .../scala/..., where MODULE is one of {known}."
        )
        raise UserError(message)
    return _MODULES[module], name


def released_sources(
    version: str, paths: Iterable[str], place: str, repository: Path | None = None, kind: str = "main"
) -> Mapping[str, str]:
    """Return the text of files of a release, by their paths in Kafka's repository.

    Args:
        version: the release.
        paths: the files.
        place: what messages call who names them.
        repository: a folder in Maven's layout with the source jars; None fetches those that are not kept, by Maven.
        kind: `main` or `test`, the folder of their modules that the files are in.

    Raises:
        UserError: a source jar is not to be had, or has no such file.
    """
    texts: dict[str, str] = {}
    for path in paths:
        artifact, name = module_of(path, place, kind)
        jar = _source_jar(artifact, version, repository, _KINDS[kind])
        with zipfile.ZipFile(jar) as archive:
            if name not in archive.namelist():
                message = f"{place}: Kafka {version} has no {path}. Name the release that the patch is for."
                raise UserError(message)
            texts[path] = archive.read(name).decode("utf-8")
    return texts


def _source_jar(artifact: str, version: str, repository: Path | None, classifier: str) -> Path:
    jar = f"{artifact}-{version}-{classifier}.jar"
    inside = Path(*_GROUP.split("."), artifact, version, jar)

    def copy(folder: Path) -> None:
        source = repository
        if source is None:
            source = folder.parent / "fetched"
            source.mkdir()
            copy_by_maven([(_GROUP, artifact, version)], source, without=[("*", "*")], classifier=classifier)
        if not (source / inside).is_file():
            message = f"{source} has no {inside}, the sources of Kafka {version}. Name a folder that has it."
            raise UserError(message)
        shutil.copyfile(source / inside, folder / jar)

    name = f"{artifact}-{version}{'' if classifier == 'sources' else f'-{classifier}'}"
    return kept_folder("kafka/sources", name, copy, "the sources of Kafka") / jar
