"""Which versions of Kafka can be had: those whose jars are here, and those that Maven may fetch."""

from __future__ import annotations

from pathlib import Path

from insync.conformance.jars.pinned import pinned, pinned_versions
from insync.conformance.jars.store import fetch, is_stored
from insync.runtime.errors import UserError

__all__ = ["fetched_versions", "had_versions"]


def fetched_versions() -> list[str]:
    """Return the versions whose jars are here, the oldest first.

    Raises:
        UserError: there is none.
    """
    found = [version for version in pinned_versions() if is_stored(pinned(version))]
    if not found:
        message = "No release of Kafka is here yet. Fetch one, such as: insync kafka fetch 4.3.1"
        raise UserError(message)
    return found


def had_versions(repository: Path | None = None) -> list[str]:
    """Return all versions, after those that were missing have been fetched.

    Args:
        repository: a folder in Maven's layout that has them; None fetches them by Maven.

    Raises:
        UserError: one of them cannot be fetched.
    """
    for version in pinned_versions():
        fetch(pinned(version), repository)
    return list(pinned_versions())
