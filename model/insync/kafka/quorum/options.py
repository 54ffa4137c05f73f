"""Bounds and settings of `kraft`, and what is in force under them."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cached_property

from insync.kafka.defects.defect import NO_DEFECT
from insync.kafka.defects.named import defect_advice
from insync.kafka.defects.voting import UNSEARCHED, VOTING
from insync.kafka.quorum.rules import QuorumRules, quorum_rules_of
from insync.kafka.quorum.sorts import changes_voters
from insync.kafka.releases import Release
from insync.model import Bound, Bounds, BoundValues, Setting, Settings, Switch
from insync.runtime.errors import UserError

__all__ = ["BOUNDS", "SETTINGS", "QuorumDefect", "QuorumFeatures", "When", "always", "rules_of"]

BOUNDS = Bounds(
    servers=Bound(2, 1, 5, "servers of the quorum, all voters at first but those that are started later"),
    spare_servers=Bound(0, 0, 2, "of these, servers that are started later, as observers"),
    records=Bound(1, 0, 4, "values that clients write, each once"),
    elections=Bound(2, 1, 4, "elections that begin in all"),
    restarts=Bound(1, 0, 4, "restarts of servers in all"),
    resignations=Bound(0, 0, 2, "how often a leader resigns, in all"),
    additions=Bound(0, 0, 2, "voters that are added"),
    removals=Bound(0, 0, 2, "voters that are removed"),
    lost_disks=Bound(0, 0, 2, "servers that lose their disk for good"),
)

_CHANGING_RULES = {entry.name: entry for entry in (*VOTING, *UNSEARCHED) if entry.rules}

QuorumDefect = Enum(  # type: ignore[misc] # one member for each entry of the catalogue
    "QuorumDefect", [("NONE", NO_DEFECT), *((name.replace("-", "_"), name) for name in _CHANGING_RULES)]
)
"""The entries of the catalogue that change a rule of the quorum."""

SETTINGS = Settings(
    release=Setting(Release.V4_1, "whose rules hold"),
    defect=Setting(
        QuorumDefect["NONE"],
        "which entry of `insync defects` is brought back",
        defect_advice("kraft", (NO_DEFECT, *_CHANGING_RULES)),
    ),
    fixed=Setting(Switch.OFF, "whether that entry is fixed"),
    askers=Setting(Switch.OFF, "whether it is noted that a leader has worked since a server requested pre-votes"),
)


def rules_of(b: BoundValues) -> QuorumRules:
    """Return the rules that hold under settings.

    Raises:
        UserError: a fix is chosen, and no defect.
    """
    name, fixed = b.settings.defect.value, bool(b.settings.fixed)
    found = _CHANGING_RULES.get(name)
    if fixed and found is None:
        message = "fixed=on needs a defect to fix: give defect=Q-1, or another entry of `insync defects`."
        raise UserError(message)
    return quorum_rules_of(b.settings.release, found, fixed=fixed)


class QuorumFeatures:
    """What is in force under bounds, settings and rules. Each feature is decided here and nowhere else.

    Args:
        b: bounds and settings.
        rules: the rules that hold with them.
    """

    def __init__(self, b: BoundValues, rules: QuorumRules) -> None:
        self._b, self._release, self._guards = b, rules.release, rules.guards

    @cached_property
    def changes_voters(self) -> bool:
        """Voters come and go, so the log says who they are, and a first leader begins (KIP-853)."""
        return changes_voters(self._b)

    @cached_property
    def starts_servers(self) -> bool:
        """Servers are started later, as observers."""
        return self._b.spare_servers > 0

    @cached_property
    def adds_voters(self) -> bool:
        """Voters are added."""
        return self._b.additions > 0

    @cached_property
    def removes_voters(self) -> bool:
        """Voters are removed."""
        return self._b.removals > 0

    @cached_property
    def loses_disks(self) -> bool:
        """Servers lose their disk for good."""
        return self._b.lost_disks > 0

    @cached_property
    def pre_votes(self) -> bool:
        """A server requests pre-votes before it stands for election (KIP-996)."""
        return self._release.pre_votes

    @cached_property
    def notes_askers(self) -> bool:
        """It is noted whether a leader has worked since a server requested pre-votes."""
        return self.pre_votes and bool(self._b.settings.askers)

    @cached_property
    def votes_may_be_invalid(self) -> bool:
        """A candidate may have records of its own epoch, so that its vote request is called invalid."""
        return self._release.vote_survives_following

    @cached_property
    def resigns(self) -> bool:
        """Leaders resign, and send EndQuorumEpoch."""
        return self._b.resignations > 0

    @cached_property
    def loses_records(self) -> bool:
        """A restart loses what was not flushed."""
        return not self._guards.flushes_before_responding

    @cached_property
    def forgets_everything(self) -> bool:
        """A server comes back with an empty disk, as the same server."""
        return not self._guards.disk_tells_servers_apart


When = Callable[[QuorumFeatures], bool]
"""What a field or a step depends on."""


def always(features: QuorumFeatures) -> bool:
    """Hold whatever is in force."""
    return True
