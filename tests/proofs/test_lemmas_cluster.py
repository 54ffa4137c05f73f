"""The lemmas of cluster are true where all states can be looked at, and prove its promises where nobody can."""

from __future__ import annotations

import pytest

from insync.explorer import check, prove
from insync.model import Model
from insync.properties.registry import lemmas_of
from insync_cluster_proofs import cluster, with_lemmas

pytest.importorskip("z3")

from insync.proofs.k_induction import check_induction
from insync.proofs.results import ProofVerdict

TWO = {"replicas": 2, "records": 1, "metadata_lag": 0, "preferred_elections": 3, "fencings": 3, "isr_shrinks": 2}
THREE = {"replicas": 3, "records": 1, "metadata_lag": 1, "preferred_elections": 3, "fencings": 3, "isr_shrinks": 3}
FAR = {"replicas": 3, "records": 2, "metadata_lag": 2, "preferred_elections": 8, "fencings": 8, "isr_shrinks": 8}


def verdict_of(model: Model) -> str:
    return str(check(model, properties=list(lemmas_of(model))).verdict)


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        {"replicas": 2, "records": 2, "metadata_lag": 1, "preferred_elections": 1, "fencings": 1, "power_failures": 1},
        {"replicas": 3, "records": 1, "metadata_lag": 1, "isr_shrinks": 1, "power_failures": 1},
        {
            "replicas": 2,
            "records": 1,
            "metadata_lag": 1,
            "preferred_elections": 1,
            "fencings": 1,
            "isr_shrinks": 1,
            "elr": "off",
        },
    ],
    ids=["two", "three", "without ELR"],
)
def test_every_lemma_is_true_in_every_reachable_state(chosen: dict[str, int | str]) -> None:
    assert verdict_of(cluster(**chosen)) == "holds"


@pytest.mark.slow
def test_every_lemma_is_true_in_every_reachable_state_of_three_brokers() -> None:
    budgets = {"preferred_elections": 1, "fencings": 1, "isr_shrinks": 1, "power_failures": 1}
    assert verdict_of(cluster(replicas=3, records=1, metadata_lag=1, **budgets)) == "holds"


def test_every_lemma_says_what_it_means() -> None:
    assert all(lemma.sentence.endswith(".") for lemma in lemmas_of(cluster()).values())


def proof_of(model: Model) -> ProofVerdict:
    return check_induction(model, with_lemmas(model)).verdict


def test_two_brokers_lose_nothing_that_was_acknowledged() -> None:
    assert proof_of(cluster(**TWO)) is ProofVerdict.PROVED


@pytest.mark.parametrize(
    "chosen", [{"elr": "off"}, {"min_insync_replicas": 1}], ids=["without ELR", "a minimum of one"]
)
def test_two_brokers_lose_nothing_either_where_nobody_crashes(chosen: dict[str, int | str]) -> None:
    budgets = {"preferred_elections": 2, "fencings": 2, "isr_shrinks": 2}
    assert proof_of(cluster(replicas=2, records=1, metadata_lag=1, **budgets, **chosen)) is ProofVerdict.PROVED


@pytest.mark.slow
@pytest.mark.parametrize("release", ["3.5", "3.6", "3.7", "3.8", "3.9.1", "4.0", "4.0.1", "4.4"])
def test_older_releases_lose_nothing_with_the_isr_alone_where_nobody_crashes(release: str) -> None:
    budgets = {"preferred_elections": 2, "fencings": 2, "isr_shrinks": 2}
    races = "off" if release < "3.7" else "on"
    model = cluster(replicas=2, records=1, metadata_lag=1, elr="off", release=release, races=races, **budgets)
    assert proof_of(model) is ProofVerdict.PROVED


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        {"release": "4.1.1"},
        {"release": "4.3"},
        {"release": "4.4"},
        {"release": "3.9.1", "elr": "on"},
        {"release": "4.0", "elr": "on"},
        {"release": "4.0.1", "elr": "on"},
    ],
    ids=lambda chosen: str(chosen["release"]),
)
def test_other_releases_lose_nothing_either(chosen: dict[str, str]) -> None:
    budgets = {"preferred_elections": 2, "fencings": 2, "isr_shrinks": 2, "power_failures": 1}
    assert proof_of(cluster(replicas=2, records=1, metadata_lag=1, **budgets, **chosen)) is ProofVerdict.PROVED


@pytest.mark.slow
def test_three_brokers_lose_nothing_in_a_lossy_crash() -> None:
    assert proof_of(cluster(**THREE, power_failures=1)) is ProofVerdict.PROVED


@pytest.mark.slow
@pytest.mark.prove
@pytest.mark.timeout(3000)
def test_three_brokers_lose_nothing_whatever_is_elected_fenced_or_dropped_eight_times() -> None:
    model = cluster(**FAR, power_failures=1)
    assert prove(model, lemmas=["all"]).verdict == "holds"
