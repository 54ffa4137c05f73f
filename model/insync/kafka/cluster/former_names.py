"""Names that were changed: options are accepted by their former names for a release, and records are read by them."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["FORMER_NAMES"]

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
