"""Tests marked `kafka` here run brokers as processes: a cluster at a time, which needs half a gigabyte of memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.jars.pinned import pinned_for_cluster
from insync.conformance.jars.store import is_stored, stored_for_cluster
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.explorer.java import find_java
from insync.model.errors import UserError
from insync_classes import JarsOf


@pytest.fixture(scope="session")
def cluster_jars_of() -> JarsOf:
    """The jars of a release for a cluster; a test is skipped where they, or Java, are missing."""

    def found(version: str) -> JarSet:
        try:
            find_java("A cluster of Kafka")
        except UserError as missing:
            pytest.skip(str(missing))
        if not is_stored(pinned_for_cluster(version)):
            pytest.skip(f"insync kafka fetch {version} --cluster, with INSYNC_CACHE_DIR set, fetches what this needs")
        return stored_for_cluster(version)

    return found


@pytest.fixture(scope="module")
def cluster(cluster_jars_of: JarsOf) -> Iterator[LiveCluster]:
    """A cluster of 4.3.1 for the tests of a module, each on a topic of its own."""
    with LiveCluster(cluster_jars_of("4.3.1"), ClusterPlan(lag=60000)) as running:
        running.wait_for_brokers()
        yield running
