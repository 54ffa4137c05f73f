"""Kafka: the published variants of its replication protocol, the cluster of a release, placement, known defects."""

from __future__ import annotations
