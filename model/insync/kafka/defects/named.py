"""Entries of the catalogue by ticket, and the sentence for a name that is no defect of a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from insync.kafka.defects import DEFECTS, LEFT_OUT, QUORUM_DEFECTS, Defect, LeftOut, all_defects
from insync.kafka.defects.findings import FINDINGS, finding_of
from insync.runtime.errors import UserError, closest

__all__ = [
    "by_ticket",
    "catalogue",
    "defect_advice",
    "has_ticket",
    "named_by_ticket",
    "no_such_defect",
    "why_not_shown",
]

_NAME = re.compile(r"([A-Z])[-_ ]?(\d{1,9})", re.IGNORECASE)
_TICKET = re.compile(r"(?:https?://\S*/)?(?:(KIP|KAFKA)[-_ #]*|#)?(\d+)", re.IGNORECASE)


def why_not_shown(given: str) -> str:
    """Return why `cluster` does not show an entry of the catalogue, as a sentence; empty if it does, or there is none.

    Args:
        given: the name of the entry, in any case.
    """
    name = given.upper()
    for entry in LEFT_OUT:
        if entry.name.upper() == name:
            said = f"{entry.name} ({entry.title}, {entry.ticket}) is not modelled: {entry.reason}."
            return said + _as_finding(entry.name)
    if name in QUORUM_DEFECTS:
        known = QUORUM_DEFECTS[name]
        shown = f"`insync defects {name}` shows it"
        return f"{name} ({known.title}) is a defect of {known.model}, and not of cluster: {shown}."
    return ""


def _as_finding(entry: str) -> str:
    """The finding of an entry, as a sentence after another one; empty if it is none."""
    finding = finding_of(entry)
    return (
        ""
        if finding is None
        else f" Finding {finding.name}: {finding.title}; {finding.standing}; Kafka {finding.affects}."
    )


def catalogue() -> dict[str, Defect | LeftOut]:
    """Return all entries by name, those that no trace shows by a command last."""
    return {**all_defects(), **{entry.name: entry for entry in LEFT_OUT}}


def by_ticket(given: str) -> list[str]:
    """Return the names of the entries that a ticket is about, be they shown or not: KAFKA-18723, 18723 or an address.

    Where there are none, the result has the entries that cite the ticket, in their text or on the pages of findings.
    """
    entries = catalogue()
    own = [name for name, entry in entries.items() if has_ticket(entry, given)]
    pages = {finding.name for finding in FINDINGS.values() if _has(given, f"{finding.ticket} {finding.related}")}
    return own or [name for name, entry in entries.items() if name in pages or _has(given, _text(entry))]


def _text(entry: Defect | LeftOut) -> str:
    """The sentences of an entry."""
    return entry.reason if isinstance(entry, LeftOut) else f"{entry.affected} {entry.story} {entry.fix}"


def defect_advice(model: str, known: Collection[str]) -> Callable[[str], str]:
    """Return what gives the advice about a name that is none of the defects which a model can bring back.

    Args:
        model: the model, `cluster` or `kraft`.
        known: the names of its defects.
    """

    def advice(given: str) -> str:
        name = given.upper()
        if name in known:
            return f"Its name is {name}."
        entry = catalogue().get(name)
        if entry is None:
            return closest(given, known)
        of_quorum = name.startswith("Q")
        where = f"of the {'quorum' if of_quorum else 'cluster'}"
        why = f"that {model} does not bring back" if of_quorum == (model == "kraft") else f"and not of {model}"
        return f"{name} ({entry.title}) is an entry {where}, {why}: `insync defects {name}` prints what is on record."

    return advice


def has_ticket(entry: Defect | LeftOut, given: str) -> bool:
    """Return whether an entry is about a ticket."""
    return _has(given, entry.ticket)


def named_by_ticket(given: str) -> list[str]:
    """Return the names of the entries that are shown and have a ticket: KAFKA-18723, kip 279, 18723 or an address."""
    return [entry.name for entry in all_defects().values() if has_ticket(entry, given)]


def _has(given: str, tickets: str) -> bool:
    """Whether what was given is one of some tickets."""
    if (parts := _TICKET.fullmatch(given.strip())) is None:
        return False
    return re.search(rf"\b{parts[1] or '(KIP|KAFKA)'}-{parts[2]}\b", tickets, re.IGNORECASE) is not None


def _number(name: str) -> tuple[str, int] | None:
    """Return the letter and the number of a name, such as N-01 or n1; None if it has another form."""
    found = _NAME.fullmatch(name.strip())
    return None if found is None else (found[1].upper(), int(found[2]))


def no_such_defect(given: str, known: Collection[str] = DEFECTS, fallback: str = "") -> UserError:
    """Return the error for a name that is none of those that were asked for.

    Args:
        given: the name, as it was given.
        known: the names that would do.
        fallback: the first sentence about a name that no entry has; the nearest name follows.
    """
    said = fallback or f"The catalogue has no defect {given!r}."
    if left_out := [why_not_shown(entry.name) for entry in LEFT_OUT if _has(given, entry.ticket)]:
        return UserError(" ".join(left_out))
    if not fallback and _TICKET.fullmatch(given.strip()):
        return UserError(f"The catalogue has no entry of {given}. `insync defects` lists them.")
    if (number := _number(given)) is not None:
        near = next((f"Did you mean {name!r}?" for name in known if _number(name) == number), "")
    else:
        near = closest(given.upper(), known)
    listed = "`insync defects` lists them, and `insync defects no leader` finds them by what was seen."
    return UserError(why_not_shown(given) or f"{said} {near if near.startswith('Did you mean') else listed}")
