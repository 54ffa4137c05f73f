"""The lemmas of async_isr are true where all states can be looked at, and prove the property where nobody can."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.model.catalogue import find_model
from insync.properties.registry import judge, lemmas_of

pytest.importorskip("z3")

from insync.proofs.k_induction import check_induction
from insync.proofs.results import ProofVerdict

ASYNC_ISR = find_model("async_isr")


@pytest.mark.parametrize("bounds", [(3, 2, 2), (4, 1, 2), (2, 3, 4)])
def test_every_lemma_is_true_in_every_reachable_state(bounds: tuple[int, int, int]) -> None:
    model = ASYNC_ISR(**dict(zip(("replicas", "max_offset", "max_version"), bounds, strict=True)))
    assert check(model, properties=list(lemmas_of(model))).verdict == "holds"


def proof_of(replicas: int, most: int) -> ProofVerdict:
    model = ASYNC_ISR(replicas=replicas, max_offset=most, max_version=most)
    return check_induction(model, [*judge(model).invariants, *lemmas_of(model).values()]).verdict


@pytest.mark.slow
def test_the_high_watermark_is_proved_valid_far_beyond_any_search() -> None:
    assert proof_of(3, 15) is ProofVerdict.PROVED


@pytest.mark.slow
def test_the_high_watermark_is_proved_valid_at_the_largest_bounds() -> None:
    assert proof_of(5, 15) is ProofVerdict.PROVED


@pytest.mark.slow_but("requests_are_counted")
@pytest.mark.parametrize("left_out", list(lemmas_of(ASYNC_ISR())))
def test_no_lemma_can_be_left_out(left_out: str) -> None:
    model = ASYNC_ISR()
    rest = [lemma for name, lemma in lemmas_of(model).items() if name != left_out]
    assert check_induction(model, [*judge(model).invariants, *rest]).verdict is ProofVerdict.REFUTED
