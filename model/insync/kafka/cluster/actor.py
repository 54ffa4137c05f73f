"""One who acts in the cluster: the base of the classes of which `Cluster` is put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from insync.kafka.cluster.configuration import Acks, Flushing, OffsetReset
from insync.kafka.cluster.features import Features
from insync.kafka.releases import Fixes, Guards, ReleaseRules, Rules
from insync.model import BoundValues

__all__ = ["Actor"]


class Actor:
    """One who acts in the cluster. `Cluster` is made of all of them, so each uses its fields and the others' rules."""

    b: BoundValues
    in_force: Rules
    rules: ReleaseRules
    fixes: Fixes
    guards: Guards
    features: Features
    acks: Acks
    flushing: Flushing
    offset_reset: OffsetReset
    needed: int

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
