"""Which release of the model a Kafka that the harness runs is, and in which rules those that it reaches differ."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise

from insync.conformance.jars.pinned import pinned_versions, version_order
from insync.kafka.releases import Release
from insync.kafka.rules import Rules

__all__ = ["Claim", "changed_rules", "claims", "release_of"]


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


def release_of(version: str) -> Release:
    """Return the release of the model whose rules a Kafka should have: the newest of its series up to it.

    Args:
        version: such as `4.1.2`, which has the rules of 4.1; of a series that the model does not know, or of a build
            of trunk, the newest release before it counts.
    """
    given = version_order(version)[:3]
    older = [release for release in Release if version_order(release.value) <= given]
    series = [release for release in older if version_order(release.value)[:2] == given[:2]]
    return (series or older)[-1]


def claims(versions: tuple[str, ...] | None = None) -> list[Claim]:
    """Return what the model says to have changed between versions, the oldest first.

    Args:
        versions: versions in order; None for all that are pinned.
    """
    found = []
    for before, since in pairwise(pinned_versions() if versions is None else versions):
        old, new = release_of(before).rules, release_of(since).rules
        for rule in fields(Rules):
            was, is_now = getattr(old, rule.name), getattr(new, rule.name)
            if was != is_now:
                found.append(Claim(rule.name, before, since, was, is_now))
    return found


def changed_rules() -> set[str]:
    """Return the rules in which the versions that are pinned differ."""
    return {claim.rule for claim in claims()}
