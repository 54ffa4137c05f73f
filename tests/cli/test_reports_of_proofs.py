"""Reports of proofs and bounded checks made by hand: z3 is not asked, and each line has its reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("z3")

from insync.explorer.documents.document import Style
from insync.explorer.documents.prove import BoundedDocument, ProofDocument
from insync.explorer.proof_results import BoundedResult, ProofResult
from insync.explorer.results import Verdict
from insync.explorer.traces.trace import trace_of
from insync.model import Model
from insync.model.catalogue import class_reference
from insync.model.evaluator import Evaluator
from insync.proofs.houdini import Dropped
from insync.proofs.results import (
    Bounded,
    BoundedVerdict,
    CounterexampleToInduction,
    Induction,
    ProofVerdict,
    Query,
    StateSequence,
)
from insync.properties.registry import invariants_of
from insync.runtime.watch import StopReason
from insync_lamp import Lamp

WIDTH = 90
LAMP = Lamp(switches=1)
DARK, BROKEN = invariants_of(LAMP)["never_on"], invariants_of(LAMP)["broken_lamps_are_dark"]
FIRST = LAMP.program.initials[0]
PRESSED = Evaluator(LAMP.program).step(0, FIRST)
STATES = StateSequence((FIRST, PRESSED), (0,))
TRACE = trace_of(LAMP, "never_on", [(None, FIRST), (0, PRESSED)], "The lamp is on.", None)

FOUND = CounterexampleToInduction(STATES, None, ("never_on", "broken_lamps_are_dark"), "The lamp is on.")
BEGUN = Query("initiation", ProofVerdict.PROVED, 0.25)
KEPT = Query("press", ProofVerdict.PROVED, 12.0, cases=3)
BREAKS = Query("press", ProofVerdict.REFUTED, 0.5, counterexample=FOUND)
OPEN = Query("go_off", ProofVerdict.UNKNOWN, 1.0, reason="no answer in time")
PROVED = Induction(ProofVerdict.PROVED, 1, ("never_on",), (BEGUN, KEPT))
ATTEMPT = ProofResult(LAMP, (DARK,), (), PROVED, ())


def confined() -> Model:
    class Nearby(Lamp):
        within = ("broken_lamps_are_dark",)

    return Nearby(switches=1)


def attempt(saved: Path | None = None, *, result: Induction = PROVED, **other: Any) -> list[str]:
    made = replace(ATTEMPT, result=result, **other)
    said = ProofDocument(made, saved, [None] * len(made.traces)).text(Style(width=WIDTH)).splitlines()
    assert said[0].endswith("   switches 1")
    return said[1:]


def test_a_proof_and_its_queries() -> None:
    assert attempt() == [
        "holds: never_on in every reachable state, by induction",
        "",
        "  initiation  proved       0.25 s",
        "  press       proved       12.0 s  3 cases",
        "z3 12.2 s",
    ]
    assert attempt(properties=())[0].startswith("holds: type_ok in every reachable state")
    assert attempt(result=replace(PROVED, k=2))[0].endswith(", by 2-induction")
    assert attempt(lemmas=(BROKEN,))[1] == "  with 1 lemma: broken_lamps_are_dark"
    assert attempt(lemmas=(BROKEN, DARK))[1] == "  with 2 lemmas: broken_lamps_are_dark, never_on"


def test_a_proof_within_something_is_of_what_is_reached_then() -> None:
    assert attempt(model=confined())[:2] == [
        "holds: never_on within broken_lamps_are_dark in every state that is reached, by induction",
        "  within broken_lamps_are_dark: no step is taken from states outside",
    ]


def test_a_saved_proof_names_the_command_that_checks_it_again() -> None:
    assert attempt(Path("the proof.json"))[-2:] == [
        "",
        f"Check again: insync prove {class_reference(Lamp)} --lemmas 'the proof.json'",
    ]


def test_what_is_not_inductive_is_shown_by_a_step() -> None:
    said = attempt(result=replace(PROVED, verdict=ProofVerdict.REFUTED, queries=(BEGUN, BREAKS)))
    assert said[:6] == [
        "incomplete: never_on not proved; the conditions are not inductive",
        "  a step from a good state leads to a bad one; whether such a state is reachable is not known",
        "",
        "  initiation  proved       0.25 s",
        "  press       refuted      0.50 s",
        "z3 0.75 s",
    ]
    head = "press, after 1 good state that need not be reachable, breaks never_on,"
    assert said[7:9] == [head, "broken_lamps_are_dark:"]
    assert any("a good state" in line for line in said[9:])
    assert said[-3:] == [
        "The lamp is on.",
        "",
        "If state 0 cannot be reached, say why as another @invariant, and prove both.",
    ]
    twice = attempt(result=replace(PROVED, k=2, verdict=ProofVerdict.REFUTED, queries=(BEGUN, BREAKS)))
    assert twice[7].startswith("press, after 2 good states that need not")


def test_what_initiation_finds_is_a_violation() -> None:
    said = attempt(result=replace(PROVED, verdict=ProofVerdict.REFUTED), traces=(TRACE,))
    assert said[0] == "violated: never_on (trace of 2 states), found by initiation"
    assert said[-1] == "The lamp is on."


def test_an_answer_that_is_missing_is_named() -> None:
    unknown = replace(PROVED, verdict=ProofVerdict.UNKNOWN, queries=(BEGUN, OPEN))
    assert attempt(result=unknown)[0] == ("incomplete: never_on not proved; go_off is unknown (no answer in time)")
    assert attempt(result=unknown)[3] == "  go_off      unknown      1.00 s  no answer in time"
    stopped = replace(unknown, queries=(BEGUN,), unanswered=("press", "go_off"), stopped_by=StopReason.TIME)
    assert attempt(result=stopped)[:2] == [
        "incomplete: never_on not proved",
        "  stopped by the limit on the time (--max-seconds) before an answer to: press, go_off",
    ]
    refuted = replace(stopped, verdict=ProofVerdict.REFUTED)
    assert attempt(result=refuted)[0].endswith("not proved; the conditions are not inductive")


def test_what_an_inference_lost_and_dropped() -> None:
    lost: dict[str, Any] = {"lost": ("whole",), "dropped": (Dropped("whole", "press", "It breaks " + "now " * 20),)}
    said = attempt(**lost)
    assert said[0] == "incomplete: whole not proved; kept by every step: never_on"
    at = said.index("dropped:")
    assert said[at + 1].startswith("  whole, by press: It breaks now now")
    assert said[at + 2].startswith("    now")
    assert attempt(**lost, lemmas=(BROKEN,))[0] == (
        "incomplete: whole not proved; kept by every step, with the lemmas below: never_on"
    )
    assert attempt(**lost, properties=())[0] == "incomplete: whole not proved"
    unknown = replace(PROVED, verdict=ProofVerdict.UNKNOWN, queries=(BEGUN, OPEN))
    assert attempt(**lost, result=unknown)[0] == "incomplete: whole not proved"


# ------------------------------------------------------------------------------------------------------ bounded checks

DEPTHS = (Query("depth 1", ProofVerdict.PROVED, 0.25), Query("depth 2", ProofVerdict.REFUTED, 0.5))
NONE = Bounded(BoundedVerdict.NONE_WITHIN, 1, (), (), DEPTHS[:1])
SEARCH = BoundedResult(LAMP, (DARK,), (), NONE, ())


def search(result: Bounded = NONE, **other: Any) -> list[str]:
    made = replace(SEARCH, result=result, **other)
    return BoundedDocument(made, [None] * len(made.traces)).text(Style(width=WIDTH)).splitlines()[1:]


def test_a_bounded_check_without_a_violation_proves_nothing() -> None:
    assert search() == [
        "incomplete: no violation of never_on up to depth 1",
        "  longer traces were not looked at, and nothing is proved of them",
        "",
        "  depth 1  none         0.25 s",
        "z3 0.25 s",
    ]
    assert search(properties=())[0] == "incomplete: no violation of type_ok up to depth 1"
    said = search(lemmas=(BROKEN,), model=confined())
    assert said[2:4] == [
        "  within broken_lamps_are_dark: no step is taken from states outside",
        "  assuming, having proved them, 1 lemma: broken_lamps_are_dark",
    ]


def test_a_bounded_check_that_finds_something() -> None:
    said = search(Bounded(BoundedVerdict.VIOLATED, 1, ("never_on",), (STATES,), DEPTHS), traces=(TRACE,))
    assert said[:5] == [
        "violated: never_on (trace of 2 states); there is no shorter trace",
        "",
        "  depth 1  none         0.25 s",
        "  depth 2  violation    0.50 s",
        "z3 0.75 s",
    ]
    assert said[-1] == "The lamp is on."


def test_a_bounded_check_that_ends_early() -> None:
    rest = "  no violation of never_on up to depth 1; longer traces were not looked at"
    assert search(replace(NONE, verdict=BoundedVerdict.UNKNOWN, stopped_by=StopReason.INTERRUPT))[:2] == [
        "incomplete: stopped by Ctrl-C at depth 2", rest,
    ]  # fmt: skip
    unsure = Query("depth 2", ProofVerdict.UNKNOWN, 0.5, reason="z3 says: too hard")
    said = search(replace(NONE, verdict=BoundedVerdict.UNKNOWN, queries=(*DEPTHS[:1], unsure)))
    assert said[:2] == ["incomplete: unknown at depth 2 (z3 says: too hard)", rest]
    assert said[4] == "  depth 2  unknown      0.50 s  z3 says: too hard"


# --------------------------------------------------------------------------------------------------------- for scripts


def test_an_attempt_for_scripts(tmp_path: Path) -> None:
    result = Induction(ProofVerdict.REFUTED, 2, ("never_on",), (BEGUN, BREAKS), ("go_off",), StopReason.TIME)
    made = replace(
        ATTEMPT, result=result, traces=(TRACE,), lemmas=(BROKEN,), lost=("whole",), dropped=(Dropped("a", "b", "c"),)
    )
    found: dict[str, Any] = {**ProofDocument(made, tmp_path / "p.json", [Path("t.json")]).data()}
    assert found["model"].endswith("insync_lamp.py:Lamp")
    assert found["engine_version"]
    first, second = found["queries"]
    assert first == {
        "name": "initiation", "verdict": "proved", "seconds": 0.25, "cases": 1, "reason": "", "counterexample": None,
    }  # fmt: skip
    assert second["counterexample"]["failing"] == ["never_on", "broken_lamps_are_dark"]
    assert second["counterexample"]["reason"] == "The lamp is on."
    steps = second["counterexample"]["steps"]
    assert [(step["action"], step["parameters"], step["state"]["light"]) for step in steps] == [
        (None, {}, "OFF"), ("press", {"switch": "s1"}, "ON"),
    ]  # fmt: skip
    left = {"model", "engine_version", "queries", "warnings"}
    assert {name: value for name, value in found.items() if name not in left} == {
        "bounds": {"switches": 1, "presses": 2}, "engine": "z3", "properties": ["never_on"],
        "lemmas": ["broken_lamps_are_dark"], "within": [], "method": "induction", "verdict": "violated",
        "induction": "refuted", "k": 2, "stopped_by": "time", "unanswered": ["go_off"], "ways": [],
        "not_proved": ["whole"],
        "dropped": [{"name": "a", "by": "b", "reason": "c"}],
        "violations": [
            {"property": "never_on", "trace_length": 2, "reason": "The lamp is on.", "demands": [],
             "trace": "t.json"}
        ],
        "proof": str(tmp_path / "p.json"), "seconds": 0.75, "unbounded": [], "conditions": {}, "mined": None,
    }  # fmt: skip
    found = dict(ProofDocument(ATTEMPT).data())
    assert (found["proof"], found["violations"], found["stopped_by"]) == (None, [], None)


@pytest.mark.parametrize(
    ("verdict", "stopped_by", "said"),
    [
        (BoundedVerdict.NONE_WITHIN, None, "depth"),
        (BoundedVerdict.UNKNOWN, None, "unknown"),
        (BoundedVerdict.UNKNOWN, StopReason.INTERRUPT, "interrupt"),
        (BoundedVerdict.VIOLATED, None, None),
    ],
)
def test_a_bounded_check_for_scripts(verdict: BoundedVerdict, stopped_by: StopReason | None, said: str | None) -> None:
    traces = (TRACE,) if verdict is BoundedVerdict.VIOLATED else ()
    made = replace(SEARCH, result=replace(NONE, verdict=verdict, stopped_by=stopped_by), traces=traces)
    found: dict[str, Any] = {**BoundedDocument(made, [None] * len(traces)).data()}
    assert found["stopped_by"] == said
    assert (found["method"], found["complete_depth"], found["seconds"]) == ("bmc", 1, 0.25)
    assert found["verdict"] == (Verdict.VIOLATED if traces else Verdict.INCOMPLETE)
    assert [query["name"] for query in found["queries"]] == ["depth 1"]
    assert [one["property"] for one in found["violations"]] == ["never_on"] * len(traces)
