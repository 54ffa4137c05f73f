"""In which rules the releases that the harness reaches differ."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise

from insync.conformance.jars.pinned import pinned_versions
from insync.kafka.releases import ReleaseRules, release_of

__all__ = ["Claim", "changed_rules", "claims"]


@dataclass(frozen=True, slots=True)
class Claim:
    """What the model says to have changed between two versions that follow one another.

    Attributes:
        rule: the rule.
        before: the last version without the change.
        since: the first version with it.
        old: the rule's value before.
        new: its value since.
    """

    rule: str
    before: str
    since: str
    old: object
    new: object


def claims(versions: tuple[str, ...] | None = None) -> list[Claim]:
    """Return what the model says to have changed between versions, the oldest first.

    Args:
        versions: versions in order; None for all that are pinned.
    """
    found = []
    for before, since in pairwise(pinned_versions() if versions is None else versions):
        old, new = release_of(before).rules, release_of(since).rules
        for rule in fields(ReleaseRules):
            was, is_now = getattr(old, rule.name), getattr(new, rule.name)
            if was != is_now:
                found.append(Claim(rule.name, before, since, was, is_now))
    return found


def changed_rules() -> set[str]:
    """Return the rules in which the versions that are pinned differ."""
    return {claim.rule for claim in claims()}
