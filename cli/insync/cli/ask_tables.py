"""`insync ask` for several combinations of settings: those in configuration files, or all of a table (--matrix)."""

from __future__ import annotations

from pathlib import Path

from insync.cli.options.output import ManyTraces, Output, many_traces
from insync.cli.show.ask_json import Files, matrix_json
from insync.cli.show.ask_report import (
    by_promise,
    describe_asked,
    describe_default,
    describe_notes,
    describe_row,
    describe_table,
)
from insync.cli.show.availability_report import AVAILABILITY_HEAD, describe_availability_row
from insync.cli.show.exposure_report import (
    Shown,
    describe_exposure,
    describe_unasked,
    exposures_json,
    zookeeper_warnings,
)
from insync.cli.show.warned import warning_lines
from insync.cli.terminal import emit, emit_data, exit_code_for
from insync.explorer.results import together
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.ask import LOSS, Asked, Cell, Question
from insync.kafka_questions.configs.reading import Configured
from insync.kafka_questions.disturbances import DISTURBANCES, availability_matrix
from insync.kafka_questions.exposure import Exposure, exposures

__all__ = ["ask_configs", "ask_matrix"]


def ask_configs(question: Question, configured: Configured, output: Output) -> int:
    """Answer the question for each combination of settings in files, and return the exit code."""
    found: list[Shown] = []
    told: set[str] = set()
    combinations, model = configured.combinations, Cluster(**question.bounds)
    warnings = zookeeper_warnings(model) if configured.in_zookeeper else []
    if not output.json:
        if "release" not in question.bounds:
            emit(describe_default(model, output.width))
        emit(describe_asked(model, question.promises))
        for line in warning_lines(warnings, output.paint, output.width):
            emit(line)
    with many_traces(output) as traces:
        settings = [combination.settings for combination in combinations]
        for exposure in exposures(question, settings, question.promises):
            shown = _shown(exposure, combinations[len(found)].topics, len(found) + 1, traces)
            found.append(shown)
            if not output.json:
                emit(describe_exposure(shown, told, output.paint, output.width))
        verdict = together([shown.exposure.verdict for shown in found])
        if output.json:
            emit_data(
                exposures_json(found, configured.named, configured.ignored, configured.remarks, warnings, verdict)
            )
        elif unasked := describe_unasked(configured.named, configured.ignored, configured.remarks, output.width):
            emit(unasked)
    return exit_code_for(verdict)


def _shown(exposure: Exposure, topics: tuple[str, ...], number: int, traces: ManyTraces) -> Shown:
    """Write the traces of a combination, and warn about trace files left over from earlier runs."""
    name = f"combination_{number}"
    files = _kept(exposure.asked, name, traces)
    disturbed = [
        _kept(found.asked, f"{name}.{found.disturbance.words.replace(' ', '_')}", traces)
        for found in exposure.disturbed
    ]
    return Shown(exposure, topics, files, disturbed)


def _kept(asked: Asked | None, name: str, traces: ManyTraces) -> Files:
    """Write the trace of each broken promise: the first under `name`, the others with their own name added."""
    files: dict[str, Path | None] = {}
    for violation in [] if asked is None else by_promise(asked):
        assert asked is not None
        own = f"{name}.{violation.property}" if files else name
        files[violation.property] = traces.keep(own, violation.trace, asked.model)
    if not files:
        traces.older(name)
    return files


def ask_matrix(question: Question, output: Output) -> int:
    """Answer for each acks, min.insync.replicas and unclean.leader.election.enable, and return the exit code."""
    cells: list[tuple[Cell, Path | None]] = []
    promises = question.promises
    if not output.json:
        emit(describe_table(Cluster(**question.bounds), promises))
    stops = list(availability_matrix(question)) if LOSS in promises else []
    with many_traces(output) as traces:
        for cell in question.matrix(promises):
            cells.append((cell, _kept_of_cell(cell, traces)))
            if len(cells) % 2 == 0 and not output.json:
                emit(describe_row([each for each, _ in cells[-2:]], promises))
        warnings, verdict = question.matrix_warnings(), together([cell.verdict for cell, _ in cells])
        if output.json:
            emit_data(matrix_json(question.bounds, promises, cells, stops, warnings, verdict))
        else:
            if stops:
                emit("\n".join([AVAILABILITY_HEAD, *(describe_availability_row(*row) for row in stops)]))
            emit(describe_notes([cell for cell, _ in cells], warnings, output.paint, output.width, _left_out(question)))
            if files := [file for _, file in cells if file is not None]:
                emit(f"Traces: {files[0]}" + (f" and {len(files) - 1} more beside it" if files[1:] else ""))
    return exit_code_for(verdict)


def _kept_of_cell(cell: Cell, traces: ManyTraces) -> Path | None:
    name = ".".join(f"{name}_{value}" for name, value in cell.settings.items())
    if cell.trace is None or cell.model is None:
        traces.older(name)
        return None
    return traces.keep(name, cell.trace, cell.model)


def _left_out(question: Question) -> str:
    """Return the sentence about disturbances that a table leaves out; empty if there are none."""
    left = [one for one in DISTURBANCES if one.concerns(question)]
    words = " and ".join(f"{one.words} ({one.defect.name})" for one in left)
    return f"The table is without {words}; `insync ask` of one row looks for that." if left else ""
