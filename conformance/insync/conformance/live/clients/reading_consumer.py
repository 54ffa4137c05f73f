"""Kafka's own consumer as a process: it reads a topic from its beginning, and ends with its cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from insync.conformance.live.live_cluster import LiveCluster

__all__ = ["ReadingConsumer"]

_SOURCE = Path(__file__).parent / "ReadingConsumer.java"


class ReadingConsumer:
    """A consumer of partition 0 of a topic, which asks for new metadata twice a second.

    Args:
        cluster: the cluster.
        topic: the topic.
        reset: its auto.offset.reset.

    Raises:
        UserError: there is no Java compiler, which runs it from its source.
    """

    def __init__(self, cluster: LiveCluster, topic: str, reset: str = "none") -> None:
        servers = ",".join(f"127.0.0.1:{cluster.port(broker)}" for broker in cluster.plan.numbers)
        self._output = cluster.start_client(_SOURCE, [servers, topic, reset])
        cluster.until(lambda: self._said("reads"), "that the consumer reads")

    @property
    def records(self) -> list[tuple[int, str]]:
        """The records that it was given, each with its offset."""
        found = [line.partition(" ") for line in self._said("got ")]
        return [(int(offset), record) for offset, _, record in found]

    @property
    def told(self) -> Sequence[str]:
        """The exceptions that it received; after the first it reads no more."""
        return self._said("told ")

    def _said(self, first: str) -> list[str]:
        lines = self._output.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line.removeprefix(first) or line for line in lines if line.startswith(first)]
