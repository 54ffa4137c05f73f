"""What Kafka is asked about an entry of the catalogue: its shortest trace under the rules of a release."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from insync.conformance.catalogue.vocabulary import first_action, first_bounds, first_facts
from insync.conformance.slow_alone import with_one_slow
from insync.conformance.steps.likeness import differences, facts_of
from insync.explorer.replay import replay
from insync.explorer.runs.lassos import Lasso, verify
from insync.explorer.stepping.stepper import Refused, Stepper, Walk
from insync.explorer.traces.trace import Trace, TraceStep, trace_of
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, Defect
from insync.kafka.releases import Release
from insync.kafka_questions.defects import search_defect
from insync.model import ReadableState
from insync.properties.registry import run_properties_of
from insync.properties.temporal import Fairness
from insync.runtime.errors import GuardError

__all__ = [
    "Bounds",
    "EntryTrace",
    "NamedSteps",
    "catalogue_trace",
    "release_traces",
    "steps_again",
    "takes_trace",
    "trace_digest",
]

Bounds = Mapping[str, int | str]
NamedSteps = Sequence[tuple[str, Mapping[str, str]]]
"""Steps by the names of their actions, with their parameters."""


_OF_PRODUCER = {"producer_keeps_id"}
"""Rules that a producer's configuration decides: transactional.id."""
_STEPS = "steps"
"""What stands in the place of the property of steps that only show what happens."""


@dataclass(frozen=True, slots=True)
class EntryTrace:
    """A trace of an entry, and how its model is made again.

    Attributes:
        given: the bounds that the model is made with; all others have their defaults.
        model: the model.
        trace: the trace, as its model has it.
    """

    given: Bounds
    model: Cluster
    trace: Trace

    @property
    def steps(self) -> NamedSteps:
        """The steps after the first state."""
        return [(step.action or "", dict(step.parameters)) for step in self.trace.steps[1:]]


def catalogue_trace(defect: Defect) -> EntryTrace | None:
    """Return the shortest trace of a defect as the catalogue has it; None for one that does no harm."""
    return _shortest(defect, defect.witness)


def release_traces(defect: Defect, release: Release) -> Iterator[EntryTrace]:
    """Yield shortest traces of a defect under the rules of a release, changed as the defect says.

    The first is with eligible leader replicas as new clusters of the release have them; if the entry leaves that open,
    another is with them switched (3.9 has them with a metadata version that is not stable). A trace that something
    else brings about as well, as the property does not hold with the fix either, is left out.

    Args:
        defect: the defect.
        release: the release.
    """
    given = {**defect.witness, "release": release.value}
    kinds = [given] if "elr" in defect.bounds else [given, {**given, "elr": _switched(release)}]
    for bounds in kinds:
        if search_defect(defect, {**bounds, **defect.fixed, "fixed": "on"}).verdict == "holds":
            found = _shortest(defect, bounds)
            if found is not None:
                yield found


def _switched(release: Release) -> str:
    return "off" if release.rules.elr_by_default else "on"


def _shortest(defect: Defect, given: Bounds) -> EntryTrace | None:
    """The shortest trace, with those who stay fetching before each shrink: Kafka drops all that are slow."""
    found = search_defect(defect, given)
    if found.trace is None:
        return None
    assert isinstance(found.model, Cluster)
    return EntryTrace(given, found.model, with_one_slow(found.trace, found.model))


def steps_again(given: Bounds, steps: NamedSteps, failing: str, loop: int | None = None) -> EntryTrace:
    """Return the trace that recorded steps are in a model, if the property is broken at their end.

    Args:
        given: the bounds.
        steps: the steps.
        failing: the property; "" for steps that only show what happens.
        loop: of a run that never ends, the place to which it comes back.

    Raises:
        GuardError: a step is not enabled.
        ReplayError: the property is not broken at the end.
    """
    model = Cluster(**given)
    walk = Walk(Stepper(model))
    for action, parameters in steps:
        walk.step(walk.number_of(action, parameters))
    if not failing:
        return EntryTrace(given, model, replace(trace_of(model, _STEPS, walk.moves, ""), witness=True))
    claim = replace(trace_of(model, failing, walk.moves, ""), loop=loop, fairness=_fairness(model, failing))
    return EntryTrace(given, model, replay(claim, model=model))


def takes_trace(release: Release, asked: EntryTrace, *, default_elr: bool) -> bool:
    """Return whether the rules of a release take the steps of a trace, with the same facts and answers after each.

    What an entry leaves out of a producer is no rule of any release: the trace's producer is asked about as it is.

    Args:
        release: the release, with no defect but its own.
        asked: the trace.
        default_elr: whether eligible leader replicas are as the release has them, and not as the trace's model.
    """
    elr = "release" if default_elr else "on" if asked.model.features.elr else "off"
    dropped = {"fixed"} if _is_of_producer(asked) else {"defect", "fixed"}
    given = {name: value for name, value in asked.given.items() if name not in dropped}
    model = Cluster(**{**given, "release": release.value, "elr": elr})
    if model.features.elr != asked.model.features.elr:
        return False
    walk = Walk(Stepper(model))
    for step in asked.trace.steps[1:]:
        try:
            walk.step(walk.number_of(step.action or "", step.parameters))
        except (GuardError, Refused):
            return False
        after = model.decode(walk.codes)
        if differences(step.state, after) or _to_come(step, step.state) != _to_come(step, after):
            return False
    return asked.trace.loop is None or _never_ends(model, asked.trace, walk)


def _never_ends(model: Cluster, trace: Trace, walk: Walk) -> bool:
    """Whether a run that breaks a property for ever does so in another model, in which its steps were taken."""
    assert trace.loop is not None
    found = run_properties_of(model)[trace.property]
    return verify(model, found, found.fairness, Lasso(walk.moves, trace.loop)).fault is None


def _fairness(model: Cluster, failing: str) -> Fairness | None:
    """What is taken for granted in a run that breaks a property; None for an invariant."""
    found = run_properties_of(model).get(failing)
    return None if found is None else found.fairness


def _is_of_producer(asked: EntryTrace) -> bool:
    """Return whether the trace's defect is one of how a producer is configured, which it brings along."""
    defect = DEFECTS.get(str(asked.given.get("defect")))
    return defect is not None and bool(defect.rules) and set(defect.rules) <= _OF_PRODUCER


def _to_come(step: TraceStep, state: ReadableState) -> tuple[bool, list[str]]:
    """Return what is no fact yet, and is seen on Kafka all the same.

    That is whether an operator who deletes records with this step waits for the answer after it, and who has to tell
    the controller where its log is: where the model's broker has nothing to tell, and Kafka's has, it does so at once.
    """
    waits = step.action == "delete_record" and bool(state["broker"][step.parameters["leader"]].get("deleting"))
    return waits, [name for name, broker in state["broker"].items() if broker.get("to_assign")]


def trace_digest(asked: EntryTrace, recorded: Bounds | None = None) -> str:
    """Return what tells whether a trace is still the one that was run: bounds, property, steps, what is compared.

    Args:
        asked: the trace.
        recorded: its bounds as the record has them, if it is there; else those of its model. Names count by the first
            ones that they had.
    """
    steps = [
        [first_action(step.action), dict(step.parameters), first_facts(facts_of(step.state))]
        for step in asked.trace.steps
    ]
    bounds = first_bounds(asked.given if recorded is None else recorded)
    told = [sorted(bounds.items()), asked.trace.property, steps]
    loop = [] if asked.trace.loop is None else [asked.trace.loop]
    text = json.dumps([*told, *loop], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
