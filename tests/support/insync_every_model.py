"""The models that come with insync, those of the examples, and those of the corners of the language."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from insync.kafka.releases import Release
from insync.model import Model
from insync.model.catalogue import BUILT_IN, find_model

__all__ = ["BETWEEN", "EVERYTHING", "QUICK", "Chosen"]

ROOT = Path(__file__).parents[2]

EVERYTHING: dict[str, int | str] = {
    "replicas": 2,
    "records": 2,
    "retries": 1,
    "producer_restarts": 1,
    "crashes": 1,
    "controlled_shutdowns": 1,
    "preferred_elections": 1,
    "fetch_failures": 1,
    "throttles": 1,
    "log_dir_moves": 1,
    "log_dir_failures": 1,
    "delete_records": 1,
    "reassignments": 1,
    "spares": 1,
    "controller_failovers": 1,
    "lost_fetch_responses": 1,
    "lost_alter_partition_responses": 1,
    "config_changes": 1,
    "metadata_lag": 1,
    "late_fetch_responses": "on",
    "late_alter_partition_responses": "on",
    "fetch_sessions": "on",
    "stale_checkpoints": "on",
    "consumer": "follower",
    "flush": "sometimes",
}
"""What gives a cluster all its actions."""


REASSIGNED: dict[str, int | str] = {
    "records": 1,
    "spares": 1,
    "reassignments": 1,
    "config_changes": 1,
    "late_alter_partition_responses": "on",
    "consumer": "follower",
}
"""What a broker may be told by a snapshot, or not."""


class Chosen(NamedTuple):
    """A model under bounds and settings; what is not named has its default."""

    model: str
    bounds: Mapping[str, int | str] = MappingProxyType({})
    words: str = ""

    def __str__(self) -> str:
        return f"{self.model}, {self.words}" if self.words else self.model

    def made(self) -> Model:
        """Return the model."""
        path, colon, name = self.model.rpartition(":")
        return find_model(f"{ROOT / path}{colon}{name}" if path else name)(**self.bounds)


def models_in(folder: str) -> list[str]:
    """Return the models that the files of a folder define, as `find_model` takes them."""
    return [
        f"{file.relative_to(ROOT)}:{node.name}"
        for file in sorted((ROOT / folder).glob("*.py"))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and any(getattr(part, "name", "") == "declare" for part in node.body)
    ]


FIRST, *BETWEEN, LAST = (release.value for release in Release)
QUICK = [
    *map(Chosen, (*BUILT_IN, *models_in("examples"), *models_in("examples/tlaplus"), *models_in("tests/support"))),
    *(Chosen("cluster", {**EVERYTHING, "release": each}, f"everything, {each}") for each in (FIRST, LAST)),
    Chosen("cluster", {**REASSIGNED, "snapshots": 1}, "snapshots"),
    Chosen("kraft", {"elections": 1, "resignations": 1, "askers": "on"}, "more"),
    Chosen("kraft", {"elections": 1, "spare_servers": 1, "additions": 1, "removals": 1}, "voters"),
    Chosen("consumer_group", {"deaths": 1, "resets": 1, "additions": 1}, "more"),
]
