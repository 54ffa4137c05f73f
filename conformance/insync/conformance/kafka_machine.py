"""A Hypothesis state machine that takes the steps of `cluster` on Kafka's classes as well, and compares after each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, NoReturn

from hypothesis import reject
from hypothesis.stateful import RuleBasedStateMachine

from insync.conformance.classes.subject import Subject
from insync.conformance.correspondence.facts import Difference
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.steps.pair import Pair
from insync.explorer.hypothesis import Disagreement
from insync.explorer.hypothesis.state_machines import ModelMachine, build_machine, is_final
from insync.explorer.stepping.stepper import ParameterValue
from insync.explorer.testing import trace_directory
from insync.explorer.traces.grid import render_grid
from insync.explorer.traces.trace import AGREEMENT, trace_of
from insync.explorer.traces.trace_file import write_trace
from insync.kafka.cluster.model import Cluster

__all__ = ["kafka_machine"]


def kafka_machine(model: Cluster, subject: Callable[[], Subject]) -> type[RuleBasedStateMachine]:
    """Return a Hypothesis state machine that runs Kafka's classes beside a model; its `TestCase` is a test.

    It is what `model_based_test` makes, for a system that also does something by itself: a step that Kafka takes within
    another one, as when a leader asks for a larger ISR within a fetch, is a step of the model as well. A step that
    cannot be brought about on Kafka is left out on both sides.

    Args:
        model: the model, with its settings and budgets.
        subject: gives who takes the commands, for each run; the same harness will do, as a run begins with a new
            cluster.

    Raises:
        Disagreement: when it runs, with the shortest steps that Hypothesis has found.
    """
    return build_machine(KafkaMachine, model, (), {"new_subject": staticmethod(subject)})


class KafkaMachine(ModelMachine):
    """A state machine of a model with Kafka's classes beside it."""

    new_subject: ClassVar[staticmethod[[], Subject]]

    def __init__(self) -> None:
        super().__init__()
        self.pair = Pair(self.stepper, self.new_subject())
        self.walk = self.pair.walk
        if found := self.pair.open():
            self._disagree(found)

    def take(self, action: str, parameters: Mapping[str, ParameterValue]) -> None:
        """Take a step on Kafka and on the model."""
        __tracebackhide__ = True
        self._chosen, self._proved = {}, set()
        try:
            found = self.pair.take(self.walk.number_of(action, parameters))
        except NotSchedulable:
            if self.pair.spoilt:
                reject()
            return
        if found:
            self._disagree(found)

    def _disagree(self, found: list[Difference]) -> NoReturn:
        """Raise Disagreement; only the shrunk one is saved and shown whole."""
        __tracebackhide__ = True
        model, version = self.pair.model, self.new_subject().version
        reason = f"Kafka {version} and the model differ: " + "; ".join(
            f"{one.field} is {one.kafka!r} in Kafka and {one.model!r} in the model" for one in found
        )
        trace = trace_of(model, AGREEMENT, self.walk.moves, reason)
        if not is_final():
            raise Disagreement(reason, trace)
        file = trace_directory() / f"cluster-{AGREEMENT}.json"
        write_trace(file, trace)
        message = f"Kafka {version} and cluster differ\n\n{render_grid(trace, model.grid)}\nTrace: {file}"
        raise Disagreement(message, trace, file)
