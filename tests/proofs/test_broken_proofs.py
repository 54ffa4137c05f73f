"""A proof that survives a known defect proves nothing: with a defect of the catalogue switched on a lemma breaks.

Each entry is asked about the one step and the one lemma, or property, that its story is about, in the smallest instance
in which that breaks; with the same defect fixed that step keeps it. A counterexample to induction need not be
reachable, so this says that the proof is lost, and `insync check` says that the property is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from insync.kafka.defects import DEFECTS
from insync.model import Model
from insync_cluster_proofs import Repaired, cluster, with_lemmas

pytest.importorskip("z3")

from insync.proofs.obligations import Preservation, enabled_actions
from insync.proofs.results import ProofVerdict

BUDGETS = {"preferred_elections": 2, "fencings": 2, "isr_shrinks": 2}
ONE = {"replicas": 2, "records": 1, "metadata_lag": 1, "min_insync_replicas": 1, "power_failures": 0, **BUDGETS}
TWO = {"replicas": 2, "records": 1, "metadata_lag": 1, "power_failures": 1, **BUDGETS}
FURTHER = {"replicas": 2, "records": 2, "metadata_lag": 2, "power_failures": 1, **BUDGETS}
THREE = {"replicas": 3, "records": 1, "metadata_lag": 1, "power_failures": 1, **BUDGETS}


@dataclass(frozen=True, slots=True)
class Broken:
    """What the proof loses with a defect: the step, the lemma or property, and the bounds at which it does."""

    step: str
    lemma: str
    bounds: dict[str, int]


BROKEN = {
    "R-01": Broken("apply_metadata", "committed_records_are_kept", ONE),
    "R-06": Broken("expand_isr", "new_members_have_caught_up", ONE),
    "R-09": Broken("fetch", "followers_have_what_is_counted", ONE),
    "R-11": Broken("write", "committed_records_are_kept", ONE),
    "R-12": Broken("write", "committed_records_are_kept", ONE),
    "R-13": Broken("fence", "proposals_name_their_sender", ONE),
    "R-15": Broken("accept_alter_partition", "isr_and_elr_are_apart", ONE),
    "R-16": Broken("accept_alter_partition", "electable_replicas_are_of_this_life", ONE),
    "R-17": Broken("expand_isr", "new_members_have_caught_up", ONE),
    "R-19": Broken("fetch", "followers_have_what_is_counted", FURTHER),
    "R-21": Broken("fetch", "what_leaders_show_is_seen", FURTHER),
    "R-27": Broken("apply_metadata", "committed_records_are_kept", {**ONE, "min_insync_replicas": 2}),
    "R-28": Broken("fetch", "committed_records_are_kept", {**THREE, "power_failures": 0}),
    "R-30": Broken("register", "committed_records_are_kept", TWO),
    "R-39": Broken("fence_two", "isr_and_elr_are_apart", TWO),
    "N-01": Broken("apply_metadata", "followers_have_what_is_counted", FURTHER),
    "M-5": Broken("expand_isr", "new_members_have_caught_up", ONE),
    "C-3": Broken("register", "committed_records_are_kept", {**ONE, "power_failures": 1}),
    "C-7": Broken("register", "committed_records_are_kept", {**TWO, "power_failures": 2}),
}
"""The entries that break the proof; docs/guide/proving-cluster.md has them as a table."""


def with_entry(entry: str) -> Model:
    """Return the model with the defect, and none beside it."""
    bounds = BROKEN[entry].bounds
    if not DEFECTS[entry].rules:
        return cluster(**bounds)  # a setting or a budget is the defect
    return cluster(**bounds, defect=entry) if entry == "N-01" else Repaired(**bounds, defect=entry)


def with_the_fix(entry: str) -> Model:
    """Return the model without the defect, at the same bounds but for the setting that is the defect."""
    bounds = BROKEN[entry].bounds
    if not DEFECTS[entry].rules:
        return cluster(**{**bounds, "min_insync_replicas": 2, "power_failures": 1})
    return cluster(**bounds) if entry == "N-01" else Repaired(**bounds, defect=entry, fixed="on")


def asked(model: Model, broken: Broken) -> ProofVerdict:
    return Preservation(model, with_lemmas(model)).ask(broken.step, only=broken.lemma).verdict


def is_large(broken: Broken) -> bool:
    """Whether the question takes z3 more than a second."""
    return broken.bounds["metadata_lag"] > 1 or broken.bounds["replicas"] > 2


@pytest.mark.slow_for("R-06", "R-09", "R-11", "R-12", "R-15", "R-16", "R-17", "R-27", "R-30", "M-5", "C-3", "C-7")
@pytest.mark.parametrize(
    "entry", [pytest.param(e, marks=[pytest.mark.slow] if is_large(b) else [], id=e) for e, b in BROKEN.items()]
)
def test_a_defect_breaks_its_lemma_and_the_fix_keeps_it(entry: str) -> None:
    broken = BROKEN[entry]
    assert asked(with_entry(entry), broken) is ProofVerdict.REFUTED
    if broken.step in enabled_actions(fixed := with_the_fix(entry)):  # R-39 is an action of its own
        assert asked(fixed, broken) is ProofVerdict.PROVED


def test_the_guide_says_what_breaks() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "proving-cluster.md").read_text()
    rows = [f"| {entry} | `{broken.step}` | `{broken.lemma}` |" for entry, broken in BROKEN.items()]
    assert "\n".join(rows) in page
