"""The jars that were fetched, in insync's cache: each is there whole and with the pinned content, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from insync.conformance.jars.jar_set import JarSet, file_digest
from insync.conformance.jars.maven import copy_by_maven
from insync.conformance.jars.pinned import (
    Pinned,
    PinnedJar,
    pinned_for_cluster,
    pinned_for_quorum,
    pinned_for_unit_tests,
)
from insync.runtime.cache import cache_place
from insync.runtime.errors import UserError

__all__ = [
    "fetch",
    "is_stored",
    "jar_folder",
    "stored_for_cluster",
    "stored_for_quorum",
    "stored_for_unit_tests",
    "stored_jars",
]


def jar_folder() -> Path:
    """Return where jars are kept.

    The folder need not be the user's own, as the content of a jar is compared with its pinned digest at each use.

    Raises:
        UserError: there is no home directory, so no place for them.
    """
    place = cache_place()
    if place is None:
        message = "There is no home directory to keep Kafka's jars in. Name a folder with INSYNC_CACHE_DIR."
        raise UserError(message)
    return place / "kafka" / "jars"


def is_stored(release: Pinned) -> bool:
    """Return whether all jars of a release are there, by their sizes; `stored_jars` looks at what is in them."""
    return not _missing(release)


def stored_for_cluster(version: str) -> JarSet:
    """Return the jars of a release that its brokers need to run by themselves.

    Raises:
        UserError: they are not all there, or not known.
    """
    return stored_jars(pinned_for_cluster(version), " --cluster")


def stored_for_quorum(version: str) -> JarSet:
    """Return the jars of a release with those that are needed to drive its quorum.

    Raises:
        UserError: they are not all there, or not known.
    """
    return stored_jars(pinned_for_quorum(version), " --quorum")


def stored_for_unit_tests(version: str) -> JarSet:
    """Return the jars of a release with those that its brokers and its unit tests need.

    Raises:
        UserError: they are not all there, or not known.
    """
    return stored_jars(pinned_for_unit_tests(version), " --unit-tests")


def stored_jars(release: Pinned, option: str = "") -> JarSet:
    """Return the jars of a release.

    Args:
        release: the release.
        option: what fetches them, besides the release.

    Raises:
        UserError: they are not all there, or one is damaged.
    """
    if not is_stored(release):
        fetching = f"insync kafka fetch {release.version}{option}"
        message = f"The jars of Kafka {release.version} are not in {jar_folder()}. Fetch them: {fetching}"
        raise UserError(message)
    if damaged := [_path(jar) for jar in release.jars if not _is_as_pinned(jar)]:
        message = (
            f"{damaged[0]} is damaged: its SHA-256 is not the one that is pinned. "
            f"Fetch it again: insync kafka fetch {release.version}{option}"
        )
        raise UserError(message)
    paths = tuple(_path(jar) for jar in release.jars)
    return JarSet(release.version, paths, tuple(jar.sha256 for jar in release.jars))


def fetch(release: Pinned, repository: Path | None = None) -> int:
    """Put the jars of a release where they are kept, and return how many were not there before.

    Args:
        release: the release.
        repository: a folder in Maven's layout that has them; None fetches them by Maven.

    Raises:
        UserError: Maven or the folder does not give all of them as they are pinned, or they cannot be kept.
    """
    missing = [jar for jar in release.jars if not _is_as_pinned(jar)]
    if not missing:
        return 0
    try:
        jar_folder().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=jar_folder(), prefix=".new-") as name:
            source = repository
            if source is None:
                source = Path(name)
                _copy(missing, source)
            found = [(jar, _checked(source / jar.place, jar, release, source)) for jar in missing]
            for jar, path in found:
                _keep(path, jar)
    except OSError as error:
        message = (
            f"{error.filename or jar_folder()}: cannot be written ({error.strerror or error}), and Kafka's jars are "
            "kept there. Give INSYNC_CACHE_DIR a folder with room that you may write to."
        )
        raise UserError(message) from error
    return len(missing)


def _copy(jars: list[PinnedJar], folder: Path) -> None:
    """Have Maven copy jars to a folder, without what they need."""
    for classifier in sorted({jar.classifier for jar in jars}):
        wanted = [(jar.group, jar.artifact, jar.version) for jar in jars if jar.classifier == classifier]
        copy_by_maven(wanted, folder, without=[("*", "*")], classifier=classifier)


def _checked(path: Path, jar: PinnedJar, release: Pinned, source: Path) -> Path:
    if not path.is_file():
        message = (
            f"{source} has no {jar.place}, which Kafka {release.version} needs. Nothing was kept; name another folder."
        )
        raise UserError(message)
    digest = file_digest(path)
    if digest != jar.sha256:
        message = (
            f"{jar.file_name} from {source if source == path else path} has the SHA-256 {digest}; {jar.sha256} is "
            f"pinned for Kafka {release.version}. Nothing was kept; do not trust where it comes from."
        )
        raise UserError(message)
    return path


def _keep(path: Path, jar: PinnedJar) -> None:
    handle, name = tempfile.mkstemp(dir=jar_folder(), prefix=".new-")
    os.close(handle)
    try:
        shutil.copyfile(path, name)
        os.replace(name, _path(jar))
    except BaseException:
        os.unlink(name)
        raise


def _path(jar: PinnedJar) -> Path:
    """Where a jar is kept; the first digits of its content keep apart what has the same coordinates."""
    return jar_folder() / f"{jar.file_name.removesuffix('.jar')}-{jar.sha256[:12]}.jar"


def _missing(release: Pinned) -> list[PinnedJar]:
    return [jar for jar in release.jars if not _is_whole(_path(jar), jar)]


def _is_as_pinned(jar: PinnedJar) -> bool:
    path = _path(jar)
    return _is_whole(path, jar) and file_digest(path) == jar.sha256


def _is_whole(path: Path, jar: PinnedJar) -> bool:
    try:
        return path.stat().st_size == jar.bytes
    except OSError:
        return False
