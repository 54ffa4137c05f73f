"""Which modules hold the properties and lemmas of which Kafka model.

They are imported when a model of that kind is asked about, so checking a model of one's own loads none of them.
"""

from __future__ import annotations

import importlib

from insync.model import Model

__all__ = ["HOLDERS", "load_for"]

HOLDERS: dict[str, tuple[str, ...]] = {
    "insync.kafka.published.replication:Replication": (
        "replication",
        "replication_runs",
        "lemmas_requests",
        "lemmas_logs",
        "lemmas_commitment",
    ),
    "insync.kafka.published.async_isr:AsyncIsr": ("async_isr", "lemmas_async_isr"),
    "insync.kafka.quorum.voter:Voters": ("quorum",),
    "insync.kafka.quorum.kraft:Kraft": ("quorum_runs", "quorum_prospects"),
    "insync.kafka.quorum.kraft_996:Kraft996": ("quorum_pre_votes",),
    "insync.kafka.quorum.kraft_853:Kraft853": ("quorum_members",),
    "insync.kafka.groups.consumer_group:ConsumerGroup": ("consumer_group",),
    "insync.kafka.cluster.model:Cluster": (
        "cluster",
        "cluster_runs",
        "cluster_availability",
        "cluster_controllers",
        "cluster_producers",
        "cluster_sessions",
        "cluster_consumers",
        "cluster_truncation",
        "cluster_deletions",
        "cluster_directories",
        "cluster_order",
        "lemmas_cluster_shape",
        "lemmas_cluster_controller",
        "lemmas_cluster_logs",
        "lemmas_cluster_isr",
        "lemmas_cluster_commitment",
    ),
}
"""For each class, as module:name, the modules of `insync.properties.kafka` in the order in which they are shown."""


def load_for(kind: type[Model]) -> None:
    """Import what is declared of a model's class and its bases."""
    for base in kind.__mro__:
        for module in HOLDERS.get(f"{base.__module__}:{base.__qualname__}", ()):
            importlib.import_module(f"insync.properties.kafka.{module}")
