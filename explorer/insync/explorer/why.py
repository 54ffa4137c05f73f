"""`why`: coverage of the source by the reachable states: guards, branches, assignments, fields and properties."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from insync.explorer.coverage.counts import Answers, Questions, ask_of_action, ask_of_property
from insync.explorer.coverage.results import ActionCoverage, PropertyCoverage, WhyResult
from insync.explorer.progress import Reporter
from insync.explorer.search.breadth_first import breadth_first
from insync.explorer.search.explored import Explored
from insync.explorer.task import ModelLike, Needs, Prepared, Task, model_of
from insync.machine.conditions import Counter
from insync.machine.kernels import Kernels, Part, compile_kernels
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply
from insync.model.expressions.source import noting
from insync.model.given_names import given_names
from insync.model.language.declarations import action_specs
from insync.model.lints import remarks_of, suspicions
from insync.model.tracing.grounding import ActionParts
from insync.model.tracing.tracer import parts_of
from insync.properties.invariants import names_within
from insync.properties.registry import confined, judge
from insync.runtime.errors import UserError, closest
from insync.runtime.watch import Limits, StopReason, Watch
from insync.runtime.workers import Team

__all__ = ["why"]


def why(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    actions: Sequence[str] | None = None,
    properties: Sequence[str] | None = None,
    within: Sequence[str] | None = None,
    limits: Limits | None = None,
    threads: int | None = None,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> WhyResult:
    """Search every state of a model and count in how many of them each part of its actions and properties matters.

    Args:
        model: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        actions: the actions to report; None is all.
        properties: the properties to report; None is the model's headline.
        within: names of invariants; only states in which they hold are counted. None is the confinement of the model's
            class.
        limits: of tracing, compilation and search; the states of levels that are complete by then are counted.
        threads: the number of threads; None is one per core.
        reporter: called about once a second with the progress of the search.
        stop: ends tracing, compilation or search when it is set.

    Raises:
        UserError: an unknown model, bound, action or property, or a model that cannot be traced.
    """
    given = confined(model_of(model, bounds), within)
    # A new model, as source spans are noted only when its properties are traced for the first time.
    fresh = confined(type(given)(**given.identity), names_within(given))
    _require_actions(fresh, actions)
    task = Task(model=fresh, properties=properties, limits=limits, threads=threads, reporter=reporter, stop=stop)
    return task.run(lambda prepared: _searched(prepared, actions), _nothing_searched, Needs.PROGRAM)


def _searched(prepared: Prepared, actions: Sequence[str] | None) -> WhyResult:
    model = prepared.model
    with prepared.compiling(), prepared.reading():
        asked = _Questionnaire(prepared, actions)
    space, answers = asked.searched(prepared)
    covered = tuple(one(answers) for one in asked.actions)
    prepared.clock.lap("all")
    return WhyResult(
        model=model_reference(model),
        bounds=model.identity,
        states=answers.states,
        depth=len(space.levels),
        stopped_by=space.stopped_by,
        actions=covered,
        unchanged=() if actions is not None else _unchanged(model, covered),
        properties=tuple(one(answers) for one in asked.properties),
        within=names_within(model),
        warnings=suspicions(model, asked.conditions),
        seconds=prepared.clock.seconds["all"],
    )


def _nothing_searched(prepared: Prepared, reason: StopReason) -> WhyResult:
    """Return the result of a search that was stopped before it began."""
    model, clock = prepared.model, prepared.clock
    clock.lap("all")
    return WhyResult(
        model=model_reference(model),
        bounds=model.identity,
        states=0,
        depth=0,
        actions=(),
        unchanged=(),
        properties=(),
        within=names_within(model),
        stopped_by=reason,
        warnings=remarks_of(model),
        seconds=clock.seconds["all"],
    )


def _require_actions(model: Model, names: Sequence[str] | None) -> None:
    known = action_specs(type(model))
    unknown = next((name for name in given_names("actions", () if names is None else names) if name not in known), None)
    if unknown is not None:
        message = f"{model.name} has no action {unknown!r}. {closest(unknown, known)}"
        raise UserError(message)


def _unchanged(model: Model, actions: Sequence[ActionCoverage]) -> tuple[str, ...]:
    """Return the fields that no step changes."""
    fields = dict.fromkeys(leaf.field for leaf in model.state.leaves())
    return tuple(field for field in fields if not any(action.changed.get(field) for action in actions))


class _Questionnaire:
    """The conditions to count for a model. None of its properties may have been traced yet.

    Attributes:
        actions, properties: functions from the answers to the results.
        conditions: of the properties as they are written, by name.
    """

    def __init__(self, prepared: Prepared, actions: Sequence[str] | None) -> None:
        model, watch = prepared.model, prepared.watch
        self.program = program = model.program
        self.conditions: dict[str, Node] = {}
        with program.graph.asking(watch.check):
            self._inside = apply(Op.NOT, program.outside)
            self._questions = Questions(program.graph, self._inside)
            self.actions = self._of_actions(model, actions, watch)
            self.properties = self._of_properties(model, prepared.names)

    def _of_actions(
        self, model: Model, names: Sequence[str] | None, watch: Watch
    ) -> list[Callable[[Answers], ActionCoverage]]:
        bindings: dict[str, list[ActionParts]] = {}
        for one in parts_of(model, watch.check):
            bindings.setdefault(one.name, []).append(one)
        fields = [leaf.field for leaf in model.state.leaves()]
        return [
            ask_of_action(self._questions, fields, name, spec.place, bindings.get(name, []))
            for name, spec in action_specs(type(model)).items()
            if names is None or name in names
        ]

    def _of_properties(self, model: Model, names: Sequence[str]) -> list[Callable[[Answers], PropertyCoverage]]:
        asked = []
        for name in names:
            with noting() as notes:
                judged = judge(model, [name])
            self.conditions.update(judged.written(model))
            for found, node in zip(judged.invariants, judged.nodes, strict=True):  # type_ok has none
                asked.append(ask_of_property(self._questions, model, found, node, notes.premises))
        return asked

    def searched(self, prepared: Prepared) -> tuple[Explored, Answers]:
        """Search the space and count its states that meet each condition.

        Raises:
            Stopped: the watch ended the compilation.
        """
        watch, conditions = prepared.watch, _negated([self._inside, *self._questions.nodes.values()])
        with prepared.compiling():
            kernels = compile_kernels(self.program, watch=watch)
            counting = compile_kernels(self.program, conditions, (Part.COUNT,), watch=watch)
        reporter = prepared.task.reporter
        with breadth_first(self.program, kernels, watch, prepared.threads, True, reporter) as search:
            space = search.run()
            inside, *counts = _count_states(counting, space, search.team)
        return space, Answers(inside, dict(zip(self._questions.nodes, counts, strict=True)))


def _negated(conditions: Sequence[Node]) -> list[Node]:
    """Return the negations of conditions, with which the kernels of `_count_states` are compiled."""
    return [node.graph.node(Op.NOT, (node,)) for node in conditions]


def _count_states(kernels: Kernels, space: Explored, team: Team) -> list[int]:
    """Return for each condition the number of states of the complete levels in which it holds.

    Args:
        kernels: with the part COUNT, compiled with the conditions `_negated`, as the code counts states that fail.
        space: the searched space, of states of the same size.
        team: the threads that work.
    """
    counters: list[Counter] = [kernels.counter() for _ in range(team.size)]

    def count(worker: int) -> None:
        for partition in space.whole[worker :: team.size]:
            counters[worker].count(partition.store.address(0), partition.starts[-1])

    try:
        team.run(count)
        return [sum(found) for found in zip(*(counter.take() for counter in counters), strict=True)]
    finally:
        for counter in counters:
            counter.close()
