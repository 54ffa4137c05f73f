"""`insync ask`: what a release with its settings can lose, and which setting prevents it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from insync.cli.exit_codes import EPILOG, exit_code_for
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.choice_options import each_choice
from insync.cli.options.engine import Engine, thread_options
from insync.cli.options.limits import limit_options
from insync.cli.options.output import Output, output_options
from insync.cli.show.figures import plural
from insync.cli.show.progress import search_progress
from insync.cli.show.terminal import emit, emit_status, grid_width
from insync.cli.show.warned import warning_lines
from insync.explorer.limits import Limits
from insync.kafka.cluster.model import Cluster

if TYPE_CHECKING:
    from insync.explorer.ask import Asked, Began, Cell, Given, Search
    from insync.explorer.traces.grid import Paint

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  insync ask --release 3.9 --replicas 3 --min-insync 2 --acks all
  insync ask --release 3.5 --acks 1 --lossy-crashes 0
  insync ask --release 4.1 --matrix

"""


@click.command(
    "ask", epilog=EXAMPLES + EPILOG, short_help="Ask what a release with its settings can lose, and what prevents it."
)
@each_choice(Cluster, "defect", "fixed")
@click.option("--matrix", "as_matrix", is_flag=True, help="Try acks x min.insync.replicas x unclean, as a table.")
@limit_options(seconds="Stop each search after S seconds.")
@thread_options
@output_options()
def command(as_matrix: bool, given: dict[str, int | str], limits: Limits, engine: Engine, output: Output) -> int:
    """Search a cluster of a release, under its settings, for the shortest way to break what users are promised.

    Everything that may go wrong has a budget: crashes, lost page caches, expired sessions, slow followers. What is
    found to be safe is safe within these budgets, and the search was complete. For a promise about records that is
    broken, each single change of a setting is tried that could have kept it.

    Ctrl-C ends it with what is known by then; the rest is unknown. The exit code is 1 if a promise is broken; a
    --matrix ends with 0 whatever is lost, as it was asked for both, and with 3 if a cell is unknown.
    """
    from insync.explorer.ask import Search

    if as_matrix:
        given.setdefault("records", 1)
    with stop_on_interrupt() as stop, search_progress(output.quiet) as reporter:
        began = None if output.quiet else _told_of_searches()
        search = Search(limits.seconds, engine.threads, stop, reporter, began)
        return (_matrix if as_matrix else _ask)(given, search, output.json, output.paint)


def _told_of_searches() -> Began:
    """Return what says on standard error, about once a second, which of several searches begins."""
    from insync.explorer.progress import Pulse

    pulse = Pulse()

    def began(number: int, total: int, settings: Given) -> None:
        if pulse.due():
            pulse.rate(0)
            emit_status(f"Progress: search {number} of {total}, with {_settings(settings)}.")

    return began


def _ask(given: dict[str, int | str], search: Search, json_: bool, paint: Paint) -> int:
    from insync.explorer.ask import LOSS, ask, remedies

    asked = ask(given, search)
    lost = any(violation.property == LOSS for violation in asked.result.violations)
    if not json_:
        emit(_answer(asked, paint))
    cells: list[Cell] = []
    for cell in remedies(given, search) if lost else ():
        cells.append(cell)
        if not json_:
            emit(_remedy(cell, first=len(cells) == 1))
    if json_:
        emit(_ask_json(asked, cells))
    return exit_code_for(asked.result.verdict)


def _answer(asked: Asked, paint: Paint) -> str:
    from insync.explorer.ask import PROMISES, with_shown_bounds
    from insync.explorer.traces.grid import render_grid

    result = asked.result
    lines = [_question(asked.model)]
    complete = result.verdict != "incomplete" and result.stopped_by is None
    extent = "all of them" if complete else f"not all of them: stopped by {_by(result.stopped_by)}"
    lines += [f"{plural(result.distinct_states, 'state')} searched, {extent}"]
    lines += [*warning_lines(result.warnings, paint, grid_width()), ""]
    lengths = {violation.property: violation.trace_length for violation in result.violations}
    words = {"holds": "holds", "incomplete": "unknown"}
    for found in result.properties:
        if found.name in PROMISES:
            length = lengths.get(found.name)
            outcome = words.get(str(found.verdict), "") if length is None else f"broken in {plural(length - 1, 'step')}"
            lines.append(f"  {PROMISES[found.name]:<62}  {outcome}")
    shown: list[object] = []
    for violation in sorted(result.violations, key=lambda v: list(PROMISES).index(v.property)):
        if violation.trace.steps not in shown and len(shown) < 2:
            shown.append(violation.trace.steps)
            trace = with_shown_bounds(violation.trace, asked.model)
            lines += ["", render_grid(trace, asked.model.grid, width=grid_width(), paint=paint)]
    return "\n".join(lines)


def _question(model: Cluster) -> str:
    """What was asked: the release, and every bound that is not the default."""
    from insync.explorer.ask import shown_bounds

    shown = shown_bounds(model)
    others = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in shown.items() if name != "release")
    return f"Kafka {shown['release']}" + (f", {others}" if others else "")


def _by(stopped_by: str | None) -> str:
    from insync.cli.show.report import STOPPED_BY

    return STOPPED_BY[str(stopped_by)]


def _settings(settings: Given) -> str:
    names = {"acks": "acks", "min_insync": "min.insync.replicas", "unclean": "unclean.leader.election.enable"}
    words = {"elr": "eligible leader replicas", "release": "Kafka", "flushing": "records flushed"}
    values = {"off": "false", "on": "true"}
    return ", ".join(
        f"{names[name]}={values.get(str(value), value)}" if name in names else f"{words[name]} {value}"
        for name, value in settings.items()
    )


def _remedy(cell: Cell, first: bool) -> str:
    if cell.verdict == "holds":
        outcome = "no record is lost"
    elif cell.verdict == "incomplete":
        outcome = f"unknown: stopped by {_by(cell.stopped_by)}"
    else:
        outcome = f"a record is lost all the same, in {plural((cell.length or 1) - 1, 'step')}"
    head = "\nWhat would have kept the record:\n" if first else ""
    return f"{head}  {_settings(cell.settings):<48}  {outcome}"


def _matrix(given: dict[str, int | str], search: Search, json_: bool, paint: Paint) -> int:
    from insync.explorer.ask import matrix, matrix_warnings

    cells: list[Cell] = []
    if not json_:
        emit(f"Can an acknowledged record be lost?   {_question(Cluster(**given))}")
        emit("\n  acks  min.insync.replicas   unclean election off      unclean election on")
    row: list[Cell] = []
    for cell in matrix(given, search):
        cells.append(cell)
        row.append(cell)
        if len(row) == 2:
            if not json_:
                emit(_row(row))
            row = []
    if json_:
        emit(_matrix_json(cells, matrix_warnings(given)))
    else:
        _emit_notes(cells, matrix_warnings(given), paint)
    return exit_code_for("incomplete" if any(cell.verdict == "incomplete" for cell in cells) else "holds")


def _emit_notes(cells: Sequence[Cell], warnings: Sequence[str], paint: Paint) -> None:
    """Print what is to be said below the table: what stopped a search, and the warnings."""
    stopped = dict.fromkeys(_by(cell.stopped_by) for cell in cells if cell.stopped_by is not None)
    notes = [f"unknown: stopped by {by}" for by in stopped]
    notes += warning_lines(warnings, paint, grid_width())
    if notes:
        emit("\n" + "\n".join(notes))


def _row(row: Sequence[Cell]) -> str:
    first, second = (_outcome(cell) for cell in row)
    settings = row[0].settings
    return f"  {settings['acks']:<4}  {settings['min_insync']:<20}  {first:<24}  {second}".rstrip()


def _outcome(cell: Cell) -> str:
    if cell.verdict == "violated":
        return f"lost in {plural((cell.length or 1) - 1, 'step')}"
    return {"holds": "safe", "incomplete": "unknown"}.get(cell.verdict, "nothing is promised")


def _ask_json(asked: Asked, cells: Sequence[Cell]) -> str:
    import json

    from insync.explorer.ask import shown_bounds

    result = asked.result
    lengths = {violation.property: violation.trace_length for violation in result.violations}
    promises = [
        {"name": found.name, "verdict": str(found.verdict), "trace_length": lengths.get(found.name)}
        for found in result.properties
    ]
    answer = {
        "settings": shown_bounds(asked.model),
        "verdict": str(result.verdict),
        "stopped_by": result.stopped_by,
        "distinct_states": result.distinct_states,
        "warnings": list(result.warnings),
        "promises": promises,
        "remedies": [_cell_json(cell) for cell in cells],
    }
    return json.dumps(answer, ensure_ascii=False)


def _matrix_json(cells: Sequence[Cell], warnings: Sequence[str]) -> str:
    import json

    answer = {"matrix": [_cell_json(cell) for cell in cells], "warnings": list(warnings)}
    return json.dumps(answer, ensure_ascii=False)


def _cell_json(cell: Cell) -> dict[str, object]:
    return {
        "settings": dict(cell.settings),
        "verdict": cell.verdict or None,
        "trace_length": cell.length,
        "stopped_by": cell.stopped_by,
    }
