from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.cli.show.progress import walk_line, walk_progress
from insync.explorer.progress import WalkProgress

Insync = Callable[..., Any]
FAILS = (
    "simulate",
    "kip101",
    "--replicas",
    2,
    "--walks",
    100_000,
    "--depth",
    60,
    "--seed",
    1,
    "--property",
    "strong_isr",
)


def test_a_walk_that_fails_is_shortened_and_replays(insync: Insync, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    code, out, err = insync(*FAILS, "--trace", path)
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0] == "kip101   replicas 2"
    assert lines[1].startswith("violated: strong_isr in walk ")
    assert lines[1].endswith(" of up to 60 steps, seed 1)")
    assert "shortened to a trace of" in lines[2]
    assert "ended in a state without a step" in out
    assert lines[-1] == f"Replay: insync replay {path}"
    assert insync("replay", path).code == 0


def test_walks_prove_nothing(insync: Insync) -> None:
    code, out, err = insync("simulate", "kip320", "--walks", 500, "--depth", 20, "--quiet")
    assert (code, err) == (3, "")
    assert "incomplete: no violation of weak_isr, strong_isr in 500 walks of up to 20 steps, seed 0; walks prove" in out
    assert "holds" not in out


def test_the_object_for_scripts_depends_on_the_seed_alone(insync: Insync) -> None:
    results = []
    for threads in (1, 2):
        code, out, _ = insync(*FAILS, "--threads", threads, "--json")
        assert code == 1
        assert out.count("\n") == 1
        result = json.loads(out)
        assert list(result) == [
            "model",
            "bounds",
            "verdict",
            "stopped_by",
            "seed",
            "strategy",
            "depth",
            "walks",
            "steps",
            "walk_lengths",
            "failed_walk",
            "failed_walk_length",
            "properties",
            "violations",
            "actions",
            "not_taken",
            "within",
            "warnings",
            "seconds",
            "peak_memory_bytes",
        ]
        assert result["steps"] == sum(result["actions"].values())
        assert result["violations"][0]["trace_length"] <= result["failed_walk_length"]
        results.append({key: value for key, value in result.items() if key not in ("seconds", "peak_memory_bytes")})
    assert results[0] == results[1]


def test_a_limit_on_the_time(insync: Insync) -> None:
    code, out, _ = insync("simulate", "kip320", "--walks", 10**9, "--max-seconds", 0.05)
    assert code == 3
    assert "stopped by the limit on the time (--max-seconds)" in out


def test_a_refused_step(insync: Insync, lamp: str) -> None:
    code, out, _ = insync("simulate", lamp, "--property", "none")
    assert code == 1
    assert "violated: type_ok in walk " in out
    assert "is pressed (refused)" in out


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--walks", 0, "--walks: 0 is out of range; give a whole number of at least 1."),
        ("--depth", -3, "--depth: -3 is out of range; give a whole number from 1 to 1000000."),
        ("--seed", "x", "--seed: 'x' is not a whole number; give one from 0 to 18446744073709551615."),
        ("--seed", 1 << 64, f"--seed: {1 << 64} is out of range; give a whole number from 0 to {(1 << 64) - 1}."),
    ],
)
def test_a_mistake(insync: Insync, option: str, value: object, sentence: str) -> None:
    assert insync("simulate", "kip320", option, value) == (2, "", f"Error: insync simulate: {sentence}\n")


def test_help_shows_what_check_does_not_have(insync: Insync) -> None:
    code, out, _ = insync("simulate", "kip320", "--help")
    assert code == 0
    for option in ("--walks", "--depth", "--seed", "--max-seconds", "--replicas 1..7"):
        assert f"  {option}" in out


def test_progress_counts_walks_and_steps() -> None:
    progress = WalkProgress(walks=435_086, steps=6_744_387, steps_per_second=6.7e6, memory_bytes=76 << 20, seconds=1.0)
    assert walk_line(progress) == (
        "Progress: 6,744,387 steps checked (6.7 million steps/s), 435,086 walks taken, 76 MiB of memory."
    )
    with walk_progress(quiet=True) as reporter:
        assert reporter is None
