"""`insync agree`: a comparison of several engines on one model."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import click

from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.model import ChosenModel, model_command, property_option, within_option
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import GivenPath, Whole, limit_options
from insync.cli.progress import Steps, steps_of_work
from insync.cli.terminal import ExitCode, emit_error
from insync.explorer.agree import SHARES, Engine, Opinion, agree, opinion_of, own_engines, sharing
from insync.explorer.documents.agree import AgreementDocument, describe_opinion
from insync.explorer.export import FORMATS
from insync.explorer.spin import find_spin, spin_engine
from insync.explorer.tlc import TLC_VARIABLE, find_tlc, tlc_engine
from insync.model import Model
from insync.runtime.watch import Limits

__all__ = ["command"]

_ENGINES = ("evaluator", "local-1", "local-2", "symmetric", "spark", "z3")
_JUDGES = ("tlc", "spin")
_SHARES = {**SHARES, "spark": Limits(states=50_000, seconds=10)}


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
    help="Ask this engine; may be repeated [default: all that are installed, but tlc and spin].",
)
@click.option(
    "--tlc",
    type=GivenPath(),
    metavar="PATH",
    help=f"TLC for --engine tlc: a tla2tools.jar, or the sources of the TLA+ tools [default: ${TLC_VARIABLE}].",
)
@click.option(
    "--z3-depth", type=Whole(1, 200), metavar="N", default=8, show_default=True, help="z3 looks at traces of N states."
)
@limit_options(depth="Every engine stops after N levels.", seconds="Every engine stops after S seconds.")
@output_options()
def command(
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
    show the very same trace. `symmetric`, which visits one state for many where a sort is declared symmetric, must show
    a trace as long; z3, which counts nothing, must find the first violation after as many states. `tlc` and `spin` are
    other people's checkers, which get the exported model and are asked only if they are named; if no other engine is,
    they are compared with local-1. An engine that was
    stopped is compared up to its end. Without --engine, --max-depth and --max-seconds each engine has a share of half a
    minute, and it is said which of them would have gone on. If they differ, the first state that evaluator and machine
    code treat differently is looked for. The exit code is 0 if they agree and 1 if not, and 3 after Ctrl-C.
    """
    model = chosen.build(within)
    names = chosen.select(model, properties)
    engines = ("local-1", *engines) if engines and set(engines) <= set(_JUDGES) else engines
    known = {**_engines(z3_depth), **_judges(engines, tlc)}

    def report(opinion: Opinion) -> None:
        if not output.quiet:
            emit_error(f"{opinion.engine}: {describe_opinion(opinion)}")

    with stop_on_interrupt() as stop, steps_of_work(output.quiet) as steps:
        if not engines and limits == Limits():
            known = {name: sharing(known[name], _SHARES[name]) for name in _ENGINES}
        asked = {name: _announced(name, known[name], steps) for name in engines or _ENGINES}
        found = agree(model, engines=asked, properties=names, limits=limits, reporter=report, stop=stop)
    output.show_document(AgreementDocument(found, model.grid))
    if found.differences:
        return ExitCode.VIOLATED
    return ExitCode.HOLDS if found.agreed and found.stopped_by is None else ExitCode.INCOMPLETE


def _engines(z3_depth: int) -> dict[str, Engine]:
    known = {**own_engines(z3_depth), "spark": _spark}
    return {name: known[name] for name in _ENGINES}


def _judges(engines: Sequence[str], tlc: Path | None) -> dict[str, Engine]:
    """Return the external checkers among the chosen engines.

    Raises:
        UserError: one of them, or a program that it needs, is not installed.
    """
    found: dict[str, Engine] = {}
    if "tlc" in engines:
        found["tlc"] = tlc_engine(find_tlc(tlc), FORMATS["tla"])
    if "spin" in engines:
        found["spin"] = spin_engine(find_spin())
    return found


def _announced(name: str, engine: Engine, steps: Steps) -> Engine:
    """Return an engine that shows progress while it works, as its report comes at the end."""

    def announced(
        model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None
    ) -> Opinion:
        steps.begin(f"{name} is at work")
        try:
            return engine(model, properties, limits, stop)
        finally:
            steps.end()

    return announced


def _spark(model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None) -> Opinion:
    """Search on Spark; raise the error of its import if it is not installed."""
    from insync import spark_explore

    return opinion_of(spark_explore.check(model, properties=properties, limits=limits, symmetry=False, stop=stop))
