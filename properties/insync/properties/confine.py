"""Confining a model: states in which an invariant fails are found and checked, and no step is taken from them.

It is what TLC calls a CONSTRAINT. What is then proved is proved of the states that can be reached through states in
which the invariants hold, and the steps from these.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence

from insync.model import Model
from insync.model.confinement import Confinement
from insync.model.errors import UserError, closest
from insync.model.graph import Node
from insync.properties.invariants import DEADLOCK_FREE, TYPE_OK, Invariant, StepInvariant, names_within, place_of_names
from insync.properties.registry import invariants_of, lemmas_of

__all__ = ["confined", "whole_of"]


def confined(model: Model, within: Iterable[str] | None = None) -> Model:
    """Return a model confined to the states in which invariants hold.

    Args:
        model: the model; one that is confined already is so anew, or stays as it is.
        within: the names of invariants or lemmas; None is what the model's class says.

    Raises:
        UserError: the model has no invariant of that name, or it is not about states.
    """
    if within is None and (model._confinement is not None or not names_within(model)):
        return model
    whole = whole_of(model)
    names = names_within(whole, within)
    if not names and not type(model).within:
        return whole
    place = place_of_names(type(model), "within") if within is None else ""
    found = [_named(whole, name, place) for name in names]
    made = copy.copy(whole)
    made._confinement = Confinement(whole, names, lambda: _conditions(whole, found))
    made._program = None
    return made


def whole_of(model: Model) -> Model:
    """Return a model as it is without being confined."""
    return model if model._confinement is None else model._confinement.whole


def _named(model: Model, name: str, place: str) -> Invariant:
    known = {**lemmas_of(model), **invariants_of(model)}
    found = known.get(name)
    if name in (DEADLOCK_FREE, TYPE_OK) or isinstance(found, StepInvariant):
        about = "steps" if isinstance(found, StepInvariant) else "every model"
        message = (
            f"{place}{model.name}: within names {name!r}, which is about {about}; name an invariant of its states."
        )
        raise UserError(message)
    if found is None:
        usable = [each for each, one in known.items() if not isinstance(one, StepInvariant) and each != DEADLOCK_FREE]
        message = f"{place}{model.name} has no invariant {name!r} to be within. {closest(name, usable)}"
        raise UserError(message)
    return found


def _conditions(whole: Model, found: Sequence[Invariant]) -> list[Node]:
    """Return the conditions of invariants in the graph of a model; some initial state must meet them."""
    nodes = [each.node(whole) for each in found]
    program = whole.program
    if not program.initials.some_meet(nodes):
        one = program.initials.enumerated and len(program.initials) == 1
        where = "the initial state is" if one else "all initial states are"
        message = (
            f"{whole.name}: {where} outside {' and '.join(each.name for each in found)}, so no step would be taken. "
            f"Name invariants that hold at first, or choose other bounds."
        )
        raise UserError(message)
    return nodes
