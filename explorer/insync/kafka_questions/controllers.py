"""Whose the controller is: from 3.3 to 3.8 ZooKeeper's and KRaft's differ in who may be elected uncleanly.

KRaft's controller ignored unclean.leader.election.enable until 3.9 (KAFKA-12670), and ZooKeeper's never did.
"""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.kafka_questions.question import Given

__all__ = ["heeding_unclean", "in_both", "unclean_by_default"]

_UNCLEAN_IGNORED = "R-53"


def heeding_unclean(settings: Given) -> Given:
    """Return settings with which the controller heeds unclean.leader.election.enable, as ZooKeeper's does.

    They promise no more than those of KRaft's controller, so they are the answer where nothing says whose it is.
    """
    model = Cluster(**{name: settings[name] for name in ("release", "unclean_leader_election") if name in settings})
    if not model.b.settings.unclean_leader_election or model.rules.unclean_is_honoured or "defect" in settings:
        return settings
    return {**settings, "defect": _UNCLEAN_IGNORED, "fixed": "alone"}


def unclean_by_default(release: str) -> str:
    """Return Kafka's default of unclean.leader.election.enable, which was true before 0.11 (KIP-106)."""
    return "on" if Release(release).is_before(Release.V0_11) else "off"


def in_both(model: Cluster) -> bool:
    """Return whether clusters of its release are of both kinds; its controller is KRaft's in the model."""
    release: Release = model.b.settings.release
    return not model.rules.controller_in_zookeeper and release.is_before(Release.V4_0)
