"""Mined lemmas prove what they are mined for, or nothing is proved: z3 has the last word, whatever they are made of."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from insync.runtime.watch import Watch

pytest.importorskip("z3")

from insync.explorer import Limits, prove
from insync.explorer.mining import synthesis
from insync.explorer.mining.clauses import StatedLemma, reached_from
from insync.explorer.proof_results import ProofResult
from insync.explorer.stepping.stepper import Stepper
from insync.explorer.task import model_of
from insync.model import (
    ANY,
    Array,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Index,
    Int,
    Model,
    Not,
    State,
    StateView,
    action,
    bound,
    initial,
    invariant,
    require,
)
from insync.model.evaluator import evaluate
from insync.proofs.results import Query
from insync.runtime.errors import UserError
from insync_rewritten import proof_with

ROOT = Path(__file__).parents[3]
LOCK = f"{ROOT / 'examples' / 'lock.py'}:FixedLock"
BROKEN = f"{ROOT / 'examples' / 'lock.py'}:Lock"
QUARTERS = f"{ROOT / 'tests' / 'support' / 'insync_proofs.py'}:Quarters"


def texts(result: ProofResult) -> list[str]:
    return [lemma.text for lemma in result.lemmas if isinstance(lemma, StatedLemma)]


@pytest.fixture(scope="module")
def lock() -> ProofResult:
    return prove(LOCK, infer=True)


def test_a_model_of_ones_own_is_proved_by_mined_lemmas_alone(lock: ProofResult) -> None:
    assert prove(LOCK).verdict == "incomplete", "it takes a lemma"
    assert lock.verdict == "holds"
    assert texts(lock)
    assert len(texts(lock)) == len(lock.lemmas)
    assert lock.dropped == []
    found = lock.mined
    assert found is not None
    assert (found.enough, found.states, found.all_states, found.bounds) == (True, 8, True, {"workers": 2})
    assert found.candidates >= len(texts(lock))


def test_what_is_found_at_small_bounds_is_proved_at_those_that_are_asked_about() -> None:
    result = prove(LOCK, bounds={"workers": 4}, infer=True)
    assert result.verdict == "holds"
    assert result.mined is not None
    assert result.mined.bounds == {"workers": 2}
    assert result.result.conditions[0] == "one_inside"
    assert {query.cases for query in result.result.queries if query.name in ("look", "enter", "leave")} == {4}


def test_candidates_that_are_false_are_dropped_however_few_states_they_were_tried_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(synthesis, "MOST_STATES", 2)
    result = prove(LOCK, infer=True)
    assert result.verdict == "holds"
    assert result.mined is not None
    assert not result.mined.all_states
    assert result.mined.fallen > 0
    model = model_of(LOCK, {})
    stepper = Stepper(model)
    states, every = reached_from(stepper, model.program.initials, 100, Watch())
    assert every
    for lemma in result.lemmas:
        assert all(evaluate(lemma.node(model), codes) for codes in states)


def test_what_is_false_is_not_proved_even_if_nobody_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "MOST_STATES", 2)
    monkeypatch.setattr(sys.modules["insync.explorer.prove"], "refuted_candidates", lambda *given, **named: [])
    result = prove(BROKEN, mine=True)
    assert result.verdict == "incomplete"
    assert result.lost == ["one_inside"]


def test_a_property_that_a_reachable_state_refutes_is_not_mined_for() -> None:
    result = prove(BROKEN, mine=True)
    assert result.verdict == "incomplete"
    assert result.mined is None


def test_where_no_candidate_helps_the_step_that_none_excludes_is_told() -> None:
    result = prove(QUARTERS, infer=True)
    assert result.verdict == "incomplete"
    assert result.lost == ["never_lost"]
    found = result.mined
    assert found is not None
    assert found.open is not None
    assert found.open.name == "fall"
    assert found.open.counterexample is not None
    model = model_of(QUARTERS, {})
    before = found.open.counterexample.states.codes[0]
    for lemma in result.lemmas:
        assert evaluate(lemma.node(model), before)


def test_without_a_way_it_is_said_what_was_tried() -> None:
    assert prove(LOCK, automatic=True).tried == (
        "induction without a lemma: enter not proved",
        "lemmas mined from the model's own conditions: proved",
    )
    assert prove(BROKEN, automatic=True).tried[-1] == "no lemmas were mined, as a property fails in a reachable state"
    assert prove(QUARTERS, automatic=True).tried[-1] == "lemmas mined from the model's own conditions: not proved"


def test_it_ends_when_time_is_up() -> None:
    result = prove(LOCK, mine=True, limits=Limits(seconds=0.0))
    assert result.verdict == "incomplete"
    assert result.result.stopped_by == "time"


def test_it_ends_when_somebody_wants_it_to() -> None:
    stop, asked = threading.Event(), []

    def heard(query: Query) -> None:
        asked.append(query.name)
        if len(asked) == 5:
            stop.set()

    result = prove(f"{ROOT / 'examples' / 'tlaplus' / 'two_phase.py'}:TwoPhase", mine=True, reporter=heard, stop=stop)
    assert len(asked) == 5
    assert result.verdict == "incomplete"
    assert result.result.stopped_by == "interrupt"


class Slot(Index):
    """A place for a number."""

    size = bound("slots")


class Anyhow(Model):
    """It begins with any numbers, so no search can begin, and its property needs a lemma."""

    bounds = Bounds(slots=Bound(4, 1, 8, "places"))

    def declare(self, b: BoundValues) -> State:
        return State(number=Array(Slot, Int(0, 10_000)), paused=Bool, lost=Bool)

    @initial
    def any_numbers(self, s: StateView) -> None:
        """Begin with anything."""
        s.number = dict.fromkeys(self.all(Slot), ANY)

    @action
    def lose(self, s: StateView) -> None:
        """Lose all where it is paused, which it never is."""
        require(s.paused)
        s.lost = True

    @invariant
    def kept(self, s: StateView) -> Condition:
        """Nothing is lost."""
        return Not(s.lost)


def test_where_no_search_can_begin_nothing_is_mined() -> None:
    found = prove(Anyhow(), mine=True).mined
    assert found is not None
    assert (found.states, found.candidates, found.lemmas) == (0, 0, ())


# ----------------------------------------------------------------------------------------------------------- the file


def test_a_proof_with_mined_lemmas_is_checked_again(lock: ProofResult, tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    lock.save(path)
    saved = json.loads(path.read_text())
    assert saved["lemmas"] == []
    assert saved["conditions"] == texts(lock)
    again = prove(LOCK, proof=path)
    assert again.verdict == "holds"
    assert texts(again) == texts(lock)
    assert prove(LOCK, bounds={"workers": 3}, proof=path).verdict == "holds"
    assert prove(LOCK, proof=path, infer=True).mined is None, "they are enough"


@pytest.mark.parametrize(
    "conditions", [["holder == NONE"], ["for_all(Worker, lambda worker: doing[worker] == Doing.RESTING)"], ["true"], []]
)
def test_nothing_in_a_file_is_believed(lock: ProofResult, tmp_path: Path, conditions: Sequence[str]) -> None:
    path = tmp_path / "proof.json"
    lock.save(path)
    path.write_text(proof_with(path.read_text(), {"conditions": conditions}))
    assert prove(LOCK, proof=path).verdict != "holds"


def test_open_bounds_take_no_lemmas_that_were_mined_at_some(lock: ProofResult, tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    lock.save(path)
    with pytest.raises(UserError, match="has mined lemmas, which are about its bounds"):
        prove(LOCK, proof=path, unbounded=True)
