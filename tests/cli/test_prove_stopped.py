"""`prove` and `agree` obey Ctrl-C and a limit on the time while z3 works, and print what is known by then."""

from __future__ import annotations

import importlib
import json
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from insync_process import started, wait_for

pytest.importorskip("z3")

Insync = Callable[..., Any]
FACTORS = f"{Path(__file__).parent.parent / 'support' / 'insync_proofs.py'}:Factors"
LARGE = ("--log-size", "4", "--max-records", "4", "--max-leader-epoch", "4")

AT_ONCE = 20.0
"""Seconds between Ctrl-C and the end of the process: a tenth of one on an idle machine, and hours if z3 goes on."""


AT_WORK = ("Progress: z3 is at work",)
FIVE_LEVELS = tuple(f"Progress: depth {depth}:" for depth in range(5, 60))


def interrupted(arguments: list[str], when: str | tuple[str, ...], settle: float = 1.5) -> tuple[int, str, str]:
    """Run a command, press Ctrl-C a while after a line on standard error, and require that it ends at once."""
    process = started(arguments)
    wait_for(process, when)
    time.sleep(settle)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - began < AT_ONCE
    assert "Stopping with what is complete so far" in err
    assert "Traceback" not in err
    return process.returncode, out, err


def test_ctrl_c_while_z3_works_on_an_induction(tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    code, out, _ = interrupted(["prove", FACTORS, "--induction", "--save", str(proof)], AT_WORK)
    assert code == 3
    assert "incomplete: never_found not proved\n  stopped by Ctrl-C before an answer to: find, rest\n" in out
    assert "  try_again   proved" in out
    assert json.loads(proof.read_text())["open"] == ["find", "rest"]


@pytest.mark.slow
def test_ctrl_c_while_z3_works_on_an_inference() -> None:
    code, out, _ = interrupted(["prove", FACTORS, "--infer", "--json"], AT_WORK)
    result = json.loads(out)
    assert code == 3
    assert (result["verdict"], result["induction"], result["stopped_by"]) == ("incomplete", "unknown", "interrupt")
    assert [(q["name"], q["verdict"]) for q in result["queries"]] == [("initiation", "proved"), ("try_again", "proved")]
    assert result["unanswered"] == ["find", "rest"]
    assert result["dropped"] == []


@pytest.mark.slow
def test_ctrl_c_in_a_bounded_check_says_how_deep_it_came() -> None:
    code, out, _ = interrupted(["prove", "kip320", *LARGE, "--bmc", "60", "--json"], FIVE_LEVELS)
    result = json.loads(out)
    assert code == 3
    assert (result["verdict"], result["stopped_by"]) == ("incomplete", "interrupt")
    assert result["complete_depth"] >= 5
    assert len(result["queries"]) == result["complete_depth"]


@pytest.mark.slow
def test_ctrl_c_while_lemmas_are_proved_for_a_bounded_check() -> None:
    arguments = ["prove", FACTORS, "--bmc", "3", "--lemma", "never_found"]
    code, out, _ = interrupted(arguments, AT_WORK)
    assert code == 3
    assert "incomplete: stopped by Ctrl-C at depth 1" in out
    assert "assuming" not in out, "a lemma that is not proved is not used"


@pytest.mark.slow
def test_ctrl_c_in_agree_keeps_what_the_engines_before_z3_found() -> None:
    engines = ["--engine", "local-1", "--engine", "z3", "--engine", "local-2", "--z3-depth", "60"]
    small = ["--replicas", "3", "--log-size", "1", "--max-records", "1", "--max-leader-epoch", "1"]
    code, out, _ = interrupted(["agree", "kip320", *small, *engines, "--json"], "local-1: holds", settle=4)
    result = json.loads(out)
    assert code == 3
    assert result["stopped_by"] == "interrupt"
    assert result["differences"] == []
    local, z3, after = result["engines"]
    assert (local["verdict"], z3["verdict"], after["verdict"]) == ("holds", "incomplete", None)
    assert (z3["stopped_by"], after["stopped_by"]) == ("interrupt", "interrupt")
    assert z3["note"].startswith("unknown beyond ")


@pytest.mark.slow
def test_a_limit_on_the_time_is_one_for_the_whole_run(insync: Insync) -> None:
    began = time.monotonic()
    code, out, _ = insync("prove", FACTORS, "--induction", "--max-seconds", 2, "--quiet")
    assert time.monotonic() - began < 40
    assert code == 3
    # z3 may give up on the first of them by itself, just before the time is up for all.
    assert re.search(r"stopped by the limit on the time \(--max-seconds\) before an answer to: (find, )?rest\n", out)
    code, out, _ = insync("prove", FACTORS, "--infer", "--max-seconds", 1, "--quiet", "--json")
    assert (code, json.loads(out)["stopped_by"]) == (3, "time")
    code, out, _ = insync("prove", "kip320", *LARGE, "--bmc", 60, "--max-seconds", 1, "--quiet", "--json")
    assert (code, json.loads(out)["stopped_by"]) == (3, "time")


@pytest.mark.slow
def test_the_search_for_wrong_candidates_is_within_the_limits_too(
    insync: Insync, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, Any]] = []

    def refuted(*_: object, **limits: Any) -> list[object]:
        given.append(limits)
        return []

    monkeypatch.setattr(importlib.import_module("insync.explorer.prove"), "refuted_candidates", refuted)
    small = ("kip320", "--replicas", 1, "--infer", "--quiet")
    assert insync("prove", *small, "--max-seconds", 30).code == 0
    assert insync("prove", *small).code == 0
    assert given[0]["seconds"] <= 30 < given[1]["seconds"]
    assert all(isinstance(limits["stop"], Event) for limits in given)


@pytest.mark.slow
def test_a_time_for_each_query_leaves_the_others_their_own(insync: Insync) -> None:
    code, out, _ = insync("prove", FACTORS, "--induction", "--timeout", 1.5, "--quiet", "--json")
    result = json.loads(out)
    assert (code, result["stopped_by"], result["unanswered"]) == (3, None, [])
    assert {q["name"]: q["verdict"] for q in result["queries"]} == {
        "initiation": "proved",
        "try_again": "proved",
        "find": "unknown",
        "rest": "proved",
    }


@pytest.mark.slow
def test_a_violation_that_is_found_is_told_though_time_is_up(insync: Insync) -> None:
    model = ("truncate_to_high_watermark", "--replicas", 2, "--max-records", 1)
    code, out, _ = insync("prove", *model, "--bmc", 12, "--property", "strong_isr", "--max-seconds", 60, "--quiet")
    assert code == 1
    assert "violated: strong_isr" in out
