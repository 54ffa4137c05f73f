"""`insync ask` and `defects`: what a cluster can lose under its settings, and the catalogue of defects."""

from __future__ import annotations

import json
import os
import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from insync.cli.completion import complete_defects, complete_from
from insync.cli.options.model import command_about, each_choice, option_names
from insync.cli.options.output import (
    Build,
    ManyTraces,
    Output,
    beside,
    build_options,
    many_traces,
    output_options,
    say_older,
)
from insync.cli.options.task import Engine, Named, ReadFile, Whole, limit_options, thread_options
from insync.cli.progress import search_progress, stop_on_interrupt
from insync.cli.terminal import EPILOG, ExitCode, emit, emit_data, emit_error, emit_status, exit_code_for
from insync.conformance.documents.seen import seen_at_length, seen_in_short, seen_json
from insync.explorer import Limits
from insync.explorer.progress import Pulse
from insync.explorer.results import Verdict, together
from insync.explorer.runs.state_graph import missing_graph_library
from insync.kafka.cluster.configuration import BOUNDS
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, Defect, LeftOut, all_defects
from insync.kafka.defects.named import by_ticket, catalogue, has_ticket, named_by_ticket, no_such_defect
from insync.kafka.releases import Release
from insync.kafka_questions.ask import Answer, answer
from insync.kafka_questions.causes import Cause, may_be_cause
from insync.kafka_questions.configs.documents import of_confluent
from insync.kafka_questions.configs.reading import BY_ZOOKEEPER, Configured, read_configs
from insync.kafka_questions.controllers import heeding_unclean, unclean_by_default
from insync.kafka_questions.defects import caption_of_defect
from insync.kafka_questions.disturbances import DISTURBANCES, chosen
from insync.kafka_questions.documents.ask import (
    Asked,
    Gate,
    badness,
    caption_of,
    cause_line,
    describe_cause,
    describe_details,
    describe_each_in_short,
    describe_ends,
    describe_ends_of_many,
    describe_first_screen,
    describe_head,
    describe_head_of_many,
    describe_unasked,
    more_lines,
    written_lines,
)
from insync.kafka_questions.documents.ask_json import Shown, answers_json
from insync.kafka_questions.documents.defects import (
    Searched as SearchedBoth,
)
from insync.kafka_questions.documents.defects import (
    catalogue_json,
    defect_json,
    describe_catalogue,
    describe_defect,
    describe_left_out,
    describe_matches,
    left_out_json,
    matches_json,
)
from insync.kafka_questions.liveness import endings
from insync.kafka_questions.question import Key, Question, Searched, in_a_line
from insync.kafka_questions.symptoms import by_symptom
from insync.kafka_questions.verification import EntrySearch, VerifiedEntry, verified_entries
from insync.runtime.errors import UserError

if TYPE_CHECKING:
    from insync.cli.annotations import Finding
    from insync.kafka_questions.documents.json_types import DefectsObject, SearchedDefect, VerifiedObject

__all__ = ["SearchesBegun", "ask_command", "defects_command"]


_SIZES = {"replicas": "a replication factor", "min_insync_replicas": "min.insync.replicas"}

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
        return f"Confluent Platform {given} has Kafka {within}: give --release {within}."
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
@each_choice(Cluster, *(name for name in option_names(Cluster) if name not in SETTINGS or name in _SIZES))
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
    "resources of Strimzi, compose files, .env, values of charts, Ansible, Terraform; may be repeated.",
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
    "--details", is_flag=True, help="Show the table of promises and disturbances, and the keys that are not covered."
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
    with what is known by then.
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
    every = _asked(stronger, release or "", configured)
    asked = _within_the_model(every)
    if explained is not None:
        _refuse_unlikely(explained, asked, {one.name for group in wanted or () for one in group})
    _refuse_several(asked, build)
    if finishes and (missing := missing_graph_library()):
        finishes = False
        asked[0] = replace(asked[0], remarks=[*asked[0].remarks, _NO_FINISHES.format(missing)])
    output.check_trace_path()
    build.check(output)
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


@dataclass(slots=True)  # not frozen: `_head` is that of the answer at work
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
        """Print the head of an answer, before anything is searched for it."""
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
        """Print what waits for all answers, and which files were written."""
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
            message = f"{explained} is no cause in this answer; see `insync defects {explained}`."
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
    """Put the name of an option before the sentence about its value."""
    try:
        yield
    except UserError as error:
        message = f"{option}: {error}"
        raise UserError(message) from None


def _entry_named(given: str) -> str:
    """Return the name of the entry that a name or a ticket means."""
    found = [given.upper()] if given.upper() in DEFECTS else named_by_ticket(given)
    if not found:
        raise no_such_defect(given)
    return next((name for name in found if name.startswith(("C", "R", "N"))), found[0])


def _asked(stronger: Mapping[str, int | str], version: str, configured: Configured | None) -> list[Asked]:
    """Return what is asked about: the settings of the command line, or each combination of those in files."""
    of_command = dict.fromkeys(stronger, "the command line")
    if configured is None:
        settings = dict(stronger)
        if int(settings.get("replicas", 3)) < 2:  # else the assumption alone would refuse all writes
            settings.setdefault("min_insync_replicas", 1)
        if "release" in settings and (unclean := unclean_by_default(str(settings["release"]))) == "on":
            settings.setdefault("unclean_leader_election", unclean)
        remark = _of_zookeeper("", settings, first=True)
        return [Asked(settings, version, of_command, assumes_kraft=True, remarks=remark)]
    remarks = list(configured.remarks)
    found = []
    for number, one in enumerate(configured.combinations):
        settings = dict(one.settings)
        if "partition_zero_replicas" in settings:  # more replicas of partition 0 are like the most that the model has
            settings["partition_zero_replicas"] = min(
                int(settings["partition_zero_replicas"]), BOUNDS["partition_zero_replicas"].highest
            )
            of_elr = {name: settings[name] for name in ("release", "elr") if name in settings}
            if not Cluster(**of_elr).features.elr:  # without eligible leader replicas it decides nothing
                del settings["partition_zero_replicas"]
        told = list(remarks) if number == 0 else []
        if number == 0 and "release" not in settings and not any("give --release" in said for said in told):
            usual = Cluster().b.settings.release.value
            told.insert(0, f"No file says the release, and the answer is for Kafka {usual}: give --release.")
        if not configured.in_kraft:
            told += _of_zookeeper(configured.in_zookeeper, settings, first=number == 0)
        unsaid = not (configured.in_kraft or configured.in_zookeeper)
        found.append(Asked(settings, version, {**one.origins, **of_command}, one.topics, unsaid, told))
    return found


def _within_the_model(asked: Sequence[Asked]) -> list[Asked]:
    """Return what the model is large enough for; the first one has a remark on each that is left out.

    Raises:
        UserError: it is large enough for none.
    """
    kept = [one for one in asked if not list(_too_large(one.settings))]
    most = f"at most {BOUNDS['replicas'].highest} replicas"
    if not kept:
        name = next(_too_large(asked[0].settings))
        option = f"--{name.replace('_', '-')} {BOUNDS[name].highest}"
        said = f"{_SIZES[name]} of {asked[0].settings[name]} ({asked[0].origins.get(name, '')})"
        message = f"The model has {most}, so there is no answer for {said}; {option} has the nearest one."
        raise UserError(message)
    left_out = [
        f"Left out: {', '.join(one.topics)}, with {_SIZES[name]} of {one.settings[name]} "
        f"({one.origins.get(name, '')}); the model has {most}."
        for one in asked
        for name in _too_large(one.settings)
    ]
    if not left_out:
        return kept
    first = [remark for one in asked if one not in kept for remark in one.remarks]
    kept[0] = replace(kept[0], remarks=[*left_out, *first, *kept[0].remarks])
    return kept


def _too_large(settings: Mapping[str, int | str]) -> Iterator[str]:
    """Yield the names of the numbers that exceed the bounds of the model."""
    return (name for name in _SIZES if int(settings.get(name, 1)) > BOUNDS[name].highest)


def _of_zookeeper(why: str, settings: dict[str, int | str], *, first: bool) -> list[str]:
    """Return the remarks about a cluster whose controller may be ZooKeeper's.

    Unclean elections are ZooKeeper's then: the settings are changed where KRaft's controller would ignore them.

    Args:
        why: why it is, or may be; empty if nothing says whose it is.
        settings: the settings, which are changed.
        first: whether they are the first of several.

    Raises:
        UserError: it is ZooKeeper's, and nothing says the release or it has no ZooKeeper.
    """
    if why and "release" not in settings:
        message = (
            f"{why}, and no file says the release; give --release, such as 3.6, as 4.0 and later have no ZooKeeper."
        )
        raise UserError(message)
    model = Cluster(**{name: settings[name] for name in ("release",) if name in settings})
    release = model.b.settings.release.value
    if why and not model.b.settings.release.is_before(Release.V4_0):
        if why == BY_ZOOKEEPER:
            message = (
                f"{why}, and Kafka {release} has none; give --release up to 3.9, or the file of a node with "
                "process.roles."
            )
            raise UserError(message)
        why = ""
    heeding = heeding_unclean(settings)
    heeds = heeding != settings
    settings.update(heeding)
    remarks = []
    if why and first and not model.rules.controller_in_zookeeper:
        but = ", but for unclean elections" if heeds else ""
        said = f"{why}; the answer is for KRaft's, as Kafka {release} has it in the model{but}."
        remarks.append(f"{said} The model has ZooKeeper's controller up to 3.2.")
    if heeds:
        unsaid = "" if why else "No file says whether the controller is KRaft's. "
        instead = "" if why else "; for that give --unclean-leader-election off"
        remarks.append(
            f"{unsaid}For unclean elections the answer is that of ZooKeeper's controller, which heeds "
            f"unclean.leader.election.enable; KRaft's of Kafka {release} ignores it (KAFKA-12670, 3.9){instead}."
        )
    return remarks


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
    """Refuse a cause that no search can find with these settings, before anything is searched.

    Args:
        explained: the name of the cause.
        asked: what is asked about.
        happening: the names of the disturbances that were chosen.

    Raises:
        UserError: it is none.
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
    """Return what an annotation says of a cause, at the line of a setting that is to be changed, if a file has it."""
    from insync.cli.annotations import Finding  # not needed elsewhere

    origins = (re.fullmatch(r"(.*), line (\d+)", asked.origins.get(name, "")) for name in cause.change)
    place = next((f"{found[1]}:{found[2]}" for found in origins if found is not None), "")
    return Finding(cause.name or "unnamed", cause_line(cause, accepted=False), place)


class SearchesBegun:
    """Shows on standard error, about once a second, what is searched, and keeps its name."""

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


# -------------------------------------------------------------------------------------------------------------- defects


SHOWN = """\b
Examples:
  insync defects
  insync defects R-26
  insync defects KAFKA-18723
  insync defects lost after power failure
  insync defects --verify

"""


@click.command(
    "defects", epilog=SHOWN + EPILOG, short_help="Show Kafka's published replication defects, and verify them."
)
@click.argument("names", metavar="[NAME|WORDS]...", nargs=-1, shell_complete=complete_defects)
@click.option(
    "--verify", is_flag=True, help="Search with each defect and with its fix, and compare with the catalogue."
)
@thread_options
@output_options(trace=True)
def defects_command(names: tuple[str, ...], verify: bool, engine: Engine, output: Output) -> int:
    """List the catalogue, or show defects by NAME or ticket: the rules that bring them back, a shortest trace, the fix.

    WORDS of what was seen, such as `no leader after a restart`, list the entries that fit.

    Each entry puts a rule of an old release, or a missing guard, back into the newest release, at bounds that are large
    enough to show the harm. With the fix the property holds at the same bounds, in the whole space.
    """
    if verify or not names:
        _refuse_files(verify, output)
    if not names and not verify:
        output.show(lambda: describe_catalogue(seen_in_short), lambda: catalogue_json(seen_json))
        return ExitCode.HOLDS
    if not verify and _are_words(names):
        _refuse_files(verify, output)
        matches = by_symptom(names)
        output.show(lambda: describe_matches(names, matches, output.width), lambda: matches_json(matches))
        return ExitCode.HOLDS
    chosen = _choose(names)
    output.check_trace_path()
    with stop_on_interrupt() as stop, search_progress(output.quiet) as reporter:
        search = EntrySearch(engine.threads, reporter, stop)
        return _verify(_searched_for(chosen), search, output) if verify else _show_all(chosen, search, output)


def _refuse_files(verify: bool, output: Output) -> None:
    """Raise UsageError for --trace or --html, as no trace is shown."""
    which = "--verify shows no traces" if verify else "what is shown has no traces"
    for option, path in (("--trace", output.trace), ("--html", output.html)):
        if path is not None:
            message = f"{which} that {option} could write. Name defects to show, such as `insync defects R-26`."
            raise click.UsageError(message, click.get_current_context(silent=True))


def _are_words(names: Sequence[str]) -> bool:
    """Return whether what was given is a symptom: no word looks like a name, a ticket or an address.

    A number alone is a ticket, and among words it is a word: `3 brokers down`.
    """
    named = any(re.fullmatch(r"[A-Za-z]+[-_ ]?\d+[a-z]?|https?:.*", name) for name in names)
    return not named and not all(name.isdecimal() for name in names)


def _choose(names: tuple[str, ...]) -> list[Defect | LeftOut]:
    known = catalogue()
    in_capitals = {name.upper(): name for name in known}
    wanted: dict[str, Defect | LeftOut] = {}
    for given in names:
        named = in_capitals.get(given.upper())
        found = by_ticket(given) if named is None else [named]
        if not found:
            raise no_such_defect(given, known)
        if named is None and not has_ticket(known[found[0]], given):
            emit_status(f"No entry is about {given}; it is related to {', '.join(found)}.")
        wanted |= {name: known[name] for name in found}
    return list(wanted.values() or all_defects().values())


def _searched_for(chosen: Sequence[Defect | LeftOut]) -> list[Defect]:
    """Return the chosen entries, each of which a search decides.

    Raises:
        UserError: one is not modelled.
    """
    for entry in chosen:
        if isinstance(entry, LeftOut):
            raise no_such_defect(entry.name)
    return [entry for entry in chosen if isinstance(entry, Defect)]


def _show_all(chosen: Sequence[Defect | LeftOut], search: EntrySearch, output: Output) -> int:
    """Show the chosen entries, those without a trace first, and name those that were not shown after Ctrl-C."""
    codes: list[ExitCode] = []
    entries: list[SearchedDefect] = []
    files_of: list[Output] = []
    without = [entry for entry in chosen if isinstance(entry, LeftOut)]
    defects = [entry for entry in chosen if isinstance(entry, Defect)]
    if not defects:
        _refuse_files(False, output)
    for entry in without:
        if not output.json:
            emit(("\n" if codes else "") + describe_left_out(entry, _seen_of_left_out(entry.name)))
        codes.append(ExitCode.HOLDS)
    for defect in defects:
        broken = search.broken(defect)
        searched = SearchedBoth(broken, search.fixed(defect))
        written = output if len(defects) == 1 else output.beside(defect.name)
        files_of.append(written)
        captions = [caption_of_defect(defect, broken)] * len(broken.traces)
        with written.traces_written(broken.traces, broken.model, captions=captions) as files:
            entries.append(defect_json(defect, searched, seen_json(defect.name), files))
            if not output.json:
                seen = seen_at_length(defect.name)
                said = describe_defect(defect, searched, seen, files, output.paint, output.width)
                emit(("\n" if codes else "") + said)
        undecided = "incomplete" in (broken.verdict, searched.fixed.verdict)
        codes.append(ExitCode.INCOMPLETE if undecided else ExitCode.HOLDS)
        if search.stop.is_set():
            break
    _say_older(output, files_of)
    left = [defect.name for defect in defects[len(files_of) :]]
    if output.json:
        left_out = [left_out_json(entry) for entry in without]
        shown: DefectsObject = {"defects": entries, "left_out": left_out, "not_shown": left}
        emit_data(json.dumps(shown, ensure_ascii=False))
    elif left:
        emit(f"\nStopped by Ctrl-C; not shown: {', '.join(left)}.")
    return ExitCode.INCOMPLETE if left else max(codes, default=ExitCode.HOLDS)


def _seen_of_left_out(name: str) -> list[str]:
    """Return lines about what Kafka did of an entry that no search shows, and the scenario that brings it about."""
    from insync.conformance.live.scenarios.known import QUORUM_SCENARIOS, SCENARIOS

    lines = [line for line in seen_at_length(name) if not line.endswith("not run")]
    if name.lower() in {*QUORUM_SCENARIOS, *SCENARIOS}:
        on = "controllers" if name.lower() in QUORUM_SCENARIOS else "brokers"
        lines.append(f"on running {on}: insync kafka scenario {name.lower()} --kafka VERSION")
    return lines


def _say_older(output: Output, files_of: Sequence[Output]) -> None:
    """Warn about trace files and pages left over from earlier runs.

    Args:
        output: the files of the command line; those of several defects are beside them.
        files_of: the files of each defect that was shown.
    """
    of_this_run = [path for each in files_of for path in (each.trace, each.html)]
    for path in (output.trace, output.html):
        if path is not None:
            for file in (path, *(beside(path, name) for name in all_defects())):
                say_older(file, of_this_run)


_WORDS = {True: "ok ", False: "BAD", None: "undecided"}


def _verify(chosen: Sequence[Defect], search: EntrySearch, output: Output) -> int:
    """Search with and without each fix, and compare with the catalogue.

    An entry whose search was stopped is undecided, and later ones are not tried.
    """
    os.environ.setdefault("INSYNC_CODE", "quick")  # for many small models optimization takes longer than the searches
    results: list[VerifiedEntry] = []
    for one in verified_entries(chosen, search):
        results.append(one)
        if not output.json:
            emit(f"  {_WORDS[one.outcome]} {one.entry['name']:<5} {one.said}")
    left, outcomes = [defect.name for defect in chosen[len(results) :]], [one.outcome for one in results]
    if output.json:
        verified: VerifiedObject = {"defects": [one.entry for one in results], "not_tried": left}
        emit_data(json.dumps(verified))
    elif left:
        emit("\n" + textwrap.fill(f"Stopped by Ctrl-C; not tried: {', '.join(left)}.", 120))
    if False in outcomes:
        return ExitCode.VIOLATED
    return ExitCode.INCOMPLETE if left or None in outcomes else ExitCode.HOLDS
