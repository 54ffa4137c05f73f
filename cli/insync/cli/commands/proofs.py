"""`insync prove`: bounded model checking, induction and lemmas with z3."""

from __future__ import annotations

import shlex
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from insync.cli.completion import complete_lemmas
from insync.cli.options.model import (
    ChosenModel,
    ModelCommand,
    first_look,
    model_command,
    names_of_within,
    property_option,
    within_option,
)
from insync.cli.options.output import Build, Output, build_options, output_options
from insync.cli.options.task import Engine, thread_options
from insync.cli.options.values import OutputPath, ReadFile, Seconds, Whole, gathered, option
from insync.cli.progress import steps_of_work, stop_on_interrupt
from insync.cli.terminal import emit_error, exit_code_for
from insync.explorer import Limits
from insync.explorer.documents.text import seconds
from insync.explorer.named_model import Naming, kinds_of, same_name
from insync.model.domains.bounds import choices
from insync.runtime.errors import UserError
from insync.runtime.files import check_writable

if TYPE_CHECKING:
    from insync.explorer import BoundedResult, ProofResult
    from insync.proofs.proof_file import Proof
    from insync.proofs.results import Query

__all__ = ["prove_command"]


_AT_WORK = "z3 is at work"

_ARGUMENTS = "insync.proofs.arguments"
"""The key of the command line in the context of a command, for the page."""


class ProveCommand(ModelCommand):
    """The command class: with `--lemmas FILE`, the proof gives defaults.

    Bounds and settings that are not given are those of the proof, if it belongs to the same model. Without MODEL, the
    model is that of the proof, if it comes with insync.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the model from the proof file if the arguments name none, and the bounds if it has the same model."""
        ctx.meta[_ARGUMENTS] = list(args)
        look = first_look(self, args)
        file = look.values.get("helped_proof")
        if file is None:
            return super().parse_args(ctx, args)
        with suppress(UserError) if ctx.resilient_parsing else nullcontext():  # completion reports no mistakes
            args = self._as_in_proof(ctx, args, look.model, Path(file))
        return super().parse_args(ctx, args)

    def _as_in_proof(self, ctx: click.Context, args: list[str], model: str | None, file: Path) -> list[str]:
        """Make the bounds of a proof the defaults, and return the arguments with its model if they name none."""
        from insync.proofs.proof_file import read_proof

        proof = read_proof(file)
        if model is None:
            _require_bounds(proof, file)
            args = [proof.model, *args]
        if model is None or same_name(model, proof.model):
            ctx.default_map = {f"bound_{name}": value for name, value in proof.bounds.items()}
        return args


def _require_bounds(proof: Proof, file: Path) -> None:
    """Raise UserError if the model of a proof does not come with insync, or has other bounds than the proof."""
    (kind,) = kinds_of([Naming(proof.model, "proof", str(file), file)])
    names = list(choices(kind))
    for name in {*names, *proof.bounds}:
        if name not in proof.bounds or name not in names:
            says = "is missing" if name in names else "is not one of the model's"
            message = (
                f"{file}: bounds.{name} {says}; expected a value for each of {', '.join(names)}. The proof or the "
                f"model has changed. Try the lemmas again with `insync prove {proof.model} --lemmas {file}`."
            )
            raise UserError(message)


@dataclass(frozen=True, slots=True)
class Way:
    """The method of proof, and the file of the proof.

    Attributes:
        bmc: the depth of bounded model checking; None for a proof.
        induction, infer: whether to prove by induction with the given lemmas, or with inferred ones.
        mine: whether to infer lemmas from the model alone.
        unbounded: whether to prove for all values of the bounds that the model may leave open.
        k: the number of good states that an induction assumes.
        save: the file of the proof.
    """

    bmc: int | None
    induction: bool
    infer: bool
    mine: bool
    unbounded: bool
    k: int | None
    save: Path | None

    @property
    def is_left_open(self) -> bool:
        """Whether no method is given."""
        return not self.names

    @property
    def names(self) -> list[str]:
        """The given options that choose a method."""
        given = {
            "--bmc": self.bmc is not None,
            "--induction": self.induction,
            "--infer": self.infer,
            "--mine": self.mine,
            "--unbounded": self.unbounded,
        }
        return [name for name, wanted in given.items() if wanted]


@dataclass(frozen=True, slots=True)
class Helped:
    """The lemmas: by name, and those of a proof in a file."""

    lemmas: tuple[str, ...]
    proof: Path | None


@model_command("prove", "Prove properties by induction, or look for short violations, with z3.", cls=ProveCommand)
@gathered(
    "way",
    Way,
    bmc=option(
        "--bmc",
        type=Whole(1, 1000),
        metavar="DEPTH",
        help="Look for a violation in the states of DEPTH levels, the initial ones being the first, and the steps from "
        "them.",
    ),
    induction=option("--induction", is_flag=True, help="Prove the properties by induction, with the lemmas given."),
    infer=option(
        "--infer",
        is_flag=True,
        help="Find lemmas among the candidates of the library, or in MODEL where it has none, and prove with them.",
    ),
    mine=option("--mine", is_flag=True, help="The same, with lemmas made of MODEL's own conditions alone."),
    unbounded=option(
        "--unbounded",
        is_flag=True,
        help="Prove by induction for every value of the bounds that MODEL may leave open, such as the size of a log.",
    ),
    k=option(
        "--k", type=Whole(1, 50), metavar="K", help="For --induction: assume K good states before a step [default: 1]."
    ),
    save=option(
        "--save", type=OutputPath(), metavar="FILE", help="Write the proof to FILE, or what is proved when time is up."
    ),
)
@property_option("Prove this property; may be repeated [default: those marked *].")
@within_option()
@gathered(
    "helped",
    Helped,
    lemmas=option(
        "--lemma",
        multiple=True,
        metavar="NAME",
        shell_complete=complete_lemmas,
        help="Prove this lemma with them; may be repeated; `all` is every candidate of the library.",
    ),
    proof=option(
        "--lemmas",
        type=ReadFile(),
        metavar="FILE",
        help="Take the lemmas of the proof in FILE, and if it is of MODEL, the bounds and settings not given. "
        "Without MODEL, check that proof again, if its model comes with insync.",
    ),
)
@gathered(
    "limits",
    Limits,
    seconds=option("--max-seconds", type=Seconds(), metavar="S", help="Stop after S seconds, with the results so far."),
    query_seconds=option(
        "--timeout", type=Seconds(), metavar="S", help="Give up a query of z3 after S seconds [default: never]."
    ),
)
@thread_options
@output_options(trace=True)
@build_options
def prove_command(
    chosen: ChosenModel,
    way: Way,
    properties: tuple[str, ...],
    within: tuple[str, ...],
    helped: Helped,
    limits: Limits,
    engine: Engine,
    output: Output,
    build: Build,
) -> int:
    """Prove the properties of MODEL with z3, at bounds far beyond what can be searched, or look for short violations.

    --bmc finds the shortest violation, as `insync check` does, and proves nothing: without one the verdict is
    incomplete. --induction shows that the initial state is good and that every step from a good state, reachable or
    not, leads to a good one; then all reachable states are good. Most properties are too weak for that by themselves:
    lemmas say what else is true of good states, and are proved with the properties. A counterexample to induction is a
    step that should be impossible: find the lemma that excludes its first state.

    Without any of these, and without --lemmas, an induction with all lemmas of the library is tried first, and then
    --infer; the answer says what was done.

    --unbounded proves it for every value of the bounds that MODEL may leave open, such as the sizes of logs, with the
    library's lemmas. There is no counterexample then: what is not proved is unknown.

    --infer tries the library's candidates on all reachable states of a small instance, and drops those that a step
    breaks until the rest is inductive. Beside --bmc it finds lemmas that make the search faster. Where the library has
    no candidate for MODEL, --infer makes some of the conditions in MODEL itself, and so does --mine for any MODEL.

    Ctrl-C and --max-seconds end it early: the queries answered so far are printed, and the verdict is incomplete.

    \b
      insync prove async_isr --max-offset 15 --max-version 15
      insync prove kip101 --bmc 11 --infer
      insync prove kip320 --infer --save proof.json
      insync prove kip320 --induction --lemmas proof.json --log-size 6 --max-records 6 --max-leader-epoch 6
      insync prove --lemmas proof.json
      insync prove kip320 --unbounded
      insync prove lock.py:FixedLock --infer
    """  # noqa: D301 -- the control character makes click keep these lines as they are
    from insync.explorer import bounded_check, prove
    from insync.explorer.documents.prove import answer_of

    _require_one_way(way)
    if way.unbounded:
        _require_left_open(chosen)
    model, names = chosen.untraced(within), names_of_within(within)
    if way.save is not None:
        check_writable(way.save)
    output.check_trace_path()
    build.check(output)

    def report(query: Query) -> None:
        steps.tell(f"Progress: {query.name}: {answer_of(query)} in {seconds(query.seconds)}.")
        steps.begin(_AT_WORK)

    with stop_on_interrupt() as stop, steps_of_work(output.quiet) as steps:
        steps.begin(_AT_WORK)
        if way.bmc is not None:
            search = bounded_check(
                model,
                depth=way.bmc,
                properties=properties,
                lemmas=helped.lemmas,
                infer=way.infer,
                proof=helped.proof,
                within=names,
                limits=limits,
                reporter=report,
                stop=stop,
            )
        else:
            attempt = prove(
                model,
                properties=properties,
                lemmas=helped.lemmas,
                infer=way.infer,
                mine=way.mine,
                automatic=way.is_left_open and helped.proof is None,
                unbounded=way.unbounded,
                proof=helped.proof,
                k=way.k,
                within=names,
                limits=limits,
                threads=engine.threads,
                reporter=report,
                stop=stop,
            )
    if way.bmc is None:
        return _show_attempt(attempt, way.save, output, build)
    return _show_search(search, output, build)


def _require_one_way(way: Way) -> None:
    """Raise UsageError for options that exclude each other."""
    if len(way.names) > 1 and way.names != ["--bmc", "--infer"]:
        message = f"{' and '.join(way.names)} are different ways to prove. Give one of them."
        raise click.UsageError(message)
    if way.k is not None and way.names and way.names != ["--induction"]:
        message = f"--k belongs to --induction, not to {way.names[0]}. Leave one of them out."
        raise click.UsageError(message)
    if way.save is not None and way.unbounded:
        message = "--save writes a proof at bounds, and --unbounded leaves some open. Leave one of them out."
        raise click.UsageError(message)
    if way.save is not None and way.bmc is not None:
        message = "--bmc proves nothing that --save could write. Give --save with --induction or --infer."
        raise click.UsageError(message)


def _require_left_open(chosen: ChosenModel) -> None:
    """Raise UsageError if a bound is given that is left open."""
    given = click.get_current_context().get_parameter_source
    for name in chosen.kind.unbounded:
        if given(f"bound_{name}") is ParameterSource.COMMANDLINE:
            message = f"--unbounded proves it for every {name}. Leave --{name.replace('_', '-')} out, or --unbounded."
            raise click.UsageError(message)


def _show_search(search: BoundedResult, output: Output, build: Build) -> int:
    """Print the result of a bounded check, write its files, and return the exit code."""
    from insync.explorer.documents.prove import BoundedDocument

    with output.traces_written(search.traces, search.model) as files:
        output.show_document(BoundedDocument(search, files))
    found, names = search.result, [found.name for found in search.properties]
    reason = f"No trace of up to {found.depth} states breaks it; longer ones were not looked at."
    build.tell(
        search.model,
        search.traces,
        names,
        verdict=search.verdict,
        stopped_by=found.stopped_by,
        warnings=search.warnings,
        unproved={} if search.traces or found.stopped_by is not None else dict.fromkeys(names, reason),
    )
    return exit_code_for(search.verdict)


def _show_attempt(attempt: ProofResult, file: Path | None, output: Output, build: Build) -> int:
    """Print the result of an induction, write its files, and return the exit code.

    If the proof cannot be written, the result is printed all the same, and the UserError raised at the end.
    """
    from insync.cli.annotations import inductions, unproved
    from insync.explorer.documents.prove import ProofDocument

    failure: UserError | None = None
    saved = None
    if file is not None and (attempt.verdict == "holds" or attempt.is_unfinished):
        try:
            attempt.save(file)
            saved = file
        except UserError as error:
            failure = error
    elif file is not None:
        emit_error(f"{file} was not written: there is no proof.")
    prove_command = shlex.join(["insync", "prove", *click.get_current_context().meta[_ARGUMENTS]])
    others = inductions(attempt, prove_command) if output.html is not None else []
    with output.traces_written(attempt.traces, attempt.model, others=others) as files:
        output.show_document(ProofDocument(attempt, saved, files))
    build.tell(
        attempt.model,
        attempt.traces,
        [*(found.name for found in attempt.properties), *attempt.lost],
        verdict=attempt.verdict,
        stopped_by=attempt.result.stopped_by,
        warnings=attempt.warnings,
        unproved=unproved(attempt),
    )
    if failure is not None:
        raise failure
    return exit_code_for(attempt.verdict)
