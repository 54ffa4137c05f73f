"""Tests marked `kafka` here run brokers as processes: a cluster at a time, which needs half a gigabyte of memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.jars.pinned import pinned_for_cluster
from insync.conformance.jars.store import is_stored, stored_for_cluster
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.runtime.errors import UserError
from insync.runtime.java import find_java
from insync_brokers import ClusterOf
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


@pytest.fixture(scope="session")
def cluster_of() -> Iterator[ClusterOf]:
    """A cluster by its jars and its plan, which the tests before may have used: to start one takes ten CPU seconds.

    The one used last is kept. A test has a topic of its own, and leaves all brokers running, and no frame held; the
    cluster of one that fails is ended.
    """
    kept: list[tuple[JarSet, LiveCluster]] = []

    def end_kept() -> None:
        for _, cluster in kept:
            cluster.__exit__(None, None, None)
        kept.clear()

    @contextmanager
    def lent(jars: JarSet, plan: ClusterPlan) -> Iterator[LiveCluster]:
        if kept and (kept[0][0], kept[0][1].plan) != (jars, plan):
            end_kept()
        if not kept:
            kept.append((jars, LiveCluster(jars, plan)))
        try:
            kept[0][1].wait_for_brokers()
            yield kept[0][1]
        except BaseException:
            kept.pop()[1].close()
            raise

    yield lent
    end_kept()


@pytest.fixture
def cluster(cluster_jars_of: JarsOf, cluster_of: ClusterOf) -> Iterator[LiveCluster]:
    """A cluster of 4.3.1, for a test on a topic of its own."""
    with cluster_of(cluster_jars_of("4.3.1"), ClusterPlan(session=9000, lag=60000)) as running:
        yield running
