"""What `insync kafka conform` says, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from insync.cli.show.figures import count, plural, rate, seconds
from insync.cli.show.kafka_replay_report import describe_replay, replay_json
from insync.cli.show.report import STOPPED_BY
from insync.conformance.conform import Conformance, Conforming
from insync.conformance.coverage import Coverage
from insync.explorer.ask import shown_bounds
from insync.explorer.traces.grid import Paint, Tone, describe_bounds

__all__ = ["conformance_json", "describe_conformance"]

_TONES = {Conforming.AGREES: Tone.GOOD, Conforming.DIVERGES: Tone.BAD, Conforming.INCOMPLETE: Tone.OPEN}


def describe_conformance(result: Conformance, file: Path | None, paint: Paint, width: int) -> str:
    """Return the report; `file` is where the trace of the difference was written."""
    lines = [
        f"cluster   {describe_bounds(shown_bounds(result.model))}",
        _verdict(result, paint),
        *([] if result.stopped_by is None else [f"  stopped by {STOPPED_BY[result.stopped_by]}"]),
        "",
        *_figures(result.coverage, result.seconds),
    ]
    if result.difference is not None:
        lines += ["", describe_replay(result.difference, result.model, paint, width)]
    if file is not None:
        lines += ["", f"Again: insync kafka replay {file} --kafka {result.kafka}"]
    return "\n".join(lines)


def _verdict(result: Conformance, paint: Paint) -> str:
    walked = f"{plural(result.walks, 'walk')}, seed {result.seed}"
    head = paint(f"{result.verdict.value} with Kafka {result.kafka}", _TONES[result.verdict])
    if result.difference is None:
        return f"{head}: no difference in {walked}"
    long, short = plural(result.failed_walk_length or 0, "step"), plural(result.difference.steps, "step")
    return f"{head}: in walk {count(result.failed_walk or 0)} ({walked}); {long}, shortened to {short}"


def _figures(coverage: Coverage, spent: float) -> list[str]:
    taken = coverage.transitions
    width = max(map(len, taken), default=0)
    lines = [f"{'action':{width}} {'transitions':>12}"]
    lines += [f"{name:{width}} {count(number):>12}" for name, number in taken.items()]
    lines += [f"{'all':{width}} {count(sum(taken.values())):>12}", ""]
    if gaps := coverage.gaps:
        lines += ["not schedulable:"]
        lines += [f"{count(number):>7}  {action}: {why}" for (action, why), number in gaps.items()]
        lines += [""]
    speed = f", {rate(coverage.steps / spent, 'steps')}" if spent else ""
    own = f"{count(coverage.own_steps)} by Kafka itself"
    compared = f"{plural(coverage.fields, 'field')} compared, {plural(coverage.opened, 'cluster')} made"
    return [*lines, f"{plural(coverage.steps, 'step')} ({own}), {compared} in {seconds(spent)}{speed}"]


def conformance_json(result: Conformance, file: Path | None) -> str:
    """Return the object for a comparison."""
    coverage, difference = result.coverage, result.difference
    return json.dumps(
        {
            "verdict": result.verdict.value,
            "kafka": result.kafka,
            "model": "cluster",
            "bounds": dict(result.model.identity),
            "walks": result.walks,
            "seed": result.seed,
            "steps": coverage.steps,
            "own_steps": coverage.own_steps,
            "fields": coverage.fields,
            "transitions": coverage.transitions,
            "not_schedulable": [
                {"action": action, "reason": why, "transitions": number}
                for (action, why), number in coverage.gaps.items()
            ],
            "failed_walk": result.failed_walk,
            "failed_walk_length": result.failed_walk_length,
            "difference": None if difference is None else json.loads(replay_json(difference)),
            "trace_file": None if file is None else str(file),
            "stopped_by": result.stopped_by,
            "seconds": round(result.seconds, 3),
        },
        ensure_ascii=False,
    )
