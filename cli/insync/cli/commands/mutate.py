"""`insync mutate`: mutation testing of a model's properties (DeMillo et al. 1978)."""

from __future__ import annotations

import click

from insync.cli.completion import complete_actions
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.model import ChosenModel, model_command, property_option, within_option
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import Engine, limit_options, thread_options
from insync.cli.progress import steps_of_work
from insync.cli.terminal import ExitCode, emit_error
from insync.explorer import Fate, Limits, MutantResult, mutate
from insync.explorer.documents.mutate import MutationDocument, mutant_line

__all__ = ["command"]


@model_command("mutate", "Break a model in every small way; see which properties notice.")
@property_option("Let this property judge; may be repeated [default: all that hold, but deadlock_free].")
@within_option()
@click.option(
    "--action",
    "actions",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_actions,
    help="Change this action or @initial method; may be repeated.",
)
@click.option("--runs", is_flag=True, help="Ask the properties of runs about the mutants that survive.")
@limit_options(
    states="Leave a mutant undecided once it has N states.",
    seconds="Leave a mutant undecided after S seconds, compilation included.",
)
@thread_options
@output_options()
def command(
    chosen: ChosenModel,
    properties: tuple[str, ...],
    within: tuple[str, ...],
    actions: tuple[str, ...],
    runs: bool,
    limits: Limits,
    engine: Engine,
    output: Output,
) -> int:
    """Take one condition or one assignment of MODEL away at a time, and report which properties notice.

    A mutant is killed if a property fails, equivalent if it takes the same steps from every state that the model
    reaches and begins in no other, and has survived otherwise. The score is the share of killed mutants among those
    killed and survived. It says whether the properties mean anything; a survivor is a rule that they do not need. The
    exit code is 0 whatever the score, and 3 if a limit left a mutant undecided, or ended the search of the unchanged
    model.
    """
    model = chosen.build(within)

    with stop_on_interrupt() as stop, steps_of_work(output.quiet) as steps:
        steps.begin("searching the unchanged model, and looking for mutants that take the same steps")

        def report(number: int, total: int, mutant: MutantResult) -> None:
            steps.end()
            if not output.quiet:
                emit_error(f"{number}/{total}  {mutant_line(mutant)}")

        result = mutate(
            model,
            properties=properties or None,
            actions=actions or None,
            runs=runs,
            limits=limits,
            threads=engine.threads,
            reporter=report,
            stop=stop,
        )
    output.show_document(MutationDocument(result, model))
    incomplete = result.stopped_by is not None or result.count(Fate.UNDECIDED)
    return ExitCode.INCOMPLETE if incomplete else ExitCode.HOLDS
