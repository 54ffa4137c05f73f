"""What tests on Kafka's own classes are given, and do again and again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from insync.conformance.classes.harness import Harness
from insync.conformance.classes.observation import Observation
from insync.conformance.jars.jar_set import JarSet

__all__ = ["HarnessOf", "JarsOf", "everybody_applies"]

JarsOf = Callable[[str], JarSet]
"""Gives the jars of a release; see the fixture `jars_of`."""

HarnessOf = Callable[[JarSet], AbstractContextManager[Harness]]
"""Lends a harness on some jars; see the fixture `harness_of`."""


def everybody_applies(harness: Harness) -> Observation:
    """Let each broker that runs apply all metadata; return what is there then."""
    state = harness.take("observe").state
    for number, broker in state.brokers.items():
        if broker.running:
            state = harness.take("apply", broker=number, to=state.controller.end).state
    return state
