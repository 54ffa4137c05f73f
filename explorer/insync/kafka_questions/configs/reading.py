"""Files that operators have, as settings of the model `cluster` by topic: the kind of each, and what overrides what.

Kafka ranks a topic's own value first, then one that was set on a broker while it ran, then one that was set for the
cluster, then the broker's file, then Kafka's default (DynamicBrokerConfig, `kafka-configs --describe --all`). With
eligible leader replicas on, min.insync.replicas is always set for the cluster: where nobody has set it, the active
controller writes there what its own file says, or Kafka's default. This rests on reading
ActivationRecordsGenerator.recordsForEmptyLog and ConfigurationControlManager.maybeGenerateElrSafetyRecords, 4.0 to 4.3.
"""

from __future__ import annotations

import re
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release, release_of_series
from insync.kafka_questions.configs.documents import documents_in, kinds_in
from insync.kafka_questions.configs.entries import (
    BROKERS,
    CLUSTER,
    ELR_FEATURE,
    FINALIZED,
    KRAFTS,
    MANAGED,
    METADATA_VERSION,
    NAMED,
    NOTHING,
    OTHER_FILE,
    PARTITION,
    SHOWN,
    VERSION,
    ZOOKEEPERS,
    Declared,
    Place,
    Source,
    is_template,
    may_be_kafkas,
    not_filled_in,
    setting_name,
    setting_of,
    weaker,
    with_near_setting,
)
from insync.kafka_questions.configs.ini import ini_in, is_ini
from insync.kafka_questions.configs.printed import PartitionsSeen, is_printed, printed_in
from insync.kafka_questions.configs.properties import properties_in
from insync.kafka_questions.configs.remarks import (
    clients_in,
    misspelt_sizes,
    not_given,
    not_in_force,
    of_partitions,
    remarks_on,
    the_only_broker,
    too_few_brokers,
    unfinished,
)
from insync.kafka_questions.configs.terraform import is_terraform, terraform_in
from insync.kafka_questions.configs.variables import Variables
from insync.kafka_questions.controllers import unclean_by_default
from insync.runtime.errors import UserError

__all__ = ["BY_ZOOKEEPER", "EVERY_OTHER", "Combination", "Configured", "read_configs"]


Settings = Mapping[str, int | str]

EVERY_OTHER = "all other topics"
"""Stands for the topics that no file names."""

_DEFAULTS: dict[str, int | str] = {"min_insync_replicas": 1, "unclean_leader_election": "off"}
_OPTION = "the command line"
_FEATURES = (ELR_FEATURE, METADATA_VERSION)
_OF_A_BROKER = ("node.id", "broker.id")
"""The keys that only the configuration of one broker has."""
_DEFAULT_OF_KEYS = {"min.insync.replicas": "1", "unclean.leader.election.enable": "false"}
_REBALANCE = "auto.leader.rebalance.enable"


@dataclass(frozen=True, slots=True)
class Combination:
    """Settings that some topics share.

    Attributes:
        settings: the settings, under the names of the model `cluster`.
        topics: the names of the topics, and of partitions with another number of replicas than their topic.
        origins: where each setting of the first topic comes from: a line of a file, the command line, a default; a
            setting without one is assumed.
    """

    settings: Settings
    topics: tuple[str, ...]
    origins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Configured:
    """The contents of configuration files.

    Attributes:
        combinations: each distinct combination of settings, in the order of its first topic.
        named: the keys that matter to replication and are not settings of the model, each with a description.
        ignored: the other keys, in alphabetical order; a near miss of a setting with that setting.
        remarks: sentences on what the files leave open, or say of the cluster as it is.
        in_zookeeper: why the controller is, or may be, ZooKeeper's, as a clause; empty if nothing says so, or a file
            says that it is KRaft's.
        in_kraft: whether a file says that the controller is KRaft's.
        rebalances: whether preferred leaders are elected by themselves; false with auto.leader.rebalance.enable=false.
        metadata_first: whether metadata.version is finalized below 4.0, so that the controller refuses eligible leader
            replicas (EligibleLeaderReplicasVersion.ELRV_1, as read).
    """

    combinations: tuple[Combination, ...]
    named: Mapping[str, str]
    ignored: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    in_zookeeper: str = ""
    in_kraft: bool = False
    rebalances: bool = True
    metadata_first: bool = False


def read_configs(paths: Sequence[Path], given: Settings, *, compares_partitions: bool = False) -> Configured:
    """Read configuration files, each of any of the kinds that `_read` lists.

    Args:
        paths: the files.
        given: the settings of the command line, which override all others.
        compares_partitions: whether the number of replicas of partition 0 becomes a setting of a partition with
            another number.

    Raises:
        UserError: an unreadable file, an invalid line or value, or a number of replicas that nobody says.
    """
    seen: dict[str, PartitionsSeen] = {}
    found = _without_offered_versions(_of_all(paths, seen))
    _refuse_several_clusters(found)
    found += _acks_of_idempotence(found, given)
    found, features = _without_features(found)
    others = {entry.key for entry in found if setting_name(entry.key) is None and may_be_kafkas(entry.key)}
    named = {key: NAMED[key] for key in sorted(others & NAMED.keys())}
    ignored_keys = sorted(others - named.keys() - {METADATA_VERSION})
    ignored = tuple(with_near_setting(key) for key in ignored_keys)
    told = {entry.topic for entry in found if not entry.key.startswith(PARTITION)}
    half_told = dict.fromkeys(entry.topic for entry in found if entry.topic is not None and entry.topic not in told)
    remarks = [*remarks_on(found, ignored_keys), *features]
    if (least := _least_release(found, given)) is not None:
        found.append(least)
        remarks.append(
            f"{least.place}: no file says the release; {_PROTOCOL} is of {least.value} or a later one before 4.0, and "
            f"the answer is for {least.value}: give --release."
        )
    elr = _has_elr(found, given)
    found, without_effect = _without_brokers_unclean(found)
    remarks += without_effect
    topics = _by_topic(_heeded(found, elr=elr), given, remarks, elr=elr, compares_partitions=compares_partitions)
    remarks += too_few_brokers(found, topics)
    if half_told:
        cure = "give what kafka-topics --describe prints of the whole topic"
        remarks.append(f"The files lack these topics' own settings: {', '.join(map(str, half_told))}; {cure}.")
    remarks += [*_of_controllers(found, given, elr=elr), *unfinished(found), *of_partitions(seen, topics)]
    rebalances = not any(entry.key == _REBALANCE and entry.value.lower() == "false" for entry in found)
    said = {entry.key: entry for entry in found if entry.value not in ("", "null")}  # as --all prints unset keys
    in_kraft = any(key in said for key in _OF_KRAFT)
    if in_kraft and "zookeeper.connect" in said:
        _refuse_unlikely_migration(said["zookeeper.connect"], found, given)
    in_zookeeper = "" if in_kraft else _in_zookeeper(said)
    metadata_first = any(one.key == METADATA_VERSION and int(one.value.partition(".")[0]) < 4 for one in found)
    return Configured(
        _combined(topics), named, ignored, tuple(remarks), in_zookeeper, in_kraft, rebalances, metadata_first
    )


def _of_all(paths: Sequence[Path], seen: dict[str, PartitionsSeen]) -> list[Declared]:
    """Return the entries of all files, with the variables filled in that some of them set for others."""
    texts = {path: _text_of(path) for path in paths}
    documents = [path for path, text in texts.items() if _is_yaml(path, text.splitlines())]
    variables = Variables({str(path): text for path, text in texts.items()}, {str(path) for path in documents})
    found = {path: list[Declared]() for path in paths}
    for path in sorted(paths, key=lambda path: path not in documents):
        if any(one.place.file == str(path) for of_other in found.values() for one in of_other):
            continue  # a service of a compose file has taken it in
        try:
            found[path] = _read(path, texts[path], seen, variables)
        except RecursionError:
            message = f"{path} has too many levels within each other; {_WANTED}."
            raise UserError(message) from None
    return [one for of_file in found.values() for entry in of_file for one in variables.filled_in(entry)]


def _refuse_several_clusters(found: Sequence[Declared]) -> None:
    """Refuse the resources of several clusters, whose settings are not to be mixed.

    Raises:
        UserError: there are several.
    """
    clusters = {one.value: one for one in found if one.key == CLUSTER}
    names = {value.rpartition("/")[2] for value in clusters}
    namespaces = {value.rpartition("/")[0] for value in clusters} - {""}
    if len(names) > 1 or len(namespaces) > 1:
        named = ", ".join(f"{one.value or 'one without a name'} ({one.place})" for one in clusters.values())
        message = f"The files have {len(clusters)} clusters: {named}; give the resources of one of them."
        raise UserError(message)


def _acks_of_idempotence(found: Sequence[Declared], given: Settings) -> list[Declared]:
    """Return acks=all for each producer that says nothing of acks and is idempotent, or has transactions.

    A producer throws a ConfigException for other acks beside these. Source: KafkaProducer.configureAcks since 0.11,
    ProducerConfig.postProcessAndValidateIdempotenceConfigs since 3.0.

    Raises:
        UserError: a producer has both, or a file has one and the command line the other.
    """
    implied = []
    for one in found:
        wants_all = (one.key == "enable.idempotence" and one.value.lower() == "true") or one.key == "transactional.id"
        if not (wants_all and one.topic is None and one.value):
            continue
        of_file = [other for other in found if other.key == "acks" and other.place.file == one.place.file]
        own = [other for other in of_file if _part(other) == _part(one)] or (of_file if len(of_file) == 1 else [])
        if not of_file:
            implied.append(Declared(None, "acks", "all", one.place, scope=one.scope))
        acks = given.get("acks", own[-1].value if own else "all")
        if acks not in ("all", "-1"):
            where = "--acks" if "acks" in given else str(own[-1].place)
            message = (
                f"{where}: acks={acks} with {one.key}={one.value} ({one.place}): a producer refuses to start with both "
                f"(ConfigException), so nothing is written; give acks=all, or leave {one.key} out."
            )
            raise UserError(message)
    return implied


def _refuse_unlikely_migration(zookeeper: Declared, found: Sequence[Declared], given: Settings) -> None:
    """Refuse a migration from ZooKeeper to KRaft in a release that has none, or in none that is said.

    Args:
        zookeeper: the entry that names ZooKeeper, beside others of KRaft.
        found: the entries.
        given: the settings of the command line.

    Raises:
        UserError: the release is not said, or is one from 4.0 on.
    """
    releases = _releases(found, given)
    both = f"{zookeeper.place}: zookeeper.connect is set beside settings of KRaft, as in a migration from ZooKeeper"
    if not releases:
        message = f"{both}, and no file says the release; give --release, up to 3.9."
        raise UserError(message)
    if later := [one.value for one in releases if not one.is_before(Release.V4_0)]:
        message = f"{both}, and Kafka {later[0]} has none; give --release up to 3.9."
        raise UserError(message)


def _releases(found: Sequence[Declared], given: Settings) -> list[Release]:
    """Return the release of the command line, else those that files say and the model has."""
    if "release" in given:
        return [Release(given["release"])]
    said = (release_of_series(one.value) for one in found if one.key == VERSION)
    return [one for one in said if one is not None]


def _without_features(found: Sequence[Declared]) -> tuple[list[Declared], list[str]]:
    """Return the entries without features that are set as settings, and sentences on these.

    A feature is a record of the controller. A setting with its name, of a node or of a topic, has no effect.
    """
    ignored = [one for one in found if one.key in _FEATURES and one.scope != FINALIZED]
    said = [
        f"{one.place}: {one.key} is a feature, and has no effect in a file; kafka-features shows and changes it."
        for one in ignored
    ]
    return [one for one in found if one not in ignored], list(dict.fromkeys(said))


def _least_release(found: Sequence[Declared], given: Settings) -> Declared | None:
    """Return the release of a protocol, which is that of its brokers or an earlier one, where no file says a release.

    Releases from 4.0 on have no such setting.
    """
    if "release" in given or any(one.key == VERSION for one in found):
        return None
    for one in found:
        series = re.match(r"0\.\d+(?:\.\d+)?|\d+\.\d+", one.value)
        if one.key == _PROTOCOL and series is not None and release_of_series(series[0]) is not None:
            return Declared(None, VERSION, series[0], one.place, scope=one.scope)
    return None


def _without_offered_versions(found: list[Declared]) -> list[Declared]:
    """Return the entries; if a cluster of Amazon MSK has a version, without those that its configuration is for."""
    if not any(one.key == VERSION and one.scope.startswith("aws_msk_cluster") for one in found):
        return found
    versions = (VERSION, KRAFTS, ZOOKEEPERS)
    return [one for one in found if not (one.key in versions and one.scope.startswith("aws_msk_configuration"))]


BY_ZOOKEEPER = "zookeeper.connect is set and process.roles is not, so the controller is ZooKeeper's"
"""Why a controller is ZooKeeper's for certain."""

_PROTOCOL = "inter.broker.protocol.version"
_OF_KRAFT = ("process.roles", "controller.quorum.voters", "controller.quorum.bootstrap.servers", KRAFTS)


def _in_zookeeper(said: Mapping[str, Declared]) -> str:
    """Return why the controller is, or may be, ZooKeeper's; empty if nothing says so."""
    if "zookeeper.connect" in said:
        return BY_ZOOKEEPER
    if ZOOKEEPERS in said:
        return f"{said[ZOOKEEPERS].value}, so the controller may be ZooKeeper's"
    if _PROTOCOL in said:
        set_to = f"{_PROTOCOL}={said[_PROTOCOL].value} is set and process.roles is not"
        return f"{set_to}, so the controller may be ZooKeeper's"
    return ""


_OTHERS = (
    (r"\A\s*<", "XML"),
    (r"^#!.*sh\b", "a shell script"),
    (r"^FROM\s+\S+", "a Dockerfile"),
    (r"^\[(?:Unit|Service)\]", "a unit of systemd"),
    (r"^\s*GROUP\s+TOPIC\s+PARTITION", "what kafka-consumer-groups prints"),
    (r"^\s*ClusterId:\s", "what kafka-metadata-quorum prints"),
    (r"^\s*(?:log4j\.|rootLogger|appender\.)", "a configuration of logging"),
    (r"^\s*(?:dataDir|tickTime|initLimit)\s*=", "ZooKeeper's own configuration"),
    (r"^\s*(?:config\.storage\.topic|offset\.storage\.file\.filename)\s*=", "the configuration of a worker of Connect"),
)
"""Kinds of files that are refused by name."""

_KAFKAS = "Kafka's default"
_MSK_DEFAULTS: dict[str, int | str] = {"min_insync_replicas": 1, "unclean_leader_election": "on"}
_TIERED = "TIERED"
_MSK_PAGE = "AWS's page 'Default Amazon MSK configuration'"
_MSK_REMARKS = {
    "min_insync_replicas": "No file says min.insync.replicas, which Amazon MSK sets to 1 with two zones and to 2 with "
    f"three ({_MSK_PAGE}); the answer is for 1, so give --min-insync-replicas 2 for three.",
    "unclean_leader_election": "No file says unclean.leader.election.enable, which Amazon MSK sets to true, and to "
    f"false with tiered storage ({_MSK_PAGE}); the answer is for true, so give --unclean-leader-election off with "
    "tiered storage.",
}
"""What the documentation of Amazon MSK says of settings that a configuration leaves out."""
_WANTED = (
    "give server.properties, what Kafka's tools print with --describe, a resource of Strimzi, a compose file, values "
    "of a chart, or Terraform with server_properties"
)


_OF_YAML = (".yaml", ".yml", ".json")
_NO_TEXT = "it is not text in UTF-8 or UTF-16"


def _text_of(path: Path) -> str:
    """Return the text of a file.

    Raises:
        UserError: it cannot be read, or has no text.
    """
    if path.is_dir():
        within = sorted(str(one) for one in path.iterdir() if one.is_file())
        named = "".join(f" --config {one}" for one in within[:3]) + (" and so on" if len(within) > 3 else "")
        message = f"{path} is a folder; give its files one by one{':' if named else ''}{named}."
        raise UserError(message)
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        in_utf_16 = data.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        text = data.decode("utf-16" if in_utf_16 else "utf-8-sig")
    except UnicodeDecodeError:
        text = "\0" if in_utf_16 else data.decode("latin-1")  # as Java reads properties
    except FileNotFoundError:
        message = f"{path}: there is no such file; name one that is there."
        raise UserError(message) from None
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}; {_WANTED}."
        raise UserError(message) from None
    if re.search(r"[\x00-\x08\x0e-\x1a\x7f-\x9f]", text):
        message = f"{path} cannot be read: {_NO_TEXT}; {_WANTED}."
        raise UserError(message)
    if not text.strip():
        message = f"{path} is empty; {_WANTED}."
        raise UserError(message)
    return text


def _read(path: Path, text: str, seen: dict[str, PartitionsSeen], variables: Variables) -> list[Declared]:
    """Return the entries of a file: printed by Kafka's tools, Terraform, YAML, or properties and variables.

    Args:
        path: the file.
        text: its text.
        seen: receives the partitions of each topic.
        variables: those of all files; a file that sets one may have no setting itself.
    """
    lines, file = text.splitlines(), str(path)
    kind = next((name for pattern, name in _OTHERS if re.search(pattern, text, re.MULTILINE)), "")
    if is_printed(lines):
        found = list(printed_in(file, lines, seen))
    elif is_terraform(file, lines):
        found = list(terraform_in(file, text, variables))
    elif kind and path.suffix.lower() not in _OF_YAML:
        message = f"{path} is {kind}, which is not read; {_WANTED}."
        raise UserError(message)
    elif _is_yaml(path, lines):
        found = documents_in(file, text, variables)
        if not found and not variables.helps(file):
            kinds = kinds_in(file, text)
            named = "is JSON" if path.suffix.lower() == ".json" else "is YAML"
            what = f"has resources of kind {', '.join(kinds)}" if kinds else named
            message = f"{path} {what} without a setting of brokers or topics; {_WANTED}."
            raise UserError(message)
    elif is_ini(lines):
        found = list(ini_in(file, lines))
    else:
        found = list(properties_in(file, lines))
    if not found and variables.helps(file):
        return [Declared(None, NOTHING, "", Place(file, 1))]
    if not found:
        message = f"{path} has no settings; {_WANTED}."
        raise UserError(message)
    known = (BROKERS, CLUSTER, KRAFTS, MANAGED, NOTHING, OTHER_FILE, ZOOKEEPERS)
    if not any(may_be_kafkas(one.key) or setting_name(one.key) or one.topic or one.key in known for one in found):
        if variables.helps(file):
            return [Declared(None, NOTHING, "", found[0].place)]
        message = f"{path} has no key of Kafka's; its first is {found[0].key!r}; {_WANTED}."
        raise UserError(message)
    return found


def _is_yaml(path: Path, lines: Sequence[str]) -> bool:
    if path.suffix.lower() in _OF_YAML:
        return True
    written = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not written or is_ini(lines):
        return False
    opens = re.compile(r"\s*(?:- )?[\"']?[\w.\-]+[\"']?:\s*")
    return written[0].lstrip().startswith(("---", "{\n", "{ ", '{"', "[", "apiVersion:", "kind:")) or any(
        map(opens.fullmatch, written)
    )


_ROLES = "process.roles"
_OF_BROKERS = ("min_insync_replicas", "acks", "flush")
"""Settings that decide only where records are written."""
_FEWEST = "min_insync_replicas"
_Part = tuple[str, str]
"""A file, and the part of it that is one broker's."""


def _roles(found: Sequence[Declared]) -> dict[_Part, set[str]]:
    """Return the roles in KRaft of each part of a file that says them, or whose node another part says them of."""
    said = [entry for entry in found if entry.key == _ROLES and entry.value]
    roles = {_part(entry): {role.strip() for role in entry.value.split(",")} for entry in said}
    brokers = _brokers_by_part(found)
    of_nodes = {brokers[part]: of_part for part, of_part in roles.items() if part in brokers}
    return {**{part: of_nodes[broker] for part, broker in brokers.items() if broker in of_nodes}, **roles}


def _part(entry: Declared) -> _Part:
    return entry.of or entry.place.file, entry.scope


def _controllers_decide(name: str, *, elr: bool) -> bool:
    """Return whether the controllers' files decide a setting in KRaft.

    They decide unclean elections, and min.insync.replicas where eligible leader replicas (`elr`) are on.
    """
    return name == "unclean_leader_election" or (elr and name == _FEWEST)


def _without_say(found: Sequence[Declared], name: str, *, elr: bool) -> set[_Part]:
    """Return the parts of files whose own value of a setting nobody heeds.

    A node that is only a controller takes no records. One that is no controller decides nothing that controllers do.
    """
    roles = _roles(found)
    if _controllers_decide(name, elr=elr):
        controllers = any("controller" in of_part for of_part in roles.values())
        return {part for part, of_part in roles.items() if controllers and "controller" not in of_part}
    if name in _OF_BROKERS:
        return {part for part, of_part in roles.items() if of_part == {"controller"}}
    return set()


def _has_elr(found: Sequence[Declared], given: Settings) -> bool:
    """Return whether eligible leader replicas are on, which is assumed where the release has them in new clusters."""
    said = {"elr": given["elr"]} if "elr" in given else {}
    if releases := _releases(found, given):
        said["release"] = releases[0].value
    if levels := [int(one.value) for one in found if one.key == ELR_FEATURE and one.value.isdecimal()]:
        said.setdefault("elr", "on" if levels[0] else "off")
    return bool(Cluster(**said).features.elr)


def _heeded(found: Sequence[Declared], *, elr: bool) -> list[Declared]:
    """Return the entries but for those in the files of nodes and clients that do not heed them."""
    without_say = {name: _without_say(found, name, elr=elr) for name in (*_OF_BROKERS, "unclean_leader_election")}
    clients = clients_in(found)
    return [
        entry
        for entry in found
        if entry.topic is not None
        or entry.source is not Source.STATIC
        or (
            _part(entry) not in without_say.get(setting_name(entry.key) or "", ())
            and (entry.place.file not in clients or setting_name(entry.key) in (None, "acks"))
        )
    ]


def _without_brokers_unclean(found: Sequence[Declared]) -> tuple[list[Declared], list[str]]:
    """Return the entries without unclean elections that were set on a broker alone, and sentences on these.

    In KRaft the active controller decides, by what is set for its own node (currentControllerConfig of
    ConfigurationControlManager, as read).
    """
    roles = _roles(found)
    alone = [
        entry
        for entry in found
        if setting_name(entry.key) == "unclean_leader_election"
        and entry.source is Source.BROKER
        and roles.get(_part(entry)) == {"broker"}
    ]
    said = [
        f"{entry.place}: unclean.leader.election.enable of {entry.scope}, which is no controller, has no effect in "
        "KRaft."
        for entry in alone
    ]
    return [entry for entry in found if entry not in alone], said


def _of_controllers(found: Sequence[Declared], given: Settings, *, elr: bool) -> Iterator[str]:
    """Yield sentences on what the controllers' files decide in KRaft: that they are not given, or overrule brokers'.

    In releases whose controller of KRaft ignores unclean.leader.election.enable no file decides that.
    """
    roles, decided = _roles(found), list[str]()
    stronger = {setting_name(one.key) for one in found if one.topic is None and one.source > Source.STATIC} | set(given)
    releases = _releases(found, given)
    honoured = not releases or any(release.rules.unclean_is_honoured for release in releases)
    if honoured and "unclean_leader_election" not in stronger:
        decided.append("unclean.leader.election.enable")
    overrules = elr and _FEWEST not in stronger
    if overrules:
        decided.append("min.insync.replicas (with eligible leader replicas)")
    of_brokers = [file for (file, _), of_part in roles.items() if of_part == {"broker"}]
    if len(of_brokers) == len(roles) > 0:
        if decided:
            yield (
                f"The controllers' file (process.roles=controller), which decides {' and '.join(decided)} in KRaft, "
                f"was not given; the answer assumes that it says the same as {of_brokers[0]}."
            )
        return
    silent = _without_say(found, _FEWEST, elr=elr) if overrules else set()
    for entry in found:
        if setting_name(entry.key) == _FEWEST and entry.source is Source.STATIC and _part(entry) in silent:
            yield (
                f"{entry.place}: min.insync.replicas of a broker does not count with eligible leader replicas: the "
                "controller sets it by its own file (ConfigurationControlManager.maybeGenerateElrSafetyRecords, as "
                "read)."
            )
            return


def _by_topic(
    found: Sequence[Declared], given: Settings, remarks: list[str], *, elr: bool, compares_partitions: bool
) -> dict[str, dict[str, tuple[int | str, str]]]:
    """Return the settings of each named topic and those of every other one, each value with where it comes from."""
    of_all = [entry for entry in found if entry.topic is None]
    templates = list[Declared]()
    said = _chosen([*of_all, *_unset(of_all, elr=elr)], given, remarks, templates)
    general = {name: (value, _default_place(found, name, elr=elr)) for name, value in _DEFAULTS.items()}
    if storage := {entry.value.upper() for entry in found if entry.key == MANAGED}:
        tiered = _TIERED in storage
        defaults = {**_MSK_DEFAULTS, **({"unclean_leader_election": "off"} if tiered else {})}
        general |= {name: (value, "Amazon MSK's default") for name, value in defaults.items()}
        left_open = {name: remark for name, remark in _MSK_REMARKS.items() if name not in {**said, **given}}
        release = given.get("release", said.get("release", ("",))[0])
        in_kraft = any(one.key in _OF_KRAFT for one in found)
        if tiered or (in_kraft and release and not Release(release).rules.unclean_is_honoured):
            left_open.pop("unclean_leader_election", None)  # its default is known, or it decides nothing
        remarks += left_open.values()
    general |= said
    stronger = {name: (value, _OPTION) for name, value in given.items()}
    topics = dict[str, dict[str, tuple[int | str, str]]]()
    partitions = dict[str, dict[int, int]]()
    for name in dict.fromkeys(entry.topic for entry in found if entry.topic is not None):
        own = [entry for entry in found if entry.topic == name]
        topics[name] = _chosen(own, given, remarks, templates)
        for entry in own:
            if entry.key.startswith(PARTITION):
                partitions.setdefault(name, {})[int(entry.key.removeprefix(PARTITION))] = int(entry.value)
    if templates:
        raise not_filled_in(templates)
    if "replicas" not in {**general, **given} and (only := the_only_broker(of_all)) is not None:
        general["replicas"] = (1, f"{only}, which has one broker")
    if "replicas" not in given:
        for name, sizes in partitions.items():
            topics.update(_partitions(name, topics[name], sizes, compares_partitions=compares_partitions))
    sized = "replicas" in general or "replicas" in given
    for name, own_settings in topics.items():
        if "replicas" not in own_settings and not sized:
            message = f"No file says how many replicas topic {name} has; give --replicas, or `kafka-topics --describe`."
            raise UserError(message)
    if not topics and not sized:
        message = (
            "No file says how many replicas topics have; give --replicas (3, say), or what kafka-topics --describe "
            "prints."
        )
        raise UserError(" ".join([message, *misspelt_sizes(found), *not_given(found)]))
    of_kafka = (one for one in of_all if one.key != ELR_FEATURE or one.source is not Source.KAFKA)  # seen at a topic
    if sized and (not topics or any(setting_name(one.key) for one in of_kafka)):
        topics[EVERY_OTHER] = {}
    shown = {entry.topic for entry in found if entry.key == SHOWN}
    keys = {setting_name(key): key for key in _DEFAULT_OF_KEYS}
    changed = {keys[name]: place for name, (value, place) in said.items() if value != _DEFAULTS.get(name, value)}
    remarks += not_in_force(changed, {name: own for name, own in topics.items() if name in shown})
    return {
        name: _by_release({**general, **(_shown_defaults(general) if name in shown else {}), **own, **stronger})
        for name, own in topics.items()
    }


def _default_place(found: Sequence[Declared], name: str, *, elr: bool) -> str:
    """Return where the default of a setting comes from; empty if no file is given that would say another value.

    Those are the files of brokers, or of controllers as far as these decide; what is set while a cluster runs, client's
    files and features leave open what a broker's file says.
    """
    static = [entry for entry in found if entry.topic is None and entry.source is Source.STATIC]
    clients = clients_in(found)
    decide = {_part(entry) for entry in static if may_be_kafkas(entry.key) and entry.place.file not in clients}
    roles = _roles(found)
    if roles and _controllers_decide(name, elr=elr):
        decide = {part for part in decide if "controller" in roles.get(part, {"controller"})}
    return _KAFKAS if decide - _without_say(found, name, elr=elr) else ""


def _shown_defaults(general: Mapping[str, tuple[int | str, str]]) -> dict[str, tuple[int | str, str]]:
    """Return the defaults among settings, with the place of a tool that shows all that is not at its default."""
    place = f"{_KAFKAS}, as kafka-topics shows no other"
    return {name: (_DEFAULTS[name], place) for name in _DEFAULTS if general[name][1] in ("", _KAFKAS)}


def _by_release(settings: dict[str, tuple[int | str, str]]) -> dict[str, tuple[int | str, str]]:
    """Return settings with the default of unclean elections that their release has."""
    _, place = settings["unclean_leader_election"]
    if (not place or place.startswith(_KAFKAS)) and "release" in settings:
        return {**settings, "unclean_leader_election": (unclean_by_default(str(settings["release"][0])), place)}
    return settings


def _unset(found: Sequence[Declared], *, elr: bool) -> Iterator[Declared]:
    """Yield Kafka's default for each broker without a key that another one has, unless an entry of none has it."""
    brokers = _brokers_by_part(found)
    for key, default in _DEFAULT_OF_KEYS.items():
        having = {brokers.get(_part(entry)) for entry in found if entry.key == key}
        without_say = _without_say(found, setting_name(key) or key, elr=elr)
        deciding = {broker: part for part, broker in sorted(brokers.items(), reverse=True) if part not in without_say}
        if having & deciding.keys() and None not in having:
            for file, scope in sorted(deciding[broker] for broker in deciding.keys() - having):
                yield Declared(None, key, default, Place(file, 0), scope=scope)


def _brokers_by_part(entries: Iterable[Declared]) -> dict[_Part, str]:
    """Return the broker that a part of a file is of, as `broker N`, where the files say it."""
    found = {_part(entry): f"broker {entry.value}" for entry in entries if entry.key in _OF_A_BROKER}
    return found | {_part(entry): entry.scope for entry in entries if entry.scope.startswith("broker ")}


def _in_force(declared: Sequence[Declared], brokers: Mapping[_Part, str]) -> list[Declared]:
    """Return the strongest entries of a setting for each broker that is named; those of no broker are for all.

    Args:
        declared: the entries.
        brokers: the broker of each part of a file.
    """
    found = set[Declared]()
    for broker in set(brokers.values()) or {""}:
        own = [entry for entry in declared if brokers.get(_part(entry), broker) == broker]
        strongest = max((entry.source for entry in own), default=None)
        found |= {entry for entry in own if entry.source is strongest}
    return [entry for entry in declared if entry in found]


def _chosen(
    entries: Sequence[Declared], given: Settings, remarks: list[str], templates: list[Declared]
) -> dict[str, tuple[int | str, str]]:
    """Return the value of each setting that is strongest; of several brokers' the one that promises least.

    Args:
        entries: the entries.
        given: the settings of the command line.
        remarks: receives sentences on brokers that differ.
        templates: receives the entries that would count and are not filled in.
    """
    by_name: dict[str, list[Declared]] = {}
    brokers = _brokers_by_part(entries)
    for entry in entries:
        if (name := setting_name(entry.key)) is not None and name not in given:
            if not is_template(entry.value):
                setting_of(entry)  # what Kafka would refuse is refused, also where another value is stronger
            by_name.setdefault(name, []).append(entry)
    found: dict[str, tuple[int | str, str]] = {}
    for name, every in by_name.items():
        declared = _in_force(every, brokers)
        templates += [entry for entry in declared if is_template(entry.value)]
        last = {(_part(entry), entry.source): entry for entry in declared}
        if any(is_template(entry.value) for entry in last.values()):
            continue
        values = {entry.place: setting[1] for entry in last.values() if (setting := setting_of(entry)) is not None}
        least = next(iter(values.values()))
        for value in values.values():
            least = weaker(name, least, value)
        place = next(place for place, value in values.items() if value == least)
        found[name] = least, str(place)
        if len(set(values.values())) > 1:
            told = _told(last.values())
            key = next(entry.key for entry in last.values() if entry.place == place)
            remark = f"{key} differs: {told}; the answer is for the one that promises least."
            if remark not in remarks:
                remarks.append(remark)
        if name == "release" and all(entry.source is Source.KAFKA for entry in last.values()):
            found[name] = least, f"what the broker supports, {place}"
    return found


def _told(entries: Iterable[Declared]) -> str:
    """Return the values of several brokers with their places; those at Kafka's default in one file are counted."""
    counts = Counter(f"{entry.value} ({entry.place}" for entry in entries)
    return ", ".join(f"{said} for {count} brokers)" if count > 1 else f"{said})" for said, count in counts.items())


def _partitions(
    topic: str, own: dict[str, tuple[int | str, str]], sizes: Mapping[int, int], *, compares_partitions: bool
) -> Iterator[tuple[str, dict[str, tuple[int | str, str]]]]:
    """Yield the settings of a topic, with its number of replicas, and of each partition with another number.

    The replication factor that Kafka prints for a topic is that of its partition 0.
    """
    said, place = own.get("replicas", (None, "kafka-topics --describe"))
    zero = sizes.get(0, said)
    usual = next(iter(sizes.values())) if zero is None else zero
    yield topic, {**own, "replicas": (usual, place)}
    for number, replicas in sizes.items():
        if replicas != usual:
            compared = {"partition_zero_replicas": (zero, place)} if compares_partitions and zero is not None else {}
            yield f"{topic}-{number}", {**own, "replicas": (replicas, place), **compared}


def _combined(topics: Mapping[str, Mapping[str, tuple[int | str, str]]]) -> tuple[Combination, ...]:
    groups: dict[tuple[tuple[str, int | str], ...], list[str]] = {}
    for name, settings in topics.items():
        groups.setdefault(tuple(sorted((key, value) for key, (value, _) in settings.items())), []).append(name)
    return tuple(
        Combination(
            dict(settings), tuple(names), {key: origin for key, (_, origin) in topics[names[0]].items() if origin}
        )
        for settings, names in groups.items()
    )
