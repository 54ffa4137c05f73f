"""`insync describe`: which features of Kafka are in force in a model, and why."""

from __future__ import annotations

from insync.cli.options.model import ChosenModel, model_command
from insync.cli.options.output import Output, output_options
from insync.cli.terminal import ExitCode
from insync.kafka.cluster.model import Cluster
from insync.kafka.live_rules import live_rules
from insync.kafka.quorum.kraft import Kraft
from insync.kafka_questions.documents.live import LiveDocument
from insync.model.catalogue import model_reference
from insync.runtime.errors import UserError

__all__ = ["describe_command"]


@model_command(
    "describe", "Show the features of Kafka in force in cluster or kraft, and the option or rule that decides each."
)
@output_options(quiet=False)
def describe_command(chosen: ChosenModel, output: Output) -> int:
    """Show which features of Kafka are in force in the model `cluster` or `kraft` under a release and its options.

    First the features, each with the settings, budgets and rules that decide whether it is there; then the rules of the
    release, and the steps that can be taken with the methods of Kafka that they stand for. Nothing is searched.
    """
    model = chosen.build()
    if not isinstance(model, Cluster | Kraft):
        message = (
            f"insync describe is about the models cluster and kraft, and {model.name} has no releases. "
            f"List its settings, actions and properties: insync list {model_reference(model)}"
        )
        raise UserError(message)
    output.show_document(LiveDocument(live_rules(model)))
    return ExitCode.HOLDS
