"""What the commands say of step invariants, of a confined search, and of states without a step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Insync = Callable[..., Any]

SUPPORT = Path(__file__).parent.parent / "support"
PLANE, LADDER = f"{SUPPORT}/insync_confined.py:Plane", f"{SUPPORT}/insync_confined.py:Ladder"
VOTES = f"{SUPPORT}/insync_steps.py:Votes"


def test_a_bad_step_is_the_last_of_the_grid(insync: Insync, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    code, out, _ = insync("check", VOTES, "--quiet", "--trace", file)
    assert code == 1
    assert "violated: terms_grow (trace of 4 states); 6 states seen, depth 3" in out
    assert [line.split() for line in out.splitlines() if line.startswith((" 2 ", " 3 "))] == [
        ["2", "v1", "votes", "2"],
        ["3", "v1", "forgets", "0"],
    ]
    assert "before.term[v1] <= after.term[v1] does not hold" in out
    code, again, _ = insync("replay", file, "--model", VOTES)
    assert code == 0
    assert "terms_grow fails after 3 steps" in again


def test_a_step_invariant_is_listed_and_may_be_asked_for(insync: Insync) -> None:
    code, out, _ = insync("list", VOTES)
    assert code == 0
    assert "terms_grow*" in out
    assert "No term becomes smaller." in out
    code, out, _ = insync("check", VOTES, "--property", "one_at_a_time", "--json")
    assert (code, json.loads(out)["verdict"]) == (0, "holds")


def test_a_property_of_steps_is_none_of_runs(insync: Insync) -> None:
    code, _, err = insync("liveness", VOTES, "--property", "terms_grow")
    assert code == 2
    about = "terms_grow is about steps, not about runs: `insync check` with the same model, the same bounds and "
    assert f"{about}--property terms_grow decides it." in err


def test_a_confined_search_says_so(insync: Insync) -> None:
    code, out, _ = insync("check", PLANE, "--quiet")
    assert code == 0
    assert "holds: below_five within near in all 10 states, depth 4\n" in out
    assert "  within near: 5 states outside were checked, and no step was taken from them\n" in out
    assert "every state has a step" in out


def test_a_graph_is_confined_and_says_so(insync: Insync, tmp_path: Path) -> None:
    pytest.importorskip("networkx")
    line = ("export", PLANE, "--to", "dot")
    file = tmp_path / "plane.dot"
    code, out, _ = insync(*line, "-o", file, "--within", "near", "--within", "flat", "--quiet")
    assert (code, out.splitlines()[1]) == (0, "  within near and flat: no step is taken from states outside")
    assert out.splitlines()[0].endswith("plane.dot: 12 states, 14 steps")
    whole = json.loads(insync(*line, "--within", "none", "--json").out)
    assert whole["files"]["plane.dot"].count("[label=") == 49 + file.read_text().count(" -> ") + 70


def test_the_object_has_what_it_was_confined_to(insync: Insync) -> None:
    result = json.loads(insync("check", PLANE, "--within", "near", "--within", "flat", "--json").out)
    assert (result["within"], result["outside"], result["distinct_states"]) == (["near", "flat"], 5, 7)
    result = json.loads(insync("check", PLANE, "--within", "none", "--property", "none", "--json").out)
    assert (result["within"], result["outside"], result["distinct_states"]) == ([], 0, 49)


@pytest.mark.slow_for("command1")
@pytest.mark.parametrize("command", [("simulate", "--walks", 50), ("mutate",), ("prove", "--induction")])
def test_the_other_commands_are_confined_as_well(insync: Insync, command: tuple[object, ...]) -> None:
    if command[0] == "prove":
        pytest.importorskip("z3")
    _, out, _ = insync(command[0], PLANE, *command[1:], "--quiet")
    assert "  within near: no step is taken from states outside\n" in out
    result = json.loads(insync(command[0], PLANE, *command[1:], "--json", "--quiet").out)
    assert result["within"] == ["near"]
    result = json.loads(insync(command[0], PLANE, *command[1:], "--within", "none", "--json", "--quiet").out)
    assert result["within"] == []


def test_agree_is_confined(insync: Insync) -> None:
    engines = ("--engine", "local-1", "--engine", "evaluator", "--quiet")
    code, out, _ = insync("agree", PLANE, *engines)
    assert code == 0
    assert "  within near: no step is taken from states outside\n" in out
    assert json.loads(insync("agree", PLANE, *engines, "--json").out)["within"] == ["near"]


def test_a_proof_within_says_so(insync: Insync) -> None:
    pytest.importorskip("z3")
    code, out, _ = insync("prove", PLANE, "--induction", "--quiet")
    assert code == 0
    assert "holds: below_five within near in every state that is reached, by induction" in out


def test_states_without_a_step_of_a_model_of_one_s_own(insync: Insync) -> None:
    _, out, _ = insync("check", LADDER, "--quiet")
    assert "2 states have no step; --property deadlock_free shows the shortest way to one\n" in out
    assert json.loads(insync("check", LADDER, "--json").out)["deadlocks"] == 2
    code, out, _ = insync("check", LADDER, "--property", "deadlock_free", "--quiet")
    assert code == 1
    assert "No action is enabled in this state: nothing happens any more." in out
    assert "have no step" not in out
    _, out, _ = insync("check", LADDER, "--max-depth", 5, "--quiet")
    assert "1 state so far has no step;" in out


def test_states_without_a_step_of_a_model_of_insync_are_in_the_object_alone(insync: Insync) -> None:
    small = ("kip320", "--replicas", 2, "--max-leader-epoch", 0)
    _, out, _ = insync("check", *small, "--quiet")
    assert "no step" not in out
    assert json.loads(insync("check", *small, "--json").out)["deadlocks"] > 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--within", "neer"), "plane has no invariant 'neer' to be within. Did you mean 'near'?"),
        (
            ("--within", "none", "--within", "near"),
            "--within none takes all steps, and --within near is there as well.",
        ),
        (("--within", "not_to_four"), "plane: within names 'not_to_four', which is about steps; name an invariant of"),
    ],
)
def test_mistakes_of_within(insync: Insync, given: tuple[str, ...], message: str) -> None:
    code, out, err = insync("check", PLANE, *given)
    assert (code, out) == (2, "")
    assert message in err
