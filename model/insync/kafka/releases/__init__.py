"""Internal: what each release of Kafka does its own way, what all of them do alike, and what none does.

`release` has the releases in their order, `release_rules` the rules that differ between them, `history` which release
changed which. `guards` are the same in all releases, `fixes` in none. `rules` puts the three together, by
`rule_parts`, which the quorum's rules share, and says what fixes an entry of the catalogue in a release.
"""

from __future__ import annotations

from insync.kafka.releases.fixes import Fixes
from insync.kafka.releases.guards import Counting, Guards
from insync.kafka.releases.release import Release, release_advice, release_of, release_of_series
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
from insync.kafka.releases.rules import Rules, fixing_rules, has_defect, require_defect

__all__ = [
    "ControllerFence",
    "Counting",
    "Fixes",
    "Guards",
    "IsrWrite",
    "MinimumChange",
    "ReassignmentEnd",
    "Release",
    "ReleaseRules",
    "Rules",
    "StaleReply",
    "StrictMinimum",
    "Truncation",
    "fixing_rules",
    "has_defect",
    "release_advice",
    "release_of",
    "release_of_series",
    "require_defect",
]
