"""`insync ask`: what a cluster can lose under its settings, and what prevents it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from insync.cli.completion import complete_defects, complete_from
from insync.cli.options.model import command_about, each_choice, option_names
from insync.cli.options.output import Build, ManyTraces, Output, build_options, many_traces, output_options
from insync.cli.options.task import Engine, limit_options, thread_options
from insync.cli.options.values import Named, ReadFile, Whole
from insync.cli.progress import search_progress, stop_on_interrupt
from insync.cli.terminal import EPILOG, emit, emit_data, emit_error, emit_status, exit_code_for
from insync.conformance.documents.seen import seen_at_length
from insync.explorer import Limits
from insync.explorer.progress import Pulse
from insync.explorer.results import Verdict, together
from insync.explorer.runs.state_graph import missing_graph_library
from insync.kafka.cluster.configuration import BOUNDS
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.kafka.defects.named import named_by_ticket, no_such_defect
from insync.kafka.releases import Release
from insync.kafka_questions.ask import Answer, answer
from insync.kafka_questions.causes.cause import Cause
from insync.kafka_questions.causes.diagnosis import may_be_cause
from insync.kafka_questions.cluster_settings import Asked
from insync.kafka_questions.configs.documents import of_confluent
from insync.kafka_questions.configs.reading import Configured, read_configs
from insync.kafka_questions.disturbances import DISTURBANCES, chosen
from insync.kafka_questions.documents.ask import (
    describe_details,
    describe_each_in_short,
    describe_ends,
    describe_ends_of_many,
    describe_first_screen,
    describe_unasked,
    more_lines,
    written_lines,
)
from insync.kafka_questions.documents.ask_json import Shown, answers_json
from insync.kafka_questions.documents.cause import caption_of, cause_line, describe_cause
from insync.kafka_questions.documents.settings import describe_head, describe_head_of_many
from insync.kafka_questions.documents.verdict import Gate, badness
from insync.kafka_questions.liveness import endings
from insync.kafka_questions.question import Key, Question, Searched, in_a_line
from insync.runtime.errors import UserError

if TYPE_CHECKING:
    from insync.cli.annotations import Finding
from insync.kafka_questions.cluster_settings import SIZES, settings_asked, within_the_model

__all__ = ["SearchesBegun", "ask_command"]


SETTINGS = ("replicas", "min_insync_replicas", "acks", "unclean_leader_election", "elr", "flush")
"""The settings that operators have; those of the command line override those of files."""

ASKED = """\b
Examples:
  insync ask --config server.properties --config topics.txt --config features.txt
  insync ask --release 3.9 --replicas 3 --min-insync-replicas 2 --acks all
  insync ask --release 4.1 --min-insync-replicas 1 --explain C-3
  insync ask --release 4.1 --against rack --against rack+slow
  insync ask --config values.yaml --acks all --fail-on any --accept N-01

"""


_RELEASE = Cluster.settings["release"]
_NEWEST = f"The newest Kafka that the model has is {list(Release)[-1].value}."


class WrittenRelease(Named):
    """A release of Kafka, or a patch release of one, which stays as it is written."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the release as it is written."""
        super().convert(value, param, ctx)
        return str(value)


def _release_advice(given: str) -> str:
    """Return the sentence about a text that is no release of Kafka: it may be a number of Confluent Platform."""
    within = of_confluent(given)
    if within in _RELEASE.names:
        return f"Confluent Platform {given} has Kafka {within}: give --release {within}. {_NEWEST}"
    return _RELEASE.advice(given)


def _former(name: str, option: str) -> str:
    """Return the sentence about an option that `insync ask` had."""
    if name in BOUNDS:
        instead = f"`insync check cluster {option} N` searches with it"
    else:
        instead = f"`insync check cluster {option}` has it"
    return f"{option} is an option of the model; `insync ask` takes disturbances by name, --against NAME. {instead}."


_GONE = {
    "--matrix": "--matrix is gone: the answer itself names the settings to change, and --details has the table of "
    "promises against disturbances.",
    "--property": "--property is gone: --details and --json have every promise.",
    **{
        option: _former(name, option)
        for name, option in option_names(Cluster).items()
        if name not in (*SETTINGS, "release")
    },
}
"""Options of an earlier `insync ask`, which answer with a sentence for one release."""


def _gone_options(function: Callable[..., int]) -> Callable[..., int]:
    """Return a command with the options that are gone, which are hidden and refused."""

    def refuse(ctx: click.Context, param: click.Parameter, value: object) -> None:
        if value:
            raise click.UsageError(_GONE[param.opts[0]], ctx)

    for option in _GONE:
        function = click.option(
            option,
            hidden=True,
            expose_value=False,
            callback=refuse,
            is_eager=True,
            is_flag=option == "--matrix",
            shell_complete=complete_from(tuple),
        )(function)
    return function


@click.command(
    "ask",
    cls=command_about(Cluster),
    epilog=ASKED + EPILOG,
    short_help="Show what a release with its settings can lose, and what prevents it.",
)
@click.option(
    "--release",
    type=WrittenRelease(_RELEASE.names, _release_advice, _RELEASE.member),
    metavar="VERSION",
    help="The release of the brokers, a patch release too, such as 3.9.2. [default: that of the files, or 4.1]",
)
@each_choice(Cluster, *(name for name in option_names(Cluster) if name not in SETTINGS or name in SIZES))
@click.option(
    "--replicas",
    type=Whole(1),
    metavar="1..5",
    help="Replicas of the partition, each on a broker of its own. [default: 3]",
)
@click.option("--min-insync-replicas", type=Whole(1), metavar="1..5", help="min.insync.replicas. [default: 2]")
@click.option(
    "--config",
    "configs",
    type=ReadFile(),
    metavar="FILE",
    multiple=True,
    help="Take settings from FILE: server.properties, what kafka-configs, kafka-topics and kafka-features describe, "
    "Strimzi resources, compose files, .env, Helm values, Ansible, Terraform; may be repeated.",
)
@click.option(
    "--against",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_from(lambda: DISTURBANCES),
    help=f"Search this disturbance only, or a pair such as rack+slow; may be repeated. {', '.join(DISTURBANCES)}.",
)
@click.option("--pairs", is_flag=True, help="Search every two disturbances at a time as well.")
@click.option(
    "--finishes",
    is_flag=True,
    help="Also decide whether a rolling restart finishes, and whether a dead leader is replaced.",
)
@click.option(
    "--explain",
    metavar="CAUSE",
    shell_complete=complete_defects,
    help="Show a cause, such as C-3 or KIP-966, with its trace step by step.",
)
@click.option(
    "--details",
    is_flag=True,
    help="Show the table of promises and disturbances, and the keys that are not settings of the model.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["settings", "any"]),
    default="settings",
    show_default=True,
    help="End with 1 for what a setting of this release would prevent, or for every cause.",
)
@click.option(
    "--accept",
    metavar="CAUSE",
    multiple=True,
    shell_complete=complete_defects,
    help="Set a cause aside by its name; may be repeated.",
)
@limit_options(seconds="End the whole answer after S seconds.")
@thread_options
@output_options(trace=True)
@build_options
@_gone_options
def ask_command(
    release: str | None,
    given: dict[str, int | str],
    replicas: int | None,
    min_insync_replicas: int | None,
    configs: tuple[Path, ...],
    against: tuple[str, ...],
    pairs: bool,
    finishes: bool,
    explain: str | None,
    details: bool,
    fail_on: str,
    accept: tuple[str, ...],
    limits: Limits,
    engine: Engine,
    output: Output,
    build: Build,
) -> int:
    """Show whether a cluster can lose acknowledged records, by which failures and operations, and what to change.

    Each named disturbance is searched alone: every order of events in which it can happen. The answer names the
    settings behind a loss, the defects of this release and the first release without them, and apart from these the
    defects that every release has. It says when writes stop.

    The exit code is 1 if no write is taken, or if a setting of this release would prevent a loss; with --fail-on any,
    if there is any cause. Otherwise it is 3 if a search was cut short or a topic left out, and 0 if not. Ctrl-C ends it
    with the results so far.
    """
    with _naming("--against"):
        wanted = chosen(against, pairs=pairs) if against or pairs else None
    with _naming("--accept"):
        accepted = [_entry_named(name) for name in accept]
    with _naming("--explain"):
        explained = None if explain is None else _entry_named(explain)
    sizes = {"replicas": replicas, "min_insync_replicas": min_insync_replicas}
    stronger = {
        **given,
        **{name: value for name, value in sizes.items() if value is not None},
        **({} if release is None else {"release": str(_RELEASE.chosen("cluster", "release", release).value)}),
    }
    configured = read_configs(configs, stronger, compares_partitions=True) if configs else None
    every = settings_asked(stronger, release or "", configured)
    asked = within_the_model(every)
    if explained is not None:
        _refuse_unlikely(explained, asked, {one.name for group in wanted or () for one in group})
    _refuse_several(asked, build)
    if finishes and (missing := missing_graph_library()):
        finishes = False
        asked[0] = replace(asked[0], remarks=[*asked[0].remarks, _NO_FINISHES.format(missing)])
    output.check_trace_path()
    build.check(output)
    if not pairs:
        os.environ.setdefault("INSYNC_CODE", "quick")  # for short searches optimization takes longer than they do
    gate = Gate(
        fail_on,
        accepted,
        rebalances=configured is None or configured.rebalances,
        metadata_first=configured is not None and configured.metadata_first,
        from_zookeeper=configured is not None and bool(configured.in_zookeeper),
    )
    screen = _Screen(output, gate, configured, explained, details=details, several=len(asked) > 1)
    screen.begin(asked)
    begun, shown, made = SearchesBegun(), list[Shown](), dict[Key, Searched]()
    with (
        stop_on_interrupt() as stop,
        search_progress(output.quiet, which=begun.named) as reporter,
        many_traces(output) as traces,
    ):
        for one in asked:
            question = Question(
                settings=one.settings,
                limits=limits,
                threads=engine.threads,
                reporter=reporter,
                stop=stop,
                began=None if output.quiet else begun,
                found=made,
            )
            screen.begin_one(one, question.model)
            found = answer(question, wanted)
            files = _kept(found, one, traces, several=len(asked) > 1)
            shown.append((one, found, files, list(endings(question)) if finishes else []))
            screen.end_one(shown[-1])
        left_out = [Verdict.INCOMPLETE] if len(asked) < len(every) else []
        verdict = together([*left_out, *(each.verdict_for(fail_on, accepted) for _, each, _, _ in shown)])
        screen.end(shown, verdict)
    causes = {cause.name for _, each, _, _ in shown for cause in (*each.causes, *each.open)}
    for name in dict.fromkeys(accepted):
        if name not in causes:
            emit_error(f"warning: --accept {name} changes nothing, as {name} is no cause in this answer.")
    _tell_build(build, shown[0], verdict=verdict, accepted=accepted)
    return exit_code_for(verdict)


_NO_FINISHES = (
    "--finishes is left out, as it needs the extra `graph` ({} is missing); install it: pip install 'insync[graph]'."
)


@dataclass(slots=True)  # not frozen: `_heads` grows with each answer
class _Screen:
    """Prints answers in the form that was asked for: each as it comes, or at the end all in short, one cause, or JSON.

    Attributes:
        output: where and how to print.
        gate: which causes count.
        configured: what the files say; None without files.
        explained: the cause to explain; None for the whole answer.
        details: whether to print everything.
        several: whether there are several combinations of settings.
    """

    output: Output
    gate: Gate
    configured: Configured | None
    explained: str | None
    details: bool
    several: bool
    _heads: list[str] = field(default_factory=list)

    @property
    def _in_short(self) -> bool:
        return self.several and not self.details

    def begin(self, asked: Sequence[Asked]) -> None:
        """Print what stands above several answers in short."""
        if self._in_short and not self.output.json:
            models = [Cluster(**one.settings) for one in asked]
            head = describe_head_of_many(asked, models, self.output.paint, self.output.width)
            emit(head)
            self._heads.append(head)

    def begin_one(self, asked: Asked, model: Cluster) -> None:
        """Print the head of an answer before the searches begin."""
        if not (self._in_short or self.output.json):
            head = describe_head(asked, model, self.output.paint, self.output.width, whole=self.details)
            emit(("\n" if self._heads else "") + head)
            self._heads.append(head)

    def end_one(self, shown: Shown) -> None:
        """Print an answer below its head, unless all are printed at the end."""
        if self._in_short or self.output.json or self.explained is not None:
            return
        _, found, _, ended = shown
        width, paint = self.output.width, self.output.paint
        ends = [describe_ends(ended, width)] if ended else []
        if self.details:
            emit(describe_first_screen(found, self.gate, paint, width))
            emit("\n".join([*ends, describe_details(found, width)]))
            return
        below = "\n".join([*ends, *more_lines([found], width)])
        room = _SCREEN - len(self._heads[-1].splitlines()) - len(below.splitlines())
        emit(describe_first_screen(found, self.gate, paint, width, room))
        emit(below)

    def end(self, shown: Sequence[Shown], verdict: Verdict) -> None:
        """Print the parts that need all answers, and the names of the files that were written."""
        if self.output.json:
            named, ignored = ({}, ()) if self.configured is None else (self.configured.named, self.configured.ignored)
            emit_data(answers_json(shown, str(verdict), named, ignored, self.gate.accepted))
            return
        if self.explained is not None:
            self._explain(shown, self.explained)
        elif self._in_short:
            self._end_in_short(shown)
        elif self.details and self.configured and (unasked := describe_unasked(self.configured, self.output.width)):
            emit(unasked)
        if written := [file for _, _, files, _ in shown for file in files.values() if file]:
            emit("\n".join(written_lines(written, self.output.width)))

    def _end_in_short(self, shown: Sequence[Shown]) -> None:
        """Print the answers for several combinations, the worst first, on one screen."""
        ordered = sorted(shown, key=lambda one: badness(one[1], self.gate))
        asked, answers = [one for one, _, _, _ in ordered], [each for _, each, _, _ in ordered]
        width = self.output.width
        ends = describe_ends_of_many(asked, [ended for _, _, _, ended in ordered], width)
        below = "\n".join([*ends, *more_lines(answers, width)])
        room = _SCREEN - len(self._heads[0].splitlines()) - len(below.splitlines())
        emit(describe_each_in_short(asked, answers, self.gate, self.output.paint, width, room))
        emit(below)

    def _explain(self, shown: Sequence[Shown], explained: str) -> None:
        """Print the cause that is to be explained, of each combination that has it.

        Raises:
            UserError: none has it.
        """
        paint, width = self.output.paint, self.output.width
        found = [(one, cause) for one in shown if (cause := one[1].named(explained)) is not None]
        if not found:
            unsearched = any(explained in (*each.not_searched, *each.open_after_upgrade) for _, each, _, _ in shown)
            why = "was not searched here" if unsearched else "is no cause in this answer"
            message = f"{explained} {why}; see `insync defects {explained}`."
            raise UserError(message)
        for (asked, each, files, _), cause in found:
            if self._in_short:
                emit("\n" + describe_head(asked, each.model, paint, width))
            seen = [] if cause.entry is None else seen_at_length(cause.entry.name)
            emit(describe_cause(cause, seen, files.get(explained), each.model, paint, width))


_SCREEN = 20
"""The most lines of a first screen."""


@contextmanager
def _naming(option: str) -> Iterator[None]:
    """Put the name of an option before an error about its value."""
    try:
        yield
    except UserError as error:
        message = f"{option}: {error}"
        raise UserError(message) from None


def _entry_named(given: str) -> str:
    """Return the name of the entry that has a name or a ticket."""
    found = [given.upper()] if given.upper() in DEFECTS else named_by_ticket(given)
    if not found:
        raise no_such_defect(given)
    return next((name for name in found if name.startswith(("C", "R", "N"))), found[0])


def _kept(found: Answer, asked: Asked, traces: ManyTraces, *, several: bool) -> dict[str, Path | None]:
    """Write the trace of each cause, and return its file."""
    files: dict[str, Path | None] = {}
    for cause in (*found.causes, *found.open):
        if cause.name and cause.name not in files:
            name = f"{asked.topics[0].replace(' ', '_')}.{cause.name}" if several else cause.name
            files[cause.name] = traces.keep(
                name, cause.violation.trace, cause.model, caption_of(cause, asked, found.model)
            )
    return files


def _refuse_unlikely(explained: str, asked: Sequence[Asked], happening: Collection[str]) -> None:
    """Refuse a cause that is impossible with these settings, before the searches begin.

    Args:
        explained: the name of the cause.
        asked: the settings that the answer is about.
        happening: the names of the disturbances that were chosen.

    Raises:
        UserError: the cause is impossible.
    """
    models = [Cluster(**one.settings) for one in asked]
    if not any(may_be_cause(explained, model, happening) for model in models):
        instead = "give --acks 1, or " if explained in ("C-2", "C-19") else ""
        message = (
            f"{explained} cannot be a cause with Kafka {models[0].b.settings.release.value}, "
            f"{in_a_line(models[0])}; {instead}see `insync defects {explained}`."
        )
        raise UserError(message)


def _refuse_several(asked: Sequence[Asked], build: Build) -> None:
    """Refuse annotations of several answers.

    Raises:
        UsageError: there are several, and annotations are asked for.
    """
    if len(asked) > 1 and (build.github or build.sarif is not None):
        option = "--github" if build.github else "--sarif"
        message = f"{option} writes one answer, and the files have {len(asked)}. Leave {option} out, or give --json."
        raise click.UsageError(message)


def _tell_build(build: Build, shown: Shown, *, verdict: str, accepted: Sequence[str]) -> None:
    """Print and write the annotations of the first answer."""
    asked, found, _, _ = shown
    causes = [one for one in (*found.causes, *found.open) if verdict == "violated" and one.name not in accepted]
    result = next((row.searched.result for row in found.rows if row.searched is not None), None)
    build.tell(
        found.model,
        [cause.violation.trace for cause in causes],
        [] if result is None else [each.name for each in result.properties],
        verdict=verdict,  # type: ignore[arg-type]
        stopped_by=next(
            (row.searched.result.stopped_by for row in found.rows if row.searched and row.searched.result.stopped_by),
            None,
        ),
        warnings=[*found.model.remarks(), *asked.remarks],
        findings=[_finding(cause, asked) for cause in causes],
    )


def _finding(cause: Cause, asked: Asked) -> Finding:
    """Return the annotation of a cause, at the line of the file that sets what is to be changed, if there is one."""
    from insync.cli.annotations import Finding  # not needed elsewhere

    origins = (re.fullmatch(r"(.*), line (\d+)", asked.origins.get(name, "")) for name in cause.change)
    place = next((f"{found[1]}:{found[2]}" for found in origins if found is not None), "")
    return Finding(cause.name or "unnamed", cause_line(cause, accepted=False), place)


class SearchesBegun:
    """Prints the current search on standard error, about once a second, and keeps its name."""

    def __init__(self) -> None:
        self._pulse, self._which = Pulse(), ""

    def __call__(self, words: str) -> None:
        """Record that a search begins."""
        self._which = f"{words}: "
        if self._pulse.due():
            self._pulse.rate(0)
            emit_status(f"Progress: searching: {words}.")

    def named(self) -> str:
        """Return the current search as the prefix of a line; empty before the first of several begins."""
        return self._which
