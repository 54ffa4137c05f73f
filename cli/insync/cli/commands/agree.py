"""`insync agree`: several engines on one model, and whether they say the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from insync.cli.exit_codes import EPILOG, ExitCode
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.model_command import ModelCommand, chosen_bounds, chosen_model
from insync.cli.options.shared import color_option, json_option, model_argument, property_option, quiet_option
from insync.cli.options.values import Seconds, Whole
from insync.cli.show.figures import count, plural, seconds
from insync.cli.show.terminal import emit, emit_error, grid_width
from insync.cli.show.warned import warning_lines

if TYPE_CHECKING:
    import threading

    from insync.explorer.agree import Agreement, Engine, Opinion
    from insync.explorer.limits import Limits
    from insync.explorer.traces.grid import Columns, Paint
    from insync.model import Model

__all__ = ["command"]

_ENGINES = ("evaluator", "local-1", "local-2", "spark", "z3")


@click.command(
    "agree", cls=ModelCommand, epilog=EPILOG, short_help="Let several engines search a model, and compare them."
)
@model_argument
@property_option
@click.option(
    "--engine",
    "engines",
    type=click.Choice(_ENGINES),
    multiple=True,
    help="Ask this engine; may be repeated [default: all that are installed].",
)
@click.option(
    "--z3-depth", type=Whole(1, 200), metavar="N", default=8, show_default=True, help="z3 looks at traces of N states."
)
@click.option("--max-depth", type=Whole(1), metavar="N", help="Every engine stops after N levels.")
@click.option("--max-seconds", type=Seconds(), metavar="S", help="Every engine stops after S seconds.")
@json_option
@color_option
@quiet_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    properties: tuple[str, ...],
    engines: tuple[str, ...],
    z3_depth: int,
    max_depth: int | None,
    max_seconds: float | None,
    json_: bool,
    color: str,
    quiet: bool,
    **model: str,
) -> int:
    """Search MODEL with several engines: the evaluator, machine code on one and on two threads, Spark, z3 to a depth.

    They agree if they find the same number of states in each level, take the same steps, reach the same verdict, and
    show the very same trace; z3, which counts nothing, must find the first violation after as many states. An engine
    that was stopped is compared as far as it got. If they differ, the first state that evaluator and machine code treat
    differently is looked for. The exit code is 0 if they agree and 1 if not, and 3 after Ctrl-C.
    """
    from insync.cli.options.models import build_model, select_properties
    from insync.cli.show.terminal import painter
    from insync.explorer.agree import agree
    from insync.explorer.limits import Limits

    built = build_model(chosen_model(ctx), chosen_bounds(ctx))
    names = select_properties(built, properties)
    known = _engines(z3_depth)
    chosen = {name: known[name] for name in engines or _ENGINES}

    def report(opinion: Opinion) -> None:
        if not quiet:
            emit_error(f"{opinion.engine}: {_said(opinion)}")

    with stop_on_interrupt() as stop:
        found = agree(
            built,
            engines=chosen,
            properties=names,
            limits=Limits(depth=max_depth, seconds=max_seconds),
            reporter=report,
            stop=stop,
        )
    emit(_as_json(found) if json_ else _as_text(found, built.grid, painter(color), grid_width()))
    if found.differences:
        return ExitCode.VIOLATED
    return ExitCode.HOLDS if found.agreed and found.stopped_by is None else ExitCode.INCOMPLETE


def _engines(z3_depth: int) -> dict[str, Engine]:
    from insync.explorer.agree import own_engines

    known = {**own_engines(z3_depth), "spark": _spark}
    return {name: known[name] for name in _ENGINES}


def _spark(model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None) -> Opinion:
    """Search on Spark, if it is installed."""
    from insync.explorer.agree import opinion_of
    from insync.spark_explore.driver.requirements import require_java, require_packages

    require_packages()
    require_java()
    from insync.spark_explore.driver.check import check

    return opinion_of(check(model, properties=properties, limits=limits, stop=stop))


def _as_text(found: Agreement, columns: Columns, paint: Paint, width: int) -> str:
    from insync.explorer.traces.grid import Tone, describe_bounds

    lines = [f"{found.model}   {describe_bounds(found.bounds)}   properties {', '.join(found.properties) or 'none'}"]
    longest = max(len(opinion.engine) for opinion in found.opinions)
    lines += [f"  {opinion.engine:<{longest}}  {_said(opinion)}" for opinion in found.opinions]
    lines += warning_lines(found.warnings, paint, width)
    if found.differences:
        lines += ["", paint("The engines differ:", Tone.BAD), *[f"  {text}" for text in found.differences]]
        lines += ["", *_where(found, columns)]
    elif found.stopped_by is not None:
        compared = sum(opinion.verdict is not None for opinion in found.opinions) > 1
        so_far = "the engines do not differ so far" if compared else "nothing is compared yet"
        lines += ["", paint(f"Stopped by Ctrl-C; {so_far}.", Tone.OPEN)]
    elif found.agreed:
        lines += ["", paint("The engines agree.", Tone.GOOD)]
    else:
        lines += ["", paint("Fewer than two engines ran, so nothing was compared.", Tone.BAD)]
    return "\n".join(lines)


def _where(found: Agreement, columns: Columns) -> list[str]:
    if found.state is None and found.stopped_by is not None:
        return ["Stopped by Ctrl-C before the first state was found that they treat differently."]
    if found.state is None:
        text = (
            "Evaluator and machine code take the same steps from every state that the evaluator reaches, so the "
            "difference lies in how states are kept or counted."
        )
        return [text]
    cells = [f"  {name}: {text}" for name, text in columns(found.state.state).items()]
    return [f"First in this state, in level {found.state.level}:", *cells, found.state.sentence]


def _said(opinion: Opinion) -> str:
    if opinion.verdict is None:
        return f"did not run: {opinion.note}"
    parts = [str(opinion.verdict)]
    parts += [f"{name} fails after {plural(length, 'state')}" for name, length in opinion.failing.items()]
    if opinion.levels is not None:
        parts.append(f"{count(sum(opinion.levels))} states, depth {opinion.depth}")
    if opinion.note:
        parts.append(opinion.note)
    return f"{', '.join(parts)} ({seconds(opinion.seconds)})"


def _as_json(found: Agreement) -> str:
    opinions = [
        {
            "engine": opinion.engine,
            "verdict": opinion.verdict,
            "depth": opinion.depth,
            "levels": None if opinion.levels is None else list(opinion.levels),
            "actions": None if opinion.actions is None else dict(opinion.actions),
            "failing": dict(opinion.failing),
            "note": opinion.note,
            "seconds": round(opinion.seconds, 6),
        }
        for opinion in found.opinions
    ]
    state = found.state
    return json.dumps(
        {
            "model": found.model,
            "bounds": dict(found.bounds),
            "properties": list(found.properties),
            "agreed": found.agreed,
            "stopped_by": found.stopped_by,
            "engines": opinions,
            "differences": list(found.differences),
            "warnings": list(found.warnings),
            "state": None if state is None else {"level": state.level, "state": state.state, "why": state.sentence},
        },
        ensure_ascii=False,
    )
