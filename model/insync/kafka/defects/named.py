"""What is said of a name that is no defect which a model shows."""

from __future__ import annotations

from collections.abc import Collection

from insync.kafka.defects import DEFECTS, LEFT_OUT, QUORUM_DEFECTS
from insync.model.errors import UserError, closest

__all__ = ["no_such_defect", "why_not_shown"]


def why_not_shown(given: str) -> str:
    """Return why `cluster` does not show an entry of the catalogue, as a sentence; empty if it does, or there is none.

    Args:
        given: the name of the entry, in any case.
    """
    name = given.upper()
    for entry in LEFT_OUT:
        if entry.name.upper() == name:
            return f"{entry.name} ({entry.title}, {entry.ticket}) is not modelled: {entry.reason}."
    if name in QUORUM_DEFECTS:
        known = QUORUM_DEFECTS[name]
        shown = f"`insync defects {name}` shows it"
        return f"{name} ({known.title}) is a defect of {known.model}, and not of cluster: {shown}."
    return ""


def no_such_defect(given: str, known: Collection[str] = DEFECTS, fallback: str = "") -> UserError:
    """Return the error for a name that is none of those that were asked for.

    Args:
        given: the name, as it was given.
        known: the names that would do.
        fallback: what is said of a name that is none of an entry at all, before the nearest name.
    """
    said = fallback or f"The catalogue has no defect {given!r}."
    return UserError(why_not_shown(given) or f"{said} {closest(given.upper(), known)}")
