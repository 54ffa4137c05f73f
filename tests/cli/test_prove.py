"""`insync prove`: what it prints, what it writes, how it ends, and what it says of mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync_rewritten import proof_with

pytest.importorskip("z3")

Insync = Callable[..., Any]

SMALL = ("--replicas", 2, "--log-size", 1, "--max-records", 2, "--quiet")
WRONG = "followers_trail_the_high_watermark"
QUARTERS = f"{Path(__file__).parent.parent / 'support' / 'insync_proofs.py'}:Quarters"
CORRIDOR = f"{Path(__file__).parent.parent / 'support' / 'insync_proofs.py'}:Corridor"


@pytest.fixture
def proof(insync: Insync, tmp_path: Path) -> Path:
    path = tmp_path / "proof.json"
    outcome = insync("prove", "kip320", "--infer", "--save", path, *SMALL)
    assert outcome.code == 0, outcome.err
    return path


def test_inference_proves_says_what_it_dropped_and_saves(insync: Insync, tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    code, out, err = insync("prove", "kip320", "--infer", "--save", path, *SMALL)
    assert code == 0, err
    assert "holds: weak_isr, strong_isr in every reachable state, by induction" in out
    assert f"  {WRONG}, by a reachable state (replicas 2" in out
    assert f"Check again: insync prove --lemmas {path}" in out
    saved = json.loads(path.read_text())
    assert saved["bounds"]["log_size"] == 1
    assert {result["verdict"] for result in saved["results"].values()} == {"proved"}


def test_a_proof_is_checked_again_with_its_model_and_bounds(insync: Insync, proof: Path) -> None:
    code, out, _ = insync("prove", "--lemmas", proof, "--quiet", "--json")
    result = json.loads(out)
    assert (code, result["verdict"], result["induction"]) == (0, "holds", "proved")
    assert result["bounds"] == {"replicas": 2, "log_size": 1, "max_records": 2, "max_leader_epoch": 2}
    assert result["properties"] == ["weak_isr", "strong_isr"]
    assert "committed_records_are_kept" in result["lemmas"]


@pytest.mark.slow
def test_the_lemmas_of_a_proof_serve_other_bounds_and_other_models(insync: Insync, proof: Path) -> None:
    assert insync("prove", "kip320", "--lemmas", proof, "--replicas", 2, "--log-size", 2, "--quiet").code == 0
    code, out, _ = insync("prove", "kip279", "--lemmas", proof, "--quiet")
    assert code == 3
    assert "incomplete: weak_isr, strong_isr not proved; the conditions are not inductive" in out
    assert "b1 becomes follower of b2 @0" in out
    assert "become_follower, after 1 good state that need not be reachable, breaks leaders_enter" in out


@pytest.mark.slow
def test_a_proof_whose_lemmas_do_not_hold_any_more_is_refused(insync: Insync, proof: Path) -> None:
    saved = json.loads(proof.read_text())
    proof.write_text(proof_with(proof.read_text(), {"lemmas": [*saved["lemmas"], WRONG]}))
    code, out, _ = insync("prove", "--lemmas", proof, "--quiet")
    assert code == 3
    assert f"breaks {WRONG}" in out


@pytest.mark.slow
def test_what_is_not_proved_is_not_saved(insync: Insync, tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    code, _, err = insync("prove", "kip320", "--induction", "--save", path, "--quiet")
    assert code == 3
    assert not path.exists()
    assert err == f"{path} was not written: there is no proof.\n"


@pytest.mark.slow
def test_without_a_way_the_lemmas_of_the_library_are_tried_first(insync: Insync) -> None:
    code, out, _ = insync("prove", "async_isr", "--replicas", 2, "--quiet")
    assert code == 0
    assert "  tried: induction with 6 lemmas: proved\n" in out
    code, out, _ = insync("prove", "kip320", *SMALL, "--json")
    result = json.loads(out)
    assert (code, result["verdict"]) == (0, "holds")
    first, second = result["ways"]
    assert first.startswith("induction with 20 lemmas: ")
    assert first.endswith(" not proved")
    assert second == "the same without 1 lemma, dropped until the rest was inductive: proved"
    code, out, _ = insync("prove", CORRIDOR, "--quiet")
    assert code == 0
    assert "  tried: induction without a lemma: fall not proved\n" in out
    assert "  tried: lemmas mined from the model's own conditions: proved\n" in out


@pytest.mark.slow
def test_what_is_proved_when_time_is_up_is_told_and_saved(insync: Insync, tmp_path: Path) -> None:
    path = tmp_path / "part.json"
    factors = CORRIDOR.replace(":Corridor", ":Factors")
    code, out, err = insync("prove", factors, "--induction", "--max-seconds", 3, "--threads", 1, "--save", path)
    assert code == 3, err
    assert f"Not proved yet, see {path}. Try again: insync prove" in out
    saved = json.loads(path.read_text())
    assert saved["open"] == ["find", "rest"]
    assert {name: result["verdict"] for name, result in saved["results"].items()} == {
        "initiation": "proved",
        "try_again": "proved",
    }
    code, out, _ = insync("prove", factors, "--lemmas", path, "--max-seconds", 3, "--quiet")
    assert code == 3, "what a file says of itself is not believed"
    assert "incomplete: never_found not proved" in out


@pytest.mark.slow
def test_inference_that_loses_the_property_is_incomplete(insync: Insync) -> None:
    code, out, _ = insync("prove", "kip279", "--infer", *SMALL)
    assert code == 3
    assert "strong_isr not proved" in out
    assert "  with " in out


def test_a_bounded_check_shows_the_trace_and_writes_it(insync: Insync, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    model = ("truncate_to_high_watermark", "--replicas", 2, "--max-records", 1)
    code, out, _ = insync("prove", *model, "--bmc", 12, "--property", "strong_isr", "--trace", trace, "--quiet")
    assert code == 1
    searched = json.loads(insync("check", *model, "--property", "strong_isr", "--json", "--quiet").out)
    assert f"(trace of {searched['violations'][0]['trace_length']} states); there is no shorter trace" in out
    assert insync("replay", trace).code == 0


@pytest.mark.slow
def test_a_bounded_check_without_a_violation_is_incomplete(insync: Insync) -> None:
    code, out, err = insync("prove", "kip320", "--bmc", 3)
    assert code == 3
    assert "incomplete: no violation of weak_isr, strong_isr up to depth 3" in out
    assert "Progress: depth 1: none" in err
    result = json.loads(insync("prove", "kip320", "--bmc", 3, "--quiet", "--json").out)
    assert (result["verdict"], result["stopped_by"], result["complete_depth"]) == ("incomplete", "depth", 3)


@pytest.mark.slow
def test_a_bounded_check_may_use_lemmas_that_it_proves(insync: Insync) -> None:
    code, out, _ = insync("prove", "kip101", "--bmc", 3, "--infer", *SMALL)
    assert code == 3
    assert "assuming, having proved them," in out
    code, _, err = insync("prove", "kip320", "--bmc", 3, "--lemma", WRONG, *SMALL)
    assert code == 2
    assert "kip320: the lemmas are not inductive at these bounds (become_leader is not proved)" in err


def test_no_answer_in_time_is_not_a_proof(insync: Insync) -> None:
    code, out, _ = insync("prove", "kip320", "--induction", "--lemma", "all", "--timeout", 0.01, "--quiet")
    assert code == 3
    assert "unknown" in out
    assert "no answer in time" in out


def test_more_good_states_prove_more(insync: Insync, tmp_path: Path) -> None:
    assert insync("prove", CORRIDOR, "--induction", "--quiet").code == 3
    code, out, _ = insync("prove", CORRIDOR, "--induction", "--k", 2, "--quiet")
    assert code == 0
    assert "by 2-induction" in out
    path = tmp_path / "proof.json"
    assert insync("prove", CORRIDOR, "--induction", "--k", 2, "--save", path, "--quiet").code == 0
    code, out, _ = insync("prove", CORRIDOR, "--lemmas", path, "--quiet")
    assert (code, "by 2-induction" in out) == (0, True)
    assert insync("prove", CORRIDOR, "--lemmas", path, "--k", 1, "--quiet").code == 3


def test_an_inference_keeps_what_one_good_state_is_enough_for(insync: Insync) -> None:
    code, out, _ = insync("prove", QUARTERS, "--infer", "--quiet")
    assert code == 3
    assert "incomplete: never_lost not proved" in out
    assert "never_lost, by fall: " in out
    assert insync("prove", QUARTERS, "--infer", "--property", "one_is_dark", "--quiet").code == 0


def test_a_violation_that_initiation_finds_is_a_violation(insync: Insync) -> None:
    code, out, _ = insync("prove", CORRIDOR, "--induction", "--k", 2, "--property", "at_the_door", "--quiet")
    assert code == 1
    assert "violated: at_the_door (trace of 2 states), found by initiation" in out


LATE = """
from insync.model import Bool, Int, Model, Not, Or, State, action, invariant, require

class Late(Model):
    headline = ("low",)

    def declare(self, b):
        return State(n=Int(0, 5), a=Bool, b=Bool, c=Bool, d=Bool)

    @action
    def change(self, s, a: bool, b: bool, c: bool, d: bool):
        require(Or(Not(a), Not(b), Not(c), Not(d)))
        s.a, s.b, s.c, s.d = a, b, c, d

    @action
    def up(self, s):
        require(s.a, s.b, s.c, s.d)
        s.n += 1

    @invariant
    def low(self, s):
        return s.n < 5
"""


def test_a_refused_step_of_an_induction_is_not_called_initial(insync: Insync, tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LATE)
    late = f"{tmp_path}/late.py:Late"
    out = insync("prove", late, "--infer", "--property", "low", "--quiet").out
    assert "\nincomplete: low not proved\n" in out
    assert "breaks type_ok:\n\n #  step" in out
    assert "initial state" not in out
    assert "none of the properties" not in out
    assert "lemmas below" not in out


def test_what_is_kept_without_lemmas_is_said_without_them(insync: Insync) -> None:
    asked = ("--property", "never_trapped", "--property", "near_the_door")
    out = insync("prove", CORRIDOR, "--infer", "--property", "at_the_door", *asked, "--quiet").out
    assert "incomplete: at_the_door not proved; kept by every step: never_trapped, near_the_door\n" in out


RING = """
from enum import Enum

from insync.model import Bound, Bounds, Int, Model, Setting, Settings, State, action, invariant

class Pace(Enum):
    SLOW = "slow"
    EAGER = "eager"

class Ring(Model):
    headline = ("low",)
    settings = Settings(pace=Setting(Pace.SLOW, "how fast"))
    bounds = Bounds(top=Bound(2, 1, 5, "the highest"))

    def declare(self, b):
        return State(n=Int(0, b.top))

    @action
    def turn(self, s):
        s.n = 0

    @invariant
    def low(self, s):
        return s.n == 0
"""


@pytest.fixture
def ring(insync: Insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model and a proof of it under a setting and a bound that are not the defaults."""
    monkeypatch.chdir(tmp_path)
    Path("ring.py").write_text(RING)
    assert insync("prove", "ring.py:Ring", "--pace", "eager", "--top", 4, "--induction", "--save", "p.json").code == 0
    Path("below").mkdir()
    return tmp_path


def test_a_proof_finds_its_model_beside_it(insync: Insync, ring: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("below")
    code, out, err = insync("prove", "--lemmas", "../p.json", "--quiet", "--json")
    assert (code, out) == (2, "")
    assert err.endswith("name it: insync prove ../ring.py:Ring --lemmas ../p.json --quiet --json\n")
    proved = json.loads(insync("prove", "../ring.py:Ring", "--lemmas", "../p.json", "--quiet", "--json").out)
    assert (proved["verdict"], proved["bounds"]) == ("holds", {"pace": "eager", "top": 4})
    saved = insync("prove", "../ring.py:Ring", "--lemmas", "../p.json", "--save", "q.json", "--quiet").out
    assert f"Check again: insync prove {ring}/ring.py:Ring --lemmas q.json" in saved
    assert json.loads(Path("q.json").read_text())["model"] == "ring.py:Ring"


def test_what_is_not_given_of_the_same_model_is_that_of_the_proof(insync: Insync, ring: Path) -> None:
    named = ("prove", "ring.py:Ring", "--lemmas", "p.json", "--quiet", "--json")
    assert json.loads(insync(*named).out)["bounds"] == {"pace": "eager", "top": 4}
    assert json.loads(insync(*named, "--top", 3).out)["bounds"] == {"pace": "eager", "top": 3}
    (ring / "ring.py").rename("below/ring.py")
    moved = insync("prove", "below/ring.py:Ring", *named[2:])
    assert json.loads(moved.out)["bounds"] == {"pace": "eager", "top": 4}
    _, _, err = insync("prove", "--lemmas", "p.json")
    assert err == (
        "Error: p.json: this is a proof of Ring, a model in ring.py, and there is no such file. "
        "Name the file of the model: insync prove path/to/ring.py:Ring --lemmas p.json\n"
    )


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"replicas": 3, "max_offset": 2}, "bounds.max_version is missing"),
        ({"replicas": 3, "max_offset": 2, "max_version": 2, "tip": 1}, "bounds.tip is not one of the"),
    ],
)
def test_a_proof_with_other_bounds_than_its_model_is_refused(
    insync: Insync, ring: Path, bounds: dict[str, object], said: str
) -> None:
    proof = ring / "p.json"
    proof.write_text(proof_with(proof.read_text(), {"model": "async_isr", "bounds": bounds}))
    code, out, err = insync("prove", "--lemmas", "p.json")
    assert (code, out) == (2, "")
    assert err.startswith(f"Error: p.json: {said}")


@pytest.mark.parametrize("way", [("--induction", "--k", 2), ("--bmc", 1)])
def test_a_model_in_a_file_is_named_as_on_the_command_line(
    insync: Insync, monkeypatch: pytest.MonkeyPatch, way: tuple[object, ...]
) -> None:
    monkeypatch.chdir(Path(CORRIDOR).parent)
    named = "insync_proofs.py:Corridor"
    assert insync("prove", named, *way, "--quiet").out.splitlines()[0] == named
    assert json.loads(insync("prove", named, *way, "--quiet", "--json").out)["model"] == named


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "MODEL is missing"),
        (("kip320", "--bmc", 3, "--induction"), "--bmc and --induction are different ways to prove. Give one of them."),
        (("kip320", "--infer", "--k", 2), "--k belongs to --induction, not to --infer."),
        (("kip320", "--bmc", 3, "--save", "x"), "--bmc proves nothing that --save could write."),
        (("kip320", "--bmc", 0), "--bmc: 0 is out of range"),
        (("kip320", "--induction", "--lemma", "weak_irs"), "kip320 has no lemma 'weak_irs'. Did you mean 'weak_isr'?"),
        (("kip320", "--induction", "--property", "nix"), "kip320 has no property 'nix'."),
        (("--lemmas", "/no/such/file"), "/no/such/file: cannot be read"),
        (("kip320", "--infer", "--save", "/no/such/folder/x"), "/no/such/folder/x: cannot be written"),
    ],
)
def test_mistakes_get_a_sentence(insync: Insync, arguments: tuple[object, ...], message: str) -> None:
    code, out, err = insync("prove", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("Error: ")
    assert message in err
