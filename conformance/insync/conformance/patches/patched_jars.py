"""Kafka's released jars with a patch in one of them: a folder like `libs` of a distribution, kept in the cache."""

from __future__ import annotations

import hashlib
import re
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.jars.pinned import version_order
from insync.conformance.patches.compilers import compile_sources
from insync.conformance.patches.source_files import module_of, released_sources
from insync.conformance.patches.unified_diff import patched_text, read_diff
from insync.kafka.defects.findings import page_of
from insync.runtime.cache import kept_folder
from insync.runtime.errors import UserError

__all__ = ["Patch", "PatchedKafka", "known_patches", "named_patch", "patched_kafka", "read_patch"]

_DIFFS = Path(__file__).parent / "diffs"
_MINOR = re.compile(r"\d+\.\d+")
_OF_THE_CACHE = re.compile(r"-[0-9a-f]{12}(?=\.jar$)")


@dataclass(frozen=True, slots=True)
class Patch:
    """A change of Kafka's sources.

    Attributes:
        name: what it is called in the name of the release that has it.
        file: where it is.
        text: the diff, with paths as in Kafka's repository.
    """

    name: str
    file: Path
    text: str

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that it changes."""
        return tuple(diff.path for diff in read_diff(self.text, str(self.file)))


@dataclass(frozen=True, slots=True)
class PatchedKafka:
    """The jars of a release with a patch in them.

    Attributes:
        libs: the folder that has them.
        patch: the patch.
        artifacts: the jars that have changed.
        classes: the class files that were compiled anew.
    """

    libs: Path
    patch: Patch
    artifacts: tuple[str, ...]
    classes: tuple[str, ...]


def known_patches() -> tuple[str, ...]:
    """Return the names of the patches that insync has; one for older releases ends in the newest, as in `N-01-4.1`."""
    return tuple(sorted(path.stem for path in _DIFFS.glob("*.patch")))


def read_patch(given: str, version: str) -> Patch:
    """Return a patch.

    Args:
        given: a file, or the name of a defect that insync has a patch for.
        version: the release, by which one of several patches of a defect is taken.

    Raises:
        UserError: there is no such file or patch.
    """
    file = Path(given)
    patch = _read(file) if file.is_file() else named_patch(given, version, _DIFFS)
    if patch is None:
        message = f"{given!r} is neither a file nor one of insync's patches: {', '.join(known_patches())}."
        raise UserError(message)
    return patch


def named_patch(given: str, version: str, folder: Path) -> Patch | None:
    """Return the patch of a defect for a release, of those in a folder; None if there is none.

    Args:
        given: the name of the defect, or of an entry of the catalogue that it answers for.
        version: the release; `N-01-4.1.patch` is for 4.1 and the releases before it, `N-01.patch` for those after.
        folder: the folder.
    """
    known = {path.stem: path for path in sorted(folder.glob("*.patch"))}
    for name in (given.upper(), page_of(given.upper())):
        older = [minor for one in known if (minor := one.removeprefix(f"{name}-")) != one and _MINOR.fullmatch(minor)]
        fitting = [minor for minor in older if version_order(minor) >= version_order(version)[:2]]
        best = f"{name}-{min(fitting, key=version_order)}" if fitting else name
        if best in known:
            return _read(known[best])
    return None


def _read(file: Path) -> Patch:
    try:
        return Patch(file.stem, file, file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        message = f"{file}: cannot be read ({error}). Name a file with a unified diff."
        raise UserError(message) from error


def patched_kafka(patch: Patch, jars: JarSet, repository: Path | None = None) -> PatchedKafka:
    """Return the jars of a release with a patch in, compiled if need be.

    Args:
        patch: the patch.
        jars: the jars of the release.
        repository: a folder in Maven's layout with its sources; None fetches them by Maven.

    Raises:
        UserError: the sources are not to be had, the patch does not fit them or does not compile, or the cache has no
            room.
    """
    place = str(patch.file)
    changed = {diff.path: diff for diff in read_diff(patch.text, place)}
    artifacts = tuple(sorted({module_of(path, place)[0] for path in changed}))

    def build(folder: Path) -> None:
        texts = released_sources(jars.version, changed, place, repository)
        where = f"Kafka {jars.version}, {{}}"
        new = {path: patched_text(text, changed[path], where.format(path)) for path, text in texts.items()}
        _build(folder, new, jars, patch)

    key = f"{jars.version}-{patch.name}-{_key(patch, jars)}"
    folder = kept_folder("kafka/patched", key, build, "a copy of the jars with the patch")
    classes = tuple((folder / "classes.txt").read_text(encoding="utf-8").splitlines())
    return PatchedKafka(folder / "libs", patch, artifacts, classes)


def _key(patch: Patch, jars: JarSet) -> str:
    parts = [patch.text, *jars.digests]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _build(folder: Path, texts: Mapping[str, str], jars: JarSet, patch: Patch) -> None:
    """Fill a folder with the jars, and the names of the classes that the patch changes; compile beside it."""
    place = str(patch.file)
    made = compile_sources(texts, jars, folder.parent, place)
    classes = sorted(path.relative_to(made).as_posix() for path in made.rglob("*.class"))
    libs = folder / "libs"
    libs.mkdir()
    for path in jars.paths:
        plain = _OF_THE_CACHE.sub("", path.name)
        patched = [one for one in texts if plain == f"{module_of(one, place)[0]}-{jars.version}.jar"]
        if plain.startswith("kafka_2."):
            plain = f"{plain.removesuffix('.jar')}-with-{patch.name}.jar"
        if patched:
            _replace_classes(path, libs / plain, made, classes)
        else:
            shutil.copyfile(path, libs / plain)
    (folder / "classes.txt").write_text("\n".join(classes) + "\n", encoding="utf-8")


def _replace_classes(jar: Path, new: Path, made: Path, classes: Sequence[str]) -> None:
    """Copy a jar, with classes in place of those of the same sources."""
    stems = {name.removesuffix(".class").partition("$")[0] for name in classes}
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in old.infolist():
            if entry.filename.removesuffix(".class").partition("$")[0] not in stems:
                archive.writestr(entry, old.read(entry))
        for name in classes:
            archive.write(made / name, name)
