"""What a name in a typed condition means: a field, a word of the language, a member, a property, a bound."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import insync.model as language
from insync.model import Model, StateView
from insync.model.domains.domain import Domain
from insync.model.domains.sorts import Parameter, Subset, is_kind, label_of, members_of, number_of_members
from insync.model.domains.values import Bool
from insync.model.errors import UserError
from insync.model.language.declarations import action_specs
from insync.properties.invariants import StepInvariant
from insync.properties.registry import invariants_of

__all__ = ["STATE_NAMES", "WORDS", "ConditionNames", "members_by_name"]

STATE_NAMES = ("s", "state")
"""What the whole state is called, as in a model's methods, unless a field has that name."""

_QUANTIFIERS = ("count", "exists", "for_all", "max_of", "min_of", "sum_of", "the")
_JOINING = ("And", "If", "Implies", "Not", "Or", "maximum", "minimum", "one_of", "record", "set_of")

WORDS: Mapping[str, Callable[..., Any]] = {name: getattr(language, name) for name in (*_JOINING, *_QUANTIFIERS)}
"""The words of the language that can be called in a condition."""

_MOST = 1000
_CONSTANTS = {"NONE": language.NONE, "true": True, "false": False}


class ConditionNames:
    """The names that a condition on the states of a model can use.

    Args:
        model: whose states they are.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.fields = model.state.present
        self.kinds = _kinds_of(model)
        self._used = _kinds_used(model)
        self.members = _members(model, self._used)
        self.invariants = {
            name: found for name, found in invariants_of(model).items() if not isinstance(found, StepInvariant)
        }

    def find(self, name: str, view: StateView) -> tuple[bool, Any]:
        """Return whether a name means something, and what, while a condition is traced on a view of the state."""
        if name in self.fields:
            return True, getattr(view, name)
        if name in STATE_NAMES:
            return True, view
        if name in _CONSTANTS:
            return True, _CONSTANTS[name]
        for known in (WORDS, self.kinds, self.members):
            if name in known:
                return True, known[name]
        if name in self.invariants:
            return True, Bool(self.invariants[name].node(self.model))
        bound = self.model.b.get(name)
        return bound is not None, bound

    @property
    def used(self) -> list[str]:
        """The names of the kinds that state and actions have, of all that a quantifier can range over."""
        return [name for name, kind in self.kinds.items() if kind in self._used]

    def known(self) -> list[str]:
        """Return every name, for who has mistyped one."""
        return [*self.fields, *WORDS, "NONE", *self.kinds, *self.members, *self.invariants, *self.model.b]


def _kinds_of(model: Model) -> dict[str, type]:
    """Return what a quantifier can range over, by the names that the modules of the model's classes have for it.

    Modules have sorts of other models as well, which may have no size under the bounds of this one.
    """
    found: dict[str, type] = {}
    for kind in reversed(type(model).__mro__):
        module = sys.modules.get(kind.__module__)
        for name, value in list(vars(module).items()) if module is not None else ():
            if not name.startswith("_") and is_kind(value) and value not in (bool, Subset) and _is_sized(value, model):
                found[name] = value
    return found


def _is_sized(kind: type, model: Model) -> bool:
    try:
        number_of_members(kind, model.b)
    except (UserError, AttributeError):
        return False
    return True


def _kinds_used(model: Model) -> list[type]:
    """Return the kinds whose members are in states, or are parameters of actions."""
    kinds = dict.fromkeys(_kinds_in(model.state))
    for spec in action_specs(type(model)).values():
        kinds |= dict.fromkeys(spec.parameters.values())
    return [kind for kind in kinds if kind is not bool]


def _members(model: Model, kinds: Iterable[type]) -> dict[str, Parameter]:
    """Return the members of kinds by what they are called, where that says which one is meant."""
    found: dict[str, set[Parameter]] = {}
    for kind in kinds:
        for label, member in members_by_name(model, kind).items():
            found.setdefault(label, set()).add(member)
    return {label: members.pop() for label, members in found.items() if len(members) == 1}


def _kinds_in(domain: Domain) -> Iterator[type]:
    """Yield the kinds whose members are in values of a domain, or are places of its arrays."""
    for inner in (*getattr(domain, "fields", {}).values(), getattr(domain, "of", None)):
        if isinstance(inner, Domain):
            yield from _kinds_in(inner)
    for kind in (getattr(domain, "sort", None), getattr(domain, "kind", None), getattr(domain, "over", None)):
        if is_kind(kind):
            assert isinstance(kind, type)
            yield kind


def members_by_name(model: Model, kind: type) -> dict[str, Parameter]:
    """Return the members of a kind that have a name which can be typed as one."""
    if number_of_members(kind, model.b) > _MOST:
        return {}
    labelled = ((label_of(member), member) for member in members_of(kind, model.b))
    return {label: member for label, member in labelled if label.isidentifier()}
