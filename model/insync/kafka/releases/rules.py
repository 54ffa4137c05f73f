"""All rules that are in force in a model, in three parts, and what fixes an entry of the catalogue in a release.

A name of a rule is in one of the three parts only, so an entry of the catalogue names rules without their part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, get_type_hints

from insync.kafka.releases.fixes import Fixes
from insync.kafka.releases.guards import Guards
from insync.kafka.releases.release import Release
from insync.kafka.releases.release_rules import ReleaseRules
from insync.runtime.errors import UserError

if TYPE_CHECKING:
    from insync.kafka.defects import Defect

__all__ = ["Rules", "fixing_rules", "has_defect", "require_defect", "rule_documentation", "rule_names"]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that are in force; the defaults are those of the newest release.

    Attributes:
        release: what the release does its own way.
        fixes: what no release does.
        guards: what all releases do alike.
    """

    release: ReleaseRules = field(default_factory=ReleaseRules)
    fixes: Fixes = field(default_factory=Fixes)
    guards: Guards = field(default_factory=Guards)

    def value(self, name: str) -> object:
        """Return what is in force of one rule."""
        return getattr(getattr(self, _PART_OF[name]), name)

    def changed(self, values: Mapping[str, object]) -> Rules:
        """Return these rules with some changed, by name."""
        parts: dict[str, dict[str, object]] = {}
        for name, value in values.items():
            parts.setdefault(_PART_OF[name], {})[name] = value
        changed: dict[str, Any] = {part: replace(getattr(self, part), **some) for part, some in parts.items()}
        return replace(self, **changed)


_PARTS: Mapping[str, type] = {"release": ReleaseRules, "fixes": Fixes, "guards": Guards}
_PART_OF = {one.name: part for part, kind in _PARTS.items() for one in fields(kind)}


def rule_names() -> tuple[str, ...]:
    """Return the names of all rules, those that differ between releases first."""
    return tuple(_PART_OF)


def rule_documentation(name: str) -> str:
    """Return the sentence about a rule."""
    annotated = get_type_hints(_PARTS[_PART_OF[name]], include_extras=True)[name]
    return str(annotated.__metadata__[0])


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
