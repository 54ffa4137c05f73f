"""The scenarios, by name."""

from __future__ import annotations

from insync.conformance.live.scenarios.abandoned_copy import ABANDONED_COPY
from insync.conformance.live.scenarios.lost_directory import LOST_DIRECTORY
from insync.conformance.live.scenarios.missed_election import MISSED_ELECTION
from insync.conformance.live.scenarios.missed_truncation import MISSED_TRUNCATION
from insync.conformance.live.scenarios.removed_replica import REMOVED_REPLICA
from insync.conformance.live.scenarios.scenario import Scenario
from insync.conformance.live.scenarios.stale_watermark import STALE_WATERMARK
from insync.model.errors import UserError, closest

__all__ = ["SCENARIOS", "scenario_for"]

SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        MISSED_ELECTION,
        REMOVED_REPLICA,
        LOST_DIRECTORY,
        STALE_WATERMARK,
        MISSED_TRUNCATION,
        ABANDONED_COPY,
    )
}


def scenario_for(name: str, version: str) -> Scenario:
    """Return a scenario that a release can have.

    Raises:
        UserError: there is none of that name, or the release cannot have it.
    """
    found = SCENARIOS.get(name.lower())
    if found is None:
        message = f"{name!r} is no scenario. {closest(name, SCENARIOS)}"
        raise UserError(message)
    if found.elr and version.startswith("3."):
        message = (
            f"{found.name} is about eligible leader replicas, which Kafka {version} has not got. "
            "Take a release from 4.1 on."
        )
        raise UserError(message)
    return found
