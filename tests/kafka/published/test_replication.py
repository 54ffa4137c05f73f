"""What the modules do in corners: each state is reached by naming the steps to it."""

from __future__ import annotations

import pytest

from insync.kafka.published import Kip101, Kip279, Kip320, Kip320FirstTry, TruncateToHighWatermark
from insync.model import GuardError, Model
from insync.model.catalogue import find_model
from insync.model.evaluator import Evaluator
from insync_evaluator import successors
from insync_walk import Walk

VARIANTS = (TruncateToHighWatermark, Kip101, Kip279, Kip320FirstTry, Kip320)


@pytest.mark.parametrize("kind", VARIANTS)
def test_starts_without_leader_and_with_all_in_the_isr(kind: type[Model]) -> None:
    assert Walk(kind()).cells == {
        "b1": "-  [|]",
        "b2": "-  [|]",
        "b3": "-  [|]",
        "controller": "no leader  ISR b1 b2 b3",
    }


@pytest.mark.parametrize("kind", VARIANTS)
def test_the_state_of_three_replicas_fits_two_words(kind: type[Model]) -> None:
    assert kind(replicas=3, log_size=3, max_records=3, max_leader_epoch=3).program.schema.words == 2


@pytest.mark.slow_for("5")
@pytest.mark.parametrize("replicas", [5, 7])
def test_more_replicas_can_be_traced(replicas: int) -> None:
    program = Kip320(replicas=replicas).program
    assert len(successors(Evaluator(program), program.initials[0])) == 2 * replicas


@pytest.mark.parametrize("kind", VARIANTS)
def test_the_last_member_is_dropped_where_nobody_leads(kind: type[Model]) -> None:
    walk = Walk(kind(), "controller drops b1", "controller drops b2", "controller drops b3")
    assert walk.cells["controller"] == "no leader @2  ISR empty"
    assert walk.enabled == set()


@pytest.mark.parametrize("kind", VARIANTS)
def test_a_leader_that_is_the_last_member_stays_in_the_isr(kind: type[Model]) -> None:
    walk = Walk(kind(replicas=2), "controller drops b2", "elect b1", "controller drops leader b1")
    assert walk.cells["controller"] == "no leader @2  ISR b1"


@pytest.mark.parametrize("kind", VARIANTS)
def test_a_request_without_leader_is_never_processed(kind: type[Model]) -> None:
    walk = Walk(kind(), "elect b1", "controller drops leader b1")
    assert not {label for label in walk.enabled if label.endswith("@1")}


@pytest.mark.parametrize("kind", VARIANTS)
def test_an_old_request_may_be_processed_late_but_never_after_a_newer_one(kind: type[Model]) -> None:
    walk = Walk(kind(), "elect b1", "elect b2")
    assert {"b1 becomes leader @0", "b2 becomes leader @1"} <= walk.enabled
    assert "b1 becomes leader @0" not in walk.take("b2 becomes leader @1", "b1 becomes leader @0").enabled


def test_truncating_to_the_high_watermark_loses_a_committed_record() -> None:
    model = TruncateToHighWatermark(replicas=2)
    walk = Walk(model, "elect b1", "b1 becomes leader @0", "b2 becomes follower of b1 @0", "b1 writes r0")
    walk.take("b2 fetches from b1", "b1 advances its HW", "controller drops b2", "b2 becomes follower of b1 @1")
    assert walk.cells == {"b1": "L0 [r0@0 |]", "b2": "F1 [|]", "controller": "b1 @1  ISR b1"}


def test_kip101_cannot_truncate_beyond_the_end_of_the_follower() -> None:
    """The leader's last epoch is the follower's, so its answer is its own log end, which is further."""
    bounds = {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 1}
    steps = ("elect b1", "b1 becomes leader @0", "b2 becomes follower of b1 @0", "b1 writes r0", "b2 fetches from b1")
    more = ("b1 writes r1", "controller drops b2")
    assert "b2 becomes follower of b1 @1" not in Walk(Kip101(**bounds), *steps, *more).enabled
    assert "b2 becomes follower of b1 @1" in Walk(Kip279(**bounds), *steps, *more).enabled


def test_a_replica_that_does_not_lead_answers_for_truncation_before_kip320() -> None:
    steps = ("elect b1",)
    assert "b2 becomes follower of b1 @0" in Walk(Kip279(), *steps).enabled
    assert "b2 becomes follower of b1 @0" not in Walk(Kip320(), *steps).enabled
    assert "b2 becomes follower of b1 @0" in Walk(Kip320(), *steps, "b1 becomes leader @0").enabled


def test_kip320_fetches_only_within_an_epoch() -> None:
    steps = ("elect b1", "b1 becomes leader @0", "b2 becomes follower of b1 @0", "controller drops b3", "b1 writes r0")
    assert "b2 fetches from b1" in Walk(Kip320(), *steps).enabled
    for kind, fetches in ((Kip279, True), (Kip320FirstTry, True), (Kip320, False)):
        walk = Walk(kind(), *steps, "b1 becomes leader @1")
        assert ("b2 fetches from b1" in walk.enabled) is fetches


def test_the_first_try_keeps_the_log_until_a_fetch_shows_the_difference() -> None:
    walk = Walk(Kip320FirstTry(replicas=2), "elect b1", "b1 becomes leader @0", "b1 writes r0", "elect b2")
    walk.take("b2 becomes leader @1", "b2 writes r1", "b1 becomes follower of b2 @1")
    assert walk.cells["b1"] == "F1 [| r0@0]"
    assert "b1 fetches from b2" not in walk.enabled
    assert walk.take("b1 truncates to match b2").cells["b1"] == "F1 [|]"


def test_a_new_leader_does_not_add_to_the_isr_before_it_commits_in_its_epoch() -> None:
    steps = ["elect b1", "b1 becomes leader @0", "b2 becomes follower of b1 @0", "b1 writes r0", "b2 fetches from b1"]
    steps += ["elect b2", "b2 becomes leader @1", "b3 becomes follower of b2 @1", "b2 drops b3 from the ISR"]
    walk = Walk(Kip320(max_records=1), *steps)
    assert walk.cells["b2"] == "L1 [| r0@0]"
    assert "b2 adds b3 to the ISR" not in walk.enabled
    assert "b2 adds b3 to the ISR" in Walk(Kip279(max_records=1), *steps).enabled


def test_a_full_log_takes_no_record() -> None:
    walk = Walk(Kip320(log_size=1), "elect b1", "b1 becomes leader @0", "b1 writes r0")
    assert not {label for label in walk.enabled if "writes" in label}
    with pytest.raises(GuardError):
        walk.take("b1 writes r1")


@pytest.mark.parametrize(
    ("name", "word"), [("kip101", "epoch"), ("kip279", "shares"), ("kip320_first_try", "fetch"), ("kip320", "epoch")]
)
def test_a_variant_says_what_it_is_about(name: str, word: str) -> None:
    assert word in (find_model(name).__doc__ or "").partition("\n")[0]
