"""Kafka's releases as sets of rules: what a release does differently, and which KIP or ticket changed it.

A release is the rules of the one before it with some changed. Every minor release is here, and the patch releases in
which a rule changed. docs/guide/cluster-model.md says of which releases the code was read or executed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from functools import cache

from insync.kafka.rules import (
    ControllerFence,
    IsrWrite,
    MinimumChange,
    ReassignmentEnd,
    Rules,
    StaleReply,
    StrictMinimum,
    Truncation,
)
from insync.runtime.errors import UserError

__all__ = ["Release", "release_advice", "release_of", "release_of_series"]


class Release(Enum):
    """A release of Kafka, from the oldest to the newest."""

    V0_10_2 = "0.10.2"
    V0_11 = "0.11"
    V1_0 = "1.0"
    V1_1 = "1.1"
    V2_0 = "2.0"
    V2_0_1 = "2.0.1"
    V2_1 = "2.1"
    V2_2 = "2.2"
    V2_3 = "2.3"
    V2_4 = "2.4"
    V2_5 = "2.5"
    V2_5_1 = "2.5.1"
    V2_6 = "2.6"
    V2_6_1 = "2.6.1"
    V2_7 = "2.7"
    V2_8 = "2.8"
    V2_8_1 = "2.8.1"
    V3_0 = "3.0"
    V3_0_1 = "3.0.1"
    V3_1 = "3.1"
    V3_1_1 = "3.1.1"
    V3_2 = "3.2"
    V3_3 = "3.3"
    V3_4 = "3.4"
    V3_4_1 = "3.4.1"
    V3_5 = "3.5"
    V3_6 = "3.6"
    V3_7 = "3.7"
    V3_7_1 = "3.7.1"
    V3_8 = "3.8"
    V3_9 = "3.9"
    V3_9_1 = "3.9.1"
    V4_0 = "4.0"
    V4_0_1 = "4.0.1"
    V4_1 = "4.1"
    V4_1_1 = "4.1.1"
    V4_2 = "4.2"
    V4_3 = "4.3"
    V4_4 = "4.4"

    @property
    def age(self) -> int:
        """Its number in the order of releases, the oldest first."""
        return list(Release).index(self)

    def is_before(self, other: Release) -> bool:
        """Return whether this release is older than another one."""
        return self.age < other.age

    @property
    def rules(self) -> Rules:
        """The rules of the release."""
        return _rules()[self]

    @property
    def changed(self) -> Mapping[str, object]:
        """The rules in which it differs from the release before it."""
        return _CHANGES.get(self, {})

    @property
    def unread(self) -> str:
        """What is known of a release whose source was not read, as a sentence; empty for the others."""
        return _UNREAD.get(self, "")

    @property
    def same_since(self) -> Release:
        """The oldest release with its rules of which all between have them too; itself where its rules are new."""
        older = list(Release)[: self.age + 1]
        while len(older) > 1 and older[-2].rules == self.rules:
            older.pop()
        return older[-1]


def release_of(version: str) -> Release:
    """Return the release whose rules a version of Kafka has: the newest of its series that is not newer.

    Args:
        version: such as `4.1.2`, which has the rules of 4.1, or `4.5.0-SNAPSHOT`; of a series that the model does not
            know, the newest release before it counts.

    Raises:
        UserError: it is no version, or older than all releases of the model.
    """
    numbers = version.split("-")[0]
    older = _up_to(numbers)
    if not older:
        message = f"{version!r} is no version of Kafka whose rules the model has. {release_advice(version)}"
        raise UserError(message)
    return release_of_series(numbers) or older[-1]


def release_of_series(version: str) -> Release | None:
    """Return the release whose rules a version has; None if the model has no release of its series.

    A patch release without rules of its own has those of the nearest earlier one: `3.9.2` those of 3.9.1.
    """
    return next(reversed(_same_series(_up_to(version), version)), None)


def release_advice(given: str) -> str:
    """Return which releases there are, for a text that is none."""
    known = [release.value for release in Release]
    return f"The model has the releases of Kafka from {known[0]} to {known[-1]}: {', '.join(known)}."


def _up_to(version: str) -> list[Release]:
    """The releases that are not newer, the oldest first; none where the text is no version."""
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,4}){1,3}", version):
        return []
    return [release for release in Release if _numbers(release.value) <= _numbers(version)]


def _same_series(releases: list[Release], version: str) -> list[Release]:
    return [release for release in releases if _series(release.value) == _series(version)]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _series(version: str) -> tuple[int, ...]:
    """What a release has in common with its patch releases: two numbers, and three in 0.10."""
    numbers = _numbers(version)
    return numbers[:3] if numbers[:2] == (0, 10) else numbers[:2]


_OLDEST = Rules(
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

_CHANGES: dict[Release, dict[str, object]] = {
    Release.V0_11: {"truncation": Truncation.EPOCH_OFFSET},
    Release.V1_0: {"directories_fail_alone": True},
    Release.V1_1: {"fetches_in_sessions": True},
    Release.V2_0: {"truncation": Truncation.EPOCH_PAIR, "reads_end_at_watermark": False},
    Release.V2_0_1: {"cache_epoch_on_election": True, "truncate_on_every_epoch": True, "join_needs_epoch_start": True},
    Release.V2_1: {"fence_fetch": True, "fence_truncation": True, "controller_fence": ControllerFence.EPOCH},
    Release.V2_2: {"hide_stale_watermark": True},
    Release.V2_3: {"consumer_checks_epoch": True},
    Release.V2_4: {"followers_are_read": True},
    Release.V2_5: {"session_keeps_epoch": True},
    Release.V2_5_1: {"reads_end_at_watermark": True},
    Release.V2_6_1: {"truncation_drops_empty_epochs": True},
    Release.V2_7: {"isr_write": IsrWrite.PROPOSED, "watermark_after_isr_reply": False},
    Release.V2_8: {"truncation": Truncation.ON_FETCH},
    Release.V2_8_1: {"ignore_diverging_fetch": True, "drop_stale_reply": StaleReply.OTHER_LEADER},
    Release.V3_0: {"isr_within_replicas": True},
    Release.V3_0_1: {"idempotent_by_default": True},
    # 3.1.0 is older than 3.0.1, and has not got its rule.
    Release.V3_1: {"watermark_after_isr_reply": True, "idempotent_by_default": False},
    Release.V3_1_1: {"idempotent_by_default": True},
    # From here on the controller is a KRaft quorum; before 3.6 it bumped the leader epoch when an ISR shrank.
    Release.V3_3: {
        "isr_needs_unfenced": True,
        "controller_in_zookeeper": False,
        "register_needs_fenced": False,
        "shrink_keeps_epoch": False,
        "unclean_is_honoured": False,
        "minimum_change": MinimumChange.AFTER_TOPICS,
        "failed_directory_is_told": False,
    },
    Release.V3_4_1: {"watermark_after_truncation": True},
    Release.V3_5: {"isr_needs_broker_epoch": True},
    Release.V3_6: {"shrink_keeps_epoch": True, "empty_reply_keeps_epoch": False},
    Release.V3_7: {
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
    Release.V3_7_1: {"dropped_copy_is_taken_back": True, "start_takes_accepted_copy": True},
    Release.V3_8: {
        "unclean_leaves_elr": True,
        "reassignment_ends": ReassignmentEnd.TARGETS,
    },
    Release.V3_9: {"unclean_is_honoured": True, "clean_stop_is_noticed": False},
    Release.V3_9_1: {"drop_stale_reply": StaleReply.OTHER_EPOCH, "skip_later_epochs": True},
    # 4.0.0 is older than 3.9.1, and has neither its rule.
    Release.V4_0: {
        "drop_stale_reply": StaleReply.OTHER_LEADER,
        "skip_later_epochs": False,
        "clean_stop_is_noticed": True,
        "register_leaves_isr": True,
        "minimum_change_clears_elr": True,
    },
    Release.V4_0_1: {"drop_stale_reply": StaleReply.OTHER_EPOCH, "skip_later_epochs": True},
    Release.V4_1: {"elr_by_default": True, "last_leader_must_live": True},
    Release.V4_1_1: {"last_leader_when_leaderless": True},
    Release.V4_3: {"reassignment_ends": ReassignmentEnd.ADDED_UNLESS_FEWER, "named_directory_keeps_elr": True},
}


_UNREAD = {
    Release.V4_4: "Of the source of 4.4 nothing was read; random walks of the model and its catalogue of defects "
    "agreed with its classes."
}


@cache
def _rules() -> dict[Release, Rules]:
    """The rules of every release: those of the oldest, changed release by release."""
    rules, found = _OLDEST, {}
    for release in Release:
        rules = replace(rules, **release.changed)  # type: ignore[arg-type]
        found[release] = rules
    return found
