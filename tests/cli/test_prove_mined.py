"""`insync prove` with lemmas that are mined: what it prints and writes, and what it says of mistakes in a file."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.cli.main import run
from insync_rewritten import proof_with

pytest.importorskip("z3")

Insync = Callable[..., Any]

ROOT = Path(__file__).parents[2]
LOCK = f"{ROOT / 'examples' / 'lock.py'}:FixedLock"
QUARTERS = f"{ROOT / 'tests' / 'support' / 'insync_proofs.py'}:Quarters"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A proof with mined lemmas, and what was printed when it was found."""
    path, printed = tmp_path_factory.mktemp("mined") / "proof.json", io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert run(["prove", LOCK, "--infer", "--save", str(path), "--quiet"]) == 0
    return path, printed.getvalue()


def test_lemmas_are_shown_as_sentences(saved: tuple[Path, str]) -> None:
    path, out = saved
    assert "holds: one_inside in every reachable state, by induction\n" in out
    assert "true of all 8 reachable states (workers 2)" in out
    assert "    mined-1: for all worker: " in out
    assert "dropped" not in out
    assert f" --lemmas {path}\n" in out


def test_the_file_is_checked_again(insync: Insync, saved: tuple[Path, str]) -> None:
    result = json.loads(insync("prove", LOCK, "--lemmas", saved[0], "--quiet", "--json").out)
    assert (result["verdict"], result["lemmas"], result["mined"]) == ("holds", ["mined-1"], None)
    assert list(result["conditions"].values()) == json.loads(saved[0].read_text())["conditions"]


def test_what_mining_came_to_is_told_to_scripts_and_a_step_to_people(insync: Insync) -> None:
    code, out, _ = insync("prove", QUARTERS, "--mine", "--quiet")
    assert code == 3
    assert "fall, after a good state that all candidates allow, breaks never_lost:\n" in out
    assert "\n\nqueries without never_lost, about whether values stay in their domains:\n  initiation " in out
    assert out.endswith("\n\nIf state 0 cannot be reached, say why as another @invariant, and prove both.\n")
    result = json.loads(insync("prove", QUARTERS, "--mine", "--quiet", "--json").out)
    told = result["mined"]
    assert (told["candidates"], told["states"], told["all_states"]) == (1, 15, True)
    assert told["open"]["counterexample"]["failing"] == ["never_lost"]


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        (
            ["nobody == NONE"],
            "proof.json: conditions[0] is no lemma about fixed_lock at these bounds. 'nobody'",
        ),
        (["holder == NONE", "open('x')"], "'open' is no word that can be called"),
        ([3], "conditions is 3; expected a condition, as a text"),
        ("holder == NONE", 'conditions is "holder == NONE"; expected a list of conditions'),
    ],
)
def test_a_mistake_in_a_file_gets_a_sentence(
    insync: Insync, saved: tuple[Path, str], tmp_path: Path, conditions: object, said: str
) -> None:
    path = tmp_path / "proof.json"
    path.write_text(proof_with(saved[0].read_text(), {"conditions": conditions}))
    code, out, err = insync("prove", LOCK, "--lemmas", path)
    assert (code, out) == (2, "")
    assert err.startswith("Error: ")
    assert said in err
    assert "Traceback" not in err


def test_mining_is_a_way_of_its_own(insync: Insync) -> None:
    code, _, err = insync("prove", LOCK, "--mine", "--infer")
    assert code == 2
    assert "--infer and --mine are different ways to prove. Give one of them." in err
