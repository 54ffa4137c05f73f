"""Refinement: whether a model implements another one, as a step invariant (Abadi & Lamport 1991).

Every initial state must map to an initial state of the other model. Every step must map to a step of the other model,
or to none, if both states map to the same one. The second is a condition on two states like any other step invariant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

from insync.model import Model, ReadableState, StateView
from insync.model.domains.domain import plain
from insync.model.evaluator import Codes, Evaluator, evaluate
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply, combine, substituted
from insync.model.language.declarations import marked_specs, place_of_function
from insync.model.language.refinements import BoundsOf, RefinementSpec
from insync.model.tracing.lifting import place_of
from insync.model.tracing.predicates import step_condition
from insync.model.tracing.program import BoundAction
from insync.model.tracing.refinement_mappings import (
    AbstractStep,
    Mapped,
    abstract_model,
    abstract_steps,
    trace_mapping,
)
from insync.properties.invariants import Failure, Invariant, StepInvariant, kept_for, sentence_of
from insync.properties.temporal import Due, Fairness, Instance, RunKind, RunProperty, fair_sets
from insync.runtime.errors import ModelError

__all__ = ["AbstractMove", "Refinement", "own_refinement", "refinement_beside", "runs_of_refinement"]

_MOST_BAD = 500
"""The initial states that are found to map to no initial state; if there are more, the others are not looked at."""

_MOST_SHOWN = 4
"""The changes and the actions of the other model that a reason names."""


@dataclass(frozen=True, slots=True)
class AbstractMove:
    """The step of the other model that a step maps to.

    Attributes:
        label: the action in words; empty for none (stuttering), None if no step of the other model leads there.
        state: the readable state that the second state maps to; None if it maps to none.
    """

    label: str | None
    state: ReadableState | None


@dataclass(frozen=True, slots=True)
class Refinement(StepInvariant):
    """The claim that a model refines another one, under a mapping of its states.

    Attributes:
        other: the class of the other model.
        fairness: the fairness of this model that `liveness` assumes.
        mapped: the mapping in the graph of a model.
        steps: the conditions on two states; see `abstract_steps`.
    """

    is_refinement: ClassVar[bool] = True
    other: type[Model] = field(kw_only=True)
    fairness: Fairness = field(kw_only=True)
    mapped: Callable[[Model], Mapped] = field(kw_only=True)
    steps: Callable[[Model], tuple[Node, Node, tuple[AbstractStep, ...]]] = field(kw_only=True)

    def of(self, model: Model) -> Invariant:
        """Return this claim for one model: of its steps, or of the initial states if these break it already.

        Raises:
            ModelError: there are too many initial states to enumerate.
        """
        bad = _bad_beginnings(model, self)
        if not bad:
            return replace(self, because=lambda failing: self._reason(model, failing))
        return Invariant(
            self.name,
            self.sentence,
            lambda given: _none_of(given, bad),
            lambda failing: self._reason_at_first(model, failing.state),
            self.place,
        )

    def image(self, model: Model, codes: Sequence[int]) -> Codes | None:
        """Return the codes of the state that a state maps to; None if it maps to none."""
        mapped = self.mapped(model)
        if any(not evaluate(one.node, codes) for one in mapped.fits):
            return None
        return tuple(int(evaluate(node, codes)) for node in mapped.cells)

    def moves(self, model: Model, states: Sequence[Codes]) -> list[AbstractMove]:
        """Return what each of several consecutive states maps to; the first move has the label of no step."""
        other = self.mapped(model).other
        evaluator, found, last = Evaluator(other.program), list[AbstractMove](), None
        for number, codes in enumerate(states):
            image = self.image(model, codes)
            state = None if image is None else other.decode(image)
            label: str | None = ""
            if number and image != last:
                label = None if last is None or image is None else _label(other, evaluator, last, image)
            found.append(AbstractMove(label, state))
            last = image
        return found

    def _reason_at_first(self, model: Model, state: ReadableState) -> str:
        mapped, codes = self.mapped(model), model.encode(dict(state))
        other, image = mapped.other, self.image(model, codes)
        if image is None:
            return f"{self.name} fails: the initial state maps to no state of {other.name}. {_misfit(mapped, codes)}"
        shown = _fields(other.decode(image))
        return f"{self.name} fails: the initial state maps to a state of {other.name} that is not initial: {shown}."

    def _reason(self, model: Model, failing: Failure) -> str:
        assert failing.before is not None
        before, after = (model.encode(dict(state)) for state in (failing.before, failing.state))
        mapped = self.mapped(model)
        other = mapped.other
        old, new = self.image(model, before), self.image(model, after)
        if new is None:
            return f"{self.name} fails: the last state maps to no state of {other.name}. {_misfit(mapped, after)}"
        if old is None:
            return f"{self.name} fails: the state before maps to no state of {other.name}. {_misfit(mapped, before)}"
        leaves = [(leaf.after(""), leaf.read) for leaf in other.state.leaves()]
        first, second = other.decode(old), other.decode(new)
        changes = [
            f"{path} from {plain(read(first))} to {plain(read(second))}"
            for path, read in leaves
            if read(first) != read(second)
        ]
        more = f" and {len(changes) - _MOST_SHOWN} more" if len(changes) > _MOST_SHOWN else ""
        return (
            f"{self.name} fails: {other.name} has no step that changes {', '.join(changes[:_MOST_SHOWN])}{more}, and "
            f"nothing else. {self._nearest(model, before, after)}"
        )

    def _nearest(self, model: Model, before: Codes, after: Codes) -> str:
        """Return a sentence on the actions of the other model that would lead there."""
        _, _, steps = self.steps(model)
        would = [str(step.action) for step in steps if evaluate(step.leads, (*before, *after))]
        if not would:
            return "None of its actions leads there, whatever its parameters."
        names = " or ".join(would[:_MOST_SHOWN])
        return f"{names} would lead there, and is not enabled in the state before."


def _label(other: Model, evaluator: Evaluator, before: Codes, after: Codes) -> str | None:
    """Return the label of the least action of a model whose step leads from one state to another; None without one."""
    for number in evaluator.enabled(before):
        action = other.program.actions[number]
        if all(evaluate(check.node, before) for check in action.checks) and evaluator.step(number, before) == after:
            return action.label
    return None


def _misfit(mapped: Mapped, codes: Codes) -> str:
    expected = next(one for one in mapped.fits if not evaluate(one.node, codes))
    return f"{expected.recorded}"


def _fields(state: ReadableState) -> str:
    return ", ".join(f"{name} = {plain(value)}" for name, value in state.items())


def _bad_beginnings(model: Model, found: Refinement) -> list[Codes]:
    """Return the initial states that do not map to an initial state of the other model, at most `_MOST_BAD`."""

    def bad() -> list[Codes]:
        initials, other = model.program.initials, found.mapped(model).other
        if not initials.enumerated:
            message = (
                f"{found.place}: {found.name} is about each initial state of {model.name}, and under {model.identity} "
                f"these are too many to list. Choose smaller bounds."
            )
            raise ModelError(message)
        known: dict[Codes | None, bool] = {None: False}
        wrong: list[Codes] = []
        for codes in initials:
            image = found.image(model, codes)
            if image not in known:
                known[image] = image in other.program.initials
            if not known[image]:
                wrong.append(codes)
            if len(wrong) == _MOST_BAD:
                break
        return wrong

    made: list[Codes] = kept_for(model, (found.place, found.name, "beginnings"), bad)
    return made


def _none_of(model: Model, states: Sequence[Codes]) -> Node:
    """Return the condition that a state is none of some states."""
    graph = model.program.graph
    cells = graph.cells()

    def other_than(state: Codes) -> Node:
        pairs = zip(cells, state, strict=True)
        return combine(graph, Op.OR, [apply(Op.NOT, apply(Op.EQ, cell, graph.const(code))) for cell, code in pairs])

    return combine(graph, Op.AND, [other_than(state) for state in states])


# ------------------------------------------------------------------------------------------ fairness of the other model
#
# A refinement of the other model's specification with its fairness asks that each of its fairness conditions holds of
# the runs that the fair runs of this model map to. Weak fairness of an action says that it is taken, or not enabled,
# again and again. Strong fairness says that it is taken again and again, or from some state on never enabled.


def runs_of_refinement(found: Refinement, of_other: Mapping[str, RunProperty]) -> dict[str, RunProperty]:
    """Return the properties of runs that a refinement stands for, by name.

    NAME_fairness is that the fairness of the other model holds of the mapped runs, where NAME is the refinement and the
    other model has any. NAME_PROPERTY is that a property of runs of the other model holds of them.

    Args:
        found: the refinement.
        of_other: the properties of runs of the other model.
    """
    known = {name: one for name, one in of_other.items() if one.kind is not RunKind.SOMETIMES}
    runs = {}
    weak = dict.fromkeys(name for one in known.values() for name in one.fairness.weak)
    strong = dict.fromkeys(name for one in known.values() for name in one.fairness.strong)
    if weak or strong:
        fair = Fairness(tuple(weak), tuple(strong))
        sentence = f"The steps that it maps to are as fair as the other model assumes: {fair}."
        name, instances = f"{found.name}_fairness", partial(_fair_instances, found, fair)
        runs[name] = RunProperty(name, sentence, RunKind.REFINES, instances, found.fairness, found.place)
    for name, one in known.items():
        both = f"{found.name}_{name}"
        instances = partial(_mapped_instances, found, one)
        runs[both] = RunProperty(both, one.sentence, one.kind, instances, found.fairness, found.place)
    return runs


def _mapped_instances(found: Refinement, one: RunProperty, model: Model) -> list[Instance]:
    mapped, graph = found.mapped(model), model.program.graph
    instances = []
    for instance in one.instances(mapped.other):
        then, *when = substituted(
            graph, [node for node in (instance.then, instance.when) if node is not None], mapped.cells
        )
        instances.append(replace(instance, when=when[0] if when else None, then=then))
    return instances


def _fair_instances(found: Refinement, fairness: Fairness, model: Model) -> list[Instance]:
    mapped, graph = found.mapped(model), model.program.graph
    _, same, steps = found.steps(model)
    moves = apply(Op.NOT, same)
    program = mapped.other.program
    instances = []
    for fair in fair_sets(mapped.other, fairness):
        numbers = sorted(fair.numbers)
        enabled = [_changes(program.graph, program.actions[number]) for number in numbers]
        (able,) = substituted(graph, [combine(program.graph, Op.OR, enabled)], mapped.cells)
        taking = combine(same.graph, Op.AND, [moves, combine(same.graph, Op.OR, [steps[n].taken for n in numbers])])
        never = apply(Op.NOT, taking)
        taken = tuple(apply(Op.NOT, step_condition(model.program, never, action)) for action in model.program.actions)
        due = Due.PERSISTENT if fair.strong else Due.RECURRENT
        bindings = {"strong" if fair.strong else "weak": fair.name}
        instances.append(Instance(bindings, None, apply(Op.NOT, able), due, taken))
    return instances


def _changes(graph: Graph, action: BoundAction) -> Node:
    """Return the condition that an action is enabled, allowed, and changes the state."""
    changed = [apply(Op.NOT, apply(Op.EQ, node, graph.cell(cell))) for cell, node in action.updates]
    checks = [check.node for check in action.checks]
    return combine(graph, Op.AND, [*action.guard, *checks, combine(graph, Op.OR, changed)])


def own_refinement(kind: type[Model], name: str) -> Refinement:
    """Return the refinement of a marked method of the model."""
    spec = marked_specs(kind, RefinementSpec)[name]
    function = getattr(kind, name)
    return _made(
        name, function, lambda model: getattr(model, name), spec.other, spec.bounds, Fairness(spec.weak, spec.strong)
    )


def refinement_beside(
    kind: type[Model], function: Callable[..., Any], other: type[Model], bounds: BoundsOf | None, fairness: Fairness
) -> Refinement:
    """Return the refinement of a function beside the model's class, under the function's name.

    Args:
        kind: the model class.
        function: a function of model, state, and state of the other model, which it assigns.
        other: the class of the other model.
        bounds: returns bounds and settings of the other model; None for those of the same names.
        fairness: the fairness of this model that `liveness` assumes.
    """

    def bound(model: Model) -> Callable[[StateView, StateView], None]:
        assert isinstance(model, kind), f"{function.__name__} is declared of {kind.__name__}, not of {model.name}"
        return lambda s, mapped: function(model, s, mapped)

    return _made(function.__name__, function, bound, other, bounds, fairness)


def _made(
    name: str,
    function: Callable[..., object],
    bound: Callable[[Model], Callable[[StateView, StateView], None]],
    other: type[Model],
    bounds: BoundsOf | None,
    fairness: Fairness,
) -> Refinement:
    place = place_of_function(function)

    def mapped(model: Model) -> Mapped:
        def made() -> Mapped:
            return trace_mapping(model, abstract_model(model, other, bounds, place), bound(model), place_of(function))

        return kept_for(model, (function, "mapped"), made)

    def steps(model: Model) -> tuple[Node, Node, tuple[AbstractStep, ...]]:
        return kept_for(
            model, (function, "steps"), lambda: abstract_steps(mapped(model), model.program.graph.cell_sizes)
        )

    def pair(model: Model) -> Node:
        def made() -> Node:
            fits, same, each = steps(model)
            graph = fits.graph
            return combine(graph, Op.AND, [fits, combine(graph, Op.OR, [same, *(one.taken for one in each)])])

        return kept_for(model, (function, "pair"), made)

    def by_action(model: Model) -> tuple[Node, ...]:
        def made() -> tuple[Node, ...]:
            pairs, unchanged = pair(model), not mapped(model).fits
            return tuple(
                step_condition(model.program, pairs, action, unchanged=unchanged) for action in model.program.actions
            )

        return kept_for(model, (function, "by action"), made)

    def node(model: Model) -> Node:
        return combine(model.program.graph, Op.AND, list(by_action(model)))

    return Refinement(
        name, sentence_of(function), node, None, place,
        pair=pair, by_action=by_action, other=other, fairness=fairness, mapped=mapped, steps=steps,
    )  # fmt: skip
