"""The model and Kafka's classes side by side."""

from __future__ import annotations

from insync.conformance.classes.observation import Observation
from insync.conformance.classes.subject import Argument, Subject
from insync.conformance.correspondence.side_by_side import SideBySide
from insync.conformance.steps.cluster_correspondence import ClusterCorrespondence
from insync.explorer.stepping.stepper import Stepper
from insync.kafka.cluster.model import Cluster
from insync.model.evaluator import Codes

__all__ = ["Pair"]


class Pair(SideBySide[ClusterCorrespondence]):
    """The model and a cluster of Kafka's classes.

    Args:
        stepper: of a model `cluster`.
        subject: who takes the commands.
        start: the initial state; None is the first.
    """

    def __init__(self, stepper: Stepper, subject: Subject, start: Codes | None = None) -> None:
        assert isinstance(stepper.model, Cluster)
        self.model = stepper.model
        super().__init__(stepper, ClusterCorrespondence(self.model, subject), start)

    @property
    def seen(self) -> Observation:
        """Kafka's state after the last command."""
        return self.correspondence.seen

    def probe(self, command: str, **arguments: Argument) -> str:
        """Give Kafka a command that is no step, and return its answer, or the exception that it throws."""
        return self.correspondence.probe(command, **arguments)
