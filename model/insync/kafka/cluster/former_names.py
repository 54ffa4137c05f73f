"""Names that were changed: options are accepted by their former names for a release, and records are read by them.

Steps and fields have no former names for users: a trace that was written with them is refused, and is to be made anew.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["FORMER_FIELDS", "FORMER_NAMES", "FORMER_STEPS"]

FORMER_NAMES: Mapping[str, str] = {
    "min_insync": "min_insync_replicas",
    "unclean": "unclean_leader_election",
    "offset_reset": "auto_offset_reset",
    "flushing": "flush",
    "lossy_crashes": "power_failures",
    "stops": "controlled_shutdowns",
    "shrinks": "isr_shrinks",
    "elections": "preferred_elections",
    "moves": "log_dir_moves",
    "minimum_changes": "config_changes",
    "partition_zero": "partition_zero_replicas",
    "old_checkpoints": "stale_checkpoints",
    "reorderings": "replica_order_changes",
    "late_replies": "late_fetch_responses",
    "isr_replies": "late_alter_partition_responses",
    "pauses": "fetch_failures",
    "directory_losses": "log_dir_failures",
    "log_dir_losses": "log_dir_failures",
    "directory_failures": "log_dir_failures",
    "deletions": "delete_records",
    "deletion_answers": "",
    "write_errors": "",
    "controllers": "",
    "failovers": "controller_failovers",
    "session_losses": "lost_fetch_responses",
    "alter_retries": "lost_alter_partition_responses",
}
"""Options: what their names were, and what they are; nothing where there is nothing to choose any more."""

FORMER_STEPS: Mapping[str, str] = {
    "accept_isr": "accept_alter_partition",
    "refuse_isr": "reject_alter_partition",
    "receive_isr": "receive_alter_partition_response",
    "apply_known_metadata": "apply_repeated_metadata",
    "accept_isr_unheard": "lose_alter_partition_response",
    "get_isr_again": "repeat_alter_partition",
    "look_at_follower": "check_follower_in_sync",
    "refuse_isr_as_deposed": "reject_as_stale_controller",
    "elect_as_deposed": "elect_as_stale_controller",
    "lose_reply": "lose_fetch_response",
}
"""Steps: what their names were, and what they are."""

FORMER_FIELDS: Mapping[str, str] = {
    "registrations": "changes",
    "alter_partition": "alter",
    "alter_partition_retry": "again",
    "acked_under_min_isr": "thin_ack",
    "reassigned_under_min_isr": "thin_move",
    "last_known_leader": "last_leader",
    "stale_controller": "deposed",
    "stale_controller_fenced": "deposed_fenced",
    "stale_controller_isr": "deposed_isr",
    "offline_replicas": "without_directory",
    "broker_epochs_are_current": "current",
    "is_response": "replied",
    "by_stale_controller": "by_deposed",
    "clean_shutdown": "clean",
    "in_controlled_shutdown": "stopping",
    "controller_epoch_is_stale": "unaware",
    "image_lag": "lag",
    "isr_from_response": "repeats",
    "configs_behind": "unheard",
    "log_start": "start",
    "segment_base": "base",
    "latest_epoch": "term",
    "leader_epoch_start": "epoch_start",
    "led_since": "leads_since",
    "coordinator_writes": "waits",
    "pending_isr": "pending",
    "remote_replicas": "known",
    "truncates_to_hw": "to_cut",
    "session_high_watermark": "told",
    "session_log_start": "told_start",
    "session_fetch": "named",
    "fetch_delayed": "paused",
    "future_leo": "copied",
    "fetch_offset": "begins_at",
    "fetch_failed": "given_up",
    "seen_in_sync": "joining",
    "fetch_response": "reply",
    "broker_epoch_is_current": "current",
}
"""Fields of the state: what their names are, and what they were. Two fields had the same name before.

The log end that a leader knows of a follower, `leo` in `remote_replicas`, was `end`.
"""
