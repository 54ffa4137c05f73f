"""Tests marked `kafka` run on Kafka's own classes, where Java and the jars of a release are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from insync.conformance.classes.harness import Harness
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.jars.pinned import pinned
from insync.conformance.jars.store import stored_jars
from insync_classes import HarnessOf, JarsOf, skip_where_missing

_AT_ONCE = 4


@pytest.fixture(scope="session")
def jars_of() -> JarsOf:
    """The jars of a release; a test is skipped where they, or Java, are missing."""

    def found(version: str) -> JarSet:
        skip_where_missing(pinned(version))
        return stored_jars(pinned(version))

    return found


@pytest.fixture(scope="session")
def harness_of() -> Iterator[HarnessOf]:
    """A harness on some jars that earlier tests have used: to start one takes longer than most tests.

    Each test opens a cluster of its own, so that nothing is left of the one before. A harness in whose use a test fails
    is ended; of the others those that were used last are kept.
    """
    kept: dict[tuple[Path, ...], Harness] = {}

    @contextmanager
    def lent(jars: JarSet) -> Iterator[Harness]:
        place = tuple(jars.paths)
        harness = kept.pop(place, None) or Harness(jars)
        with harness_that_ends_with_an_error(harness):
            yield harness
        kept[place] = harness
        for oldest in list(kept)[:-_AT_ONCE]:
            kept.pop(oldest).close()

    yield lent
    for harness in kept.values():
        harness.close()


@contextmanager
def harness_that_ends_with_an_error(harness: Harness) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        harness.__exit__(type(error), error, error.__traceback__)
        raise
