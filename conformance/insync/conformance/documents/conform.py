"""What `insync kafka conform` says, as text and as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from insync.conformance.comparing.conform import Conformance, Conforming
from insync.conformance.documents.replay import describe_replay, replay_entry
from insync.explorer.documents.text import STOPPED_BY, count, plural, rate, seconds
from insync.explorer.traces.grid import Paint, Tone, describe_bounds, render_reason
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.question import shown_bounds
from insync.model.catalogue import as_argument

if TYPE_CHECKING:
    from insync.conformance.documents.json_types import ConformanceObject, ConformancePart

__all__ = ["conformances_json", "describe_conformances", "worst_of"]

_UNEXPECTED = "not schedulable, for no reason that docs/guide/known-differences.md names:"
_TONES = {Conforming.AGREES: Tone.GOOD, Conforming.DIVERGES: Tone.BAD, Conforming.INCOMPLETE: Tone.OPEN}


def describe_conformances(results: Sequence[Conformance], file: Path | None, paint: Paint, width: int) -> str:
    """Return the report of each part; `file` is where the trace of the difference was written."""
    lines = "\n\n".join(_described(result, paint, width) for result in results)
    if file is None:
        return lines
    last = results[-1]
    if not isinstance(last.model, Cluster):
        return f"{lines}\n\nThe model's steps: insync replay {shlex.quote(as_argument(str(file)))}"
    return f"{lines}\n\nAgain: insync kafka replay {shlex.quote(as_argument(str(file)))} --kafka {last.kafka}"


def _described(result: Conformance, paint: Paint, width: int) -> str:
    lines = [
        f"{_part(result)}   {result.model.name}   {describe_bounds(shown_bounds(result.model))}",
        _verdict(result, paint),
        *([] if result.stopped_by is None else [f"  stopped by {STOPPED_BY[result.stopped_by]}"]),
        *_space(result),
        *_spaces(result),
        "",
        *_transitions(result),
        *_gaps(result),
        *_refused(result),
        _figures(result),
    ]
    if result.difference is not None:
        lines += ["", describe_replay(result.difference, result.model, paint, width)]
        lines += ["", *render_reason(result.difference.trace, width, paint)]
    return "\n".join(lines)


def _part(result: Conformance) -> str:
    return "tour" if result.space is not None else "forbidden" if result.coverage.refused else "walks"


def _walked(result: Conformance) -> str:
    walks = plural(result.walks, "walk")
    return walks if result.seed is None else f"{walks}, seed {result.seed}"


def _verdict(result: Conformance, paint: Paint) -> str:
    head = paint(f"{result.verdict.value} with Kafka {result.kafka}", _TONES[result.verdict])
    if not (result.coverage.steps or result.difference or result.stopped_by):
        return f"{head}: no step could be taken, so nothing was compared"
    if result.difference is None:
        return f"{head}: no difference in {_walked(result)}"
    long, short = plural(result.failed_walk_length or 0, "step"), plural(result.difference.steps, "step")
    shown = {True: f"shortened to {short}", False: "no difference the next time", None: "not shortened"}
    return f"{head}: in walk {count(result.failed_walk or 0)} ({_walked(result)}); {long}, {shown[result.repeats]}"


def _space(result: Conformance) -> list[str]:
    space = result.space
    if space is None:
        return []
    whole = "" if space.whole else " of a part of the space"
    seen = f"{count(space.visited)} of {plural(space.states, 'state')}{whole} seen"
    taken = f"{count(space.taken)} of {plural(space.transitions, 'transition')} taken"
    missing = sum(result.gaps.values())
    left = f", {count(space.open)} left" if space.open else ""
    return [f"  {seen}, {taken}, {count(missing)} cannot be brought about{left}"]


def _spaces(result: Conformance) -> list[str]:
    """How many bound actions were taken, and of each of several spaces how much was seen."""
    actions = result.bound_actions
    if not actions:
        return []
    never = [label for label, one in actions.items() if not one.taken]
    lines = [f"  {count(len(actions) - len(never))} of {plural(len(actions), 'bound action')} taken"]
    lines += [f"    never: {label}" for label in never]
    if not result.spaces:
        return lines
    width = max(map(len, result.spaces))
    lines += ["", f"{'budgets':{width}} {'states':>9} {'seen':>9} {'transitions':>12} {'taken':>9}"]
    figures = "{:{}} {:>9} {:>9} {:>12} {:>9}"
    for name, space in result.spaces.items():
        numbers = map(count, (space.states, space.visited, space.transitions, space.taken))
        lines.append(figures.format(name, width, *numbers))
    return lines


def _transitions(result: Conformance) -> list[str]:
    taken = result.coverage.transitions
    width = max(map(len, taken), default=0)
    lines = [f"{'action':{width}} {'transitions':>12}"]
    lines += [f"{name:{width}} {count(number):>12}" for name, number in taken.items()]
    return [*lines, f"{'all':{width}} {count(sum(taken.values())):>12}", ""]


def _gaps(result: Conformance) -> list[str]:
    if not result.gaps:
        return []
    expected = {gap: number for gap, number in result.gaps.items() if gap not in result.unexpected}
    lines = []
    for title, gaps in (("not schedulable:", expected), (_UNEXPECTED, result.unexpected)):
        told = [f"{count(number):>7}  {action}: {why}" for (action, why), number in gaps.items()]
        lines += [title, *told, ""] if told else []
    return lines


def _refused(result: Conformance) -> list[str]:
    refused = sorted(result.coverage.refused.items())
    if not refused:
        return []
    return ["asked though forbidden:", *(f"{count(number):>7}  {action}" for action, number in refused), ""]


def _figures(result: Conformance) -> str:
    coverage, spent = result.coverage, result.seconds
    speed = f", {rate(coverage.steps / spent, 'steps')}" if spent else ""
    made = "cluster" if isinstance(result.model, Cluster) else "quorum"
    own = f"{count(coverage.own_steps)} by Kafka itself"
    compared = f"{plural(coverage.fields, 'field')} compared, {plural(coverage.opened, made)} made"
    return f"{plural(coverage.steps, 'step')} ({own}), {compared} in {seconds(spent)}{speed}"


def conformances_json(results: Sequence[Conformance], file: Path | None) -> str:
    """Return the object for the parts of a comparison."""
    last = results[-1]
    told: ConformanceObject = {
        "verdict": worst_of(results).value,
        "kafka": last.kafka,
        "model": last.model.name,
        "parts": {_part(result): _entry(result) for result in results},
        "difference": None if last.difference is None else replay_entry(last.difference),
        "trace_file": None if file is None else str(file),
    }
    return json.dumps(told, ensure_ascii=False)


def worst_of(results: Sequence[Conformance]) -> Conforming:
    """Return the verdict of all parts together."""
    severity = (Conforming.AGREES, Conforming.INCOMPLETE, Conforming.DIVERGES)
    return max((result.verdict for result in results), key=severity.index)


def _entry(result: Conformance) -> ConformancePart:
    coverage, space = result.coverage, result.space
    entry: ConformancePart = {
        "verdict": result.verdict.value,
        "bounds": dict(result.model.identity),
        "walks": result.walks,
        "seed": result.seed,
        "steps": coverage.steps,
        "own_steps": coverage.own_steps,
        "fields": coverage.fields,
        "transitions": coverage.transitions,
        "not_schedulable": [
            {"action": gap[0], "reason": gap[1], "transitions": number, "expected": gap not in result.unexpected}
            for gap, number in result.gaps.items()
        ],
        "asked_though_forbidden": dict(sorted(coverage.refused.items())),
        "failed_walk": result.failed_walk,
        "failed_walk_length": result.failed_walk_length,
        "repeats": result.repeats,
        "stopped_by": result.stopped_by,
        "seconds": round(result.seconds, 3),
    }
    if space is not None:
        entry["space"] = asdict(space)
        entry["bound_actions"] = {label: asdict(one) for label, one in result.bound_actions.items()}
        entry["spaces"] = {name: asdict(one) for name, one in result.spaces.items()}
    return entry
