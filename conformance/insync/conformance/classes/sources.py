"""The harness's Java sources, fitted to one release of Kafka.

Kafka's classes move between packages. An import of `moved.X` becomes the import of the class named X, wherever the jars
of the release have it; what stands between `/*before 4.2*/` and `/*end*/` is kept for releases before that one.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from insync.model.errors import UserError

__all__ = ["JAVA", "class_places", "fitted_sources", "sources"]

JAVA = Path(__file__).parent / "java"

_MOVED = re.compile(r"^import moved\.(\w+);$", re.MULTILINE)
_BEFORE = re.compile(r"/\*before (\d+)\.(\d+)\*/(.*?)/\*end\*/", re.DOTALL)


def sources() -> dict[str, str]:
    """Return the sources as they are in the package, by file name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(JAVA.glob("*.java"))}


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


def fitted_sources(version: str, places: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the sources for one release, by file name.

    Args:
        version: the release, such as `4.3.1`.
        places: the full names of its classes by their simple names.

    Raises:
        UserError: the release has no class of that name, or several.
    """
    return {name: _fitted(text, name, version, places) for name, text in sources().items()}


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
                "Name a release of `insync kafka versions`."
            )
            raise UserError(message)
        return f"import {candidates[0]};"

    def kept(match: re.Match[str]) -> str:
        return match[3] if release < (int(match[1]), int(match[2])) else ""

    return _BEFORE.sub(kept, _MOVED.sub(found, text))
