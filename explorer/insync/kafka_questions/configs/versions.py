"""The release, the features and the kind of controller that files show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release, release_of_series
from insync.kafka_questions.configs.entries import (
    ELR_FEATURE,
    FINALIZED,
    KRAFTS,
    METADATA_VERSION,
    VERSION,
    ZOOKEEPERS,
    Declared,
)
from insync.runtime.errors import UserError

__all__ = [
    "BY_ZOOKEEPER",
    "KRAFT_KEYS",
    "PROTOCOL",
    "Settings",
    "has_elr",
    "least_release",
    "refuse_unlikely_migration",
    "releases_said",
    "why_zookeepers",
    "without_features",
    "without_offered_versions",
]


Settings = Mapping[str, int | str]
_FEATURES = (ELR_FEATURE, METADATA_VERSION)


def refuse_unlikely_migration(zookeeper: Declared, found: Sequence[Declared], given: Settings) -> None:
    """Refuse a migration from ZooKeeper to KRaft if the release is missing, or cannot migrate.

    Args:
        zookeeper: the entry that names ZooKeeper, beside others of KRaft.
        found: the entries.
        given: the settings of the command line.

    Raises:
        UserError: no release is given, or one from 4.0 on.
    """
    releases = releases_said(found, given)
    both = f"{zookeeper.place}: zookeeper.connect is set beside settings of KRaft, as in a migration from ZooKeeper"
    if not releases:
        message = f"{both}, and no file says the release; give --release, up to 3.9."
        raise UserError(message)
    if later := [one.value for one in releases if not one.is_before(Release.V4_0)]:
        message = f"{both}, and Kafka {later[0]} has none; give --release up to 3.9."
        raise UserError(message)


def releases_said(found: Sequence[Declared], given: Settings) -> list[Release]:
    """Return the release of the command line, or else the modelled releases in files."""
    if "release" in given:
        return [Release(given["release"])]
    said = (release_of_series(one.value) for one in found if one.key == VERSION)
    return [one for one in said if one is not None]


def without_features(found: Sequence[Declared]) -> tuple[list[Declared], list[str]]:
    """Return the entries without features that a file sets like settings, and sentences on these.

    A feature is a record of the controller. A setting with its name, of a node or of a topic, has no effect.
    """
    ignored = [one for one in found if one.key in _FEATURES and one.scope != FINALIZED]
    said = [
        f"{one.place}: {one.key} is a feature, and has no effect in a file; kafka-features shows and changes it."
        for one in ignored
    ]
    return [one for one in found if one not in ignored], list(dict.fromkeys(said))


def least_release(found: Sequence[Declared], given: Settings) -> Declared | None:
    """Return the release of the inter-broker protocol, the oldest that brokers can have, if no file has a release.

    Releases from 4.0 on have no such setting.
    """
    if "release" in given or any(one.key == VERSION for one in found):
        return None
    for one in found:
        series = re.match(r"0\.\d+(?:\.\d+)?|\d+\.\d+", one.value)
        if one.key == PROTOCOL and series is not None and release_of_series(series[0]) is not None:
            return Declared(None, VERSION, series[0], one.place, scope=one.scope)
    return None


def without_offered_versions(found: list[Declared]) -> list[Declared]:
    """Return the entries; if a cluster of Amazon MSK has a version, without the versions of its configuration."""
    if not any(one.key == VERSION and one.scope.startswith("aws_msk_cluster") for one in found):
        return found
    versions = (VERSION, KRAFTS, ZOOKEEPERS)
    return [one for one in found if not (one.key in versions and one.scope.startswith("aws_msk_configuration"))]


BY_ZOOKEEPER = "zookeeper.connect is set and process.roles is not, so the controller is ZooKeeper's"
"""The reason that shows for certain that the controller is ZooKeeper's."""

PROTOCOL = "inter.broker.protocol.version"
KRAFT_KEYS = ("process.roles", "controller.quorum.voters", "controller.quorum.bootstrap.servers", KRAFTS)


def why_zookeepers(said: Mapping[str, Declared]) -> str:
    """Return why the controller is, or may be, ZooKeeper's; empty if no entry shows that."""
    if "zookeeper.connect" in said:
        return BY_ZOOKEEPER
    if ZOOKEEPERS in said:
        return f"{said[ZOOKEEPERS].value}, so the controller may be ZooKeeper's"
    if PROTOCOL in said:
        set_to = f"{PROTOCOL}={said[PROTOCOL].value} is set and process.roles is not"
        return f"{set_to}, so the controller may be ZooKeeper's"
    return ""


def has_elr(found: Sequence[Declared], given: Settings) -> bool:
    """Return whether eligible leader replicas are on; by default they are if new clusters of the release have them."""
    said = {"elr": given["elr"]} if "elr" in given else {}
    if releases := releases_said(found, given):
        said["release"] = releases[0].value
    if levels := [int(one.value) for one in found if one.key == ELR_FEATURE and one.value.isdecimal()]:
        said.setdefault("elr", "on" if levels[0] else "off")
    return bool(Cluster(**said).features.elr)
