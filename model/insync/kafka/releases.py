"""Kafka's releases as sets of rules: what a release does differently, and which KIP or ticket changed it.

A release is the rules of the one before it with some changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from functools import cache

from insync.kafka.rules import IsrWrite, Rules, StrictMinimum, Truncation

__all__ = ["Release"]


class Release(Enum):
    """A release of Kafka, from the oldest to the newest. One that is not here has the rules of the one before it."""

    V0_10_2 = "0.10.2"
    V0_11 = "0.11"
    V2_0 = "2.0"
    V2_1 = "2.1"
    V2_7 = "2.7"
    V3_0 = "3.0"
    V3_3 = "3.3"
    V3_5 = "3.5"
    V3_7 = "3.7"
    V3_8 = "3.8"
    V3_9 = "3.9"
    V4_0 = "4.0"
    V4_1 = "4.1"

    def is_before(self, other: Release) -> bool:
        """Return whether this release is older than another one."""
        return list(Release).index(self) < list(Release).index(other)

    @property
    def rules(self) -> Rules:
        """The rules of the release."""
        return _rules()[self]

    @property
    def changed(self) -> Mapping[str, object]:
        """The rules in which it differs from the release before it."""
        return _CHANGES.get(self, {})


_OLDEST = Rules(
    truncation=Truncation.HIGH_WATERMARK,
    cache_epoch_on_election=False,
    truncate_on_every_epoch=False,
    fence_fetch=False,
    fence_truncation=False,
    session_keeps_epoch=False,
    join_needs_epoch_start=False,
    hide_stale_watermark=False,
    isr_write=IsrWrite.DIRECT,
    isr_needs_unfenced=False,
    isr_needs_broker_epoch=False,
    isr_within_replicas=False,
    reassignment_needs_targets=False,
    join_reads_one_snapshot=False,
    ignore_diverging_fetch=False,
    empty_reply_keeps_epoch=False,
    drop_stale_reply=False,
    watermark_after_truncation=False,
    strict_minimum=StrictMinimum.NO,
    elr_by_default=False,
    unclean_leaves_elr=False,
    register_leaves_isr=False,
    register_needs_fenced=True,
    last_leader_must_live=False,
    minimum_change_clears_elr=False,
)

_CHANGES: dict[Release, dict[str, object]] = {
    Release.V0_11: {"truncation": Truncation.EPOCH_OFFSET},
    Release.V2_0: {"truncation": Truncation.EPOCH_PAIR},
    Release.V2_1: {
        "cache_epoch_on_election": True,
        "truncate_on_every_epoch": True,
        "fence_fetch": True,
        "fence_truncation": True,
        "join_needs_epoch_start": True,
    },
    Release.V2_7: {"hide_stale_watermark": True, "session_keeps_epoch": True, "isr_write": IsrWrite.PROPOSED},
    Release.V3_0: {
        "truncation": Truncation.ON_FETCH,
        "ignore_diverging_fetch": True,
        "drop_stale_reply": True,
        "isr_within_replicas": True,
    },
    # From here on the controller is a KRaft quorum; before 3.6 it bumped the leader epoch when an ISR shrank.
    Release.V3_3: {"isr_needs_unfenced": True, "register_needs_fenced": False, "shrink_keeps_epoch": False},
    Release.V3_5: {"isr_needs_broker_epoch": True, "watermark_after_truncation": True},
    Release.V3_7: {
        "shrink_keeps_epoch": True,
        "join_reads_one_snapshot": True,
        "empty_reply_keeps_epoch": True,
        "strict_minimum": StrictMinimum.COMMITTED,
    },
    Release.V3_8: {"unclean_leaves_elr": True, "reassignment_needs_targets": True},
    Release.V4_0: {"register_leaves_isr": True, "minimum_change_clears_elr": True},
    Release.V4_1: {"elr_by_default": True, "last_leader_must_live": True},
}


@cache
def _rules() -> dict[Release, Rules]:
    """The rules of every release: those of the oldest, changed release by release."""
    rules, found = _OLDEST, {}
    for release in Release:
        rules = replace(rules, **release.changed)  # type: ignore[arg-type]
        found[release] = rules
    return found
