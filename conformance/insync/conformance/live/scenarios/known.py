"""The scenarios, by name."""

from __future__ import annotations

from insync.conformance.live.scenarios.abandoned_copy import ABANDONED_COPY
from insync.conformance.live.scenarios.candidate_again import CANDIDATE_AGAIN
from insync.conformance.live.scenarios.failed_directory import FAILED_COPY, FAILED_MEMBER, UNNOTICED_FAILURE
from insync.conformance.live.scenarios.forgotten_change import FORGOTTEN_CHANGE
from insync.conformance.live.scenarios.forgotten_removal import REMOVED_LEADER
from insync.conformance.live.scenarios.lost_directory import LOST_DIRECTORY
from insync.conformance.live.scenarios.missed_election import MISSED_ELECTION, MISSED_ELECTION_THEN_KILL
from insync.conformance.live.scenarios.missed_truncation import MISSED_TRUNCATION
from insync.conformance.live.scenarios.quorum_scenario import QuorumScenario
from insync.conformance.live.scenarios.removed_candidate import REMOVED_CANDIDATE
from insync.conformance.live.scenarios.removed_replica import (
    REMOVED_REPLICA,
    REMOVED_REPLICA_AND_KILL,
    REPLICA_GIVEN_BACK,
    REPLICA_LEFT_ALONE,
)
from insync.conformance.live.scenarios.removed_voter import REMOVED_VOTER
from insync.conformance.live.scenarios.replaced_reassignment import REASSIGNMENT_PUT_BACK, REPLICA_KEPT_BY_THE_SECOND
from insync.conformance.live.scenarios.scenario import Scenario
from insync.conformance.live.scenarios.second_leader import SECOND_LEADER
from insync.conformance.live.scenarios.stale_watermark import STALE_WATERMARK
from insync.runtime.errors import UserError, closest

__all__ = ["QUORUM_SCENARIOS", "SCENARIOS", "any_scenario", "require_known", "scenario_for", "scenario_named"]

SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        MISSED_ELECTION,
        MISSED_ELECTION_THEN_KILL,
        REMOVED_REPLICA,
        REMOVED_REPLICA_AND_KILL,
        LOST_DIRECTORY,
        REPLICA_GIVEN_BACK,
        FORGOTTEN_CHANGE,
        REPLICA_LEFT_ALONE,
        REASSIGNMENT_PUT_BACK,
        REPLICA_KEPT_BY_THE_SECOND,
        STALE_WATERMARK,
        MISSED_TRUNCATION,
        ABANDONED_COPY,
        UNNOTICED_FAILURE,
        FAILED_MEMBER,
        FAILED_COPY,
        REMOVED_LEADER,
    )
}
"""Those of a cluster with brokers."""

QUORUM_SCENARIOS = {
    scenario.name: scenario for scenario in (CANDIDATE_AGAIN, REMOVED_VOTER, REMOVED_CANDIDATE, SECOND_LEADER)
}
"""Those of controllers alone."""


def require_known(name: str) -> None:
    """Refuse a name of no scenario, of a cluster or of controllers alone, before anything is looked for to run it.

    Raises:
        UserError: there is none of that name.
    """
    if name.lower() not in QUORUM_SCENARIOS:
        scenario_named(name)


def any_scenario(name: str, version: str) -> Scenario | QuorumScenario:
    """Return a scenario of a cluster or of controllers alone, which a release can have.

    Raises:
        UserError: there is none of that name, or the release cannot have it.
    """
    found = QUORUM_SCENARIOS.get(name.lower())
    if found is None:
        return scenario_for(name, version)
    if found.pre_votes and version.startswith("3."):
        message = f"{found.name} is about pre-votes, which Kafka {version} has not got. Take a release from 4.0 on."
        raise UserError(message)
    return found


def scenario_named(name: str) -> Scenario:
    """Return a scenario of a cluster by its name, in any case.

    Raises:
        UserError: there is none of that name, or it is one of controllers alone.
    """
    found = SCENARIOS.get(name.lower())
    if name.lower() in QUORUM_SCENARIOS:
        message = f"{name.lower()} runs controllers without brokers. Name a scenario of brokers."
        raise UserError(message)
    if found is None:
        message = f"{name!r} is no scenario. {closest(name, [*SCENARIOS, *QUORUM_SCENARIOS])}"
        raise UserError(message)
    return found


def scenario_for(name: str, version: str) -> Scenario:
    """Return a scenario of a cluster that a release can have.

    Raises:
        UserError: there is none of that name, or the release cannot have it.
    """
    found = scenario_named(name)
    if found.elr and version.startswith("3."):
        message = (
            f"{found.name} is about eligible leader replicas, which Kafka {version} has not got. "
            "Take a release from 4.1 on."
        )
        raise UserError(message)
    return found
