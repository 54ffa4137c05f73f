"""Parts of the model that a harness has not got, with the actions of each; why it has not is said by the harness."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

__all__ = ["Outside", "reasons_outside"]


class Outside(Enum):
    """What is beside brokers and a controller of KRaft; the value is its actions."""

    CHECKPOINTS = ("find_older_checkpoint", "find_older_start")
    """What was written to disk some time before a crash."""
    CONSUMERS = ("consume", "validate_position", "reset_position")
    ZOOKEEPER = ("fail_over", "hear_of_controller", "elect_as_deposed")
    QUORUM = ("commit_decisions", "lose_leadership", "become_active", "refuse_isr_as_deposed")
    """What controllers do among themselves."""
    SESSIONS = ("evict_session", "lose_reply")
    DIRECTORIES = ("fail_directory", "report_directory", "repair_directory", "accept_copy", "hear_directory")
    LOST_ANSWERS = ("accept_isr_unheard", "get_isr_again")
    """Connections that break when a request is handled."""
    PRODUCERS = ("send_again", "acknowledge_again", "restart_producer")
    """A producer's id, epoch and numbers."""


def reasons_outside(reasons: Mapping[Outside, str]) -> dict[str, str]:
    """Return for each action of some parts why it cannot be brought about, by the reason of each part."""
    return {action: reason for part, reason in reasons.items() for action in part.value}
