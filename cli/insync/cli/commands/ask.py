"""`insync ask`: the promises that a release with its settings can break, and the settings that prevent it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from insync.cli.ask_tables import ask_configs, ask_matrix
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.annotations import Build, build_options
from insync.cli.options.model import each_choice
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import Engine, ReadFile, limit_options, thread_options
from insync.cli.progress import search_progress
from insync.cli.show.ask_json import Files, answer_json
from insync.cli.show.ask_report import (
    by_promise,
    describe_answer,
    describe_default,
    describe_disturbed,
    describe_remedy,
    describe_settings,
    describe_without_races,
)
from insync.cli.show.attempts_report import describe_attempt, describe_what_helps
from insync.cli.show.availability_report import describe_availability
from insync.cli.show.trace_files import say_older
from insync.cli.terminal import EPILOG, emit, emit_data, emit_status, exit_code_for
from insync.explorer import Limits
from insync.explorer.progress import Pulse
from insync.explorer.results import together
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.ask import FEWEST_RECORDS, LOSS, PROMISES, Asked, Given, Question
from insync.kafka_questions.configs.reading import read_configs
from insync.kafka_questions.disturbances import Attempt, Disturbed, Remedy, attempts, availability, disturbed, remedies

__all__ = ["SearchesBegun", "command"]

_MOST_OF_TABLE = 2  # records by default: with 3 replicas and 3 records a cell takes minutes

CONFIGURED = ("release", "replicas", "min_insync", "acks", "unclean", "elr", "flushing")
"""The settings that files may have; options override them."""

EXAMPLES = """\b
Examples:
  insync ask --release 3.9 --replicas 3 --min-insync 2 --acks all
  insync ask --release 3.5 --acks 1 --lossy-crashes 0
  insync ask --release 4.1 --matrix
  insync ask --release 3.9 --config server.properties --config topics.txt
  insync ask --release 4.1 --config topics.txt --property reads_repeat --trace broken.json

"""


@click.command(
    "ask", epilog=EXAMPLES + EPILOG, short_help="Ask what a release with its settings can lose, and what prevents it."
)
@each_choice(Cluster, "defect", "fixed")
@click.option("--matrix", "as_matrix", is_flag=True, help="Try acks x min.insync.replicas x unclean, as a table.")
@click.option(
    "--property",
    "wanted",
    type=click.Choice(list(PROMISES)),
    metavar="NAME",
    multiple=True,
    help=f"Ask about this promise alone; may be repeated. One of {', '.join(PROMISES)}. "
    f"[default: all; with --config and --matrix {LOSS}]",
)
@click.option(
    "--config",
    "configs",
    type=ReadFile(),
    metavar="FILE",
    multiple=True,
    help="Ask about each combination of settings in FILE: server.properties, what kafka-configs, kafka-topics and "
    "kafka-features describe, resources of Strimzi, compose files, .env, values of charts, Terraform; may be repeated.",
)
@limit_options(seconds="End the whole answer after S seconds.")
@thread_options
@output_options(trace=True)
@build_options
def command(
    given: dict[str, int | str],
    as_matrix: bool,
    configs: tuple[Path, ...],
    wanted: tuple[str, ...],
    limits: Limits,
    engine: Engine,
    output: Output,
    build: Build,
) -> int:
    """Search a cluster of a release, under its settings, for the shortest way to break what users are promised.

    Everything that may go wrong has a budget: crashes, lost page caches, expired sessions, slow followers. What is
    found to be safe is safe within these budgets, and the search was complete. If a record can be lost, each single
    change of a setting is tried that could have kept it. One election and two reassignments are tried in searches of
    their own, with less beside them, also with each change that helps, unless --elections or --reassignments says how
    many there are. Last comes how many brokers must fail before writes stop.

    With --trace and --html --config and --matrix write the traces of all combinations: FILE.json becomes
    FILE.combination_1.json, or FILE.acks_1.min_insync_2.unclean_off.json, and there is one page.

    Ctrl-C ends it with what is known by then; the rest is unknown. The exit code is 1 if a promise is broken, in any
    of the searches or of the cells of a --matrix, else 3 if something is unknown, else 0.
    """
    if as_matrix and configs:
        message = "--matrix tries settings, and --config reads them. Leave one of them out."
        raise click.UsageError(message)
    if (as_matrix or configs) and (build.github or build.sarif is not None):
        message = (
            f"{'--github' if build.github else '--sarif'} tells of one answer, and not of a table. Leave "
            f"{'--matrix' if as_matrix else '--config'} out, or read what --json prints."
        )
        raise click.UsageError(message)
    stronger = {name: given[name] for name in CONFIGURED if name in given}
    keeps_elr = bool(Cluster(**given).elr)
    configured = read_configs(configs, stronger, compares_partitions=keeps_elr) if configs else None
    output.check_trace_path()
    build.check(output)
    table = as_matrix or bool(configs)
    promises = [name for name in PROMISES if name in wanted or not (wanted or (table and name != LOSS))]
    if table:
        given = {"records": _records_of_table(promises, given), **given}
    begun = SearchesBegun()
    with stop_on_interrupt() as stop, search_progress(output.quiet, which=begun.named) as reporter:
        question = Question(
            bounds=given,
            limits=limits,
            threads=engine.threads,
            reporter=reporter,
            stop=stop,
            began=None if output.quiet else begun,
            promises=promises,
        )
        if configured is not None:
            return ask_configs(question, configured, output)
        return ask_matrix(question, output) if as_matrix else _ask(question, output, build)


def _records_of_table(promises: Sequence[str], given: Given) -> int:
    """Return the number of records for the cells of a table: by default the least that can break every promise.

    Raises:
        UsageError: there are fewer, so that every cell would be safe.
    """
    fewest = max(FEWEST_RECORDS.get(name, 1) for name in promises)
    records = int(given.get("records", min(fewest, _MOST_OF_TABLE)))
    if records < fewest:
        name = next(name for name in promises if FEWEST_RECORDS.get(name, 1) == fewest)
        small = ", with --replicas 2 for searches that take seconds" if fewest > _MOST_OF_TABLE else ""
        message = (
            f"{name} takes {fewest} records to break, and a table has {records}, with which each cell is safe. "
            f"Give --records {fewest}{small}, or leave --property {name} out."
        )
        raise click.UsageError(message)
    return records


class SearchesBegun:
    """Shows on standard error, about once a second, which of several searches begins, and keeps its name."""

    def __init__(self) -> None:
        self._pulse, self._which = Pulse(), ""

    def __call__(self, number: int, total: int, settings: Given) -> None:
        """Record that a search begins."""
        self._which = f"search {number} of {total}: "
        if self._pulse.due():
            self._pulse.rate(0)
            emit_status(f"Progress: search {number} of {total}, with {describe_settings(settings)}.")

    def named(self) -> str:
        """Return the current search as the prefix of a line; empty before the first of several begins."""
        return self._which


def _ask(question: Question, output: Output, build: Build) -> int:
    stops = availability(question) if LOSS in question.promises else []
    asked = question.answer()
    with _written(asked, output) as files:
        if not output.json:
            if "release" not in question.bounds:
                emit(describe_default(asked.model, output.width))
            emit(describe_answer(asked, files, output.paint, output.width))
        calm = _without_races(question, asked, output)
        tried = _remedies(question, output) if LOSS in files else []
        others = _disturb(question, output.beside("disturbed") if files else output, set(files))
        verdict = together([asked.result.verdict, *(found.asked.result.verdict for found, _ in others)])
        if output.json:
            emit_data(answer_json(asked, tried, files, calm, others, stops, verdict))
        elif stops:
            emit(describe_availability(stops, output.width))
    if not files and not any(broken for _, broken in others):
        with output.traces_written([], asked.model):
            pass
    if files:
        _say_older(output, without_races=calm is None or not calm[1], disturbed=not any(broken for _, broken in others))
    answers = [asked, *(found.asked for found, _ in others)]
    build.tell(
        asked.model,
        [violation.trace for answer in answers for violation in by_promise(answer)],
        question.promises,
        verdict=verdict,
        stopped_by=next((answer.result.stopped_by for answer in answers if answer.result.stopped_by is not None), None),
        warnings=asked.result.warnings,
    )
    return exit_code_for(verdict)


def _say_older(output: Output, **missing: bool) -> None:
    """Warn about files left over from earlier runs beside the named ones, for searches without a trace in this run."""
    for name in (name for name, none in missing.items() if none):
        written = output.beside(name)
        for path in (written.trace, written.html):
            if path is not None:
                say_older(path)


@contextmanager
def _written(asked: Asked, output: Output) -> Iterator[Files]:
    """Write the traces of the broken promises, and yield the file of each."""
    violations = by_promise(asked)
    if not violations:  # another search may have some, so nothing is reported as missing
        output = replace(output, html=None, trace=None)
    with output.traces_written([violation.trace for violation in violations], asked.model) as written:
        yield {violation.property: file for violation, file in zip(violations, written, strict=True)}


def _without_races(question: Question, asked: Asked, output: Output) -> tuple[Asked, Files] | None:
    """Search for a trace without a race, if the shortest one has a race, and print it."""
    found = question.without_races(asked)
    if found is None:
        return None
    with _written(found, output.beside("without_races")) as files:
        if not output.json:
            emit(describe_without_races(found, files, output.paint, output.width))
        return found, files


def _remedies(question: Question, output: Output) -> list[Remedy]:
    """Try each change of a setting that could keep the record, and print each result."""
    found: list[Remedy] = []
    told: set[str] = set()
    for remedy in remedies(replace(question, promises=(LOSS,))):
        found.append(remedy)
        if not output.json:
            emit(describe_remedy(remedy, len(found) == 1, told, output.width))
    return found


def _disturb(question: Question, output: Output, broken: Collection[str]) -> list[tuple[Disturbed, Files]]:
    """Search with each disturbance, and print each result; the traces of each have files of their own.

    If no promise is `broken` without a disturbance, each change of a setting that could help is tried.
    """
    others: list[tuple[Disturbed, Files]] = []
    losing = LOSS in broken
    for found in disturbed(question, losing=losing):
        name = found.disturbance.words.replace(" ", "_")
        taken = any(files for _, files in others)
        with _written(found.asked, output.beside(name) if taken else output) as files:
            if not output.json:
                emit(describe_disturbed(found, files, output.paint, output.width, losing=losing))
        others.append((found if broken else _attempted(question, found, output), files))
    return others


def _attempted(question: Question, found: Disturbed, output: Output) -> Disturbed:
    """Try each change of a setting that could keep the promises that a disturbance breaks, and print each result."""
    tried: list[Attempt] = []
    for attempt in attempts(question, found):
        tried.append(attempt)
        if not output.json:
            emit(describe_attempt(attempt, len(tried) == 1, output.width))
    found = replace(found, attempts=tuple(tried))
    if tried and not output.json:
        emit(describe_what_helps(found, output.width))
    return found
