"""What tests on running brokers are given."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.nodes.node_files import ClusterPlan

__all__ = ["ClusterOf"]

ClusterOf = Callable[[JarSet, ClusterPlan], AbstractContextManager[LiveCluster]]
"""Lends a cluster by its jars and its plan; see the fixture `cluster_of`."""
