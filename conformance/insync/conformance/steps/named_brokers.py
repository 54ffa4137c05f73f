"""The brokers that a step of `cluster` names, as Kafka's requests name them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from insync.model import ReadableState

__all__ = ["ids_in", "in_order"]


def ids_in(label: str) -> list[int]:
    """Return the ids of the brokers that a label names: of one, or of a set."""
    return [int(number) for number in re.findall(r"b(\d+)", label)]


def in_order(replicas: Sequence[int], before: ReadableState) -> list[int]:
    """Return replicas as an operator names them: in the order that they have, where the model knows of one."""
    places = before["controller"].get("places")
    return list(replicas) if places is None else sorted(replicas, key=lambda number: int(places[f"b{number}"]))
