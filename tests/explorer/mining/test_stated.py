"""Lemmas that are stated as texts: how they are shown, and what is said of those that mean nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.explorer.mining.clauses import lemmas_in, readable, stated, texts_of
from insync.explorer.task import model_of
from insync.proofs.proof_file import Proof
from insync.properties.explain import explain
from insync.runtime.errors import UserError

LOCK = f"{Path(__file__).parents[3] / 'examples' / 'lock.py'}:FixedLock"
HELD = "for_all(Worker, lambda worker: Implies(doing[worker] == Doing.INSIDE, holder == worker))"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (HELD, "for all worker: doing[worker] == Doing.INSIDE => holder == worker"),
        ("Implies(And(a, b), Or(c, Not(d)))", "a and b => c or not d"),
        ("for_all(K, K, lambda a, c: Or(a == c, Not(p[a])))", "for all a, c: a == c or not p[a]"),
        ("Implies(Or(a, b), And(c, d))", "a or b => c and d"),
        ("And(a, Or(b, c))", "a and (b or c)"),
        ("Not(And(a, b))", "not (a and b)"),
        ("a.is_subset(b)", "a.is_subset(b)"),
    ],
)
def test_a_lemma_is_shown_as_a_sentence(text: str, shown: str) -> None:
    assert readable(text) == shown


def test_it_is_a_lemma_like_any_other() -> None:
    model = model_of(LOCK, {})
    (lemma,) = stated([HELD])
    assert (lemma.name, lemma.text) == ("mined-1", HELD)
    assert texts_of([lemma]) == {"mined-1": HELD}
    codes = model.encode({"holder": None, "doing": {"worker1": "RESTING", "worker2": "INSIDE"}})
    failure = explain(model, lemma, codes)
    assert failure is not None
    assert failure.sentence.startswith("mined-1 fails for worker = worker2: holder == worker2 does not hold")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("holder = worker1", "this is no condition"),
        ("holders == NONE", "there is no 'holders' here. Did you mean 'holder'?"),
        ("__import__('os').system('true')", "'__import__' is no word that can be called"),
        ("holder", "a condition is needed"),
        ("", "The condition is empty"),
        ("(" * 500, "this is no condition"),
        ("x" * 2000, "at most 1000 are read"),
    ],
)
def test_what_means_nothing_is_refused_with_its_place(text: str, said: str) -> None:
    proof = Proof("lock.py:FixedLock", {}, (), (), 1, "", {}, conditions=(HELD, text), file=Path("p.json"))
    with pytest.raises(UserError) as raised:
        lemmas_in(proof, model_of(LOCK, {}))
    message = str(raised.value)
    assert message.startswith("p.json: conditions[1] is no lemma about fixed_lock at these bounds. ")
    assert said in message


def test_what_is_the_same_in_all_states_may_be_stated() -> None:
    """At other bounds a lemma may say nothing, or nothing true: z3 says which."""
    proof = Proof("lock.py:FixedLock", {}, (), (), 1, "", {}, conditions=("workers == 2", "workers == 9"))
    model = model_of(LOCK, {})
    true, false = (lemma.node(model) for lemma in lemmas_in(proof, model))
    assert (true, false) == (model.program.graph.true, model.program.graph.false)
