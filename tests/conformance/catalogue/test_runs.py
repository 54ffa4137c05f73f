"""Which trace an entry is run by on a version, and what goes on record, with recordings in the place of Kafka."""

from __future__ import annotations

import datetime

import pytest

from insync.conformance.catalogue.bisection import Bisection
from insync.conformance.catalogue.catalogue_record import RecordedRun
from insync.conformance.catalogue.catalogue_runs import as_expected, merged, recorded_run, run_entry
from insync.conformance.catalogue.entry_traces import catalogue_trace, release_traces, takes_trace
from insync.conformance.catalogue.reached import claims
from insync.conformance.catalogue.rule_traces import RULE_TRACES, rule_trace
from insync.kafka.defects import DEFECTS
from insync.kafka.releases import Release
from insync_kafka import Recording

TODAY = datetime.date(2026, 1, 2)


def test_claims_are_made_between_versions_that_follow_one_another() -> None:
    found = {(claim.rule, claim.before, claim.since) for claim in claims(("3.9.2", "4.0.0", "4.0.1"))}
    assert ("register_leaves_isr", "3.9.2", "4.0.0") in found
    assert ("skip_later_epochs", "3.9.2", "4.0.0") in found  # 4.0.0 is the older one
    assert ("skip_later_epochs", "4.0.0", "4.0.1") in found
    assert all(before != "4.0.0" or rule != "register_leaves_isr" for rule, before, _ in found)


def test_a_trace_of_a_release_is_one_that_its_rules_allow() -> None:
    found = next(release_traces(DEFECTS["R-40"], Release.V3_9))
    assert (found.model.identity["release"], found.model.features.elr, found.trace.length) == ("3.9", False, 8)


def test_what_something_else_brings_about_is_left_out() -> None:
    # In 3.9 a leader may be fenced and lead on, which is R-26: the fix of R-31 does not keep it from that.
    assert not any(not one.model.features.elr for one in release_traces(DEFECTS["R-31"], Release.V3_9))


@pytest.mark.slow_for("drop_stale_reply")
@pytest.mark.parametrize("rule", RULE_TRACES)
def test_the_steps_of_a_rule_are_those_of_a_model_with_its_value(rule: str) -> None:
    assert rule_trace(rule).model.in_force.value(rule) == RULE_TRACES[rule].value


def run(verdict: str, kafka: str, *, predicted: bool = True) -> RecordedRun:
    return RecordedRun(kafka, "classes", verdict, 3, "2026-01-02", "abc", predicted)


def test_a_run_is_as_expected_if_the_model_of_the_release_takes_the_trace_too() -> None:
    assert as_expected(run("reproduced", "4.1.0")) is True
    assert as_expected(run("reproduced", "4.1.0", predicted=False)) is False
    assert as_expected(run("diverges", "4.1.0", predicted=False)) is True
    assert as_expected(run("diverges", "4.1.0")) is False
    assert as_expected(run("not_schedulable", "4.1.0")) is None


def test_a_bisection_passes_over_what_cannot_be_asked() -> None:
    verdicts = ("reproduced", "not_schedulable", "diverges", "agrees")
    runs = [run(verdict, f"4.{number}.0") for number, verdict in enumerate(verdicts)]
    found = [(change.before.kafka, change.since.kafka) for change in Bisection("X", tuple(runs)).changes]
    assert found == [("4.0.0", "4.2.0"), ("4.2.0", "4.3.0")]


@pytest.mark.slow
def test_a_divergence_goes_on_record_with_its_step_and_field() -> None:
    recording = Recording.read("R-26-4.1.2")
    asked, replayed = run_entry("R-26", recording)
    found = recorded_run("R-26", (asked, replayed), TODAY)
    assert (found.kafka, found.verdict, found.steps, found.date) == ("4.1.2", "diverges", 5, "2026-01-02")
    assert (found.label, found.field) == ("b1 starts and registers", "controller.leader")
    assert (found.model, found.seen, found.predicted) == ("b1", "b2", False)


def test_a_run_takes_the_place_of_an_earlier_one_of_its_version() -> None:
    first = merged({}, [("R-26", run_entry("R-26", Recording.read("R-26-3.9.2")))], TODAY)
    assert [(one.kafka, one.verdict) for one in first["R-26"].runs] == [("3.9.2", "reproduced")]
    again = [("R-26", run_entry("R-26", Recording.read(name))) for name in ("R-26-4.1.2", "R-26-3.9.2")]
    later = merged(first, again, datetime.date(2026, 3, 4))
    assert [(one.kafka, one.date) for one in later["R-26"].runs] == [("3.9.2", "2026-03-04"), ("4.1.2", "2026-03-04")]
    assert set(later["R-26"].traces) == {one.trace for one in later["R-26"].runs}


def test_a_release_does_not_take_a_trace_after_which_a_broker_has_to_tell_of_its_log() -> None:
    # Where the model's broker has nothing to tell and Kafka's has, Kafka's does it at once: 3.7.1 takes the copy back.
    asked = catalogue_trace(DEFECTS["R-51"])
    assert asked is not None
    taken = {release: takes_trace(Release(release), asked, default_elr=False) for release in ("3.7", "3.7.1", "4.3")}
    assert taken == {"3.7": True, "3.7.1": False, "4.3": False}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "taken"), [("M-17", False), ("N-15", True)])
def test_a_release_does_not_take_a_trace_in_which_an_operator_is_answered_otherwise(name: str, taken: bool) -> None:
    asked = catalogue_trace(DEFECTS[name])
    assert asked is not None
    assert "delete_record" in [step.action for step in asked.trace.steps]
    assert takes_trace(Release("4.1"), asked, default_elr=False) is taken
