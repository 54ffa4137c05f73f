"""What tests on Kafka's own classes are given, and do again and again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from insync.conformance.classes.compiled import NEEDED_BY
from insync.conformance.classes.harness import Harness
from insync.conformance.classes.observation import Observation
from insync.conformance.classes.subject import Answer
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.jars.pinned import Pinned
from insync.conformance.jars.store import is_stored
from insync.runtime.errors import UserError
from insync.runtime.java import find_compiler, find_java

__all__ = ["HarnessOf", "JarsOf", "comes_back", "everybody_applies", "skip_where_missing"]

JarsOf = Callable[[str], JarSet]
"""Gives the jars of a release; see the fixture `jars_of`."""

HarnessOf = Callable[[JarSet], AbstractContextManager[Harness]]
"""Lends a harness on some jars; see the fixture `harness_of`."""


def skip_where_missing(release: Pinned, option: str = "") -> None:
    """Skip a test where Java, or the jars of a release, are missing; `option` is what these are fetched with."""
    try:
        find_java(NEEDED_BY)
        find_compiler(NEEDED_BY)
    except UserError as missing:
        pytest.skip(str(missing))
    if not is_stored(release):
        fetching = f"insync kafka fetch {release.version}{option}"
        pytest.skip(f"{fetching}, with INSYNC_CACHE_DIR set, fetches what this needs")


def comes_back(harness: Harness, broker: int) -> Answer:
    """Let a broker register, read all metadata, and be unfenced; return the last answer."""
    registered = harness.take("register", broker=broker, wait=61_000)
    harness.take("apply", broker=broker, to=registered.state.controller.end)
    return harness.take("unfence", broker=broker)


def everybody_applies(harness: Harness) -> Observation:
    """Let each broker that runs apply all metadata; return what is there then."""
    state = harness.take("observe").state
    for number, broker in state.brokers.items():
        if broker.running:
            state = harness.take("apply", broker=number, to=state.controller.end).state
    return state
