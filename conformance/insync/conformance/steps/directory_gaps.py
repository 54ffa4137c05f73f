"""Known differences between Kafka and the model about log directories, each under its whole condition."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from insync.conformance.classes.observation import ControllerSeen, LogSeen, Observation
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.steps.gaps import is_otherwise_done
from insync.conformance.steps.known_reasons import (
    CLEARS_ELR,
    COPY_KEEPS_EPOCH,
    ENDS_REASSIGNMENT,
    LOOKS_AT_LEADER,
    LOOKS_AT_WATERMARK,
    MAKES_LATE,
    OLDER_WATERMARK,
    RECKONS_ELR,
)
from insync.conformance.steps.likeness import broker_id
from insync.kafka.cluster.broker_state import ReassignmentState, is_elsewhere, unassigned_in
from insync.kafka.releases import ReleaseRules
from insync.model import ReadableState

__all__ = [
    "require_change_of_directory_alone",
    "require_epochs_of_copy",
    "require_same_elr",
    "require_watermark_of_copy",
    "require_watermarks",
    "waits_for_directory",
    "watermarks_of",
    "would_be_late",
]


def require_change_of_directory_alone(
    number: int,
    was: ControllerSeen,
    now: ControllerSeen,
    rules: ReleaseRules,
    *,
    elr: bool,
    minimum: int,
    unnamed: bool,
) -> None:
    """Raise NotSchedulable if an assigned directory changes more of the partition than its directory.

    Each change of a partition makes Kafka's controller rebuild all of it (`PartitionChangeBuilder.build`), so the
    result follows from the registration before. Any other result is left to the comparison of the two states.

    Args:
        number: the broker that assigns the directory.
        was: the controller's state before.
        now: the controller's state after.
        rules: of the release.
        elr: whether eligible leader replicas are kept.
        minimum: min.insync.replicas, or the number of replicas where that is less.
        unnamed: whether the model's broker assigns no directory here.

    Raises:
        NotSchedulable: the rebuild ends a reassignment that was done, clears or recomputes the ELR, or elects a leader
            because the present one may not lead any more or there is none.
    """
    if any(getattr(now, name) != expected for name, expected in _built(was, rules, elr=elr, minimum=minimum).items()):
        return
    if (was.adding or was.removing) and not (now.adding or now.removing):
        message = f"a directory of b{number} that is named ends the reassignment; in the model the next change does"
        raise NotSchedulable(message, ENDS_REASSIGNMENT)
    if unnamed and was.elr != now.elr and rules.named_directory_keeps_elr:
        message = (
            f"the controller reckons the eligible leader replicas anew by an ISR of {len(was.isr)} with a minimum of "
            f"{minimum}, as b{number} names a directory that it knows, or of its start; in the model none is named here"
        )
        raise NotSchedulable(message, RECKONS_ELR)
    if unnamed and was.elr != now.elr:
        message = (
            f"the controller forgets the eligible leader replicas as b{number} names a directory that it knows, or of "
            "its start (N-17, up to 4.2); in the model none is named here"
        )
        raise NotSchedulable(message, CLEARS_ELR)
    if now.leader != was.leader:
        message = (
            f"a directory of b{number} that is named makes the controller elect, as the leader may not lead any "
            "more, or nobody leads who could, which nothing has made it look at; in the model nothing does yet"
        )
        raise NotSchedulable(message, LOOKS_AT_LEADER)


def _built(was: ControllerSeen, rules: ReleaseRules, *, elr: bool, minimum: int) -> dict[str, Any]:
    """Return the partition that Kafka's controller builds when a directory is assigned, without the directory.

    Kafka: `ReplicationControlManager.handleAssignReplicasToDirs` and `PartitionChangeBuilder.build`, which ends a
    reassignment, populates the ELR and elects, in this order. Up to 4.2 the former does not pass on that the ELR is
    enabled, so the latter clears the ELR and ignores the last known leader.
    """
    order = was.order or was.replicas
    built: dict[str, Any] = {"isr": was.isr, "adding": was.adding, "removing": was.removing, "replicas": was.replicas}
    if is_otherwise_done(was, rules.reassignment_ends):
        built |= {name: _without(built[name], was.removing) for name in ("isr", "replicas")}
        built |= {"adding": (), "removing": ()}
        order = _without(order, was.removing)
    isr, eligible, keeps = built["isr"], was.elr, elr and rules.named_directory_keeps_elr
    if keeps:
        eligible = () if len(isr) >= minimum else tuple(sorted({*eligible, *was.isr} - set(isr)))
    leader = _elected(was, order, isr, eligible)
    if leader is None and keeps and not isr and not eligible and len(was.last_known_elr) == 1:
        leader = next((last for last in was.last_known_elr if _may_lead(last, was)), None)
        built["isr"] = isr if leader is None else (leader,)
    elif leader in eligible:
        built["isr"], eligible = (leader,), _without(eligible, (leader,))
    built["elr"] = eligible if keeps else ()
    built["leader"] = -1 if leader is None else leader
    bumps = built["leader"] != was.leader or built["replicas"] != was.replicas
    return built | {"leader_epoch": was.leader_epoch + bumps}


def _elected(was: ControllerSeen, order: tuple[int, ...], isr: tuple[int, ...], elr: tuple[int, ...]) -> int | None:
    """Return the leader if it may lead, else the first replica in the order that may; None if none may."""
    members = isr or elr
    return next((one for one in (was.leader, *order) if one in members and _may_lead(one, was)), None)


def _may_lead(number: int, seen: ControllerSeen) -> bool:
    """Return whether a broker is unfenced and does not stop, and its replica's directory is not known to be gone."""
    return number not in (*seen.fenced, *seen.stopping, *seen.without_directory)


def _without(members: tuple[int, ...], others: Collection[int]) -> tuple[int, ...]:
    return tuple(number for number in members if number not in others)


def would_be_late(state: ReadableState) -> bool:
    """Return whether a directory that is named makes an AlterPartition late, as it is a change of the partition.

    One may be on its way. Or the leader knows all of the partition, by a response or but for a directory of its own, or
    may do so before it learns of this one: by the response to the newest change, or where that is configuration. It
    makes the next request before it learns of the directory then.
    """
    newest = state["registrations"][0]
    if state["alter_partition"]["isr"] or newest["leader"] is None:
        return bool(state["alter_partition"]["isr"])
    broker = state["broker"][newest["leader"]]
    before_configuration = broker["image_lag"] and newest.get("configuration")
    by_response = broker.get("isr_from_response") or 0 in _responses_to_come(state, newest["leader"])
    return bool(before_configuration or by_response or waits_for_directory(broker))


def _responses_to_come(state: ReadableState, leader: str) -> list[int]:
    """The places of the registrations that a response may still bring a leader, before metadata does.

    That step is `receive_alter_partition_response`.
    """
    broker = state["broker"][leader]
    view = state["registrations"][broker["image_lag"]]
    return [
        place
        for place, change in enumerate(state["registrations"][: broker["image_lag"]])
        if change.get("is_response")
        and (view["leader"], change["leader"], view["epoch"]) == (leader, leader, change["epoch"])
        and set(broker["pending_isr"]) == set(change["isr"])
    ]


def waits_for_directory(broker: Mapping[str, Any]) -> bool:
    """Return whether a broker of the model has metadata on its way of a directory that concerns it."""
    accepted = broker.get("promotion") == ReassignmentState.ACCEPTED.name
    return bool(broker.get("directory_to_hear") and (is_elsewhere(broker) or accepted))


def require_same_elr(after: ReadableState, seen: Observation) -> None:
    """Refuse a start at which the model's controller learns of a directory, if that makes Kafka's request late.

    Args:
        after: the model's state after it.
        seen: Kafka's, whose controller has not learned of it.

    Raises:
        NotSchedulable: in the model it has, and fewer are eligible to lead by that.
    """
    mine, unassigned = set(after["controller"].get("elr", ())), unassigned_in(after)
    if not mine < {f"b{number}" for number in seen.controller.elr}:
        return
    for number in set(seen.controller.unassigned) - {broker_id(name) for name in unassigned}:
        directory = seen.brokers[number].directory
        if directory is not None and directory.to_assign == "log":
            message = (
                f"b{number} names its directory as it starts, by which fewer are eligible to lead; that makes the "
                "AlterPartition late that is on its way, or comes next, and in the model it is no change"
            )
            raise NotSchedulable(message, MAKES_LATE)


def require_watermark_of_copy(replica: str, before: ReadableState, after: ReadableState, log: LogSeen | None) -> None:
    """Refuse a start that takes a copy whose high watermark, or log start, is older than that of the log.

    Args:
        replica: who has started.
        before: the model's state before it.
        after: the model's state after it.
        log: Kafka's log after it.

    Raises:
        NotSchedulable: it is so, and the log ends where the model's does.
    """
    was, mine = before["broker"][replica], after["broker"][replica]
    taken = was.get("future_leo") is not None and is_elsewhere(was)
    if not taken or log is None or log.end != mine["leo"]:
        return
    start, mark = mine.get("log_start", 0), mine["hw"]
    older = log.start <= start and log.start <= log.high_watermark <= mark
    if older and (log.start, log.high_watermark) != (start, mark):
        message = (
            f"the copy that {replica} takes for its log at the start has the high watermark of when it got its "
            "last record, and the log start; in the model it has those of the log"
        )
        raise NotSchedulable(message, OLDER_WATERMARK)


def watermarks_of(seen: Observation) -> dict[int, int]:
    """Return the high watermarks of brokers that have a log."""
    return {number: one.log.high_watermark for number, one in seen.brokers.items() if one.log is not None}


def require_watermarks(known: Mapping[int, int], seen: Observation) -> None:
    """Refuse metadata that names a directory, which the model has not got, if a leader looks at its high watermark.

    Args:
        known: the high watermarks before it.
        seen: Kafka's state after it.

    Raises:
        NotSchedulable: a leader's, and no other, has grown, and not beyond what its whole ISR has by what it knows.
    """
    moved = [number for number, mark in watermarks_of(seen).items() if known.get(number, mark) != mark]
    if moved and all(_has_looked(number, known[number], seen) for number in moved):
        message = "metadata that names a directory makes the leader look at its high watermark; in the model it is none"
        raise NotSchedulable(message, LOOKS_AT_WATERMARK)


def _has_looked(number: int, known: int, seen: Observation) -> bool:
    leading, log = seen.brokers[number].leading, seen.brokers[number].log
    if leading is None or log is None:
        return False
    ends = [leading.known[member].end for member in leading.isr if member in leading.known]
    return known < log.high_watermark <= min((log.end, *ends))


def require_epochs_of_copy(replica: str, after: ReadableState, log: LogSeen | None) -> None:
    """Refuse a copy that keeps the epoch of records which are all deleted, where the model's has none.

    Args:
        replica: whose log it has replaced.
        after: the model's state after that.
        log: Kafka's log after it.

    Raises:
        NotSchedulable: it is so; the log is as the model's otherwise, and some record was written in that epoch.
    """
    mine = after["broker"][replica]
    start, written = mine.get("log_start", 0), (f"r{number}" for number in range(after["written"]))
    if (
        log is None
        or len(log.epochs) != 1
        or not mine["latest_epoch"] < 0 < start == mine["leo"] == log.start == log.end
    ):
        return
    if str(log.epochs[0]) in {after["epoch_of"][record] for record in written}:
        message = f"the copy that {replica} takes for its log keeps the epoch of records that are deleted"
        raise NotSchedulable(message, COPY_KEEPS_EPOCH)
