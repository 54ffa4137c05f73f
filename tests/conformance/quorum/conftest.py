"""Tests marked `kafka` run on Kafka's own Raft client, where Java and the jars of a release are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from insync.conformance.jars.pinned import pinned_for_quorum
from insync.conformance.jars.store import stored_for_quorum
from insync.conformance.quorum.quorum_harness import QuorumHarness
from insync_classes import skip_where_missing


@pytest.fixture(scope="module", params=("3.9.2", "4.1.2", "4.3.1"))
def quorum(request: pytest.FixtureRequest) -> Iterator[QuorumHarness]:
    """A harness of the quorum of a release, without pre-votes and with them."""
    version: str = request.param
    skip_where_missing(pinned_for_quorum(version), " --quorum")
    with QuorumHarness(stored_for_quorum(version)) as harness:
        yield harness
