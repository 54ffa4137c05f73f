"""The rules of the oldest release, and what each later one changed, by KIP or ticket.

docs/guide/cluster-model.md names the releases whose code was read or executed.
"""

from __future__ import annotations

from collections.abc import Mapping

from insync.kafka.releases.release_rules import (
    ControllerFence,
    IsrWrite,
    MinimumChange,
    ReassignmentEnd,
    ReleaseRules,
    StaleReply,
    StrictMinimum,
    Truncation,
)

__all__ = ["CHANGES", "OLDEST", "UNREAD"]

OLDEST = ReleaseRules(
    truncation=Truncation.HIGH_WATERMARK,
    cache_epoch_on_election=False,
    truncate_on_every_epoch=False,
    truncation_drops_empty_epochs=False,
    fence_fetch=False,
    fence_truncation=False,
    fetches_in_sessions=False,
    session_keeps_epoch=False,
    join_needs_epoch_start=False,
    hide_stale_watermark=False,
    isr_write=IsrWrite.DIRECT,
    unsent_ask_is_dropped=False,
    isr_needs_unfenced=False,
    isr_needs_broker_epoch=False,
    isr_within_replicas=False,
    reassignment_ends=ReassignmentEnd.ADDED,
    join_reads_one_snapshot=False,
    ignore_diverging_fetch=False,
    drop_stale_reply=StaleReply.OTHER_LEADER_RECORDS,
    skip_later_epochs=False,
    watermark_after_truncation=False,
    strict_minimum=StrictMinimum.NO,
    minimum_is_capped=False,
    elr_by_default=False,
    unclean_leaves_elr=False,
    register_leaves_isr=False,
    directories_fail_alone=False,
    controller_knows_directories=False,
    named_directory_keeps_elr=False,
    controller_in_zookeeper=True,
    controller_fence=ControllerFence.VERSION,
    register_needs_fenced=True,
    idempotent_by_default=False,
    consumer_checks_epoch=False,
    followers_are_read=False,
    last_leader_must_live=False,
    last_leader_when_leaderless=False,
    minimum_change=MinimumChange.PARTITION,
    minimum_change_clears_elr=False,
)
"""The rules of 0.10.2."""

CHANGES: Mapping[str, Mapping[str, object]] = {
    "0.11": {"truncation": Truncation.EPOCH_OFFSET},
    "1.0": {"directories_fail_alone": True},
    "1.1": {"fetches_in_sessions": True},
    "2.0": {"truncation": Truncation.EPOCH_PAIR, "reads_end_at_watermark": False},
    "2.0.1": {"cache_epoch_on_election": True, "truncate_on_every_epoch": True, "join_needs_epoch_start": True},
    "2.1": {"fence_fetch": True, "fence_truncation": True, "controller_fence": ControllerFence.EPOCH},
    "2.2": {"hide_stale_watermark": True},
    "2.3": {"consumer_checks_epoch": True},
    "2.4": {"followers_are_read": True},
    "2.5": {"session_keeps_epoch": True},
    "2.5.1": {"reads_end_at_watermark": True},
    "2.6.1": {"truncation_drops_empty_epochs": True},
    "2.7": {"isr_write": IsrWrite.PROPOSED, "watermark_after_isr_reply": False},
    "2.8": {"truncation": Truncation.ON_FETCH},
    "2.8.1": {"ignore_diverging_fetch": True, "drop_stale_reply": StaleReply.OTHER_LEADER},
    "3.0": {"isr_within_replicas": True},
    "3.0.1": {"idempotent_by_default": True},
    # 3.1.0 is older than 3.0.1, and has not got its rule.
    "3.1": {"watermark_after_isr_reply": True, "idempotent_by_default": False},
    "3.1.1": {"idempotent_by_default": True},
    # From here on the controller is a KRaft quorum; before 3.6 it bumped the leader epoch when an ISR shrank.
    "3.3": {
        "isr_needs_unfenced": True,
        "controller_in_zookeeper": False,
        "register_needs_fenced": False,
        "shrink_keeps_epoch": False,
        "unclean_is_honoured": False,
        "minimum_change": MinimumChange.AFTER_TOPICS,
        "failed_directory_is_told": False,
    },
    "3.4.1": {"watermark_after_truncation": True},
    "3.5": {"isr_needs_broker_epoch": True},
    "3.6": {"shrink_keeps_epoch": True, "empty_reply_keeps_epoch": False},
    "3.7": {
        "join_reads_one_snapshot": True,
        "unsent_ask_is_dropped": True,
        "empty_reply_keeps_epoch": True,
        "strict_minimum": StrictMinimum.COMMITTED,
        "minimum_is_capped": True,
        "failed_directory_is_told": True,
        "controller_knows_directories": True,
        "dropped_copy_is_taken_back": False,
        "start_takes_accepted_copy": False,
    },
    "3.7.1": {"dropped_copy_is_taken_back": True, "start_takes_accepted_copy": True},
    "3.8": {
        "unclean_leaves_elr": True,
        "reassignment_ends": ReassignmentEnd.TARGETS,
    },
    "3.9": {"unclean_is_honoured": True, "clean_stop_is_noticed": False},
    "3.9.1": {"drop_stale_reply": StaleReply.OTHER_EPOCH, "skip_later_epochs": True},
    # 4.0.0 is older than 3.9.1, and has neither its rule.
    "4.0": {
        "drop_stale_reply": StaleReply.OTHER_LEADER,
        "skip_later_epochs": False,
        "clean_stop_is_noticed": True,
        "register_leaves_isr": True,
        "minimum_change_clears_elr": True,
    },
    "4.0.1": {"drop_stale_reply": StaleReply.OTHER_EPOCH, "skip_later_epochs": True},
    "4.1": {"elr_by_default": True, "last_leader_must_live": True},
    "4.1.1": {"last_leader_when_leaderless": True},
    "4.3": {"reassignment_ends": ReassignmentEnd.ADDED_UNLESS_FEWER, "named_directory_keeps_elr": True},
}
"""What a release changed of the rules of the one before it, by its version."""

UNREAD: Mapping[str, str] = {
    "4.4": "Of the source of 4.4 nothing was read; random walks of the model and its catalogue of defects "
    "agreed with its classes."
}
"""What the rules of a release rest on whose source was not read, as a sentence."""
