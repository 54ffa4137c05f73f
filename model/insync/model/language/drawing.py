"""How a step is drawn between lifelines, as in a sequence diagram: arrows from one to another, and marks on one.

A model says it in `Model.lifelines` and `Model.step_drawing`. What is drawn by default is read off the parameters of
the action: with one member of a sort a mark on its lifeline, with two an arrow from the first to the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from insync.model.domains.composite import Array, State
from insync.model.domains.sorts import Index, Subset
from insync.model.language.declarations import action_specs
from insync.model.language.hardness import Taken

if TYPE_CHECKING:
    from insync.model.domains.bounds import BoundValues

__all__ = ["Arrow", "Drawn", "Mark", "MarkKind", "own_drawing", "own_lifelines"]

_MOST_LIFELINES = 8
"""A diagram of more would be too wide to read."""


class MarkKind(Enum):
    """What a mark says of a lifeline, for whoever draws it."""

    NOTE = "note"
    DOWN = "down"
    UP = "up"
    LEADS = "leads"
    FENCED = "fenced"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Arrow:
    """A message.

    Attributes:
        sender: the lifeline that it comes from.
        receiver: the lifeline that it goes to.
        text: what it says, in a word or two.
        reply: whether it answers another one.
        lost: whether it never arrives.
    """

    sender: str
    receiver: str
    text: str
    reply: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """What happens on a lifeline, in a word or two; an empty lifeline is all of them."""

    lifeline: str
    text: str
    kind: MarkKind = MarkKind.NOTE


Drawn = Arrow | Mark


def own_lifelines(kind: type, state: State, bounds: BoundValues) -> tuple[str, ...]:
    """Return the members of the sorts that are parameters of actions, those that have something of their own first.

    Where the state has arrays over some of these sorts, their members alone have a lifeline each: the members of
    others, such as epochs, are what is spoken of. The same holds of sets of members.
    """
    sorts = {
        sort: None
        for spec in action_specs(kind).values()
        for sort in spec.parameters.values()
        if issubclass(sort, Index) and not issubclass(sort, Subset)
    }
    over = [domain.over for domain in state.present.values() if isinstance(domain, Array)]
    acting = [sort for sort in sorts if sort in over] or list(sorts)
    names: list[str] = []
    for sort in acting:
        members = [sort.show(int(member)) for member in sort.members(bounds)]
        if len(names) + len(members) <= _MOST_LIFELINES:
            names += members
    return tuple(dict.fromkeys(names))


def own_drawing(lifelines: Sequence[str], step: Taken, label: str) -> tuple[Drawn, ...]:
    """Return how a step is drawn of which only the parameters are known.

    Args:
        lifelines: those that there are.
        step: the step.
        label: it in words, where the parameter that is named first comes first.
    """
    named = [value for value in dict.fromkeys(step.parameters.values()) if value in lifelines]
    named.sort(key=lambda name: label.find(name) if name in label else len(label))
    if not named:
        return (Mark("", label),)
    said = label.removeprefix(named[0]).lstrip(": ") or label
    if len(named) == 2:
        return (Arrow(named[0], named[1], said.removesuffix(named[1]).rstrip() or said),)
    return (Mark(named[0], said),)
