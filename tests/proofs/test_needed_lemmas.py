"""What the proof of cluster loses with a lemma left out: a step from good states to a bad one.

docs/guide/proving-cluster.md has the table, and names the lemmas without which no step was lost where this was tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from insync.properties.registry import lemmas_of
from insync_cluster_proofs import cluster, with_lemmas

pytest.importorskip("z3")

from insync.proofs.obligations import Preservation
from insync.proofs.results import ProofVerdict

BUDGETS = {"preferred_elections": 2, "fencings": 2, "isr_shrinks": 2}
ONE_RECORD = {"replicas": 2, "records": 1, "metadata_lag": 1, "power_failures": 1, **BUDGETS}
MINIMUM_OF_ONE = {**ONE_RECORD, "power_failures": 0, "min_insync_replicas": 1}
TWO_RECORDS = {"replicas": 2, "records": 2, "metadata_lag": 2, "power_failures": 1, **BUDGETS}

THREE_BROKERS = {**TWO_RECORDS, "replicas": 3, "records": 1}


@dataclass(frozen=True, slots=True)
class Lost:
    """The first step that is not proved without a lemma, and the bounds at which it is not."""

    step: str
    bounds: dict[str, int]


NEEDED = {
    "watermarks_are_within_the_log": Lost("apply_metadata", TWO_RECORDS),
    "records_were_written": Lost("fetch", ONE_RECORD),
    "a_stopped_broker_knows_nothing": Lost("apply_metadata", ONE_RECORD),
    "leaders_alone_know_followers": Lost("fetch", ONE_RECORD),
    "known_ends_are_within_the_log": Lost("write", ONE_RECORD),
    "no_proposal_is_blank": Lost("accept_alter_partition", ONE_RECORD),
    "proposals_name_their_sender": Lost("accept_alter_partition", ONE_RECORD),
    "proposals_have_their_leader": Lost("accept_alter_partition", ONE_RECORD),
    "epochs_never_fall": Lost("expand_isr", ONE_RECORD),
    "an_epoch_has_one_leader": Lost("apply_metadata", ONE_RECORD),
    "leaders_are_members": Lost("fence", ONE_RECORD),
    "isr_and_elr_are_apart": Lost("fence", ONE_RECORD),
    "a_minimum_of_one_leaves_one_eligible": Lost("unfence", MINIMUM_OF_ONE),
    "epochs_are_paid_for": Lost("fence", ONE_RECORD),
    "electable_replicas_are_paid_for": Lost("unfence", ONE_RECORD),
    "terms_are_those_of_views": Lost("fence", ONE_RECORD),
    "log_epochs_never_fall": Lost("fetch", TWO_RECORDS),
    "leaders_have_their_term": Lost("write", ONE_RECORD),
    "nobody_has_an_epoch_before_its_leader": Lost("apply_metadata", ONE_RECORD),
    "a_record_has_one_offset": Lost("write", TWO_RECORDS),
    "epoch_and_offset_name_a_record": Lost("fetch", TWO_RECORDS),
    "a_term_without_records_is_ones_own": Lost("fetch", TWO_RECORDS),
    "followers_have_what_is_counted": Lost("expand_isr", ONE_RECORD),
    "elections_are_among_the_counted": Lost("fence", THREE_BROKERS),
    "isr_shrinks_until_its_leader_hears": Lost("apply_metadata", TWO_RECORDS),
    "electable_replicas_are_of_this_life": Lost("apply_metadata", ONE_RECORD),
    "acknowledged_records_are_seen": Lost("apply_metadata", ONE_RECORD),
    "what_leaders_show_is_seen": Lost("fetch", TWO_RECORDS),
    "leaders_begin_after_what_is_seen": Lost("expand_isr", ONE_RECORD),
    "later_leaders_are_of_an_isr_not_left": Lost("apply_metadata", THREE_BROKERS),
    "later_leaders_have_what_may_be_committed": Lost("apply_metadata", TWO_RECORDS),
    "committed_records_are_kept": Lost("fetch", ONE_RECORD),
}
PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "proving-cluster.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("lemma", NEEDED)
def test_without_a_lemma_a_step_is_not_proved(lemma: str) -> None:
    model = cluster(**NEEDED[lemma].bounds)
    rest = [condition for condition in with_lemmas(model) if condition.name != lemma]
    assert Preservation(model, rest).ask(NEEDED[lemma].step).verdict is ProofVerdict.REFUTED


def test_the_guide_says_of_every_lemma_what_it_is_needed_for() -> None:
    said = PAGE[PAGE.index("## What each lemma is needed for") :]
    assert all(f"| `{name}` | `{lost.step}` |" in said for name, lost in NEEDED.items())
    assert all(f"`{name}`" in said for name in lemmas_of(cluster()))
