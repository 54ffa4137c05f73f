"""Which node's file decides a setting in KRaft, by its `process.roles`: a broker's, or the controller's.

With eligible leader replicas on, min.insync.replicas is always set for the cluster: where nobody has set it, the active
controller writes there what its own file says, or Kafka's default. This rests on reading
ActivationRecordsGenerator.recordsForEmptyLog and ConfigurationControlManager.maybeGenerateElrSafetyRecords, 4.0 to 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from insync.kafka_questions.configs.entries import Declared, Source, setting_name
from insync.kafka_questions.configs.remarks import clients_in
from insync.kafka_questions.configs.versions import Settings, releases_said

__all__ = [
    "Part",
    "brokers_by_part",
    "controllers_decide",
    "heeded",
    "part_of",
    "remarks_on_controllers",
    "roles_of",
    "unheeded_parts",
    "without_brokers_unclean",
]


_ROLES = "process.roles"
_OF_BROKERS = ("min_insync_replicas", "acks", "flush")
"""Settings that decide only where records are written."""
_FEWEST = "min_insync_replicas"
_OF_A_BROKER = ("node.id", "broker.id")
"""The keys that only the configuration of one broker has."""
Part = tuple[str, str]
"""A file, and the part of it that is one broker's."""


def roles_of(found: Sequence[Declared]) -> dict[Part, set[str]]:
    """Return the roles in KRaft of each part of a file, where it or another part with the same node states them."""
    said = [entry for entry in found if entry.key == _ROLES and entry.value]
    roles = {part_of(entry): {role.strip() for role in entry.value.split(",")} for entry in said}
    brokers = brokers_by_part(found)
    of_nodes = {brokers[part]: of_part for part, of_part in roles.items() if part in brokers}
    return {**{part: of_nodes[broker] for part, broker in brokers.items() if broker in of_nodes}, **roles}


def part_of(entry: Declared) -> Part:
    """Return the part of a file that an entry is in."""
    return entry.of or entry.place.file, entry.scope


def controllers_decide(name: str, *, elr: bool) -> bool:
    """Return whether the controllers' files decide a setting in KRaft.

    They decide unclean elections, and min.insync.replicas where eligible leader replicas (`elr`) are on.
    """
    return name == "unclean_leader_election" or (elr and name == _FEWEST)


def unheeded_parts(found: Sequence[Declared], name: str, *, elr: bool) -> set[Part]:
    """Return the parts of files whose value of a setting has no effect.

    A node that is only a controller takes no records. A node that is only a broker decides nothing for controllers.
    """
    roles = roles_of(found)
    if controllers_decide(name, elr=elr):
        controllers = any("controller" in of_part for of_part in roles.values())
        return {part for part, of_part in roles.items() if controllers and "controller" not in of_part}
    if name in _OF_BROKERS:
        return {part for part, of_part in roles.items() if of_part == {"controller"}}
    return set()


def heeded(found: Sequence[Declared], *, elr: bool) -> list[Declared]:
    """Return the entries without those that have no effect in the file of their node or client."""
    without_say = {name: unheeded_parts(found, name, elr=elr) for name in (*_OF_BROKERS, "unclean_leader_election")}
    clients = clients_in(found)
    return [
        entry
        for entry in found
        if entry.topic is not None
        or entry.source is not Source.STATIC
        or (
            part_of(entry) not in without_say.get(setting_name(entry.key) or "", ())
            and (entry.place.file not in clients or setting_name(entry.key) in (None, "acks"))
        )
    ]


def without_brokers_unclean(found: Sequence[Declared]) -> tuple[list[Declared], list[str]]:
    """Return the entries without unclean elections that are set on a broker alone, and sentences on these.

    In KRaft the active controller decides, by what is set for its own node (currentControllerConfig of
    ConfigurationControlManager, as read).
    """
    roles = roles_of(found)
    alone = [
        entry
        for entry in found
        if setting_name(entry.key) == "unclean_leader_election"
        and entry.source is Source.BROKER
        and roles.get(part_of(entry)) == {"broker"}
    ]
    said = [
        f"{entry.place}: unclean.leader.election.enable of {entry.scope}, which is no controller, has no effect in "
        "KRaft."
        for entry in alone
    ]
    return [entry for entry in found if entry not in alone], said


def remarks_on_controllers(found: Sequence[Declared], given: Settings, *, elr: bool) -> Iterator[str]:
    """Yield sentences on what the controllers' files decide in KRaft: they are missing, or overrule those of brokers.

    No file decides unclean elections in releases whose KRaft controller ignores unclean.leader.election.enable.
    """
    roles, decided = roles_of(found), list[str]()
    stronger = {setting_name(one.key) for one in found if one.topic is None and one.source > Source.STATIC} | set(given)
    releases = releases_said(found, given)
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
    silent = unheeded_parts(found, _FEWEST, elr=elr) if overrules else set()
    for entry in found:
        if setting_name(entry.key) == _FEWEST and entry.source is Source.STATIC and part_of(entry) in silent:
            yield (
                f"{entry.place}: min.insync.replicas of a broker does not count with eligible leader replicas: the "
                "controller sets it by its own file (ConfigurationControlManager.maybeGenerateElrSafetyRecords, as "
                "read)."
            )
            return


def brokers_by_part(entries: Iterable[Declared]) -> dict[Part, str]:
    """Return the broker of each part of a file, as `broker N`, if a file names it."""
    found = {part_of(entry): f"broker {entry.value}" for entry in entries if entry.key in _OF_A_BROKER}
    return found | {part_of(entry): entry.scope for entry in entries if entry.scope.startswith("broker ")}
