"""A trace to a violation in the model in which the defect is fixed: the same steps, as far as they can be taken."""

from __future__ import annotations

from dataclasses import dataclass

from insync.explorer.stepping.stepper import Stepper, Walk
from insync.explorer.traces.trace import Trace, TraceStep, trace_steps
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, Defect
from insync.kafka.defects.named import no_such_defect
from insync.model.evaluator import evaluate
from insync.properties.registry import judge
from insync.runtime.errors import GuardError

__all__ = ["FixedTrace", "fixed_trace"]


@dataclass(frozen=True, slots=True)
class FixedTrace:
    """A trace in the model in which a defect is fixed.

    Attributes:
        model: the model.
        trace: the steps that can be taken, a witness of nothing.
        impossible: the first step that cannot; None if all can.
        holds: whether the property that the trace breaks without the fix holds after each step.
    """

    model: Cluster
    trace: Trace
    impossible: TraceStep | None
    holds: bool


def fixed_trace(trace: Trace, model: Cluster, defect: str) -> FixedTrace:
    """Return what becomes of a trace once a defect is fixed.

    Args:
        trace: the trace, which its model confirms.
        model: its model.
        defect: the name of the defect.

    Raises:
        UserError: the catalogue has no such defect, or the trace's model has not got it; or the trace is of an
            invariant of runs.
    """
    if defect not in DEFECTS:
        raise no_such_defect(defect)
    fixed = Cluster(**{**model.identity, **_fixing(DEFECTS[defect], model)})
    walk = Walk(Stepper(fixed))
    impossible = None
    for step in trace.steps[1:]:
        try:
            walk.step(walk.number_of(step.action or "", step.parameters))
        except GuardError:
            impossible = step
            break
    (node,) = judge(fixed, [trace.property]).nodes
    holds = all(evaluate(node, codes) for _, codes in walk.moves)
    kept = Trace(trace.model, fixed.identity, trace.property, trace_steps(fixed, walk.moves), "", witness=True)
    return FixedTrace(fixed, kept, impossible, holds)


def _fixing(defect: Defect, model: Cluster) -> dict[str, int | str]:
    """What changes the rules that are a defect and no others: those around it stay as the trace's model has them."""
    if not defect.rules:
        return dict(defect.fixed)
    brought = model.b.settings.defect.value == defect.name
    return {"defect": defect.name, "fixed": "on" if brought else "alone"}
