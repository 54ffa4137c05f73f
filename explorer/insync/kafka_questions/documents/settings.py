"""The settings that an answer is about, by their names in Kafka: where each comes from, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence

from insync.explorer.documents.text import warning_lines, wrapped
from insync.explorer.traces.grid import Paint
from insync.kafka.cluster.configuration import Flushing
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.kafka_questions.cluster_settings import Asked
from insync.kafka_questions.configs.precedence import EVERY_OTHER
from insync.kafka_questions.controllers import in_both
from insync.kafka_questions.question import Given, in_a_line

__all__ = [
    "SETTING_NAMES",
    "deciding",
    "describe_head",
    "describe_head_of_many",
    "describe_settings",
    "places_of",
    "settings_in_a_line",
    "settings_shared",
    "topics_in_short",
]


_MOST_TOPICS = 8
_MOST_WARNED = 6


SETTING_NAMES = {
    "release": "Kafka",
    "replicas": "replication factor",
    "min_insync_replicas": "min.insync.replicas",
    "acks": "acks",
    "unclean_leader_election": "unclean.leader.election.enable",
    "elr": "eligible.leader.replicas.version",
    "flush": "flush.messages",
}
_VALUES = {
    "unclean_leader_election": {"on": "true", "off": "false"},
    "elr": {"on": "1", "off": "0"},
    "flush": {"always": "1", "never": "default", "sometimes": "some"},
}


def describe_settings(settings: Given) -> str:
    """Return settings by their names in Kafka."""
    said = []
    for name, value in settings.items():
        shown = _VALUES.get(name, {}).get(str(value), value)
        equals = " " if name in ("release", "replicas") else "="
        said.append(f"{SETTING_NAMES.get(name, name)}{equals}{shown}")
    return ", ".join(said)


def describe_head(asked: Asked, model: Cluster, paint: Paint, width: int, *, whole: bool = True) -> str:
    """Return the settings, where each comes from, and the warnings about them.

    Args:
        asked: the settings, and where each comes from.
        model: the cluster.
        paint: how to color.
        width: the greatest width of a line.
        whole: whether warnings may fill more than their share of a first screen.
    """
    lines = wrapped(settings_in_a_line(asked, model), width)
    if asked.topics and tuple(asked.topics) != (EVERY_OTHER,):
        lines += wrapped(f"topics: {topics_in_short(asked)}", width)
    lines += wrapped(_origins(asked, model), width)
    return "\n".join([*lines, *_warned([*asked.remarks, *_about(model)], paint, width, whole=whole)])


def describe_head_of_many(asked: Sequence[Asked], models: Sequence[Cluster], paint: Paint, width: int) -> str:
    """Return the head of an answer for several combinations: how many there are, and which settings they share."""
    release = ", ".join(dict.fromkeys(_release(one, model) for one, model in zip(asked, models, strict=True)))
    lines = [f"Kafka {release}: {len(asked)} combinations of settings, the worst first"]
    every = [_assumed(one, model) for one, model in zip(asked, models, strict=True)]
    said = places_of(asked[0], settings_shared(asked, models))
    if assumed := list(dict.fromkeys(name for one in every for name in one)):
        said.append(f"assumed: {', '.join(assumed)}")
    lines += wrapped("; ".join(said), width)
    of_files = [remark for one in asked for remark in one.remarks]
    remarks = list(dict.fromkeys([*of_files, *(remark for model in models for remark in _about(model))]))
    return "\n".join([*lines, *_warned(remarks, paint, width, whole=False)])


def settings_shared(asked: Sequence[Asked], models: Sequence[Cluster]) -> list[str]:
    """Return the names of the settings that come from the same place in all combinations."""
    names = dict.fromkeys(name for model in models for name in deciding(model))
    return [name for name in names if name in asked[0].origins and len({one.origins.get(name) for one in asked}) == 1]


def _about(model: Cluster) -> list[str]:
    """Return the warnings about settings, without the one on the rules of the release, which the head names."""
    release = model.b.settings.release.value
    return [one for one in model.remarks() if not one.startswith(f"Kafka {release} has the rules of ")]


def _warned(remarks: Sequence[str], paint: Paint, width: int, *, whole: bool) -> list[str]:
    """Return the lines of warnings; unless `whole` only those that fit into their share of a first screen."""
    lines = list[str]()
    for number, remark in enumerate(remarks):
        new = warning_lines([remark], paint, width)
        if not whole and number and len(lines) + len(new) > _MOST_WARNED:
            return [*lines, *warning_lines([f"{len(remarks) - number} more (--details)"], paint, width)]
        lines += new
    return lines


def topics_in_short(asked: Asked, most: int = _MOST_TOPICS) -> str:
    """Return the names of the first topics, and how many more there are."""
    more = len(asked.topics) - most
    return ", ".join(asked.topics[:most]) + (f" and {more} more" if more > 0 else "")


def _release(asked: Asked, model: Cluster) -> str:
    release = model.b.settings.release.value
    version = asked.version or release
    return version if version in (release, f"{release}.0") else f"{version} (same rules as {release})"


def settings_in_a_line(asked: Asked, model: Cluster) -> str:
    """Return the deciding settings in one line."""
    return f"Kafka {_release(asked, model)}, {in_a_line(model)}"


_SHORT = {"release": "release", "replicas": "RF", "unclean_leader_election": "unclean election", "elr": "ELR"}


def _origins(asked: Asked, model: Cluster) -> str:
    """Return where the settings come from, those with the same source together."""
    said = places_of(asked, deciding(model))
    if assumed := _assumed(asked, model):
        said.append(f"assumed: {', '.join(assumed)}")
    return "; ".join(said)


def places_of(asked: Asked, names: Sequence[str]) -> list[str]:
    """Return each place that settings come from, with their names; settings without a place are left out."""
    by_place: dict[str, list[str]] = {}
    for name in names:
        if name in asked.origins:
            by_place.setdefault(asked.origins[name], []).append(_SHORT.get(name, SETTING_NAMES[name]))
    return [f"{place}: {', '.join(names)}" for place, names in by_place.items()]


def _assumed(asked: Asked, model: Cluster) -> list[str]:
    """Return the names of the settings that are assumed."""
    default = "Kafka's default" if model.b.min_insync_replicas == 1 else "Kafka's default is 1"
    fewest = f"min.insync.replicas={model.b.min_insync_replicas} ({default})"
    of_producers = "acks=all (1 by default in producers before 3.0, KIP-679)"
    acks = of_producers if model.b.settings.release.is_before(Release.V3_0) else "acks=all"
    named = {**SETTING_NAMES, **_SHORT, "elr": "ELR as in a new cluster", "min_insync_replicas": fewest, "acks": acks}
    assumed = [named[name] for name in deciding(model) if name not in asked.origins]
    return assumed + (["KRaft"] if asked.assumes_kraft and in_both(model) else [])


def deciding(model: Cluster) -> list[str]:
    """Return the names of the settings on which the answer for a cluster depends."""
    release: Release = model.b.settings.release
    left_out = {"elr"} if release.is_before(Release.V4_0) else set()
    left_out |= {"flush"} if model.flushing is Flushing.NEVER else set()
    return [name for name in SETTING_NAMES if name not in left_out]
