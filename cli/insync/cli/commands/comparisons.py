"""`insync agree`, `diff` and `mutate`: a model beside other engines, other models and its own mutants."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from insync import explorer
from insync.cli.completion import complete_actions
from insync.cli.options.model import ChosenModel, model_command, property_option, within_option
from insync.cli.options.named_models import kinds_of_files, model_option, naming_of
from insync.cli.options.output import (
    Output,
    beside,
    output_options,
    refuse_overwriting,
    say_not_written,
    sources_of,
    traces_written,
)
from insync.cli.options.task import Engine, limit_options, thread_options
from insync.cli.options.two_models import ChosenPair, two_models_command
from insync.cli.options.values import GivenPath, OutputPath, Whole
from insync.cli.progress import Steps, search_progress, steps_of_work, stop_on_interrupt
from insync.cli.terminal import ExitCode
from insync.model import Model
from insync.runtime.errors import UserError
from insync.runtime.watch import Limits

if TYPE_CHECKING:
    from insync.explorer.agree import Engine as ComparedEngine
    from insync.explorer.traces.trace import Trace

__all__ = ["agree_command", "diff_command", "mutate_command"]


@two_models_command("diff", "Compare two models, releases or settings, or two traces.")
@property_option("Compare this property; may be repeated; `none` compares none [default: those marked * of each].")
@click.option(
    "--trace",
    type=OutputPath(),
    metavar="FILE",
    help="Write the trace that only A allows to FILE, and the one that only B allows beside it, as FILE with .other "
    "in its name.",
)
@model_option("a trace", several=True)
@limit_options(
    depth="Compare the first N levels; the initial state is level 1.",
    states="Stop each search once N distinct states were found.",
    seconds="Stop after S seconds, tracing and compilation included.",
    memory="Keep the process within SIZE, such as 300M or 2G, or stop.",
)
@thread_options
@output_options(html=True)
def diff_command(
    chosen: ChosenPair,
    properties: tuple[str, ...],
    trace: Path | None,
    references: tuple[str, ...],
    limits: Limits,
    engine: Engine,
    output: Output,
) -> int:
    """Say how A and B differ: in their properties, in the states that they reach and the steps that they take.

    A and B are models, or B is left out and a bound or setting is given twice, first that of A and then that of B:
    `insync diff cluster --release 3.9 --release 4.1`. An option that is given once applies to both. The shortest trace
    that one allows and the other does not is executed by the evaluator, and shown with what the other does in place of
    its last step. Two trace files are compared step by step.

    The exit code is 0 if they take the same steps and have the same verdicts, 1 if they differ, and 3 if a limit left
    that open.
    """
    from insync.explorer.documents.diff import DiffDocument

    files = (None, None) if trace is None else (trace, beside(trace, "other"))
    replace(output, trace=trace).check_trace_path()
    if chosen.files:
        return _of_traces(chosen, references, output)
    if references:
        message = "--model is about trace files, and models are compared. Leave it out, or name two trace files."
        raise click.UsageError(message)
    models = chosen.untraced()
    with stop_on_interrupt() as stop, search_progress(output.quiet) as reporter:
        result = explorer.diff(
            *models,
            properties=_compared_properties(properties),
            limits=limits,
            threads=engine.threads,
            reporter=reporter,
            stop=stop,
        )
    for one, path in zip(result.only, files, strict=True):
        if one is None and path is not None and (path == trace or path.is_file()):
            say_not_written(path, "there is no trace")
    with ExitStack() as written:
        there = [
            None if one is None else written.enter_context(traces_written(path, [one.trace], model))[0]
            for one, path, model in zip(result.only, files, models, strict=True)
        ]
        output.show_document(DiffDocument(result, models, there))
    pairs = zip(result.only, models, there, strict=True)
    output.write_page([(one.trace, model, file) for one, model, file in pairs if one is not None])
    return {True: ExitCode.HOLDS, False: ExitCode.VIOLATED, None: ExitCode.INCOMPLETE}[result.same]


def _compared_properties(given: tuple[str, ...]) -> list[str] | None:
    if "none" in given and len(given) > 1:
        message = "--property none compares no property, and others are named as well. Leave one of them out."
        raise UserError(message)
    return [] if given == ("none",) else list(given) or None


def _of_traces(chosen: ChosenPair, references: Sequence[str], output: Output) -> int:
    from insync.explorer.documents.diff import TraceDifferenceDocument

    claims = [(explorer.read_trace(file), file) for file in chosen.files]
    kinds = kinds_of_files([naming_of(claim, file) for claim, file in claims], references)
    for kind in kinds:
        refuse_overwriting(click.get_current_context(), sources_of(kind))
    pairs = [_executed(claim, file, kind) for (claim, file), kind in zip(claims, kinds, strict=True)]
    found = explorer.diff_traces(*(trace for trace, _ in pairs))
    output.show_document(TraceDifferenceDocument(found, [model for _, model in pairs], chosen.files))
    output.write_page([(*pair, file) for pair, file in zip(pairs, chosen.files, strict=True)])
    return ExitCode.HOLDS if found.same else ExitCode.VIOLATED


def _executed(claim: Trace, file: Path, kind: type[Model]) -> tuple[Trace, Model]:
    """Return the trace of a file, executed again so that its steps have labels, and its model."""
    from insync.explorer.replay import model_of_trace

    model = model_of_trace(claim, str(file), model=kind)
    return explorer.replay(claim, model=model, place=str(file)), model


# ---------------------------------------------------------------------------------------------------------------- agree


_ENGINES = ("evaluator", "local-1", "local-2", "symmetric", "spark", "z3")
_JUDGES = ("tlc", "spin")
_SHARE_OF_SPARK = Limits(states=50_000, seconds=10)


@model_command("agree", "Let several engines search a model, and compare them.")
@property_option(
    "Check this property; may be repeated; `none` checks nothing and counts the space [default: those marked *]."
)
@within_option()
@click.option(
    "--engine",
    "engines",
    type=click.Choice([*_ENGINES, *_JUDGES]),
    multiple=True,
    help="Search with this engine; may be repeated [default: all that are installed, except tlc and spin].",
)
@click.option(
    "--tlc",
    type=GivenPath(),
    metavar="PATH",
    help="TLC for --engine tlc: a tla2tools.jar, or the sources of the TLA+ tools [default: $INSYNC_TLC].",
)
@click.option(
    "--z3-depth", type=Whole(1, 200), metavar="N", default=8, show_default=True, help="z3 looks at traces of N states."
)
@limit_options(depth="Every engine stops after N levels.", seconds="Every engine stops after S seconds.")
@output_options()
def agree_command(
    chosen: ChosenModel,
    properties: tuple[str, ...],
    within: tuple[str, ...],
    engines: tuple[str, ...],
    tlc: Path | None,
    z3_depth: int,
    limits: Limits,
    output: Output,
) -> int:
    """Search MODEL with several engines: the evaluator, machine code on one and on two threads, Spark, z3 to a depth.

    They agree if they find the same number of states in each level, take the same steps, reach the same verdict, and
    show the same trace. `symmetric`, which visits one state for many where a sort is declared symmetric, must
    show a trace of the same length. z3, which counts nothing, must find the first violation after the same number of
    states.

    `tlc` and `spin` are other people's checkers. They get the exported model, and run only if they are named; if no
    other engine is named, they are compared with local-1.

    An engine that was stopped is compared up to its end. Without --engine, --max-depth and --max-seconds each engine
    has a share of half a minute, and the report names those that did not finish. If the engines differ, the report has
    the first state that evaluator and machine code treat differently. The exit code is 0 if they agree, 1 if not, and 3
    after Ctrl-C.
    """
    from insync.explorer.agree import SHARES, sharing
    from insync.explorer.documents.agree import AgreementDocument, describe_opinion

    model = chosen.untraced(within)
    names = chosen.select(model, properties)
    engines = ("local-1", *engines) if engines and set(engines) <= set(_JUDGES) else engines
    known = {**_engines(z3_depth), **_judges(engines, tlc)}

    def report(opinion: explorer.Opinion) -> None:
        steps.tell(f"{opinion.engine}: {describe_opinion(opinion)}")

    with stop_on_interrupt() as stop, steps_of_work(output.quiet) as steps:
        if not engines and limits == Limits():
            shares = {**SHARES, "spark": _SHARE_OF_SPARK}
            known = {name: sharing(known[name], shares[name]) for name in _ENGINES}
        asked = {name: _announced(name, known[name], steps) for name in engines or _ENGINES}
        found = explorer.agree(model, engines=asked, properties=names, limits=limits, reporter=report, stop=stop)
    output.show_document(AgreementDocument(found, model.grid))
    if found.differences:
        return ExitCode.VIOLATED
    return ExitCode.HOLDS if found.agreed and found.stopped_by is None else ExitCode.INCOMPLETE


def _engines(z3_depth: int) -> dict[str, ComparedEngine]:
    from insync.explorer.agree import own_engines

    known = {**own_engines(z3_depth), "spark": _spark}
    return {name: known[name] for name in _ENGINES}


def _judges(engines: Sequence[str], tlc: Path | None) -> dict[str, ComparedEngine]:
    """Return the external checkers among the chosen engines.

    Raises:
        UserError: one of them, or a program that it needs, is not installed.
    """
    found: dict[str, ComparedEngine] = {}
    if "tlc" in engines:
        from insync.explorer.export import FORMATS
        from insync.explorer.tlc import find_tlc, tlc_engine

        found["tlc"] = tlc_engine(find_tlc(tlc), FORMATS["tla"])
    if "spin" in engines:
        from insync.explorer.spin import find_spin, spin_engine

        found["spin"] = spin_engine(find_spin())
    return found


def _announced(name: str, engine: ComparedEngine, steps: Steps) -> ComparedEngine:
    """Return an engine that shows progress while it works, as its report comes at the end."""

    def announced(
        model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None
    ) -> explorer.Opinion:
        steps.begin(f"{name} is at work")
        try:
            return engine(model, properties, limits, stop)
        finally:
            steps.end()

    return announced


def _spark(model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None) -> explorer.Opinion:
    """Search on Spark; raise the error of its import if it is not installed."""
    from insync import spark_explore
    from insync.explorer.agree import opinion_of

    return opinion_of(spark_explore.check(model, properties=properties, limits=limits, symmetry=False, stop=stop))


# --------------------------------------------------------------------------------------------------------------- mutate


@model_command("mutate", "Break a model in every small way; see which properties notice.")
@property_option("Judge the mutants by this property; may be repeated [default: all that hold, except deadlock_free].")
@within_option()
@click.option(
    "--action",
    "actions",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_actions,
    help="Change this action or @initial method; may be repeated.",
)
@click.option("--runs", is_flag=True, help="Judge the mutants that survive by the properties of runs as well.")
@limit_options(
    states="Leave a mutant undecided once it has N states.",
    seconds="Leave a mutant undecided after S seconds, compilation included.",
)
@thread_options
@output_options()
def mutate_command(
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
    from insync.explorer.documents.mutate import MutationDocument, mutant_line

    model = chosen.untraced(within)

    with stop_on_interrupt() as stop, steps_of_work(output.quiet) as steps:
        steps.begin("searching the unchanged model, and looking for mutants that take the same steps")

        def report(number: int, total: int, mutant: explorer.MutantResult) -> None:
            steps.tell(f"{number}/{total}  {mutant_line(mutant)}")

        result = explorer.mutate(
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
    incomplete = result.stopped_by is not None or result.count(explorer.Fate.UNDECIDED)
    return ExitCode.INCOMPLETE if incomplete else ExitCode.HOLDS
