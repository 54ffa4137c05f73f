"""`insync mutate`: whether the properties notice when the model is broken."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from insync.cli.exit_codes import EPILOG, ExitCode
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.model_command import ModelCommand, chosen_bounds, chosen_model
from insync.cli.options.shared import color_option, json_option, model_argument, quiet_option, threads_option
from insync.cli.options.values import Seconds, Whole
from insync.cli.show.figures import count, plural, seconds
from insync.cli.show.terminal import emit, emit_error, grid_width
from insync.cli.show.warned import warning_lines

if TYPE_CHECKING:
    from insync.explorer.mutate import MutantResult, MutationResult
    from insync.explorer.traces.grid import Paint

__all__ = ["command"]


@click.command(
    "mutate",
    cls=ModelCommand,
    epilog=EPILOG,
    short_help="Break a model in every small way; see which properties notice.",
)
@model_argument
@click.option(
    "--property",
    "properties",
    multiple=True,
    metavar="NAME",
    help="Let this property judge; may be repeated [default: all that hold, but deadlock_free].",
)
@click.option("--action", "actions", multiple=True, metavar="NAME", help="Change this action; may be repeated.")
@click.option("--runs", is_flag=True, help="Ask the properties of runs about the mutants that survive.")
@click.option("--max-states", type=Whole(1), metavar="N", help="Leave a mutant undecided once it has N states.")
@click.option(
    "--max-seconds", type=Seconds(), metavar="S", help="Leave a mutant undecided after S seconds, compilation included."
)
@threads_option
@json_option
@color_option
@quiet_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    properties: tuple[str, ...],
    actions: tuple[str, ...],
    runs: bool,
    max_states: int | None,
    max_seconds: float | None,
    threads: int | None,
    json_: bool,
    color: str,
    quiet: bool,
    **model: str,
) -> int:
    """Take one condition or one assignment of MODEL away at a time, and report which properties notice.

    A mutant is killed if a property fails, equivalent if it takes the same steps from every state that the model
    reaches, and has survived otherwise. The score is the share of killed mutants among those killed and survived. It
    says whether the properties mean anything; a survivor is a rule that they do not need. The exit code is 0 whatever
    the score, and 3 if a limit left a mutant undecided.
    """
    from insync.cli.options.models import build_model
    from insync.cli.show.terminal import painter
    from insync.explorer import Fate, Limits, mutate

    built = build_model(chosen_model(ctx), chosen_bounds(ctx))

    def report(number: int, total: int, mutant: MutantResult) -> None:
        if not quiet:
            emit_error(f"{number}/{total}  {_line(mutant)}")

    with stop_on_interrupt() as stop:
        limits = Limits(states=max_states, seconds=max_seconds)
        result = mutate(
            built,
            properties=properties or None,
            actions=actions or None,
            runs=runs,
            limits=limits,
            threads=threads,
            reporter=report,
            stop=stop,
        )
    emit(_as_json(result) if json_ else _as_text(result, painter(color), grid_width()))
    incomplete = result.stopped_by is not None or result.count(Fate.UNDECIDED)
    return ExitCode.INCOMPLETE if incomplete else ExitCode.HOLDS


def _not_tried(mutant: MutantResult) -> bool:
    return mutant.stopped_by == "interrupt"


def _line(mutant: MutantResult) -> str:
    from insync.cli.show.report import STOPPED_BY

    lengths = {name: plural(n, "state") if n else "not reached" for name, n in mutant.killed_by.items()}
    by = ", ".join(f"{name} ({length})" for name, length in lengths.items())
    ends = {
        "killed": f" by {by}",
        "survived": f" with {count(mutant.distinct_states or 0)} states",
        "undecided": f", stopped by {STOPPED_BY.get(mutant.stopped_by or '', mutant.stopped_by)}",
        "equivalent": "",
    }
    return (
        f"{mutant.fate:<10}  {mutant.name}:{ends[mutant.fate]}"
        if ends[mutant.fate]
        else f"{mutant.fate:<10}  {mutant.name}"
    )


def _as_text(result: MutationResult, paint: Paint, width: int) -> str:
    from insync.explorer.mutate import Fate
    from insync.explorer.traces.grid import Tone, describe_bounds

    lines = [f"{result.model}   {describe_bounds(result.bounds)}   {count(result.distinct_states)} states"]
    lines.append(f"judged by {', '.join(result.properties)}")
    if result.failing:
        lines.append(f"left out: they already fail for the unchanged model: {', '.join(result.failing)}")
    lines += warning_lines(result.warnings, paint, width)
    for fate, tone in ((Fate.SURVIVED, Tone.BAD), (Fate.UNDECIDED, Tone.BAD), (Fate.KILLED, Tone.GOOD)):
        chosen = [mutant for mutant in result.mutants if mutant.fate is fate and not _not_tried(mutant)]
        if chosen:
            lines += ["", paint(f"{len(chosen)} {fate}", tone), *[f"  {_line(mutant)}" for mutant in chosen]]
    equivalent = [mutant for mutant in result.mutants if mutant.fate is Fate.EQUIVALENT]
    if equivalent:
        lines += ["", f"{len(equivalent)} equivalent: from every reachable state the same steps"]
        lines += [f"  {mutant.name}" for mutant in equivalent]
    if result.stopped_by is not None:
        left = sum(map(_not_tried, result.mutants))
        what = f"{left} not tried" if result.mutants else "no mutant was tried"
        lines += ["", paint(what, Tone.BAD) + ", stopped by Ctrl-C"]
    killed, survived = result.count(Fate.KILLED), result.count(Fate.SURVIVED)
    if result.score is None:
        lines += ["", f"no score: no mutant was killed and none survived, in {seconds(result.seconds)}"]
    else:
        score = f"score {result.score:.0%}: {killed} of {killed + survived} noticed"
        lines += ["", f"{score}, in {seconds(result.seconds)}"]
    return "\n".join(lines)


def _as_json(result: MutationResult) -> str:
    mutants = [
        {
            "name": mutant.name,
            "action": mutant.action,
            "change": mutant.change,
            "without": mutant.without,
            "fate": mutant.fate,
            "killed_by": dict(mutant.killed_by),
            "distinct_states": mutant.distinct_states,
            "stopped_by": mutant.stopped_by,
        }
        for mutant in result.mutants
    ]
    return json.dumps(
        {
            "model": result.model,
            "bounds": dict(result.bounds),
            "properties": list(result.properties),
            "left_out": list(result.failing),
            "distinct_states": result.distinct_states,
            "stopped_by": result.stopped_by,
            "score": result.score,
            "mutants": mutants,
            "warnings": list(result.warnings),
            "seconds": round(result.seconds, 6),
        },
        ensure_ascii=False,
    )
