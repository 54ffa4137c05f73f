"""Parts of the model that a harness has not got, with the actions of each; why it has not is said by the harness."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

__all__ = ["NOT_ANY_MORE", "Outside", "reasons_outside"]


class Outside(Enum):
    """What is beside brokers and a controller of KRaft; the value is its actions."""

    CHECKPOINTS = ("find_older_checkpoint", "find_older_start")
    """What was written to disk some time before a crash."""
    CONSUMERS = ("consume", "validate_position", "reset_position")
    ZOOKEEPER = ("fail_over", "hear_of_controller", "elect_as_deposed")
    QUORUM = ("commit_decisions", "lose_leadership", "become_active", "refuse_isr_as_deposed")
    """What controllers do among themselves."""
    SESSIONS = ("evict_session", "lose_reply")
    DIRECTORIES = (
        *("fail_directory", "fail_copy_directory", "report_directory", "repair_directory"),
        *("accept_copy", "hear_directory"),
    )
    LOST_ANSWERS = ("accept_isr_unheard", "get_isr_again")
    """Connections that break when a request is handled."""
    SNAPSHOTS = ("load_snapshot",)
    """A metadata log whose beginning is deleted."""
    PRODUCERS = ("send_again", "acknowledge_again", "restart_producer")
    """A producer's id, epoch and numbers."""


def reasons_outside(reasons: Mapping[Outside, str]) -> dict[str, str]:
    """Return for each action of some parts why it cannot be brought about, by the reason of each part."""
    return {action: reason for part, reason in reasons.items() for action in part.value}


NOT_ANY_MORE = {
    "ask_epoch_end": "Kafka truncates with a fetch since 2.8, and asks no such question",
    "look_at_follower": "Kafka looks at a follower's state once since 3.7",
    "fence_two": "Kafka's controller fences one broker at a time since 3.0",
    "consume_beyond": "Kafka looks once at how large the file is that it reads since 2.5.1",
    "stop_former_fetcher": "Kafka stops a fetcher before it notes where the next one begins since 3.0",
    "fetch_again": "Kafka stops a fetcher before it notes where the next one begins since 3.0",
}
"""Steps that no release takes any more whose classes or brokers can be run."""
