"""`insync prove`: bounded checks, induction and lemmas with z3."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from insync.cli.exit_codes import EPILOG, exit_code_for
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.model_command import ModelCommand, chosen_bounds, chosen_model, find_argument
from insync.cli.options.shared import color_option, json_option, model_argument, quiet_option, trace_option
from insync.cli.options.values import OutputPath, Seconds, Whole
from insync.cli.show.figures import seconds
from insync.cli.show.terminal import emit, emit_error, grid_width, painter

if TYPE_CHECKING:
    from collections.abc import Callable

    from insync.explorer import BoundedResult, ProofResult
    from insync.proofs.outcome import Query

__all__ = ["command"]


class ProveCommand(ModelCommand):
    """Without MODEL, `--lemmas FILE` says what to prove: the model and the bounds of the proof in the file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the model and bounds of the proof file in front of the arguments where they name no model."""
        file = _lemma_file(args)
        if file is None or find_argument(self, args) is not None:
            return super().parse_args(ctx, args)
        from insync.proofs.proof_file import read_proof

        proof = read_proof(Path(file))
        bounds = [f"--{name.replace('_', '-')}={value}" for name, value in proof.bounds.items()]
        return super().parse_args(ctx, [proof.model, *bounds, *args])


def _lemma_file(args: list[str]) -> str | None:
    for place, argument in enumerate(args):
        if argument == "--lemmas" and place + 1 < len(args):
            return args[place + 1]
        if argument.startswith("--lemmas="):
            return argument.removeprefix("--lemmas=")
    return None


@click.command(
    "prove",
    cls=ProveCommand,
    epilog=EPILOG,
    short_help="Prove properties by induction, or look for short violations, with z3.",
)
@model_argument
@click.option(
    "--bmc", type=Whole(1, 1000), metavar="DEPTH", help="Look for a trace of at most DEPTH states to a violation."
)
@click.option("--induction", is_flag=True, help="Prove the properties by induction, with the lemmas given.")
@click.option("--infer", is_flag=True, help="Find lemmas among the candidates of the library, and prove with them.")
@click.option(
    "--k", type=Whole(1, 50), metavar="K", help="For --induction: assume K good states before a step [default: 1]."
)
@click.option(
    "--property",
    "properties",
    multiple=True,
    metavar="NAME",
    help="Prove this property; may be repeated [default: those marked *].",
)
@click.option(
    "--lemma",
    "lemmas",
    multiple=True,
    metavar="NAME",
    help="Prove this lemma with them; may be repeated; `all` is every candidate of the library.",
)
@click.option(
    "--lemmas",
    "proof",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take the lemmas of the proof in FILE. Without MODEL, check that proof again.",
)
@click.option("--save", type=OutputPath(), metavar="FILE", help="Write the proof to FILE, if there is one.")
@click.option("--max-seconds", type=Seconds(), metavar="S", help="Stop after S seconds, with what is known by then.")
@click.option("--timeout", type=Seconds(), metavar="S", help="Give up a query of z3 after S seconds [default: never].")
@trace_option
@json_option
@color_option
@quiet_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    bmc: int | None,
    induction: bool,
    infer: bool,
    k: int | None,
    properties: tuple[str, ...],
    lemmas: tuple[str, ...],
    proof: Path | None,
    save: Path | None,
    max_seconds: float | None,
    timeout: float | None,
    trace: Path | None,
    json_: bool,
    color: str,
    quiet: bool,
    **model: str,
) -> int:
    """Prove the properties of MODEL with z3, at bounds far beyond what can be searched, or look for short violations.

    --bmc finds the shortest violation, as `insync check` does, and proves nothing: without one the verdict is
    incomplete. --induction shows that the initial state is good and that every step from a good state, reachable or
    not, leads to a good one; then all reachable states are good. Most properties are too weak for that by themselves:
    lemmas say what else is true of good states, and are proved with the properties. A counterexample to induction is a
    step that should be impossible: find the lemma that excludes its first state.

    --infer tries the library's candidates on all reachable states of a small instance, and drops those that a step
    breaks until the rest is inductive. Beside --bmc it finds lemmas that make the search faster.

    Ctrl-C and --max-seconds end it with what is known by then: the verdict is incomplete.

    \b
      insync prove kip101 --bmc 11 --infer
      insync prove kip320 --infer --save proof.json
      insync prove kip320 --induction --lemmas proof.json --log-size 6 --max-records 6 --max-leader-epoch 6
      insync prove --lemmas proof.json
    """  # noqa: D301 -- the escape keeps click from filling the lines after it
    from insync.cli.options.models import build_model
    from insync.explorer import Limits, bounded_check, prove
    from insync.explorer.traces.files import check_writable

    ways = [name for name, given in (("--bmc", bmc), ("--induction", induction), ("--infer", infer)) if given]
    _require_one_way(ways, k, proof, save)
    built = build_model(chosen_model(ctx), chosen_bounds(ctx))
    for path in (save, trace):
        if path is not None:
            check_writable(path)
    limits, reporter = Limits(seconds=max_seconds), _reporter(quiet)
    if bmc is not None:
        with stop_on_interrupt() as stop:
            search = bounded_check(
                built,
                depth=bmc,
                properties=properties,
                lemmas=lemmas,
                infer=infer,
                proof=proof,
                limits=limits,
                query_seconds=timeout,
                reporter=reporter,
                stop=stop,
            )
        return _show_search(search, trace, json_, color)
    with stop_on_interrupt() as stop:
        attempt = prove(
            built,
            properties=properties,
            lemmas=lemmas,
            infer=infer,
            proof=proof,
            k=k,
            limits=limits,
            query_seconds=timeout,
            reporter=reporter,
            stop=stop,
        )
    return _show_attempt(attempt, save, trace, json_, color)


def _require_one_way(ways: list[str], k: int | None, proof: Path | None, save: Path | None) -> None:
    """Raise a usage error for options that do not go together."""
    if len(ways) > 1 and ways != ["--bmc", "--infer"]:
        message = f"{' and '.join(ways)} are different ways to prove. Give one of them."
        raise click.UsageError(message)
    if not ways and proof is None:
        message = "how to prove is missing. Give --bmc DEPTH, --induction or --infer, or a proof with --lemmas FILE."
        raise click.UsageError(message)
    if k is not None and ways and ways != ["--induction"]:
        message = f"--k belongs to --induction, not to {ways[0]}. Leave one of them out."
        raise click.UsageError(message)
    if save is not None and "--bmc" in ways:
        message = "--bmc proves nothing that --save could write. Save a proof by --induction or --infer."
        raise click.UsageError(message)


def _reporter(quiet: bool) -> Callable[[Query], None] | None:
    from insync.cli.show.proof_report import answer_of

    if quiet:
        return None
    return lambda query: emit_error(f"Progress: {query.name}: {answer_of(query)} in {seconds(query.seconds)}.")


def _show_search(search: BoundedResult, trace: Path | None, json_: bool, color: str) -> int:
    """Print a bounded check and write the traces that were wished for; return the exit code."""
    from insync.cli.show.proof_json import search_json
    from insync.cli.show.proof_report import describe_search
    from insync.cli.show.trace_files import traces_written

    with traces_written(trace, search.traces, search.model) as files:
        if json_:
            emit(search_json(search, files))
        else:
            emit(describe_search(search, files, painter(color), grid_width()))
    return exit_code_for(search.verdict)


def _show_attempt(attempt: ProofResult, save: Path | None, trace: Path | None, json_: bool, color: str) -> int:
    """Print an induction and write the proof and the traces that were wished for; return the exit code.

    When the proof cannot be written the induction is printed all the same; the UserError follows it.
    """
    from insync.cli.show.proof_json import attempt_json
    from insync.cli.show.proof_report import describe_attempt
    from insync.cli.show.trace_files import traces_written
    from insync.model.errors import UserError

    failure: UserError | None = None
    saved = None
    if save is not None and attempt.verdict == "holds":
        try:
            attempt.save(save)
            saved = save
        except UserError as error:
            failure = error
    elif save is not None:
        emit_error(f"{save} was not written: there is no proof.")
    with traces_written(trace, attempt.traces, attempt.model) as files:
        if json_:
            emit(attempt_json(attempt, saved, files))
        else:
            emit(describe_attempt(attempt, saved, files, painter(color), grid_width()))
    if failure is not None:
        raise failure
    return exit_code_for(attempt.verdict)
