"""Tests marked `kafka` run on Kafka's own classes, where Java and the jars of a release are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from insync.conformance.classes.compiled import NEEDED_BY
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.jars.pinned import pinned
from insync.conformance.jars.store import is_stored, stored_jars
from insync.explorer.java import find_compiler, find_java
from insync.model.errors import UserError


@pytest.fixture(scope="session")
def jars_of() -> Callable[[str], JarSet]:
    """The jars of a release; a test is skipped where they, or Java, are missing."""

    def found(version: str) -> JarSet:
        try:
            find_java(NEEDED_BY)
            find_compiler(NEEDED_BY)
        except UserError as missing:
            pytest.skip(str(missing))
        if not is_stored(pinned(version)):
            pytest.skip(f"insync kafka fetch {version}, with INSYNC_CACHE_DIR set, fetches what this needs")
        return stored_jars(pinned(version))

    return found
