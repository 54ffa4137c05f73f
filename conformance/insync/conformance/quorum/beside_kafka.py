"""Which model of the quorum is walked beside which release of Kafka, with which bounds, and how they correspond."""

from __future__ import annotations

from collections.abc import Mapping

from insync.conformance.quorum.correspondence import Correspondence, asks_pre_votes
from insync.conformance.quorum.kraft_beside import KraftBeside
from insync.conformance.quorum.members_beside import MembersBeside
from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.kraft_853 import Kraft853
from insync.model import Model

__all__ = [
    "AS_KAFKA",
    "MEMBERS_AS_KAFKA",
    "MEMBER_TOUR",
    "MEMBER_WALKS",
    "QUORUM_TOUR",
    "QUORUM_WALKS",
    "correspondence_of",
    "quorum_model",
]

AS_KAFKA: Mapping[str, str] = {"timeouts": "kafka", "answers": "awaited", "leader_change": "on", "hearing": "kafka"}
"""The settings with which `kraft` does as Kafka before pre-votes."""

QUORUM_WALKS: Mapping[str, int | str] = {
    "servers": 3,
    "records": 2,
    "elections": 3,
    "restarts": 2,
    "resignations": 1,
    **AS_KAFKA,
}
"""The bounds of the random walks."""

QUORUM_TOUR: Mapping[str, int | str] = {
    "servers": 2,
    "records": 1,
    "elections": 2,
    "restarts": 0,
    "resignations": 0,
    **AS_KAFKA,
}
"""The bounds of the tour."""

MEMBERS_AS_KAFKA: Mapping[str, str] = {
    "answers": "awaited",
    **dict.fromkeys(("hearing", "ballots", "counting", "leaving"), "kafka"),
}
"""The settings with which the model of voters that come and go does as Kafka before pre-votes, and takes them."""

MEMBER_WALKS: Mapping[str, int | str] = {"servers": 2, "records": 1, "restarts": 1, "additions": 0, **MEMBERS_AS_KAFKA}
"""The bounds of the random walks in which voters come and go."""

MEMBER_TOUR: Mapping[str, int | str] = {**MEMBER_WALKS, "restarts": 0}
"""The bounds of the tour in which voters come and go."""

_ELECTIONS = 1


def quorum_model(version: str, given: Mapping[str, int | str], *, tour: bool = False) -> Model:
    """Return the model to compare, with the rules of a release: where voters come or go `kraft_853`, else `kraft`.

    `kraft_853` begins with a leader. One of its servers is no voter at first where voters are added.

    Args:
        version: the release.
        given: bounds and settings in place of its own.
        tour: whether its own bounds are those of the tour, and not those of the walks.

    Raises:
        BoundsError: a bound is out of range, or the model has none of that name.
    """
    pre_votes = "on" if asks_pre_votes(version) else "off"
    if not {"additions", "removals"} & given.keys():
        return Kraft(**{**(QUORUM_TOUR if tour else QUORUM_WALKS), "pre_votes": pre_votes, **given})
    chosen = {**(MEMBER_TOUR if tour else MEMBER_WALKS), **given}
    elections = int(chosen.pop("elections", _ELECTIONS))
    if chosen.items() >= MEMBERS_AS_KAFKA.items():  # with rules as published they are part of the timeout
        chosen = {"pre_votes": pre_votes, **chosen}
    return Kraft853(**chosen, epochs=elections + 1, spares=min(1, int(chosen["additions"])))


def correspondence_of(model: Model, version: str) -> Correspondence:
    """Return how a model corresponds to a release.

    Raises:
        TypeError: the model is not one of the quorum that is compared.
    """
    if isinstance(model, Kraft):
        return KraftBeside(model)
    if isinstance(model, Kraft853):
        return MembersBeside(model, version)
    message = f"{model.name} is not compared with Kafka's quorum"
    raise TypeError(message)
