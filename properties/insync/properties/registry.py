"""The registry: finds the properties of a model by name, in its class or beside it, and confines models by name."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar, cast

from insync.model import Model
from insync.model.expressions.graph import Node
from insync.model.given_names import given_names
from insync.model.language.declarations import invariant_names, marked_specs, removed_actions, run_specs
from insync.model.language.refinements import RefinementSpec
from insync.model.tracing.predicates import StepInvariantSpec
from insync.model.tracing.program import Confinement, whole_of
from insync.properties.declare import INVARIANTS, LEMMAS, RUN_PROPERTIES, STEP_INVARIANTS
from insync.properties.invariants import (
    DEADLOCK_FREE,
    TYPE_OK,
    TYPE_OK_SENTENCE,
    Invariant,
    StepInvariant,
    deadlock_free,
    headline_of,
    names_within,
    own_invariant,
    own_step_invariant,
    place_of_names,
)
from insync.properties.temporal import RunProperty, fairness_without, own_run_property
from insync.runtime.errors import ModelError, UserError, closest

if TYPE_CHECKING:
    from insync.properties.refinement import Refinement

__all__ = [
    "Judged",
    "confined",
    "default_names",
    "invariants_of",
    "judge",
    "lemmas_of",
    "refinement_behind",
    "run_properties_of",
    "select",
    "select_lemmas",
    "select_run_properties",
    "sentences_of",
    "unknown_property",
]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Judged:
    """The properties of states and steps to check in a model.

    Attributes:
        names: the requested names, each once and in the order given; type_ok may be among them.
        invariants: the properties among them that have a condition.
        nodes: the condition of each invariant.
    """

    names: tuple[str, ...]
    invariants: tuple[Invariant, ...]
    nodes: tuple[Node, ...]

    @property
    def conditions(self) -> dict[str, Node]:
        """The condition on states of each invariant, by its name."""
        return {found.name: node for found, node in zip(self.invariants, self.nodes, strict=True)}

    def written(self, model: Model) -> dict[str, Node]:
        """Return the condition of each invariant as its author wrote it, by its name."""
        return {found.name: found.as_written(model) for found in self.invariants}


def invariants_of(model: Model) -> dict[str, Invariant]:
    """Return the invariants of a model by name, of states and of steps: beside its class, its own, deadlock_free."""
    kind = type(model)
    own = {name: own_invariant(kind, name) for name in invariant_names(model)}
    own_steps: dict[str, StepInvariant] = {
        **{name: own_step_invariant(kind, name) for name in marked_specs(model, StepInvariantSpec)},
        **_refinements_of(model),
    }
    beside, steps = {**INVARIANTS.of(kind), **own}, {**STEP_INVARIANTS.of(kind), **own_steps}
    for name in beside.keys() & steps.keys():
        message = f"{kind.__name__} has an invariant and a step invariant of the name {name!r}; rename one of them."
        raise ModelError(message)
    order = dict.fromkeys([*INVARIANTS.of(kind), *STEP_INVARIANTS.of(kind), *own, *own_steps])
    every: dict[str, Invariant] = {**beside, **steps}
    return {**{name: every[name] for name in order}, DEADLOCK_FREE: deadlock_free}


def refinement_behind(model: Model, name: str) -> Refinement | None:
    """Return the refinement that a property of a model is, or a property of runs belongs to; None if there is none."""
    known = _refinements_of(model)
    if name in known or not known:
        return known.get(name)
    runs = run_properties_of(model)
    return next((one for one in known.values() if name in runs and runs[name].place == one.place), None)


def lemmas_of(model: Model) -> dict[str, Invariant]:
    """Return the lemma candidates of a model by name."""
    return LEMMAS.of(type(model))


def run_properties_of(model: Model | type[Model]) -> dict[str, RunProperty]:
    """Return the properties of runs of a model, or of a model class, by name.

    They take no fairness for granted of an action that the class has removed, by `name = None`. Those of a model that
    it refines are among them, for the runs that its own runs map to.
    """
    known = _runs_without_refinements(model)
    for found in _refinements_of(model).values():
        from insync.properties.refinement import runs_of_refinement

        known = {**runs_of_refinement(found, _runs_without_refinements(found.other)), **known}
    removed = removed_actions(_class_of(model))
    return {name: replace(found, fairness=fairness_without(found.fairness, removed)) for name, found in known.items()}


def _class_of(model: Model | type[Model]) -> type[Model]:
    return model if isinstance(model, type) else type(model)


def _runs_without_refinements(model: Model | type[Model]) -> dict[str, RunProperty]:
    kind = _class_of(model)
    return {**RUN_PROPERTIES.of(kind), **{name: own_run_property(kind, name) for name in run_specs(model)}}


def _refinements_of(model: Model | type[Model]) -> dict[str, Refinement]:
    kind = _class_of(model)
    beside = {name: cast("Refinement", one) for name, one in STEP_INVARIANTS.of(kind).items() if one.is_refinement}
    if not (own := marked_specs(model, RefinementSpec)):
        return beside
    from insync.properties.refinement import own_refinement  # few models refine another one

    return {**beside, **{name: own_refinement(kind, name) for name in own}}


def sentences_of(model: Model) -> dict[str, str]:
    """Return the sentence of each property of states of a model by name, type_ok included."""
    return {**{name: found.sentence for name, found in invariants_of(model).items()}, TYPE_OK: TYPE_OK_SENTENCE}


def default_names(model: Model) -> tuple[str, ...]:
    """Return the names of the properties that are checked when none is named.

    They are the model's headline. For a class without a headline they are all its invariants but `deadlock_free`.
    Invariants that the model is confined to are left out.
    """
    headline, within = headline_of(model), names_within(model)
    named = [name for name in invariants_of(model) if name != DEADLOCK_FREE] if headline is None else headline
    return tuple(name for name in named if name not in within)


def select(model: Model, names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the names of properties, each once and in the order given; None names `default_names`.

    Raises:
        UserError: the model has no property of that name.
    """
    return _asked(model, names)[0]


def judge(model: Model, names: Iterable[str] | None = None) -> Judged:
    """Return the named properties with their conditions; None names `default_names`.

    A lemma can be named as well, to search for a state in which it fails.

    Raises:
        UserError: the model has no property of that name.
    """
    asked, invariants = _asked(model, names)
    found = [one.of(model) for one in invariants]
    return Judged(asked, tuple(found), tuple(one.node(model) for one in found))


def select_lemmas(model: Model, names: Iterable[str]) -> list[Invariant]:
    """Return the named lemmas of a model, each once; an invariant of the model may serve as a lemma as well.

    Raises:
        UserError: the model has neither a lemma nor an invariant of that name.
    """
    every = {**invariants_of(model), **lemmas_of(model)}
    known = {name: found for name, found in every.items() if not isinstance(found, StepInvariant)}

    def unknown(name: str) -> str:
        if name in every:
            return f"{name} is about steps, and a lemma is about states. Name it as a property to have it proved."
        return f"{model.name} has no lemma {name!r}. {closest(name, known)}"

    return _named(known, names, unknown)


def select_run_properties(model: Model, names: Iterable[str] | None = None) -> list[RunProperty]:
    """Return the named properties of runs, each once and in the order given; None names them all.

    Raises:
        UserError: the model has no property of runs of that name.
    """
    known = run_properties_of(model)

    def unknown(name: str) -> str:
        found = invariants_of(model).get(name)
        if found is not None:
            what = "steps" if isinstance(found, StepInvariant) else "states"
            return f"{name} is about {what}, not about runs: {_by('check', name)} decides it."
        return f"{model.name} has no property of runs {name!r}. {closest(name, known)}"

    return _named(known, known if names is None else given_names("properties", names), unknown)


def _by(verb: str, name: str) -> str:
    """Return the command that decides a property, as text; its bounds are not known here."""
    return f"`insync {verb}` with the same model, the same bounds and --property {name}"


def _asked(model: Model, names: Iterable[str] | None) -> tuple[tuple[str, ...], list[Invariant]]:
    known = invariants_of(model)
    asked = tuple(dict.fromkeys(default_names(model) if names is None else given_names("properties", names)))

    def unknown(name: str) -> str:
        where = f"{place_of_names(type(model), 'headline')}headline names {name!r}, but " if names is None else ""
        of_runs = run_properties_of(model)
        if name in of_runs:
            return f"{where}{name} is about runs, not about states: {_by('liveness', name)} decides it."
        return where + unknown_property([model], name, [*known, *of_runs, TYPE_OK])

    with_condition = [name for name in asked if name != TYPE_OK]
    lemmas = {} if known.keys() >= set(with_condition) else lemmas_of(model)
    return asked, _named({**lemmas, **known}, with_condition, unknown)


def unknown_property(models: Iterable[Model], name: str, known: Iterable[str]) -> str:
    """Return the sentence for a name that is no property of any of some models; `known` has the names that are."""
    first, *others = dict.fromkeys(model.name for model in models)
    lacking = f"neither {' nor '.join([first, *others])} has a" if others else f"{first} has no"
    return f"{lacking} property {name!r}. {closest(name, known)}"


def _named(known: Mapping[str, T], names: Iterable[str], unknown: Callable[[str], str]) -> list[T]:
    """Return the values of names, each once; raise UserError with the sentence for an unknown name."""
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        if name not in known:
            raise UserError(unknown(name))
    return [known[name] for name in wanted]


# ---------------------------------------------------------------------------------------------------------- confinement
#
# States in which an invariant fails are found and checked, but no step is taken from them: a CONSTRAINT in TLC. A proof
# is then about the states that are reached through states in which the invariants hold, and about the steps from these.


def confined(model: Model, within: Iterable[str] | None = None) -> Model:
    """Return a model confined to the states in which invariants hold.

    Args:
        model: the model. If it is confined already, `within` replaces its confinement, and None leaves it as it is.
        within: the names of invariants or lemmas; None is the attribute `within` of the model's class.

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
    found = [_confining(whole, name, place) for name in names]
    made = copy.copy(whole)
    made._confinement = Confinement(whole, names, lambda: _conditions(whole, found))
    made._program = None
    return made


def _confining(model: Model, name: str, place: str) -> Invariant:
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
