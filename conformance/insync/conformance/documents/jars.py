"""What `insync kafka` says of releases and their jars, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from insync.conformance.jars.pinned import Pinned
from insync.conformance.jars.store import jar_folder
from insync.explorer.documents.text import memory, plural

if TYPE_CHECKING:
    from insync.conformance.documents.json_types import FetchedObject, VersionEntry, VersionsObject

__all__ = ["describe_fetched", "describe_versions", "fetched_json", "versions_json"]

Listed = Sequence[tuple[Pinned, bool]]
"""Releases, each with whether its jars are here."""


def describe_versions(releases: Listed) -> str:
    """Return a line for each release."""
    lines = [f"{'Kafka':7} {'jars':>4} {'size':>9}"]
    for release, stored in releases:
        here = "   fetched" if stored else ""
        lines.append(f"{release.version:7} {len(release.jars):4} {memory(release.bytes):>9}{here}")
    return "\n".join([*lines, "", f"Fetched jars are in {jar_folder()}."])


def versions_json(releases: Listed) -> str:
    """Return the object that lists the releases."""
    entries: list[VersionEntry] = [
        {"kafka": release.version, "jars": len(release.jars), "bytes": release.bytes, "stored": stored}
        for release, stored in releases
    ]
    told: VersionsObject = {"folder": str(jar_folder()), "versions": entries}
    return json.dumps(told)


def describe_fetched(release: Pinned, fetched: int) -> str:
    """Return a sentence about what was fetched."""
    had = len(release.jars) - fetched
    if not fetched:
        return f"Kafka {release.version}: all {plural(had, 'jar')} are in {jar_folder()} already."
    already = f"; {had} more were there already" if had else ""
    return f"Kafka {release.version}: {plural(fetched, 'jar')} fetched into {jar_folder()}{already}."


def fetched_json(release: Pinned, fetched: int) -> str:
    """Return the object that says what was fetched."""
    told: FetchedObject = {
        "kafka": release.version,
        "jars": len(release.jars),
        "bytes": release.bytes,
        "fetched": fetched,
        "folder": str(jar_folder()),
    }
    return json.dumps(told)
