"""What Kafka's tools print: `kafka-topics`, `kafka-configs` and `kafka-features` with `describe`, in any order.

A session may be pasted as it is: prompts with commands, comments, and notices of Java and its logging are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from insync.kafka_questions.configs.entries import (
    ELR_FEATURE,
    FINALIZED,
    KRAFTS,
    METADATA_VERSION,
    NOTHING,
    PARTITION,
    SHOWN,
    VERSION,
    Declared,
    Place,
    Source,
    mistake,
)
from insync.runtime.errors import UserError

__all__ = ["PartitionsSeen", "is_printed", "printed_in"]

_FIELDS = (
    "TopicId|PartitionCount|ReplicationFactor|Configs|Partition|Leader|Replicas|Isr|Offline|Adding Replicas"
    "|Removing Replicas|Elr|LastKnownElr|MarkedForDeletion"
)
_BETWEEN = re.compile(rf"(?<!Adding)(?<!Removing)\s+(?=(?:{_FIELDS}):)")
_NEXT_CONFIG = re.compile(r",(?=[a-z][a-z0-9.]*\.[a-z0-9.]+=)")
_CURE = "give its output as it is, without other lines"
_BELOW = "give its output as it is, each setting on a line below its heading"
_ENDS_SETTING = re.compile(r"\ssensitive=(?:true|false)\b")
_TOPIC = re.compile(r"\s*Topic:")
_HEADING = re.compile(
    r"(?P<kind>Dynamic configs|All configs|Default configs?|Configs|Quota configs|\w+ configs) for (?:the )?"
    r"(?:(?P<default>default )?(?P<entity>topic|broker)s?(?:[ :](?P<name>\S+)| in the cluster)?|\S.*) are:?(?P<rest>.*)"
)
_SETTING = re.compile(
    r"(?P<key>[A-Za-z0-9._\-]+)=(?P<value>.*?)(?:\s+sensitive=(?:true|false)\b(?:\s+synonyms=\{(?P<first>\w+)?(?P<synonyms>.*))?.*)?"
)
_FEATURE = re.compile(
    r"\s*Feature:\s*(?P<name>\S+)\s+SupportedMinVersion:\s*\S+\s+SupportedMaxVersion:\s*(?P<most>\S+(?: \[\d+\])?)\s+"
    r"FinalizedVersionLevel:\s*(?P<level>\S+).*"
)
_DEFAULT_PROTOCOL = re.compile(r"DEFAULT_CONFIG:inter\.broker\.protocol\.version=(\d+\.\d+)")
"""By default brokers before 4.0 speak the newest version of their release, whatever is set."""
_SKIPPED = re.compile(
    r"\s*(?:#.*|```.*|-{3,}|={3,}"
    r"|\d+\.\d+\.\d+\S*(?: \(Commit:\w+\))?"  # of --version: that of the tool, which brokers need not have
    r"|Defaulted container .*|Unable to use a TTY.*|If you don't see a command prompt.*"  # of kubectl
    r"|[a-z.]+\.version=\d+(?: \(\S+\))?"  # of version-mapping
    r"|\[\d{4}-\d\d-\d\d.*|\d{4}-\d\d-\d\d[T ].*|Picked up .*|OpenJDK .*|Java HotSpot.*|WARNING: .*|SLF4J.*|log4j:.*)"
)
_COMMAND = re.compile(
    r"\s*(?:I have no name!.*[$#>].*"
    r"|(?:PS )?\S*[$%>]\s.*|[^\s=]*>\S.*|[^\s=:]+@\S+.*[$#>].*|\[[^\]]*@[^\]]*\].*"  # prompts of shells
    r"|(?:\./|/|bin/|\S*/)?kafka-[a-z-]+(?:\.sh|\.bat)?\s.*)"
)
"""A command, after which nothing belongs to what stands above it."""
_SOURCES = {
    "DYNAMIC_BROKER_CONFIG": Source.BROKER,
    "DYNAMIC_DEFAULT_BROKER_CONFIG": Source.CLUSTER,
    "STATIC_BROKER_CONFIG": Source.STATIC,
    "DEFAULT_CONFIG": Source.KAFKA,
}


@dataclass(slots=True)  # not frozen: filled while lines are read
class PartitionsSeen:
    """The partitions of a topic in a file.

    Attributes:
        wanted: how many the topic has, if its own line is there.
        seen: their numbers.
        leaderless: the numbers of those without a leader.
        shrunk: the size of the ISR and the number of replicas of each other partition whose ISR lacks replicas.
        without_elr: the numbers of those whose list of eligible leader replicas is shown and empty.
    """

    wanted: int | None = None
    seen: list[int] = field(default_factory=list)
    leaderless: list[int] = field(default_factory=list)
    shrunk: dict[int, tuple[int, int]] = field(default_factory=dict)
    without_elr: list[int] = field(default_factory=list)


def is_printed(lines: Sequence[str]) -> bool:
    """Return whether any line is one of the tools'."""
    return any(_TOPIC.match(line) or _HEADING.fullmatch(line.strip()) or _FEATURE.fullmatch(line) for line in lines)


def printed_in(file: str, lines: Sequence[str], seen: dict[str, PartitionsSeen] | None = None) -> Iterator[Declared]:
    """Yield every setting, the replication factor of each topic, and the number of replicas of each partition.

    Args:
        file: the name of the file.
        lines: its lines.
        seen: receives the partitions of each topic.

    Raises:
        UserError: a line is none of the tools'.
    """
    seen = {} if seen is None else seen
    heading: re.Match[str] | None = None
    features: dict[str, Place] = {}
    continues = False
    what = "kafka-topics" if any(_TOPIC.match(line) for line in lines) else "kafka-configs"
    for number, line in enumerate(lines, start=1):
        place, text = Place(file, number), line.strip()
        if not text or continues:
            continues = continues and text.endswith("\\")
            continue
        if _TOPIC.match(line):
            heading = None
            yield from _topic_line(place, text, seen)
        elif (feature := _FEATURE.fullmatch(line)) is not None:
            heading = None
            features[feature["name"]] = place
            yield from _feature(place, feature)
        elif (found := _HEADING.fullmatch(text)) is not None:
            heading = found
            yield from _settings(place, found, found["rest"].strip())
        elif _COMMAND.fullmatch(line):
            heading, continues = None, text.endswith("\\")
        elif heading is not None and _SETTING.fullmatch(text) is not None and not _SKIPPED.fullmatch(line):
            yield from _settings(place, heading, text)
        elif not _SKIPPED.fullmatch(line):
            if heading is None and _ENDS_SETTING.search(text):
                shown = text.partition(" sensitive=")[0]
                message = (
                    f"{place}: {shown} has no heading above it that says whose it is; give the output of kafka-configs "
                    "as it is, as grep leaves headings out."
                )
                raise UserError(message)
            cure = _CURE if heading is None else _BELOW
            raise mistake(place, text, f"a line of {what if heading is None else 'kafka-configs'} --describe", cure)
    if features and ELR_FEATURE not in features:  # a feature that is not finalized is not in force
        yield Declared(None, ELR_FEATURE, "0", next(iter(features.values())), Source.CLUSTER, FINALIZED)


def _feature(place: Place, feature: re.Match[str]) -> Iterator[Declared]:
    if feature["name"] == ELR_FEATURE:
        yield Declared(None, ELR_FEATURE, feature["level"], place, Source.CLUSTER, FINALIZED)
    if feature["name"] == METADATA_VERSION:
        yield Declared(None, KRAFTS, feature["level"], place)
        known = re.match(r"\d+\.\d+", feature["most"])
        most = f"{feature['most']}, finalized {feature['level']}" if known is None else known[0]
        yield Declared(None, VERSION, most, place, Source.KAFKA)
        if (level := re.match(r"\d+\.\d+", feature["level"])) is not None and level[0] != most:
            yield Declared(None, METADATA_VERSION, level[0], place, Source.CLUSTER, FINALIZED)


def _settings(place: Place, heading: re.Match[str], text: str) -> Iterator[Declared]:
    """Yield the setting of a line below a heading, or all those that older tools print on its own line."""
    if heading["entity"] is None:
        return
    named = heading["entity"] == "topic"
    name = heading["name"].strip("'\"") if heading["name"] else None
    if name is not None and name != "<default>" and not text:  # it may set nothing itself
        of_topic = (name, Source.TOPIC, "") if named else (None, Source.BROKER, f"broker {name}")
        yield Declared(of_topic[0], NOTHING, "", place, *of_topic[1:])
    for pair in _NEXT_CONFIG.split(text) if text else ():
        setting = _SETTING.fullmatch(pair.strip())
        if setting is None:
            raise mistake(place, pair, "a line of kafka-configs --describe", _BELOW)
        if named and name is not None:
            source = Source.TOPIC
        elif heading["kind"].startswith("Default") or heading["default"] or name == "<default>":
            source = Source.CLUSTER
        else:
            source = _SOURCES.get(setting["first"] or "", Source.BROKER)
        scope = f"broker {name}" if name is not None and not named else ""
        if (release := _DEFAULT_PROTOCOL.search(f"{setting['first']}{setting['synonyms']}")) is not None:
            yield Declared(None, VERSION, release[1], place, Source.KAFKA, scope)
        yield Declared(name if named else None, setting["key"], setting["value"].strip(), place, source, scope)


def _topic_line(place: Place, line: str, seen: dict[str, PartitionsSeen]) -> Iterator[Declared]:
    # Fields are separated by a tab, which a terminal or an editor may have turned into spaces.
    pairs = (field.partition(":") for field in _BETWEEN.split(line))
    fields = {name: value.strip() for name, _, value in pairs}
    topic = fields.get("Topic")
    if not topic or not ("ReplicationFactor" in fields or "Partition" in fields):
        raise mistake(place, line, "a line of kafka-topics --describe", _CURE)
    known = seen.setdefault(topic, PartitionsSeen())
    if (elr := fields.get("Elr", "")) == "N/A":  # the brokers do not answer DescribeTopicPartitions (KIP-966)
        yield Declared(None, ELR_FEATURE, "0", place, Source.KAFKA, FINALIZED)
    elif elr:  # a replica is only there while the feature is on
        yield Declared(None, ELR_FEATURE, "1", place, Source.KAFKA, FINALIZED)
    if "Partition" in fields:
        number = _partition(place, fields)
        known.seen.append(number)
        if fields.get("Leader") in ("-1", "none"):
            known.leaderless.append(number)
        replicas = _replicas(place, fields)
        if number not in known.leaderless and "Isr" in fields and (in_sync := len(_brokers(fields["Isr"]))) < replicas:
            known.shrunk[number] = in_sync, replicas
            if fields.get("Elr") == "":
                known.without_elr.append(number)
        yield Declared(topic, f"{PARTITION}{number}", str(replicas), place, Source.TOPIC)
        return
    if fields.get("PartitionCount", "").isdecimal():
        known.wanted = int(fields["PartitionCount"])
    yield Declared(topic, "ReplicationFactor", fields["ReplicationFactor"], place, Source.TOPIC)
    if "TopicId" in fields:  # from Kafka's Admin, whose Configs leave out only what is at its default (TopicCommand)
        yield Declared(topic, SHOWN, "", place, Source.TOPIC)
    for pair in _NEXT_CONFIG.split(fields.get("Configs", "")):
        if pair:
            name, equals, value = pair.partition("=")
            if not equals:
                raise mistake(place, pair, "a setting", "write it as Kafka does, key=value")
            yield Declared(topic, name.strip(), value.strip(), place, Source.TOPIC)


def _partition(place: Place, fields: dict[str, str]) -> int:
    number = fields["Partition"]
    if not (number.isascii() and number.isdigit()):
        raise mistake(place, number, "the number of a partition", _CURE)
    return int(number)


def _replicas(place: Place, fields: dict[str, str]) -> int:
    """Return the number of replicas without those that a reassignment adds, which is Kafka's replication factor."""
    present = set(_brokers(fields.get("Replicas", ""))) - set(_brokers(fields.get("Adding Replicas", "")))
    if not present:
        raise mistake(place, fields.get("Replicas", ""), "a list of the replicas of a partition", _CURE)
    return len(present)


def _brokers(text: str) -> list[str]:
    return [broker.strip() for broker in text.split(",") if broker.strip()]
