"""Random walks beside a Kafka that is another model: what differs is found, and shown with the steps that it needs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from insync.conformance.comparing.conform import Conformance, Conforming, conform_walks
from insync.conformance.comparing.coverage import Coverage
from insync.conformance.comparing.walks import KafkaWalks
from insync.conformance.correspondence.facts import Difference
from insync.conformance.replay import KafkaVerdict
from insync.explorer.progress import WalkProgress
from insync.explorer.replay import replay
from insync.explorer.stepping.stepper import Stepper, Walk
from insync.explorer.traces.trace import AGREEMENT
from insync.explorer.traces.trace_file import read_trace, write_trace
from insync.kafka.cluster.model import Cluster
from insync.runtime.errors import InternalError
from insync.runtime.watch import Limits, StopReason
from insync_fake_kafka import FakeKafka, FakePair

BOUNDS: dict[str, int | str] = {
    "replicas": 2,
    "records": 2,
    "min_insync_replicas": 1,
    "crashes": 1,
    "preferred_elections": 1,
}
MODEL = Cluster(release="4.1", **BOUNDS)
OLD = Cluster(release="3.9", **BOUNDS, elr="on")  # where a broker may register again before it is fenced


def walked(kafka: FakeKafka, walks: int = 60, seed: int = 0, limits: Limits | None = None) -> Conformance:
    return conform_walks(MODEL, kafka, walks=walks, seed=seed, depth=40, limits=limits, new_pair=FakePair)


@pytest.mark.slow
def test_a_model_agrees_with_itself() -> None:
    kafka = FakeKafka.of(MODEL)
    found = walked(kafka, walks=20)
    assert (found.verdict, found.walks, found.difference, found.stopped_by) == (Conforming.AGREES, 20, None, None)
    assert found.coverage.steps == kafka.steps > 200
    assert found.coverage.fields > 10 * kafka.steps
    assert found.coverage.gaps == {}
    assert sum(found.coverage.transitions.values()) <= kafka.steps
    assert {"crash", "elect", "fence", "register", "shrink_isr", "write"} <= set(found.coverage.transitions)


@pytest.mark.slow
def test_the_walks_depend_on_the_seed_alone() -> None:
    first, again, other = (walked(FakeKafka.of(MODEL), walks=10, seed=seed).coverage for seed in (5, 5, 6))
    assert first.transitions == again.transitions != other.transitions
    assert first.steps == again.steps


def test_several_who_take_the_walks_have_compared_what_one_has() -> None:
    several = [FakeKafka.of(MODEL, "elect") for _ in range(3)]
    together = conform_walks(MODEL, *several, walks=20, depth=40, new_pair=FakePair)
    alone = walked(FakeKafka.of(MODEL, "elect"), walks=20)
    assert (together.verdict, together.walks) == (Conforming.AGREES, 20)
    for counted in ("steps", "fields", "opened", "transitions", "gaps"):
        assert getattr(together.coverage, counted) == getattr(alone.coverage, counted), counted
    assert together.gaps == alone.gaps != {}
    assert together.coverage.steps == sum(kafka.steps for kafka in several)


@pytest.mark.slow_but("3")
@pytest.mark.parametrize("seed", range(4))
def test_several_come_to_the_first_difference(seed: int) -> None:
    together = conform_walks(OLD, *[FakeKafka.of(MODEL) for _ in range(3)], walks=60, seed=seed, new_pair=FakePair)
    alone = conform_walks(OLD, FakeKafka.of(MODEL), walks=60, seed=seed, new_pair=FakePair)
    assert together.verdict is Conforming.DIVERGES
    assert (together.walks, together.failed_walk_length) == (alone.walks, alone.failed_walk_length)
    assert together.difference is not None
    assert alone.difference is not None
    assert together.difference.trace == alone.difference.trace


def test_an_error_of_one_ends_the_walks_of_all() -> None:
    whole, ending = FakeKafka.of(MODEL), FakeKafka.of(MODEL)

    class Ending(FakePair):
        """A pair, one of which loses its process."""

        def take(self, number: int) -> list[Difference]:
            if self.kafka is ending:
                message = "the process has ended"
                raise InternalError(message)
            return super().take(number)

    with pytest.raises(InternalError, match="has ended"):
        conform_walks(MODEL, whole, ending, walks=2_000, depth=40, new_pair=Ending)
    assert whole.steps < 10_000


def test_a_difference_is_shown_with_the_steps_that_it_needs() -> None:
    found = walked(FakeKafka.of(OLD))
    assert found.verdict is Conforming.DIVERGES
    assert found.difference is not None
    assert found.difference.verdict is KafkaVerdict.DIVERGES
    assert found.failed_walk == found.walks - 1
    assert found.difference.trace.steps[-1].action == "register"
    assert 2 <= found.difference.steps < (found.failed_walk_length or 0)
    assert found.difference.differences[0].field == "controller.leader"


def test_what_is_shown_needs_each_of_its_steps() -> None:
    difference = walked(FakeKafka.of(OLD)).difference
    assert difference is not None
    stepper = Stepper(MODEL)
    walk = Walk(stepper)
    for step in difference.trace.steps[1:]:
        walk.step(walk.number_of(step.action or "", dict(step.parameters)))
    kafka = FakeKafka.of(OLD)
    walks = KafkaWalks(stepper, lambda: FakePair(stepper, kafka), Coverage.of(stepper), 40)
    assert walks.failing(walk.taken) is not None
    for place in range(len(walk.taken)):
        assert walks.failing(walk.taken[:place] + walk.taken[place + 1 :]) is None


def test_the_trace_of_a_difference_is_one_that_the_model_confirms(tmp_path: Path) -> None:
    difference = walked(FakeKafka.of(OLD)).difference
    assert difference is not None
    assert difference.trace.property == AGREEMENT
    file = tmp_path / "difference.json"
    write_trace(file, difference.trace)
    assert replay(read_trace(file)).steps == difference.trace.steps
    assert " in the model and b" in read_trace(file).reason


def test_what_is_not_schedulable_is_counted_and_passed_over() -> None:
    found = walked(FakeKafka.of(MODEL, "shrink_isr", "elect"), walks=20)
    assert found.verdict is Conforming.AGREES
    assert not {"shrink_isr", "elect"} & set(found.coverage.transitions)
    reasons = {(action, f"the fake Kafka takes no {action}") for action in ("shrink_isr", "elect")}
    assert set(found.coverage.gaps) == reasons
    assert all(found.coverage.gaps.values())


def test_what_nobody_expects_not_to_be_schedulable_leaves_the_walks_incomplete() -> None:
    kafka = FakeKafka.of(MODEL, "shrink_isr", "elect")
    kafka.lacks = ("elect",)
    found = walked(kafka, walks=20)
    assert (found.verdict, found.stopped_by) == (Conforming.INCOMPLETE, None)
    assert set(found.unexpected) == {("elect", "the fake Kafka takes no elect")}
    assert set(found.gaps) > set(found.unexpected)


def test_walks_without_a_step_are_incomplete() -> None:
    found = walked(FakeKafka.of(MODEL, *{action.name for action in MODEL.program.actions}), walks=2)
    assert (found.verdict, found.coverage.steps, found.unexpected) == (Conforming.INCOMPLETE, 0, {})


def test_a_difference_that_is_not_there_the_next_time_is_shown_as_it_was_found() -> None:
    class Moody(FakePair):
        """A pair whose Kafka answers otherwise once, whatever it is asked."""

        def take(self, number: int) -> list[Difference]:
            differences = super().take(number)
            return [Difference("b1.hw", 1, 0)] if self.kafka.steps == 100 else differences

    found = conform_walks(MODEL, FakeKafka.of(MODEL), walks=60, depth=40, new_pair=Moody)
    assert (found.verdict, found.repeats, found.coverage.steps) == (Conforming.DIVERGES, False, 100)
    assert found.difference is not None
    assert found.difference.steps == found.failed_walk_length
    assert "b1.hw is 1 in the model and 0 in Kafka" in found.difference.trace.reason
    assert "The same steps, taken once more, show no difference" in found.difference.trace.reason


def test_a_difference_that_is_there_each_time_says_nothing_of_a_next_time() -> None:
    found = walked(FakeKafka.of(OLD))
    assert found.repeats is True
    assert found.difference is not None
    assert "once more" not in found.difference.trace.reason


def test_a_difference_in_the_first_state_needs_no_step() -> None:
    found = walked(FakeKafka.of(Cluster(release="4.1", **BOUNDS, unclean_leader_election="on", spares=1)))
    assert found.difference is not None
    assert (found.walks, found.difference.steps, found.failed_walk_length) == (1, 0, 0)


@pytest.mark.parametrize("reason", [StopReason.TIME, StopReason.INTERRUPT])
def test_who_stops_it_gets_what_is_known_by_then(reason: StopReason) -> None:
    stop = threading.Event()
    if reason is StopReason.INTERRUPT:
        stop.set()
    limits = Limits(seconds=0.0) if reason is StopReason.TIME else None
    found = conform_walks(MODEL, FakeKafka.of(MODEL), walks=9, limits=limits, stop=stop, new_pair=FakePair)
    assert (found.verdict, found.stopped_by, found.walks) == (Conforming.INCOMPLETE, reason, 0)


@pytest.mark.slow
def test_it_says_how_far_it_is() -> None:
    said: list[WalkProgress] = []
    conform_walks(
        MODEL, FakeKafka.of(MODEL), walks=10_000, limits=Limits(seconds=1.3), reporter=said.append, new_pair=FakePair
    )
    walking = [one for one in said if not one.begins]
    assert walking[0].steps > 0


def test_it_says_what_begins() -> None:
    said: list[WalkProgress] = []
    found = conform_walks(MODEL, FakeKafka.of(OLD), walks=200, reporter=said.append, new_pair=FakePair)
    assert found.verdict is Conforming.DIVERGES
    assert [one.begins for one in said if one.begins] == [
        "tracing the model",
        "compiling the model",
        "leaving out the steps that the difference does not need",
    ]
