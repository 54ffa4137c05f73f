"""What `insync ask` advises: the settings to change or the release to go to, with commands and costs."""

from __future__ import annotations

from collections.abc import Sequence

from insync.kafka.cluster.configuration import Elr
from insync.kafka.releases import Release
from insync.kafka_questions.ask import Answer
from insync.kafka_questions.causes.cause import Cause, CauseKind, changes_of
from insync.kafka_questions.documents.settings import SETTING_NAMES, describe_settings
from insync.kafka_questions.documents.verdict import PREVIEW, Gate, causes_left, is_preview, settings_beside
from insync.kafka_questions.question import Given, replication_factor, unclean_sleeps

__all__ = ["prices", "what_to_change", "with_one_more"]


def with_one_more(fewest: int) -> str:
    """Return the remark that one more replica keeps writes going, in brackets after a space."""
    return f" (with a replication factor of {fewest + 1} one may be)"


_UPGRADE = "kafka-features.sh --bootstrap-server HOST:PORT upgrade"
_SET_FEWEST = (
    "kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type brokers --entity-default --add-config "
    "min.insync.replicas="
)


def _turning_on_elr(release: str, fewest: int, *, metadata_first: bool) -> str:
    """Return the commands that turn on eligible leader replicas and keep min.insync.replicas.

    The controller then sets min.insync.replicas for the cluster by its own file, unless it is set there already.
    """
    first = list[str]()
    if metadata_first:
        first.append(f"{_UPGRADE} --release-version {release}, when all nodes have Kafka {release}")
    if fewest > 1:
        unless = "unless each topic or the cluster has it, as a broker's file does not count then"
        first.append(f"{_SET_FEWEST}{fewest} {unless}")
    turn_on = f"{_UPGRADE} --feature {SETTING_NAMES['elr']}=1"
    return f"first {'; '.join(first)}; then {turn_on}" if first else turn_on


def what_to_change(answer: Answer, gate: Gate, *, commands: bool) -> str:
    """Return the settings to change and the release to upgrade to; empty if neither helps.

    Args:
        answer: the answer.
        gate: which causes count.
        commands: whether to add the commands that turn on eligible leader replicas.
    """
    wanted = causes_left(answer, gate.accepted)
    if answer.refuses_writes:
        replicas, fewest = replication_factor(answer.model), answer.model.b.min_insync_replicas
        return f"min.insync.replicas={replicas} or less, or a replication factor of {fewest} or more"
    if answer.promises_nothing:
        return "acks=all"
    settings = [describe_settings(cause.change) for cause in wanted if cause.kind is CauseKind.SETTINGS]
    fixed_later = [cause for cause in wanted if cause.kind is CauseKind.RELEASE and cause.change]
    beside = {name: value for cause in wanted for name, value in settings_beside(cause).items()}
    fewest = int(changes_of(wanted).get("min_insync_replicas", answer.model.b.min_insync_replicas))
    upgrade = _upgrade(answer, fixed_later, beside, gate, fewest if commands else None) if fixed_later else ""
    if settings:
        each = ", ".join(dict.fromkeys(", ".join(settings).split(", ")))
        said = _with_commands(each, answer, gate, fewest if commands else None)
        names = " and ".join(dict.fromkeys(cause.name for cause in fixed_later if cause.name))
        return said + (f"; against {names or 'the rest'}, {upgrade}" if upgrade else "")
    if not upgrade:
        return ""
    preview = PREVIEW if any(is_preview(answer, cause) for cause in wanted) else ""
    return upgrade if beside or unclean_sleeps(answer.model) else f"no setting{preview}; {upgrade}"


def _with_commands(said: str, answer: Answer, gate: Gate, fewest: int | None) -> str:
    """Return settings with the commands that make brokers heed them, or with where these are.

    Args:
        said: the settings.
        answer: the answer.
        gate: which causes count.
        fewest: min.insync.replicas after the changes; None to leave the commands out.
    """
    if f"{SETTING_NAMES['elr']}=1" not in said:
        where = f"with ELR for the topic, or for the cluster: {_SET_FEWEST}{fewest}; a broker's file does not count"
        heeded = fewest is None or "min.insync" not in said or not answer.model.features.elr
        return said if heeded else f"{said} ({where})"
    if fewest is None:
        return f"{said} (--details has the commands, in their order)"
    release = answer.model.b.settings.release.value
    return f"{said} ({_turning_on_elr(release, fewest, metadata_first=gate.metadata_first)})"


def _upgrade(answer: Answer, causes: Sequence[Cause], beside: Given, gate: Gate, fewest: int | None) -> str:
    """Return the upgrade that removes causes which a later release has fixed, and what to set before it.

    Args:
        answer: the answer.
        causes: the causes.
        beside: the settings to change with the upgrade.
        gate: which causes count.
        fewest: min.insync.replicas after the changes; None to leave the commands out.
    """
    newest = max((cause.change for cause in causes), key=lambda change: Release(change["release"]).age)
    upgrade = f"an upgrade to {describe_settings({**newest, **beside})}"
    of_zookeeper = gate.from_zookeeper or answer.model.rules.controller_in_zookeeper
    if of_zookeeper and not Release(newest["release"]).is_before(Release.V4_0):
        upgrade += " (from ZooKeeper by way of 3.9 and its migration to KRaft)"
    if fewest is not None and newest.get("elr") == Elr.ON.value:
        upgrade += f" ({_turning_on_elr(str(newest['release']), fewest, metadata_first=True)})"
    if unclean_sleeps(answer.model):  # which an upgrade would wake
        return f"first unclean.leader.election.enable=false, which Kafka heeds from 3.9 on; then {upgrade}"
    return upgrade


def prices(answer: Answer, gate: Gate, *, whole: bool) -> str:
    """Return the sentence on what the changes of settings cost, after a space; empty if they cost nothing.

    Args:
        answer: the answer.
        gate: which causes count.
        whole: whether to add the costs in time and space to those in availability.
    """
    wanted = causes_left(answer, gate.accepted)
    if answer.refuses_writes or answer.promises_nothing:
        return ""
    changed = changes_of(wanted) or {name: value for cause in wanted for name, value in settings_beside(cause).items()}
    model = answer.model
    fewest = int(changed.get("min_insync_replicas", model.b.min_insync_replicas))
    replicas = int(changed.get("replicas", replication_factor(model)))
    said = list[str]()
    if "min_insync_replicas" in changed:
        stop = replicas - fewest + 1
        down = f"{stop} of {replicas} replicas {'is' if stop == 1 else 'are'} down or slow"
        said.append(f"writes with acks=all stop when {down}{with_one_more(fewest) if stop == 1 else ''}")
    if "unclean_leader_election" in changed:
        said.append("a partition has no leader while all its in-sync replicas are down")
    if whole and "acks" in changed:
        said.append("a write waits for every in-sync replica")
    if whole and "replicas" in changed:
        said.append(f"{replicas} copies on disk and on the network")
    return f" It costs: {'; '.join(said)}." if said else ""
