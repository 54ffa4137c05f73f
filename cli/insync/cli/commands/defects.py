"""`insync defects`: the catalogue of published defects, with their traces, and its verification."""

from __future__ import annotations

import json
import os
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from insync.cli.completion import complete_defects
from insync.cli.options.output import Output, beside, output_options, say_older
from insync.cli.options.task import Engine, thread_options
from insync.cli.progress import search_progress, stop_on_interrupt
from insync.cli.terminal import EPILOG, ExitCode, emit, emit_data, emit_status
from insync.conformance.documents.seen import seen_at_length, seen_in_short, seen_json
from insync.kafka.defects import Defect, LeftOut, all_defects
from insync.kafka.defects.named import by_ticket, catalogue, has_ticket, no_such_defect
from insync.kafka_questions.defects import caption_of_defect
from insync.kafka_questions.documents.defects import Searched as SearchedBoth
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
from insync.kafka_questions.symptoms import by_symptom
from insync.kafka_questions.verification import EntrySearch, VerifiedEntry, verified_entries

if TYPE_CHECKING:
    from insync.kafka_questions.documents.json_types import DefectsObject, SearchedDefect, VerifiedObject

__all__ = ["defects_command"]


SHOWN = """\b
Examples:
  insync defects
  insync defects R-26
  insync defects KAFKA-18723
  insync defects lost after power failure
  insync defects Partition.makeLeader
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

    WORDS of what was seen, such as `no leader after a restart`, or a method of Kafka, such as `makeLeader`, list the
    entries that fit.

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
    os.environ.setdefault("INSYNC_CODE", "quick")  # for small models optimization takes longer than the searches
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
    """Return the chosen entries; a search decides each of them.

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
