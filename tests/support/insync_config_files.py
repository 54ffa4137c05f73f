"""Configuration files of a test, as `insync ask` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

from insync.kafka_questions.configs.precedence import EVERY_OTHER
from insync.kafka_questions.configs.reading import Configured, read_configs

__all__ = ["FACTOR", "FEWEST", "SAFE", "of", "read"]

SAFE = {"replicas": 3, "min_insync_replicas": 2, "unclean_leader_election": "off"}
FACTOR = "default.replication.factor"
FEWEST = "min.insync.replicas"


def read(folder: Path, files: Mapping[str, str | bytes], **given: int | str) -> Configured:
    """Write files into a folder, and return what they configure, partitions of topics compared."""
    paths = []
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text if isinstance(text, bytes) else dedent(text).encode())
        paths.append(folder / name)
    return read_configs(paths, given, compares_partitions=True)


def of(configured: Configured, topic: str = EVERY_OTHER) -> dict[str, int | str]:
    """Return the settings of a topic; by default of all that are not named."""
    (found,) = [one for one in configured.combinations if topic in one.topics]
    return dict(found.settings)
