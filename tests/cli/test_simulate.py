from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from insync.cli.progress import Steps, walk_line, walk_progress
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
            "abstract_states",
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
        ("--until-saturated", 0, "--until-saturated: 0 is out of range; give a whole number of at least 1."),
        ("--until-saturated", -1, "--until-saturated: -1 is out of range; give a whole number of at least 1."),
        ("--until-saturated", 1.5, "--until-saturated: '1.5' is not a whole number; give one of at least 1."),
        ("--depth", -3, "--depth: -3 is out of range; give a whole number from 1 to 1000000."),
        ("--seed", "x", "--seed: 'x' is not a whole number; give one from 0 to 18446744073709551615."),
        ("--seed", 1 << 64, f"--seed: {1 << 64} is out of range; give a whole number from 0 to {(1 << 64) - 1}."),
    ],
)
def test_a_mistake(insync: Insync, option: str, value: object, sentence: str) -> None:
    assert insync("simulate", "kip320", option, value) == (2, "", f"Error: insync simulate: {sentence}\n")


def test_more_patience_than_walks(insync: Insync) -> None:
    for more, walks in (([], 10_000), (["--walks", 7], 7)):
        code, out, err = insync("simulate", "kip320", *more, "--until-saturated", walks)
        assert (code, out) == (2, "")
        assert err.startswith(
            f"Error: insync simulate: --until-saturated {walks} cannot come about in --walks {walks}, as the first "
        )
        assert err.count("\n") == 1


def test_only_walks_can_be_saturated(insync: Insync) -> None:
    for option in ("--until-saturated", "--abstract-states"):
        code, out, err = insync("check", "kip320", option)
        assert (code, out) == (2, "")
        assert err.startswith(f"Error: insync check has no option '{option}'. It belongs to `insync simulate`.")
        assert err.count("\n") == 1


SATURATED = ("simulate", "async_isr", "--replicas", 2, "--depth", 30, "--until-saturated", 200, "--quiet")


def test_walks_end_when_they_see_nothing_new(insync: Insync) -> None:
    results = []
    for threads in (1, 2, 3):
        code, out, _ = insync(*SATURATED, "--threads", threads, "--json")
        assert code == 3
        result = json.loads(out)
        seen = result["abstract_states"]
        assert list(seen) == ["names", "distinct", "last_new_walk", "growth"]
        assert seen["names"] == ["ISR", "leader's ISR", "pending ISR", "lag"]
        assert result["stopped_by"] == "saturation"
        assert result["walks"] == seen["last_new_walk"] + 1 + 200
        assert seen["growth"][-1] == [result["walks"], seen["distinct"]]
        results.append({key: value for key, value in result.items() if key not in ("seconds", "peak_memory_bytes")})
    assert results[1:] == results[:1] * 2
    said = insync(*SATURATED).out
    assert "  stopped by saturation (--until-saturated): the last 200 walks saw no new abstract state\n" in said
    distinct = results[0]["abstract_states"]["distinct"]
    assert f"\n{distinct} abstract states, told apart by ISR, leader's ISR, pending ISR, lag\n  " in said


def test_the_guide_tells_of_walks_that_are_saturated_and_not_complete(insync: Insync) -> None:
    command = ("simulate", "async_isr", "--json")
    ended = json.loads(insync(*command, "--until-saturated", 500).out)
    whole = json.loads(insync(*command, "--abstract-states").out)
    seen, more = (result["abstract_states"]["distinct"] for result in (ended, whole))
    assert more == seen + 1
    told = (
        f"`async_isr` ends so after {ended['walks']:,} walks with {seen} abstract states, and all {whole['walks']:,} "
        f"walks see one more."
    )
    assert told in (Path(__file__).parents[2] / "docs/guide/command-line.md").read_text()


def test_what_is_not_asked_for_is_not_counted(insync: Insync) -> None:
    assert json.loads(insync("simulate", "kip320", "--walks", 5, "--json").out)["abstract_states"] is None
    assert "abstract" not in insync("simulate", "kip320", "--walks", 5).out


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
    assert walk_line(replace(progress, abstract_states=1_363)) == (
        "Progress: 6,744,387 steps checked (6.7 million steps/s), 435,086 walks taken, 1,363 abstract states, "
        "76 MiB of memory."
    )
    with walk_progress(quiet=True) as reporter:
        assert reporter is None


def test_what_begins_takes_the_place_of_what_was_told_before(monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[str] = []
    monkeypatch.setattr(Steps, "begin", lambda self, text: began.append(text))
    with walk_progress(quiet=False, first="starting Kafka 4.3.1") as reporter:
        assert reporter is not None
        reporter(WalkProgress(0, 0, 0.0, 0, 120.0, begins="tracing the model"))
    assert began == ["starting Kafka 4.3.1", "tracing the model"]
