"""A proof is about a model with its settings: they are kept in the file, and by the search for lemmas."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from insync.cli.main import run
from insync.explorer.mining.clauses import small_instance
from insync.model.catalogue import find_model

pytest.importorskip("z3")

GUARDED = '''
from insync.model import Bound, Bounds, Int, Model, Setting, Settings, State, Switch, action, invariant, require


class Guarded(Model):
    """A counter that stays low with a guard, and does not without."""

    bounds = Bounds(top=Bound(3, 3, 9, "most"))
    settings = Settings(guard=Setting(Switch.OFF, "whether the counter is guarded"))
    headline = ("low",)

    def declare(self, b):
        return State(count=Int(0, 9))

    @action
    def increase(self, s):
        """Count one more."""
        require(s.count < (2 if self.b.settings.guard else self.b.top))
        s.count += 1

    @invariant
    def low(self, s):
        """The counter is below three."""
        return s.count < 3
'''

Prove = Callable[..., tuple[int, str, str]]


@pytest.fixture
def guarded(tmp_path: Path) -> str:
    """The model, as the command line names it."""
    file = tmp_path / "guarded.py"
    file.write_text(GUARDED)
    return f"{file}:Guarded"


@pytest.fixture
def prove(capsys: pytest.CaptureFixture[str]) -> Prove:
    """Run the command in this process."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = run(["prove", *map(str, arguments), "--quiet"])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_the_property_holds_with_the_setting_and_fails_without(prove: Prove, guarded: str) -> None:
    assert prove(guarded, "--guard", "on", "--induction")[0] == 0
    assert prove(guarded, "--guard", "off", "--bmc", 5)[0] == 1


def test_a_saved_proof_is_checked_again_with_its_settings(prove: Prove, guarded: str, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    code, out, _ = prove(guarded, "--guard", "on", "--induction", "--save", proof)
    assert code == 0
    assert f"Check again: insync prove {guarded} --lemmas {proof}" in out
    code, out, err = prove(guarded, "--lemmas", proof)
    assert (code, err) == (0, "")
    assert "guarded.py:Guarded   guard on\n" in out
    assert "holds: low in every reachable state, by induction" in out


def test_the_file_and_the_json_name_the_setting(prove: Prove, guarded: str, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    _, out, _ = prove(guarded, "--guard", "on", "--induction", "--save", proof, "--json")
    assert json.loads(out)["bounds"] == {"guard": "on", "top": 3}
    assert json.loads(proof.read_text())["bounds"] == {"guard": "on", "top": 3}


def test_an_inference_keeps_the_chosen_setting(prove: Prove, guarded: str) -> None:
    code, out, _ = prove(guarded, "--guard", "on", "--top", 9, "--infer")
    assert code == 0
    assert "holds: low in every reachable state, by induction" in out
    assert "dropped" not in out


def test_a_small_instance_is_small_in_its_sizes_alone(guarded: str) -> None:
    small = small_instance(find_model(guarded)(guard="on", top=9))
    assert small.identity == {"guard": "on", "top": 3}
