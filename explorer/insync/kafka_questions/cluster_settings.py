"""The settings of the clusters that an answer is about: those of the command line, and of files with their topics.

Settings of the command line override those of files. The controller may be ZooKeeper's, which treats unclean elections
in another way, and a topic may have more replicas than the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from insync.kafka.cluster.configuration import BOUNDS
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.kafka_questions.configs.reading import Configured
from insync.kafka_questions.configs.versions import BY_ZOOKEEPER
from insync.kafka_questions.controllers import heeding_unclean, unclean_by_default
from insync.kafka_questions.question import Given
from insync.runtime.errors import UserError

__all__ = ["SIZES", "Asked", "settings_asked", "within_the_model"]


@dataclass(frozen=True, slots=True)
class Asked:
    """The settings of a cluster for an answer, where each comes from, and the topics that have them.

    Attributes:
        settings: the settings, under the names of the model.
        version: the release as the command line or a file writes it, such as 3.9.2; empty for that of the settings.
        origins: where each setting comes from; one that is missing is assumed.
        topics: the topics; empty without files.
        assumes_kraft: whether KRaft's controller is assumed because neither files nor options say which one it is.
        remarks: what the files leave open.
    """

    settings: Given
    version: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)
    topics: Sequence[str] = ()
    assumes_kraft: bool = False
    remarks: Sequence[str] = ()


SIZES = {"replicas": "a replication factor", "min_insync_replicas": "min.insync.replicas"}


def settings_asked(stronger: Mapping[str, int | str], version: str, configured: Configured | None) -> list[Asked]:
    """Return the settings of the command line, or each combination of settings in files, overridden by these.

    Args:
        stronger: the settings of the command line.
        version: the release as the command line gives it; empty for that of the files.
        configured: the contents of the files; None without files.
    """
    of_command = dict.fromkeys(stronger, "the command line")
    if configured is None:
        settings = dict(stronger)
        if int(settings.get("replicas", 3)) < 2:  # the default of 2 would refuse all writes
            settings.setdefault("min_insync_replicas", 1)
        if "release" in settings and (unclean := unclean_by_default(str(settings["release"]))) == "on":
            settings.setdefault("unclean_leader_election", unclean)
        remark = _of_zookeeper("", settings, first=True)
        return [Asked(settings, version, of_command, assumes_kraft=True, remarks=remark)]
    remarks = list(configured.remarks)
    found = []
    for number, one in enumerate(configured.combinations):
        settings = dict(one.settings)
        if "partition_zero_replicas" in settings:  # beyond the largest number in the model nothing changes
            settings["partition_zero_replicas"] = min(
                int(settings["partition_zero_replicas"]), BOUNDS["partition_zero_replicas"].highest
            )
            of_elr = {name: settings[name] for name in ("release", "elr") if name in settings}
            if not Cluster(**of_elr).features.elr:  # has no effect without eligible leader replicas
                del settings["partition_zero_replicas"]
        told = list(remarks) if number == 0 else []
        if number == 0 and "release" not in settings and not any("give --release" in said for said in told):
            usual = Cluster().b.settings.release.value
            told.insert(0, f"No file says the release, and the answer is for Kafka {usual}: give --release.")
        if not configured.in_kraft:
            told += _of_zookeeper(configured.in_zookeeper, settings, first=number == 0)
        unsaid = not (configured.in_kraft or configured.in_zookeeper)
        origins = {**one.origins, **of_command}
        found.append(Asked(settings, version or configured.version, origins, one.topics, unsaid, told))
    return found


def within_the_model(asked: Sequence[Asked]) -> list[Asked]:
    """Return the settings that fit into the model; the first have a remark on each that is left out.

    Raises:
        UserError: none fit.
    """
    kept = [one for one in asked if not list(_too_large(one.settings))]
    most = f"at most {BOUNDS['replicas'].highest} replicas"
    if not kept:
        name = next(_too_large(asked[0].settings))
        option = f"--{name.replace('_', '-')} {BOUNDS[name].highest}"
        said = f"{SIZES[name]} of {asked[0].settings[name]} ({asked[0].origins.get(name, '')})"
        message = f"The model has {most}, so there is no answer for {said}; {option} gives the nearest one."
        raise UserError(message)
    left_out = [
        f"Left out: {', '.join(one.topics)}, with {SIZES[name]} of {one.settings[name]} "
        f"({one.origins.get(name, '')}); the model has {most}."
        for one in asked
        for name in _too_large(one.settings)
    ]
    if not left_out:
        return kept
    first = [remark for one in asked if one not in kept for remark in one.remarks]
    kept[0] = replace(kept[0], remarks=[*left_out, *first, *kept[0].remarks])
    return kept


def _too_large(settings: Mapping[str, int | str]) -> Iterator[str]:
    """Yield the names of the numbers that exceed the bounds of the model."""
    return (name for name in SIZES if int(settings.get(name, 1)) > BOUNDS[name].highest)


def _of_zookeeper(why: str, settings: dict[str, int | str], *, first: bool) -> list[str]:
    """Return the remarks about a cluster whose controller may be ZooKeeper's.

    ZooKeeper's controller heeds unclean.leader.election.enable. Where KRaft's controller would ignore it, the settings
    are changed so that the model heeds it too.

    Args:
        why: why the controller is, or may be, ZooKeeper's; empty if neither files nor options say which one it is.
        settings: the settings, which are changed.
        first: whether they are the first of several.

    Raises:
        UserError: the controller is ZooKeeper's, and the release is not given or has no ZooKeeper.
    """
    if why and "release" not in settings:
        message = (
            f"{why}, and no file says the release; give --release, such as 3.6, as 4.0 and later have no ZooKeeper."
        )
        raise UserError(message)
    model = Cluster(**{name: settings[name] for name in ("release",) if name in settings})
    release = model.b.settings.release.value
    if why and not model.b.settings.release.is_before(Release.V4_0):
        if why == BY_ZOOKEEPER:
            message = (
                f"{why}, and Kafka {release} has none; give --release up to 3.9, or the file of a node with "
                "process.roles."
            )
            raise UserError(message)
        why = ""
    heeding = heeding_unclean(settings)
    heeds = heeding != settings
    settings.update(heeding)
    remarks = []
    if why and first and not model.rules.controller_in_zookeeper:
        but = ", but for unclean elections" if heeds else ""
        said = f"{why}; the answer is for KRaft's controller, which the model has for Kafka {release}{but}."
        remarks.append(f"{said} The model has ZooKeeper's controller up to 3.2.")
    if heeds:
        unsaid = "" if why else "No file says whether the controller is KRaft's. "
        instead = "" if why else "; for that give --unclean-leader-election off"
        remarks.append(
            f"{unsaid}For unclean elections the answer is that of ZooKeeper's controller, which heeds "
            f"unclean.leader.election.enable; KRaft's of Kafka {release} ignores it (KAFKA-12670, 3.9){instead}."
        )
    return remarks
