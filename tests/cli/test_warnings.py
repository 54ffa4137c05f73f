"""What is suspicious in a model is said once in every report of it, and in every object for scripts."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Insync = Callable[..., Any]

FILE = Path(__file__).parent.parent / "support" / "insync_suspicious.py"
SEARCHES = [("check",), ("simulate", "--walks", 10, "--depth", 3), ("mutate", "--quiet", "--property", "fine")]
NOBODY = [
    "the action 'claim' never changes the state, so its steps lead nowhere.",
    "The property 'fine' can never fail, as it says no more than the domains of the fields.",
    "Python decides `s.owner is None` while the model is traced, and it never holds; write s.owner.is_none().",
]


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("arguments", SEARCHES, ids=lambda given: given[0])
def test_each_warning_is_said_once(insync: Insync, arguments: tuple[object, ...]) -> None:
    command, *more = arguments
    out = words(insync(command, f"{FILE}:Nobody", *more).out)
    assert out.count("warning: ") == 3
    assert all(sentence in out for sentence in NOBODY)
    warnings = json.loads(insync(command, f"{FILE}:Nobody", *more, "--json").out)["warnings"]
    assert [sentence for said, sentence in zip(warnings, NOBODY, strict=True) if not said.endswith(sentence)] == []


def test_an_agreement_warns(insync: Insync) -> None:
    engines = ("--engine", "evaluator", "--engine", "local-1", "--quiet")
    code, out, _ = insync("agree", f"{FILE}:Nobody", *engines)
    assert code == 0
    assert all(words(out).count(sentence) == 1 for sentence in NOBODY)
    assert len(json.loads(insync("agree", f"{FILE}:Nobody", *engines, "--json").out)["warnings"]) == 3


@pytest.mark.parametrize("way", [("--bmc", 2), ("--induction",)], ids=str)
def test_a_proof_warns(insync: Insync, way: tuple[object, ...]) -> None:
    pytest.importorskip("z3")
    out = words(insync("prove", f"{FILE}:Nobody", *way, "--quiet").out)
    assert all(out.count(sentence) == 1 for sentence in NOBODY)
    assert len(json.loads(insync("prove", f"{FILE}:Nobody", *way, "--quiet", "--json").out)["warnings"]) == 3


def test_a_decision_about_runs_warns_of_actions_and_of_no_invariant(insync: Insync) -> None:
    pytest.importorskip("networkx")
    out = words(insync("liveness", f"{FILE}:Nobody").out)
    assert [out.count(sentence) for sentence in NOBODY] == [1, 0, 1]
    assert len(json.loads(insync("liveness", f"{FILE}:Nobody", "--json").out)["warnings"]) == 2


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Inert", "inert has no action, so nothing ever happens after the initial state."),
        ("Chance", "the action 'throw' means something else when it is traced again"),
    ],
)
def test_other_models_that_are_hardly_meant(insync: Insync, name: str, sentence: str) -> None:
    code, out, _ = insync("check", f"{FILE}:{name}")
    assert (code, out.count("warning: ")) == (0, 1)
    assert sentence in words(out)


def test_a_model_that_means_what_it_says_has_no_warning(insync: Insync) -> None:
    assert "warning" not in insync("check", f"{FILE}:Meant").out
    assert json.loads(insync("check", f"{FILE}:Meant", "--json").out)["warnings"] == []


def test_a_setting_that_the_release_does_not_have(insync: Insync) -> None:
    small = ("--replicas", 2, "--records", 1, "--fencings", 0, "--isr-shrinks", 0)
    code, out, _ = insync("check", "cluster", "--release", "3.9", "--elr", "on", *small)
    assert code in (0, 1)
    assert words(out).count("warning: Kafka 3.9 has no eligible leader replicas") == 1


def test_a_cache_that_is_not_used_is_a_sentence(
    insync: Insync, tmp_path: Path, lamp: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "link"))
    warnings.resetwarnings()
    code, out, err = insync("check", lamp)
    assert (code, "violated: never_on" in out) == (1, True)
    said = "the cache folder is a link, so nothing is taken from it and nothing is kept. Name a folder of your own with"
    assert err == f"warning: {tmp_path / 'link'}: {said} INSYNC_CACHE_DIR.\n"
    assert list(tmp_path.iterdir()) == [tmp_path / "link"]
