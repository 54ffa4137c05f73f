"""`insync liveness`: what can happen and what must happen in the end."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from insync.cli.exit_codes import EPILOG, exit_code_for
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.model_command import ModelCommand, chosen_bounds, chosen_model
from insync.cli.options.shared import color_option, json_option, model_argument, quiet_option, trace_option
from insync.cli.options.values import Seconds, Whole
from insync.cli.show.figures import plural, seconds
from insync.cli.show.terminal import emit
from insync.cli.show.warned import warning_lines

if TYPE_CHECKING:
    from insync.explorer.liveness import LivenessResult, RunResult
    from insync.explorer.traces.grid import Columns, Paint
    from insync.model import Model

__all__ = ["command"]


class _RunsCommand(ModelCommand):
    """A command whose properties are those of runs."""

    def format_properties(self, model: type[Model], formatter: click.HelpFormatter) -> None:
        from insync.properties.registry import run_properties_of

        rows = [(found.name, f"{found.kind}: {found.sentence}") for found in run_properties_of(model).values()]
        with formatter.section(f"Properties of runs of {model.name}"):
            formatter.write_dl(rows or [("none", "See docs/guide/liveness.md for how to write one.")])


@click.command(
    "liveness", cls=_RunsCommand, epilog=EPILOG, short_help="Decide what can happen, and what must in every fair run."
)
@model_argument
@click.option(
    "--property", "properties", multiple=True, metavar="NAME", help="Decide this property of runs; may be repeated."
)
@click.option(
    "--weak", multiple=True, metavar="ACTION", help="Take weak fairness of this action for granted; may be repeated."
)
@click.option(
    "--strong",
    multiple=True,
    metavar="ACTION",
    help="Take strong fairness of this action for granted; may be repeated.",
)
@click.option("--unfair", is_flag=True, help="Take no fairness for granted.")
@trace_option
@click.option("--witnesses", is_flag=True, help="Show the traces to states that `sometimes` properties ask for.")
@click.option("--max-states", type=Whole(1), metavar="N", help="Stop once N states were found [default: 3,000,000].")
@click.option("--max-seconds", type=Seconds(), metavar="S", help="Stop after S seconds, compilation included.")
@json_option
@color_option
@quiet_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    properties: tuple[str, ...],
    weak: tuple[str, ...],
    strong: tuple[str, ...],
    unfair: bool,
    trace: Path | None,
    witnesses: bool,
    max_states: int | None,
    max_seconds: float | None,
    json_: bool,
    color: str,
    quiet: bool,
    **model: str,
) -> int:
    """Decide the properties of MODEL's runs: sometimes, eventually, leads_to.

    The whole graph of states is kept in memory, so the bounds must be small. A `sometimes` property holds if some state
    is as it says; the others hold if every fair run fulfils them, and a counterexample is a stem and a loop.
    --weak and --strong replace the fairness that the properties come with. ACTION is `fetch` for the action as a whole,
    `fetch(follower)` for each follower by itself, `fetch(*)` for each binding.
    """
    from insync.cli.options.models import build_model
    from insync.cli.show.progress import progress_reporter
    from insync.cli.show.terminal import grid_width, painter
    from insync.cli.show.trace_files import check_trace_path, traces_written
    from insync.explorer.limits import Limits
    from insync.explorer.liveness import liveness
    from insync.properties.fairness import Fairness

    built = build_model(chosen_model(ctx), chosen_bounds(ctx))
    if trace is not None:
        check_trace_path(trace)
    fairness = Fairness(weak, strong) if weak or strong or unfair else None
    with stop_on_interrupt() as stop:
        limits = Limits(states=max_states, seconds=max_seconds)
        result = liveness(
            built,
            properties=properties or None,
            fairness=fairness,
            limits=limits,
            reporter=progress_reporter(quiet),
            stop=stop,
        )
    shown = [found for found in result.properties if found.trace is not None and (witnesses or not found.trace.witness)]
    traces = [found.trace for found in shown if found.trace is not None]
    with traces_written(trace, traces, built) as files:
        by_name = {found.name: file for found, file in zip(shown, files, strict=True)}
        if json_:
            emit(_as_json(result, by_name))
        else:
            emit(_as_text(result, shown, by_name, built.grid, painter(color), grid_width()))
    return exit_code_for(result.verdict)


def _as_text(
    result: LivenessResult,
    shown: Sequence[RunResult],
    files: dict[str, Path | None],
    columns: Columns,
    paint: Paint,
    width: int,
) -> str:
    from insync.cli.show.report import STOPPED_BY
    from insync.cli.show.trace_files import replay_hint
    from insync.explorer.traces.grid import Tone, describe_bounds, render_grid

    lines = [f"{result.model}   {describe_bounds(result.bounds)}"]
    size = max((len(found.name) for found in result.properties), default=0)
    for found in result.properties:
        tone = Tone.GOOD if found.verdict == "holds" else Tone.BAD
        lines.append(f"{paint(f'{found.verdict:<10}', tone)}  {found.name:<{size}}  {_what(found)}".rstrip())
    if not result.properties:
        lines.append("The model has no properties of runs.")
    lines += warning_lines(result.warnings, paint, width)
    end = "" if result.stopped_by is None else f", stopped by {STOPPED_BY[result.stopped_by]}"
    lines += ["", f"{plural(result.distinct_states, 'state')}, {plural(result.transitions, 'step')}{end}"]
    lines.append(", ".join(f"{name} {seconds(time)}" for name, time in result.seconds.items()))
    for found in shown:
        assert found.trace is not None
        lines += ["", render_grid(found.trace, columns, width=width, paint=paint)]
        if not found.trace.witness:
            lines += textwrap.wrap(f"Fairness: {found.fairness}.", width)
        if (file := files[found.name]) is not None:
            lines.append(replay_hint(found.trace, file))
    return "\n".join(lines)


def _what(found: RunResult) -> str:
    if found.kind == "sometimes":
        reached = f"reached after {found.trace.length - 1} steps" if found.trace is not None else "not reached"
        return f"sometimes: {reached}"
    bindings = f", for each of {found.instances} bindings" if found.instances > 1 else ""
    return f"{found.kind}{bindings}"


def _as_json(result: LivenessResult, files: dict[str, Path | None]) -> str:
    properties = [
        {
            "name": found.name,
            "kind": found.kind,
            "verdict": found.verdict,
            "fairness": {"weak": list(found.fairness.weak), "strong": list(found.fairness.strong)},
            "trace_length": None if found.trace is None else found.trace.length,
            "loop": None if found.trace is None else found.trace.loop,
            "reason": None if found.trace is None else found.trace.reason,
            "trace": str(files[found.name]) if files.get(found.name) is not None else None,
        }
        for found in result.properties
    ]
    return json.dumps(
        {
            "model": result.model,
            "bounds": dict(result.bounds),
            "verdict": result.verdict,
            "stopped_by": result.stopped_by,
            "distinct_states": result.distinct_states,
            "transitions": result.transitions,
            "depth": result.depth,
            "properties": properties,
            "warnings": list(result.warnings),
            "seconds": {name: round(time, 6) for name, time in result.seconds.items()},
        },
        ensure_ascii=False,
    )
