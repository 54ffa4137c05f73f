"""The Java sources of a harness, fitted to one release of Kafka.

Kafka's classes move between packages. An import of `moved.X` becomes the import of the class named X, wherever the jars
of the release have it; what stands between `/*before 4.2*/` and `/*end*/` is kept for releases before that one, and
what stands between `/*from 4.2*/` and `/*end*/` for the others.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path

from insync.runtime.errors import UserError

__all__ = ["FOLDER", "Driven", "class_places", "fitted_sources", "sources"]

FOLDER = Path(__file__).parent

_SHARED = "shared_java"
_MOVED = re.compile(r"^import moved\.(\w+);$", re.MULTILINE)
_OF_RELEASES = re.compile(r"/\*(before|from) (\d+)\.(\d+)\*/(.*?)/\*end\*/", re.DOTALL)


class Driven(Enum):
    """Which of Kafka's classes a harness drives, by the folder of its own sources."""

    CLUSTER = "java"
    QUORUM = "quorum_java"


def sources(driven: Driven = Driven.CLUSTER) -> dict[str, str]:
    """Return the sources as they are in the package, by file name: those that all have, and a harness's own."""
    paths = [path for name in (_SHARED, driven.value) for path in sorted((FOLDER / name).glob("*.java"))]
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def class_places(jars: Iterable[Path]) -> dict[str, list[str]]:
    """Return the full names of Kafka's classes by their simple names, classes within others left out."""
    places: dict[str, list[str]] = {}
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            for entry in archive.namelist():
                if entry.endswith(".class") and "$" not in entry and "kafka/" in entry:
                    name = entry.removesuffix(".class").replace("/", ".")
                    places.setdefault(name.rpartition(".")[2], []).append(name)
    return places


def fitted_sources(version: str, places: Mapping[str, list[str]], driven: Driven = Driven.CLUSTER) -> dict[str, str]:
    """Return the sources for one release, by file name.

    Args:
        version: the release, such as `4.3.1`.
        places: the full names of its classes by their simple names.
        driven: which of its classes are driven.

    Raises:
        UserError: the release has no class of that name, or several.
    """
    return {name: _fitted(text, name, version, places) for name, text in sources(driven).items()}


def _likely(candidates: list[str]) -> list[str]:
    """What is meant by a simple name: where there are several, that of Kafka's common classes."""
    common = [name for name in candidates if name.startswith("org.apache.kafka.common.")]
    return common if len(candidates) > 1 and len(common) == 1 else candidates


def _fitted(text: str, file: str, version: str, places: Mapping[str, list[str]]) -> str:
    release = tuple(int(part) for part in re.findall(r"\d+", version)[:2])

    def found(match: re.Match[str]) -> str:
        candidates = _likely(places.get(match[1], []))
        if len(candidates) != 1:
            what = f"several classes named {match[1]}" if candidates else f"no class named {match[1]}"
            message = (
                f"Kafka {version} has {what}, which {file} of the harness needs; 3.7 to 4.4 have one. "
                "Name a release of `insync kafka versions`, or the whole folder libs of one."
            )
            raise UserError(message)
        return f"import {candidates[0]};"

    def kept(match: re.Match[str]) -> str:
        is_before = release < (int(match[2]), int(match[3]))
        return match[4] if is_before is (match[1] == "before") else ""

    return _MOVED.sub(found, _OF_RELEASES.sub(kept, text))
