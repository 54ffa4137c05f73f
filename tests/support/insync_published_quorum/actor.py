"""Mixins of the published models of KIP-853 and KIP-996, which are frozen as they were published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from insync.kafka.published.quorum.voter import QuorumActor

__all__ = ["PublishedActor"]


class PublishedActor(QuorumActor):
    """One who acts in the quorum, whose other methods and fields are those of the other mixins of its model."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
