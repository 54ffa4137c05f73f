"""When writes stop: the fewest failures that are found by stepping, against searches of the whole model."""

from __future__ import annotations

import threading
import time

import pytest

from insync.explorer import Limits, check
from insync.kafka_questions.availability import FAILURES, STOPS, Failure, FewestFailures, availability
from insync.kafka_questions.question import Question
from insync.runtime.errors import InternalError
from insync.runtime.watch import Watch

TAKEN, LED = STOPS
DOWN, FENCED, SLOW, BESIDE = (failure.name for failure in FAILURES)
COUNTERS = {"crash": "crashes", "fence": "fencings", "shrink_isr": "isr_shrinks"}
CALM: dict[str, int | str] = {"records": 1, "power_failures": 0, "fencings": 0, "isr_shrinks": 0, "metadata_lag": 0}


def found(**bounds: int | str) -> dict[tuple[str, str], FewestFailures]:
    return {(one.name, one.by): one for one in availability(Question(settings=bounds))}


def failures(name: str, **bounds: int | str) -> list[int | None]:
    each = found(**bounds)
    return [each[name, failure.name].failures for failure in FAILURES]


def broken(name: str, failure: Failure, number: int, bounds: dict[str, int | str]) -> bool:
    """Whether so many failures are enough in the whole model, in which writes, fetches and returns happen as well."""
    budgets = {COUNTERS[failure.counted]: number}
    if "shrink_isr" in failure.others:
        budgets["isr_shrinks"] = int(bounds["replicas"])
    return check("cluster", bounds={**bounds, **CALM, **budgets}, properties=[name]).verdict == "violated"


def agrees(bounds: dict[str, int | str]) -> None:
    """Assert that a search finds something with as many failures, and nothing with one less."""
    for one in availability(Question(settings=bounds)):
        failure = next(each for each in FAILURES if each.name == one.by)
        if one.failures is None:
            assert not broken(one.name, failure, int(bounds["replicas"]), bounds), one
            continue
        assert broken(one.name, failure, one.failures, bounds), one
        if one.failures:
            assert not broken(one.name, failure, one.failures - 1, bounds), one


def test_it_takes_a_quarter_of_the_seconds_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float | None] = []

    def counts(failure: Failure, failing: object, watch: Watch) -> tuple[dict[str, object], bool]:
        given.append(watch.limits.seconds)
        return {}, True

    monkeypatch.setattr("insync.kafka_questions.availability._fewest", counts)
    availability(Question(settings={"replicas": 1}, limits=Limits(seconds=400)))
    assert len(given) == len(FAILURES)
    assert all(seconds is not None and 50 < seconds <= 100 for seconds in given)


@pytest.mark.slow_for("2")
@pytest.mark.parametrize("replicas", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_it_takes_as_many_as_leave_too_few(replicas: int) -> None:
    for minimum in range(1, replicas + 1):
        few = replicas - minimum + 1
        taken = failures(TAKEN, release="4.1", replicas=replicas, min_insync_replicas=minimum)
        assert taken[:3] == [few, few, few if few < replicas else None], "a leader is never slow"
        led = failures(LED, release="4.1", replicas=replicas, min_insync_replicas=minimum)
        assert led[:3] == [replicas, replicas, None]


@pytest.mark.slow_for("bounds2-1", "bounds3-3")
@pytest.mark.parametrize(
    ("bounds", "needed"),
    [
        ({"release": "4.1", "elr": "off"}, 1),
        ({"release": "4.1", "elr": "on"}, 2),
        ({"release": "3.6", "unclean_leader_election": "on"}, 1),
        ({"release": "3.9", "unclean_leader_election": "on"}, 3),
        pytest.param({"release": "2.8", "unclean_leader_election": "on"}, 3, marks=pytest.mark.slow),
        pytest.param({"release": "4.1", "min_insync_replicas": 1}, 1, marks=pytest.mark.slow),
    ],
)
def test_slow_followers_leave_fewer_who_may_lead_unless_elr_or_unclean_elections_help(
    bounds: dict[str, int | str], needed: int
) -> None:
    assert found(replicas=3, **{"min_insync_replicas": 2, **bounds})[LED, BESIDE].failures == needed


def test_before_a_release_that_caps_it_more_than_all_replicas_refuse_every_write() -> None:
    assert failures(TAKEN, release="3.6", replicas=2, min_insync_replicas=3) == [0, 0, 0, 0]
    assert failures(TAKEN, release="3.7", replicas=2, min_insync_replicas=3) == [1, 1, 1, 0]


@pytest.mark.slow
def test_brokers_without_a_replica_do_not_help() -> None:
    assert failures(LED, release="4.1", replicas=3, spares=1, min_insync_replicas=2)[:2] == [2, 2]


def test_what_happens_is_there_step_by_step() -> None:
    one = found(release="3.9", replicas=2, min_insync_replicas=2)[TAKEN, DOWN]
    assert len(one.steps) == 2
    assert "crashes" in one.steps[0]
    assert one.steps[1].startswith("controller fences")
    slow = found(release="3.9", replicas=2, min_insync_replicas=2)[TAKEN, SLOW]
    assert [step.split()[1] for step in slow.steps] == ["drops", "accepts"]
    assert (slow.failures, slow.more_than) == (1, 0)


def test_the_evaluator_confirms_what_machine_code_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.kafka_questions.availability.evaluate", lambda node, codes: 1)
    with pytest.raises(InternalError, match=r"a violation of writes_are_taken in .*, where the evaluator has none"):
        found(release="3.9", replicas=2, min_insync_replicas=2)


def test_what_never_happens_is_known_never_to_happen() -> None:
    one = found(replicas=2, min_insync_replicas=1)[LED, SLOW]
    assert (one.failures, one.more_than, one.steps) == (None, 2, ())


@pytest.mark.parametrize("ended", ["stopped", "late"])
def test_a_search_that_was_ended_knows_nothing(ended: str) -> None:
    stop, late = threading.Event(), time.monotonic()
    if ended == "stopped":
        stop.set()
    else:
        late -= 61
    question = Question(settings={"replicas": 2}, stop=stop, limits=Limits(seconds=60), asked_at=late)
    assert [(each.failures, each.more_than) for each in availability(question)] == [(None, -1)] * 8


def test_unclean_elections_help_where_followers_were_slow() -> None:
    settings: dict[str, int | str] = {"replicas": 2, "elr": "off", "min_insync_replicas": 1}
    assert [failures(LED, **settings, unclean_leader_election=unclean)[-1] for unclean in ("off", "on")] == [1, 2]


def test_without_failures_nothing_stops() -> None:
    calm = {"replicas": 2, **CALM}
    assert check("cluster", bounds=calm, properties=list(STOPS)).verdict == "holds"


@pytest.mark.slow
def test_the_fewest_are_those_of_the_whole_model() -> None:
    agrees({"release": "4.1", "replicas": 2, "min_insync_replicas": 2})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "elr"), [("2.8", "off"), ("3.6", "off"), ("4.0", "off"), ("4.0", "on"), ("4.1", "off"), ("4.1", "on")]
)
@pytest.mark.parametrize(
    ("replicas", "minimum"), [(replicas, least) for replicas in (1, 2, 3) for least in range(1, replicas + 1)]
)
@pytest.mark.parametrize("unclean", ["off", "on"])
def test_the_fewest_are_those_of_the_whole_model_under_all_small_settings(
    release: str, elr: str, replicas: int, minimum: int, unclean: str
) -> None:
    agrees(
        {
            "release": release,
            "replicas": replicas,
            "min_insync_replicas": minimum,
            "elr": elr,
            "unclean_leader_election": unclean,
        }
    )


@pytest.mark.slow
def test_brokers_that_come_back_are_not_counted_which_matters_before_4_0_with_an_elr() -> None:
    """No release before 4.0 has one; a leader that has come back and registered would leave the partition alone."""
    bounds: dict[str, int | str] = {"release": "3.6", "replicas": 3, "min_insync_replicas": 3, "elr": "on"}
    assert found(**bounds)[LED, BESIDE].failures == 3
    assert broken(LED, FAILURES[-1], 2, bounds)
