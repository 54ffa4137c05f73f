"""The rules of the quorum in three parts: what a release does its own way, what no release does, what all do alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from insync.kafka.releases import Release
from insync.kafka.releases.rule_parts import RuleParts

if TYPE_CHECKING:
    from insync.kafka.defects import Defect

__all__ = [
    "QuorumFixes",
    "QuorumGuards",
    "QuorumReleaseRules",
    "QuorumRules",
    "quorum_rules_of",
]


@dataclass(frozen=True, slots=True)
class QuorumReleaseRules:
    """The rules in which releases differ."""

    pre_votes: Annotated[bool, "A server requests pre-votes before it stands for election: KIP-996 (4.0)."] = True
    vote_survives_following: Annotated[
        bool,
        "The file with a server's epoch keeps its vote beside the leader that it follows, so a follower that was a "
        "candidate in its epoch is one again when it restarts: KIP-996 (4.0).",
    ] = True


@dataclass(frozen=True, slots=True)
class QuorumFixes:
    """The rules that no release has."""

    known_leader_outlasts_vote: Annotated[
        bool, "A server that restarts follows the leader in its quorum-state file, whatever its vote (Q-6, Q-17, Q-18)."
    ] = False


@dataclass(frozen=True, slots=True)
class QuorumGuards:
    """The rules that all releases have, and `acknowledgement_needs_voter`, which none has.

    Without it a leader would throw (Q-7), and what comes after a removal would not be searched.
    """

    restarted_leader_resigns: Annotated[
        bool, "A leader that restarts has resigned, and does not lead on in its epoch: KAFKA-10527 (2.7)."
    ] = True
    restarted_leader_keeps_vote: Annotated[
        bool, "A leader that restarts keeps its vote for itself in its epoch: KAFKA-10661 (2.7)."
    ] = True
    resigned_votes_for_nobody: Annotated[
        bool, "A leader that resigns is Resigned, and votes for nobody in its epoch: QuorumState.transitionToResigned."
    ] = True
    disk_tells_servers_apart: Annotated[
        bool, "A server that has lost its disk is another one when it is back: KIP-853, directory ids."
    ] = True
    flushes_before_responding: Annotated[
        bool, "A server flushes its log before it votes, responds and fetches: KAFKA-10533 (2.8)."
    ] = True
    commits_own_epoch: Annotated[
        bool, "A leader commits up to a record of its own epoch alone (Raft, figure 8): KAFKA-12619 (2.8)."
    ] = True
    acknowledgement_needs_voter: Annotated[
        bool, "A leader ignores the response to BeginQuorumEpoch of a removed voter; no release does (Q-7)."
    ] = True
    only_voters_count: Annotated[
        bool, "A leader counts its own log only where it is a voter by it: KAFKA-16530 (3.8)."
    ] = True


@dataclass(frozen=True, slots=True)
class QuorumRules(RuleParts):
    """The rules that are in force.

    Attributes:
        release: what the release does its own way.
        fixes: what no release does.
        guards: what holds unless an entry of the catalogue leaves it out.
    """

    release: QuorumReleaseRules = field(default_factory=QuorumReleaseRules)
    fixes: QuorumFixes = field(default_factory=QuorumFixes)
    guards: QuorumGuards = field(default_factory=QuorumGuards)


def quorum_rules_of(release: Release, defect: Defect | None = None, *, fixed: bool = False) -> QuorumRules:
    """Return the rules of a release, with those of a defect, or with those that fix it."""
    since_996 = not release.is_before(Release.V4_0)
    rules = QuorumRules(QuorumReleaseRules(pre_votes=since_996, vote_survives_following=since_996))
    if defect is None:
        return rules
    changed = {name: not value for name, value in defect.rules.items()} if fixed else defect.rules
    return rules.changed({**defect.base, **changed})
