"""Which model of the quorum is walked beside which release of Kafka, with which bounds, and how they correspond."""

from __future__ import annotations

from collections.abc import Mapping

from insync.conformance.quorum.correspondence import Correspondence
from insync.conformance.quorum.kraft_beside import KraftBeside
from insync.kafka.quorum.kraft import Kraft
from insync.model import Model

__all__ = ["AS_KAFKA", "QUORUM_WALKS", "correspondence_of", "quorum_model"]

AS_KAFKA: Mapping[str, str] = {"timeouts": "kafka", "answers": "awaited", "leader_change": "on", "hearing": "kafka"}
"""The settings with which the model does as Kafka before pre-votes."""

QUORUM_WALKS: Mapping[str, int | str] = {"servers": 3, "records": 2, "elections": 3, "restarts": 2, **AS_KAFKA}
"""The bounds of the random walks."""


def quorum_model(given: Mapping[str, int | str]) -> Model:
    """Return the model of the walks, with these bounds in place of its own."""
    return Kraft(**{**QUORUM_WALKS, **given})


def correspondence_of(model: Model, version: str) -> Correspondence:
    """Return how a model corresponds to a release.

    Raises:
        TypeError: the model is not one of the quorum that is compared.
    """
    if isinstance(model, Kraft):
        return KraftBeside(model, version)
    message = f"{model.name} is not compared with Kafka's quorum"
    raise TypeError(message)
