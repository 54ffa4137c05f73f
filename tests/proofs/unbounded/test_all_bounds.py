"""kip320 is proved for all sizes of logs, epochs and records; a hole in the protocol breaks the step that has it."""

from __future__ import annotations

import threading

import pytest

from insync.kafka.published import Kip320
from insync.kafka.published.replication import Epoch, RecordOffset, Replica
from insync.model import (
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Int,
    Model,
    State,
    StateView,
    UserError,
    action,
    for_all,
    invariant,
)
from insync.model.catalogue import find_model
from insync.properties.registry import judge, lemmas_of

pytest.importorskip("z3")

from insync.explorer import prove
from insync.proofs.results import ALIKE, ProofVerdict
from insync.proofs.unbounded import check_all_bounds
from insync.proofs.unbounded.induction import AllBounds, Helpers
from insync.runtime.watch import Limits, StopReason, Watch

WRONG = "followers_trail_the_high_watermark"
KIP320 = find_model("kip320")


class UnfencedFetches(Kip320):
    """Serves the fetch of a follower that is in another epoch."""

    def may_fetch(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        names: Condition = s.replica[follower].leader == leader
        return names


class UnfencedTruncation(Kip320):
    """Lets a follower truncate against whoever it takes for the leader."""

    def may_truncate(self, s: StateView, leader: Replica, epoch: Epoch) -> Condition:
        return True


class ShortLogs(Kip320):
    """Says what no step changes and only small bounds make true."""

    @invariant
    def logs_are_short(self, s: StateView) -> Condition:
        """No log has a third place."""
        return for_all(RecordOffset, lambda offset: offset < 2)


class BeginsHigh(Model):
    """Begins at a number that is in its domain under larger bounds only."""

    bounds = Bounds(last=Bound(4, 1, 9, "the highest count"))
    unbounded = ("last",)
    first = 3

    def declare(self, b: BoundValues) -> State:
        return State(count=Int(0, b.last))

    def initial(self, s: StateView) -> None:
        s.count = self.first

    @action
    def reset(self, s: StateView) -> None:
        s.count = 0

    @invariant
    def counts(self, s: StateView) -> Condition:
        """No count is below zero."""
        counts: Condition = s.count >= 0
        return counts


class BeginsLow(BeginsHigh):
    """Begins at a number that is in its domain under all bounds."""

    first = 1


def proof_of(model: Model) -> AllBounds:
    lemmas = [lemma for name, lemma in lemmas_of(model).items() if name != WRONG]
    return AllBounds(model, [*judge(model).invariants, *lemmas], Watch(Limits()))


def unproved(model: Model, action: str) -> str:
    """Return why an action is not proved; empty where it is."""
    (query,) = proof_of(model).steps(action)
    assert (query.verdict is ProofVerdict.PROVED) == (query.reason == "")
    return query.reason


def test_it_begins_well_and_replicas_are_alike() -> None:
    proof = proof_of(KIP320(replicas=2))
    assert proof.initiation().verdict is ProofVerdict.PROVED
    alike = proof.likeness()
    assert alike is not None
    assert (alike.name, alike.verdict, alike.cases) == (ALIKE, ProofVerdict.PROVED, 10)


def test_what_no_state_changes_must_hold_at_first() -> None:
    model = ShortLogs(replicas=2)
    query = AllBounds(model, judge(model, ["logs_are_short"]).invariants, Watch()).initiation()
    assert (query.verdict, query.reason) == (ProofVerdict.UNKNOWN, "logs_are_short is not proved")


def test_an_initial_state_outside_its_domain_under_some_bounds_is_no_beginning() -> None:
    high, low = (check_all_bounds(kind(), judge(kind()).invariants) for kind in (BeginsHigh, BeginsLow))
    assert (high.verdict, high.queries[0].reason) == (ProofVerdict.UNKNOWN, "type_ok is not proved")
    assert low.verdict is ProofVerdict.PROVED


def test_a_rehearsal_teaches_which_conditions_help() -> None:
    model, helpers = KIP320(replicas=2), dict[str, Helpers]()
    lemmas = ["quorum_is_the_newest_request", "replicas_believe_their_request", "unsent_requests_are_blank"]
    AllBounds(model, [lemmas_of(model)[name] for name in lemmas], Watch(), helpers).rehearse()
    assert helpers["controller_elect_leader"].of(lemmas[0]) == {lemmas[0], lemmas[1]}
    assert helpers["controller_drop_leader"].of(lemmas[0]) == {lemmas[0]}


def test_what_a_rehearsal_proves_is_not_proved_of_more_replicas() -> None:
    one, two = KIP320(replicas=1), KIP320(replicas=2)
    assert check_all_bounds(one, [lemmas_of(one)[WRONG]]).verdict is ProofVerdict.PROVED
    rehearsed = check_all_bounds(two, [lemmas_of(two)[WRONG]], rehearsal=one)
    assert rehearsed.verdict is ProofVerdict.UNKNOWN
    assert rehearsed.queries[0].name == "initiation"


@pytest.mark.parametrize("action", ["leader_shrink_isr", "leader_expand_isr"])
def test_a_step_keeps_what_holds_under_all_bounds(action: str) -> None:
    assert unproved(KIP320(replicas=2), action) == ""


def test_a_member_that_is_not_fenced_breaks_it() -> None:
    why = unproved(find_model("kip279")(replicas=2), "leader_expand_isr")
    assert why == "weak_isr is not proved, with leader_expand_isr(leader=b1, follower=b2)"


def test_a_lemma_that_is_false_is_not_proved() -> None:
    model = KIP320(replicas=2)
    conditions = [*judge(model).invariants, lemmas_of(model)[WRONG]]
    (query,) = AllBounds(model, conditions, Watch()).steps("leader_expand_isr")
    assert query.verdict is ProofVerdict.UNKNOWN


def test_without_lemmas_nothing_is_proved_and_nothing_refuted() -> None:
    model = KIP320(replicas=2)
    result = check_all_bounds(model, judge(model, ["strong_isr"]).invariants)
    assert result.verdict is ProofVerdict.UNKNOWN
    assert "become_leader" in result.open
    assert result.stopped_by is None


def test_it_ends_when_it_is_told_to() -> None:
    model, stop = KIP320(replicas=2), threading.Event()
    conditions = [*judge(model).invariants, *lemmas_of(model).values()]
    result = check_all_bounds(model, conditions, watch=Watch(stop=stop), reporter=lambda _: stop.set())
    assert result.verdict is ProofVerdict.UNKNOWN
    assert result.stopped_by is StopReason.INTERRUPT
    assert [query.name for query in result.queries] == ["initiation"]
    assert "become_follower" in result.unanswered


def test_no_time_is_no_proof() -> None:
    model = KIP320(replicas=2)
    result = check_all_bounds(model, judge(model).invariants, watch=Watch(Limits(seconds=0)))
    assert (result.verdict, result.stopped_by, result.queries) == (ProofVerdict.UNKNOWN, StopReason.TIME, ())


def test_what_is_no_condition_on_a_state_is_refused() -> None:
    model = KIP320(replicas=2)
    with pytest.raises(UserError, match=r"deadlock_free is not a condition on single states; .* --property NAME\."):
        check_all_bounds(model, judge(model, ["deadlock_free"]).invariants)


def test_a_proof_for_all_bounds_is_not_saved_as_one_at_bounds(tmp_path: object) -> None:
    result = prove(KIP320(replicas=2), unbounded=True, lemmas=["record_ids_are_old"], query_seconds=0.01)
    assert result.unbounded == ("log_size", "max_records", "max_leader_epoch")
    assert result.identity == {"replicas": 2}
    with pytest.raises(UserError, match="a proof file has a value for each bound"):
        result.save(f"{tmp_path}/proof.json")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "action"),
    [
        (UnfencedFetches, "follower_fetch"),
        (UnfencedTruncation, "become_follower"),
        (find_model("kip279"), "leader_advance_high_watermark"),
        (find_model("kip279"), "become_follower"),
    ],
)
def test_a_hole_in_the_protocol_breaks_the_step_that_has_it(kind: type[Model], action: str) -> None:
    assert f"with {action}(" in unproved(kind(replicas=2), action)


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [2, 3, 5])
def test_kip320_is_proved_for_all_bounds(replicas: int) -> None:
    result = prove("kip320", bounds={"replicas": replicas}, unbounded=True)
    assert result.verdict == "holds"
    assert [dropped.name for dropped in result.dropped] == [WRONG]
    assert len(result.lemmas) == 19
