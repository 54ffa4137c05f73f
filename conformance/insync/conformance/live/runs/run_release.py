"""The releases by whose rules a run may be compared with the model."""

from __future__ import annotations

from insync.conformance.live.runs.run_events import BrokerRun
from insync.kafka.releases import Release, release_of, release_of_series
from insync.runtime.errors import UserError

__all__ = ["release_of_run", "releases_to_try"]

_OLDEST = Release.V3_3
"""The first that keeps its metadata in a log, where every decision of a run is read."""


def releases_to_try() -> list[Release]:
    """Return the releases that a run may come from: those of KRaft, one for each set of rules."""
    return [release for release in Release if not release.is_before(_OLDEST) and release.same_since is release]


def release_of_run(run: BrokerRun, asked: Release | None = None) -> Release:
    """Return the release whose rules a run is laid beside: the one that is asked for, else its own.

    Args:
        run: the run.
        asked: the release that the user names.

    Raises:
        UserError: the requested release keeps its metadata in ZooKeeper, or the rules of the run's release are unknown.
    """
    if asked is None:
        newest = release_of(run.kafka)
        if release_of_series(run.kafka.split("-")[0]) is not None and not newest.is_before(_OLDEST):
            return newest
        message = (
            f"The run is of Kafka {run.kafka}, and the model has the rules of Kafka with KRaft from {_OLDEST.value} to "
            f"{list(Release)[-1].value}. Name the release to compare it with by --release, or give --infer-release."
        )
        raise UserError(message)
    if asked.is_before(_OLDEST):
        message = (
            f"Kafka {asked.value} keeps its metadata in ZooKeeper, and the run is one of KRaft (Kafka {run.kafka}), so "
            f"its rules say nothing of it. Give a release from {_OLDEST.value} on."
        )
        raise UserError(message)
    return asked
