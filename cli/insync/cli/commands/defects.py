"""`insync defects`: the catalogue of published defects, one of them as a trace, or all of them verified."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from insync.cli.exit_codes import EPILOG, ExitCode
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.engine import Engine, thread_options
from insync.cli.options.output import Output, output_options
from insync.cli.show.figures import plural
from insync.cli.show.terminal import emit, grid_width

if TYPE_CHECKING:
    import threading

    from insync.explorer import CheckResult
    from insync.explorer.traces.grid import Paint
    from insync.kafka.cluster.model import Cluster
    from insync.kafka.defects import Defect

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  insync defects
  insync defects R-26
  insync defects --verify

"""


@click.command(
    "defects", epilog=EXAMPLES + EPILOG, short_help="Show Kafka's published replication defects, and verify them."
)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--verify", is_flag=True, help="Search with each defect and with its fix, and compare with the catalogue."
)
@thread_options
@output_options(trace=True)
def command(names: tuple[str, ...], verify: bool, engine: Engine, output: Output) -> int:
    """List the catalogue, or show the NAMEd defects: the rules that bring them back, a shortest trace, the fix.

    A defect is a rule of an old release, or a guard left out, put back into the newest release, with bounds that are
    large enough to witness it. The fix holds at the same bounds, in the whole space.
    """
    if not names and not verify:
        output.show(_list, _list_json)
        return ExitCode.HOLDS
    chosen = _choose(names)
    with stop_on_interrupt() as stop:
        if verify:
            return _verify(chosen, engine.threads, stop, output.json)
        codes: list[ExitCode] = []
        for defect in chosen:
            text, code = _show(defect, output.trace, engine.threads, stop, output.paint)
            emit(("\n" if codes else "") + text)
            codes.append(code)
            if stop.is_set():
                break
    if left := chosen[len(codes) :]:
        emit(f"\nStopped by Ctrl-C; not shown: {', '.join(defect.name for defect in left)}.")
        return ExitCode.INCOMPLETE
    return max(codes)


def _choose(names: tuple[str, ...]) -> list[Defect]:
    from insync.kafka.defects import DEFECTS, LEFT_OUT
    from insync.model.errors import UserError, closest

    reasons = {entry.name: entry for entry in LEFT_OUT}
    wanted = [name.upper() for name in names]
    for given, name in zip(names, wanted, strict=True):
        if name in reasons:
            message = f"{name} ({reasons[name].title}, {reasons[name].ticket}) is not modelled: {reasons[name].reason}."
            raise UserError(message)
        if name not in DEFECTS:
            message = f"The catalogue has no defect {given!r}. {closest(name, DEFECTS)}"
            raise UserError(message)
    return [DEFECTS[name] for name in wanted] if wanted else list(DEFECTS.values())


def _list() -> str:
    from insync.kafka.defects import DEFECTS, LEFT_OUT

    width = max(len(defect.title) for defect in DEFECTS.values())
    lines = [f"  {d.name:<5} {d.title:<{width}}  {_steps(d):>8}  {d.ticket}" for d in DEFECTS.values()]
    lines += ["", "Not modelled:"]
    lines += [f"  {entry.name:<5} {entry.title} ({entry.ticket}): {entry.reason}" for entry in LEFT_OUT]
    lines += ["", "One of them with its trace: insync defects NAME. All of them searched for: insync defects --verify."]
    return "\n".join(line for text in lines for line in (textwrap.wrap(text, 120, subsequent_indent=" " * 8) or [""]))


def _steps(defect: Defect) -> str:
    return "no harm" if defect.harmless else plural(defect.length - 1, "step")


def _list_json() -> str:
    import json

    from insync.kafka.defects import DEFECTS, LEFT_OUT

    return json.dumps(
        {
            "defects": [_as_json(defect) for defect in DEFECTS.values()],
            "left_out": [{"name": e.name, "title": e.title, "ticket": e.ticket, "reason": e.reason} for e in LEFT_OUT],
        },
        ensure_ascii=False,
    )


def _as_json(defect: Defect) -> dict[str, object]:
    return {
        "name": defect.name,
        "title": defect.title,
        "ticket": defect.ticket,
        "affected": defect.affected,
        "story": defect.story,
        "fix": defect.fix,
        "property": defect.breaks,
        "trace_length": defect.length,
        "bounds": dict(defect.bounds),
        "rules": sorted(defect.rules),
    }


def _search(defect: Defect, mended: bool, threads: int | None, stop: threading.Event) -> tuple[Cluster, CheckResult]:
    from insync.explorer import check
    from insync.kafka.cluster.model import Cluster
    from insync.properties.kafka import cluster

    assert defect.breaks in cluster.__all__
    model = Cluster(**(defect.fixed_witness if mended else defect.witness))
    return model, check(model, properties=[defect.breaks], threads=threads, stop=stop)


def _show(
    defect: Defect, trace: Path | None, threads: int | None, stop: threading.Event, paint: Paint
) -> tuple[str, ExitCode]:
    """Return what there is to see of a defect, and 3 where a search was stopped before it had the answer."""
    from insync.cli.show.report import describe_trace
    from insync.cli.show.trace_files import traces_written
    from insync.explorer.ask import with_shown_bounds
    from insync.kafka.releases import rule_documentation

    model, broken = _search(defect, False, threads, stop)
    _, fixed = _search(defect, True, threads, stop)
    lines = [f"{defect.name}   {defect.title}", f"{defect.ticket}; affected: {defect.affected}", ""]
    lines += textwrap.wrap(defect.story, 100)
    lines += ["", f"fix: {defect.fix}"]
    lines += [f"without the rule {name}: {rule_documentation(name)}" for name in defect.rules]
    traces = [violation.trace for violation in broken.violations]
    with traces_written(trace, traces, model) as files:
        for found, file in zip(traces, files, strict=True):
            lines += ["", describe_trace(with_shown_bounds(found, model), model.grid, file, paint, grid_width())]
    if broken.verdict == "holds":
        states = plural(broken.distinct_states, "state")
        lines += ["", f"No harm: {defect.breaks} holds in all {states} at these bounds, without the fix as well."]
    elif broken.verdict == "incomplete":
        lines += ["", f"Without the fix: undecided, {_stopped(broken)}."]
    lines += ["", _fix_line(defect, fixed)]
    undecided = "incomplete" in (broken.verdict, fixed.verdict)
    return "\n".join(lines), ExitCode.INCOMPLETE if undecided else ExitCode.HOLDS


def _fix_line(defect: Defect, result: CheckResult) -> str:
    changed = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in defect.fixed.items())
    how = f" ({changed})" if changed else ""
    states = plural(result.distinct_states, "state")
    if result.verdict == "holds":
        return f"With the fix{how} {defect.breaks} holds in all {states} at these bounds."
    if result.verdict == "incomplete":
        return f"With the fix{how}: undecided, {_stopped(result)}."
    return f"With the fix{how}: {result.verdict} after {states}."


def _stopped(result: CheckResult) -> str:
    by = "Ctrl-C" if result.stopped_by == "interrupt" else f"the limit on the {result.stopped_by}"
    return f"stopped by {by} after {plural(result.distinct_states, 'state')}"


# --------------------------------------------------------------------------------------------------------- verifying


def _verify(chosen: list[Defect], threads: int | None, stop: threading.Event, json_: bool) -> int:
    """Search with and without each fix and say what differs from the catalogue.

    What a stopped search leaves open is undecided, and what comes after Ctrl-C is not tried: neither differs from the
    catalogue, nor does it agree with it.
    """
    import json

    outcomes: list[bool | None] = []
    for defect in chosen:
        if stop.is_set():
            break
        outcome, said = _verified(defect, threads, stop)
        outcomes.append(outcome)
        if not json_:
            emit(f"  {_WORDS[outcome]} {defect.name:<5} {said}")
    left = [defect.name for defect in chosen[len(outcomes) :]]
    if json_:
        entries = [{"name": d.name, "verified": known} for d, known in zip(chosen, outcomes, strict=False)]
        emit(json.dumps({"defects": entries, "not_tried": left}))
    elif left:
        emit("\n" + textwrap.fill(f"Stopped by Ctrl-C; not tried: {', '.join(left)}.", 120))
    if False in outcomes:
        return ExitCode.VIOLATED
    return ExitCode.INCOMPLETE if left or None in outcomes else ExitCode.HOLDS


_WORDS = {True: "ok ", False: "BAD", None: "undecided"}


def _verified(defect: Defect, threads: int | None, stop: threading.Event) -> tuple[bool | None, str]:
    """Return whether an entry is as the catalogue says, None where that is not known, and what was found."""
    _, broken = _search(defect, False, threads, stop)
    breaks, spent = _breaks(defect, broken), sum(broken.seconds.values())
    if stop.is_set():
        return (None if breaks else breaks), f"{_broken_words(defect, broken)}; with the fix not tried; {spent:.1f} s"
    _, fixed = _search(defect, True, threads, stop)
    spent += sum(fixed.seconds.values())
    holds = {"holds": True, "violated": False, "incomplete": None}[fixed.verdict]
    outcome = False if False in (breaks, holds) else None if None in (breaks, holds) else True
    return outcome, f"{_broken_words(defect, broken)}; with the fix {_fixed_words(fixed)}; {spent:.1f} s"


def _breaks(defect: Defect, result: CheckResult) -> bool | None:
    """Whether the defect breaks what the catalogue says, in as many steps; None where the search was stopped before."""
    if result.verdict == "incomplete":
        return None
    return [violation.trace_length for violation in result.violations] == ([] if defect.harmless else [defect.length])


def _broken_words(defect: Defect, result: CheckResult) -> str:
    if result.verdict == "incomplete":
        return _stopped(result)
    lengths = [violation.trace_length for violation in result.violations]
    found = f"broken in {plural(lengths[0] - 1, 'step')}" if lengths else "not broken"
    return found if _breaks(defect, result) else f"{found} (catalogue: {_steps(defect)})"


def _fixed_words(result: CheckResult) -> str:
    if result.verdict == "incomplete":
        return _stopped(result)
    return f"{result.verdict}, {plural(result.distinct_states, 'state')}"
