"""All rules that are in force in a cluster, in three parts, and what fixes an entry of the catalogue in a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from insync.kafka.releases.fixes import Fixes
from insync.kafka.releases.guards import Guards
from insync.kafka.releases.release import Release
from insync.kafka.releases.release_rules import ReleaseRules
from insync.kafka.releases.rule_parts import RuleParts
from insync.runtime.errors import UserError

if TYPE_CHECKING:
    from insync.kafka.defects import Defect

__all__ = ["Rules", "fixing_rules", "has_defect", "require_defect"]


@dataclass(frozen=True, slots=True)
class Rules(RuleParts):
    """The rules that are in force; the defaults are those of the newest release.

    Attributes:
        release: what the release does its own way.
        fixes: what no release does.
        guards: what all releases do alike.
    """

    release: ReleaseRules = field(default_factory=ReleaseRules)
    fixes: Fixes = field(default_factory=Fixes)
    guards: Guards = field(default_factory=Guards)


def has_defect(defect: Defect, release: Release) -> bool | None:
    """Return whether a release has the rules that are a defect; None for one that is a setting, or a budget."""
    if not defect.rules:
        return None
    rules = Rules(release.rules)
    return all(rules.value(name) == value for name, value in defect.rules.items())


def fixing_rules(defect: Defect, release: Release) -> Mapping[str, object]:
    """Return the rules that fix a defect in a release that has it, and no others.

    Each is as in the first later release without the defect; where all later ones have it, as in the entry's fix.
    """
    return {name: _fixed(defect, name, release) for name in defect.rules}


def require_defect(defect: Defect, release: Release) -> None:
    """Require that a release has a defect, so that it can be fixed there.

    Raises:
        UserError: it has not got it, or the defect is a setting.
    """
    if has_defect(defect, release):
        return
    if not defect.rules:
        remedy = ", ".join(f"{name}={value}" for name, value in defect.fixed.items())
        said = f"{defect.name} is no rule of Kafka {release.value} that could be fixed, but a setting"
        message = f"{said}: give {remedy}."
        raise UserError(message)
    others = [one.value for one in Release if has_defect(defect, one)]
    known = f"it is in {_span(others)}" if others else "no release of the model has it"
    message = (
        f"Kafka {release.value} has not got {defect.name}, so it cannot be fixed there: {known}. Name a defect of "
        f"`insync defects` that {release.value} has{', or a release that has this one' if others else ''}."
    )
    raise UserError(message)


def _span(releases: list[str]) -> str:
    return releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"


def _fixed(defect: Defect, name: str, release: Release) -> object:
    for later in list(Release)[release.age + 1 :]:
        value = Rules(later.rules).value(name)
        if value != defect.rules[name]:
            return value
    return defect.base.get(name, Rules().value(name))
