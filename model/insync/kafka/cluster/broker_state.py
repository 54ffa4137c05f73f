"""What a broker has on disk and in memory of the partition, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, cast

from insync.kafka.cluster import typed_state as field
from insync.kafka.cluster.indices import RecordNumber, epoch_bumps
from insync.kafka.replica import Replica
from insync.model import BoundValues, Int, ReadableState

__all__ = [
    "BrokerState",
    "DirectoryId",
    "FailedLogDir",
    "FetchResponseState",
    "KeptView",
    "ReassignmentState",
    "RemoteReplica",
    "SessionFetch",
]


def _end(b: BoundValues) -> Int:
    return Int(0, b.records)


def _newest_epoch(b: BoundValues) -> Int:
    return Int(-1, epoch_bumps(b))


def _records(b: BoundValues) -> int:
    return b.records


class DirectoryId(Enum):
    """In which directory of a broker the controller takes its log to be (Kafka: DirectoryId).

    Kafka's are numbers. Here LOG is where the log is, and FUTURE_LOG the other directory, where a future log is or was.
    """

    LOG = "where the log is"
    FUTURE_LOG = "where a future log is, or was"
    UNASSIGNED = "in one that it does not know"


class ReassignmentState(Enum):
    """What the controller has said of a future log (Kafka: ReplicaAlterLogDirsThread.ReassignmentState).

    QUEUED and EFFECTIVE are none of their own here: a request and the answer to it are one step.
    """

    NONE = "none"
    ACCEPTED = "accepted"


class FailedLogDir(Enum):
    """Which of a broker's two directories has failed: that of its log, or the other one; with both it ends."""

    NONE = "none"
    LOG = "that of its log"
    FUTURE_LOG = "the other one"


class KeptView:
    """The view that a broker keeps which was not told that it has no replica any more (KAFKA-16892)."""

    leader = field.optional("who leads", lambda _: Replica)
    epoch = field.epoch("the leader epoch")
    isr = field.brokers("the ISR")
    replicas = field.brokers("the replicas; none where nothing is kept")


class RemoteReplica:
    """What a leader knows of a follower by its fetches: an entry of Partition.remoteReplicasMap."""

    leo = field.optional("its log end, none if it has not fetched in this epoch", _end)
    broker_epoch_is_current = field.flag("whether the incarnation that fetched is the present one")
    log_start = field.offset("where its log starts", on=lambda f: f.deletes)


class SessionFetch:
    """What a follower has named in its session last."""

    offset = field.offset("where it fetched")
    latest_epoch = field.number("its newest epoch", _newest_epoch)


class FetchResponseState:
    """A fetch's response on its way: records from an offset on, or where the logs diverge."""

    waiting = field.flag("whether there is one")
    unsent = field.flag(
        "whether its records may still be on the leader's disk alone, where others may take their place"
    )
    offset = field.offset("where the follower fetched")
    record = field.optional("the record, if there is one", lambda _: RecordNumber)
    hw = field.offset("the leader's high watermark")
    diverging = field.flag("whether the logs diverge")
    epoch = field.epoch("the epoch up to which they agree")
    end = field.offset("where that epoch ends at the leader")
    log_start = field.offset("where the leader's log starts", on=lambda f: f.deletes)


class BrokerState:
    """A broker: its process, its metadata, its log, and what it knows as a leader and as a follower."""

    running = field.flag("its process runs")
    clean_shutdown = field.flag("its last stop was clean", on=lambda f: f.controlled_shutdowns)
    in_controlled_shutdown = field.flag("it has asked to stop", on=lambda f: f.controlled_shutdowns)
    controller_epoch_is_stale = field.flag(
        "it has not learned of the newest controller", on=lambda f: f.stale_controller_may_write
    )
    image_lag = field.number(
        "which of the latest registrations it has applied, the newest being 0", lambda b: Int(0, b.metadata_lag)
    )
    isr_from_response = field.flag(
        "it knows its view from a response, and metadata will bring the same once more",
        on=lambda f: f.late_alter_partition_responses,
    )
    kept = field.part(
        "the former view that it keeps, after a snapshot that took its replica away",
        KeptView,
        on=lambda f: f.forgets_removals,
    )
    configs_behind = field.number(
        "changes of min.insync.replicas from before the ISR that a response brought, which it has not learned of",
        lambda b: Int(0, b.config_changes),
        on=lambda f: f.minimum_may_be_late,
    )
    log = field.numbers("its records from `log_start` to `leo`, and r0 elsewhere", _records, lambda _: RecordNumber)
    log_start = field.offset("the log start offset", on=lambda f: f.deletes)
    segment_base = field.offset(
        "where the file of the log begins: what was deleted behind that may be found again",
        on=lambda f: f.finds_older_starts,
    )
    leo = field.offset("the log end offset")
    hw = field.offset("the high watermark")
    flushed = field.offset("the end of what is on disk for certain", on=lambda f: f.flushes_sometimes)
    # All older entries of the cache follow from the log, because one without records gives way to the next.
    latest_epoch = field.number("the newest epoch in the epoch cache, -1 if it is empty", _newest_epoch)
    leader_epoch_start = field.offset("where the leader's epoch began")
    led_since = field.offset(
        "the log end at which it began to lead without a break; it still answers the producers of that time"
    )
    coordinator_writes = field.optional_numbers(
        "by offset, what it has appended as a leader and not answered for",
        _records,
        lambda _: RecordNumber,
        on=lambda f: f.keeps_writes_waiting,
    )
    pending_isr = field.brokers("the ISR that it has proposed as a leader, empty if none")
    remote_replicas = field.parts("what it knows of the followers as a leader", lambda _: Replica, RemoteReplica)
    deleting = field.offset("what an operator waits for to be deleted", on=lambda f: f.deletes)
    truncating = field.flag("it is to ask where to truncate before it fetches", on=lambda f: f.asks_before_fetching)
    truncates_to_hw = field.flag(
        "it is to cut its log to its high watermark before it fetches", on=lambda f: f.cuts_without_epochs
    )
    session = field.flag("it has a fetch session with the leader that it follows", on=lambda f: f.notes_sessions)
    session_high_watermark = field.optional(
        "the high watermark that the session has told", _end, on=lambda f: f.sessions
    )
    session_log_start = field.offset("the log start that the session has told", on=lambda f: f.sessions and f.deletes)
    session_fetch = field.part("what was named in the session last", SessionFetch, on=lambda f: f.answers_what_is_named)
    fetch_delayed = field.flag("its fetcher has failed", on=lambda f: f.fetch_failures)
    throttled = field.flag("its quota is used up", on=lambda f: f.throttles)
    future_leo = field.optional("the end of the log's copy in another directory", _end, on=lambda f: f.log_dir_moves)
    failed_log_dir = field.one_of(FailedLogDir, "which of its directories has failed", on=lambda f: f.directories_fail)
    promotion = field.one_of(
        ReassignmentState, "how far its future log is on its way", on=lambda f: f.directories_are_assigned
    )
    directory = field.one_of(
        DirectoryId, "where the controller takes its log to be", on=lambda f: f.directory_may_be_another
    )
    directory_to_hear = field.flag(
        "it is to learn where the controller takes its log to be", on=lambda f: f.directories_are_assigned
    )
    to_assign = field.flag("it is to tell the controller where its log is", on=lambda f: f.names_directories)
    fetch_offset = field.optional("where its next fetcher is to begin", _end, on=lambda f: f.late_fetchers)
    fetch_failed = field.flag("its fetcher has found the log to end elsewhere", on=lambda f: f.late_fetchers)
    last_fetched_epoch_empty = field.flag(
        "its next fetch names no epoch, as the last response had no record", on=lambda f: f.loses_fetched_epoch
    )
    seen_in_sync = field.brokers("those who have caught up at the first of two looks", on=lambda f: f.looks_twice)
    fetch_response = field.part(
        "the response to its fetch that is on its way", FetchResponseState, on=lambda f: f.late_fetch_responses
    )


_LOG_FAILED = FailedLogDir.LOG.name  # an enumeration looks its names up each time, and comparisons with Kafka are many


def is_offline(broker: Mapping[str, Any]) -> bool:
    """Return whether in a state the directory with a broker's log has failed."""
    return bool(broker.get("failed_log_dir") == _LOG_FAILED)


def is_elsewhere(broker: Mapping[str, Any]) -> bool:
    """Return whether in a state the controller takes a broker's log to be in its other directory."""
    return bool(broker.get("directory") == DirectoryId.FUTURE_LOG.name)


def is_astray(broker: Mapping[str, Any]) -> bool:
    """Return whether in a state the controller takes a log to be in a directory that has failed, where it is not."""
    return is_elsewhere(broker) and broker.get("failed_log_dir") == FailedLogDir.FUTURE_LOG.name


def unassigned_in(state: ReadableState) -> list[str]:
    """Return the brokers whose replica is in a directory that the controller does not know, in a state."""
    brokers = cast(dict[str, dict[str, Any]], state["broker"])
    return [name for name, one in brokers.items() if one.get("directory") == DirectoryId.UNASSIGNED.name]
