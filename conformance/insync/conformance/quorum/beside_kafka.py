"""Under which bounds the model of the quorum is walked beside a release of Kafka."""

from __future__ import annotations

from collections.abc import Mapping

from insync.kafka.quorum.kraft import Kraft
from insync.kafka.releases import release_of

__all__ = ["CHANGING_TOUR", "CHANGING_WALKS", "QUORUM_TOUR", "QUORUM_WALKS", "quorum_model"]

QUORUM_WALKS: Mapping[str, int] = {"servers": 3, "records": 2, "elections": 3, "restarts": 2, "resignations": 1}
"""The bounds of the random walks."""

QUORUM_TOUR: Mapping[str, int] = {"servers": 2, "records": 1, "elections": 2, "restarts": 0, "resignations": 0}
"""The bounds of the tour."""

CHANGING_WALKS: Mapping[str, int] = {"servers": 2, "records": 1, "elections": 2, "restarts": 1, "resignations": 1}
"""The bounds of the random walks in which voters come and go."""

CHANGING_TOUR: Mapping[str, int] = {**CHANGING_WALKS, "elections": 1, "restarts": 0, "resignations": 0}
"""The bounds of the tour in which voters come and go."""


def quorum_model(version: str, given: Mapping[str, int | str], *, tour: bool = False) -> Kraft:
    """Return the model to compare, with the rules of a release.

    Where voters come or go it begins with a leader, and one of its servers is no voter at first where voters are added.

    Args:
        version: the release.
        given: bounds and settings in place of its own.
        tour: whether its own bounds are those of the tour, and not those of the walks.

    Raises:
        BoundsError: a bound is out of range, or the model has none of that name.
    """
    release = release_of(version).value
    if not {"additions", "removals"} & given.keys():
        return Kraft(**{**(QUORUM_TOUR if tour else QUORUM_WALKS), "release": release, **given})
    spare = min(1, int(given.get("additions", 0)))
    own = CHANGING_TOUR if tour else CHANGING_WALKS
    return Kraft(**{**own, "spare_servers": spare, "release": release, **given})
