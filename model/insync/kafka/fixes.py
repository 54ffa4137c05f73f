"""Which release has a defect of the catalogue, and what it would be with that one defect fixed."""

from __future__ import annotations

from collections.abc import Mapping

from insync.kafka.defects import Defect
from insync.kafka.releases import Release
from insync.kafka.rules import Rules
from insync.runtime.errors import UserError

__all__ = ["fixing_rules", "has_defect", "require_defect"]


def has_defect(defect: Defect, release: Release) -> bool | None:
    """Return whether a release has the rules that are a defect; None for one that is a setting, or a budget."""
    if not defect.rules:
        return None
    return all(getattr(release.rules, name) == value for name, value in defect.rules.items())


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
        remedy = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in defect.fixed.items())
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
        if getattr(later.rules, name) != defect.rules[name]:
            return getattr(later.rules, name)
    return defect.base.get(name, getattr(Rules(), name))
