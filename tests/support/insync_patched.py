"""Kafka's jars with a patch in them, for tests that run on them."""

from __future__ import annotations

import pytest

from insync.conformance.jars.distribution import distribution_jars
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.patches.patched_jars import Patch, patched_kafka, read_patch
from insync.runtime.errors import UserError

__all__ = ["patched", "with_patch"]


def patched(patch: Patch, jars: JarSet) -> JarSet:
    """The release with a patch; the test is skipped where Maven cannot fetch what compiling it takes."""
    try:
        return distribution_jars(patched_kafka(patch, jars).libs)
    except UserError as missing:
        if "Maven" not in str(missing):
            raise
        pytest.skip(str(missing))


def with_patch(name: str, jars: JarSet) -> JarSet:
    """The release with the patch that insync has under a name."""
    return patched(read_patch(name, jars.version), jars)
