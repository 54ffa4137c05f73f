"""Drawn models as data: what their text, their steps and their properties are made of."""

from __future__ import annotations

from dataclasses import dataclass

from insync_drawn_terms import Term, var
from insync_drawn_types import BOOL, Type, Value

__all__ = ["Action", "Begin", "Described", "Parameters", "Property", "Run", "State", "Statement"]

State = tuple[Value, ...]
Parameters = tuple[tuple[str, Type], ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of an action.

    Attributes:
        kind: assign, when, each, let, alias, or a method of a collection or an array.
        path: what is changed.
        terms: what is assigned, the condition, the element or the place.
        body: of a block.
        name: of the variable that is bound.
        over: what a loop is over.
    """

    kind: str
    path: Term | None = None
    terms: tuple[Term, ...] = ()
    body: tuple[Statement, ...] = ()
    name: str = ""
    over: Type | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """An action: what it requires, and what it does; `late` is required after the first statement.

    The last parameters are those of `local`, each with the set of which it is any member; None is its whole class.
    """

    name: str
    parameters: Parameters
    requires: tuple[Term, ...]
    body: tuple[Statement, ...]
    late: Term | None = None
    local: tuple[tuple[str, Term | None], ...] = ()

    @property
    def choices(self) -> tuple[Term, ...]:
        """The conditions that its choices are in their sets."""
        kinds = dict(self.parameters)
        return tuple(Term("in", BOOL, (held, var(name, kinds[name]))) for name, held in self.local if held is not None)


@dataclass(frozen=True, slots=True)
class Begin:
    """An initial method: the fields that may be anything, further assignments, and what is required then."""

    name: str
    parameters: Parameters
    anything: tuple[str, ...]
    body: tuple[Statement, ...]
    requires: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Property:
    """An invariant, or with `of_steps` a condition on `before` and `after`."""

    name: str
    parameters: Parameters
    condition: Term
    of_steps: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """A property of runs, and what is taken for granted; `tail` is the word around the right side of `leads_to`.

    A fair set is given by the names of actions and the parameters whose values are told apart ("*": all of them).
    """

    kind: str
    name: str
    parameters: Parameters
    when: Term | None
    then: Term
    weak: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    strong: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    tail: str = ""

    @property
    def due(self) -> str:
        """How the condition must be met: once, always_eventually, eventually_always, or always."""
        named = {"always_eventually": self.kind, "eventually_always": self.kind, "initially_always": "always"}
        return self.tail or named.get(self.kind, "once")


@dataclass(frozen=True, slots=True)
class Described:
    """A model as data.

    Attributes:
        classes: the sorts, enumerations and ranges.
        symmetric: the names of the sorts whose members are alike.
        state: the fields, as a record.
        plain: what the plain initial method assigns, by field.
        bounded: whether the size of a sort and the end of a range are bounds of the model.
    """

    seed: int
    classes: tuple[Type, ...]
    symmetric: tuple[str, ...]
    state: Type
    plain: tuple[tuple[str, Value], ...]
    begins: tuple[Begin, ...]
    actions: tuple[Action, ...]
    properties: tuple[Property, ...]
    runs: tuple[Run, ...]
    within: tuple[str, ...]
    bounded: bool = False
