"""The record of the catalogue on Kafka's classes is about the catalogue as it is; no Java is needed to see that.

Where a test here fails, a trace has changed since it was run: insync kafka replay --all --record runs them again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from insync.conformance.catalogue.catalogue_record import (
    BrokersRun,
    RecordedEntry,
    RecordedTrace,
    read_record,
    version_ranges,
    with_brokers_run,
    write_record,
)
from insync.conformance.catalogue.catalogue_runs import as_expected, catalogue_names
from insync.conformance.catalogue.claim_evidence import evidence
from insync.conformance.catalogue.entry_traces import EntryTrace, steps_again, trace_digest
from insync.conformance.catalogue.rule_traces import RULE_TRACES
from insync.conformance.catalogue.vocabulary import present_bounds, present_steps
from insync.conformance.jars.pinned import pinned_versions
from insync.kafka.defects import DEFECTS
from insync.runtime.errors import UserError

AGAIN = "the record is of another trace: insync kafka replay --all --record"


@cache
def recorded() -> dict[str, RecordedEntry]:
    return read_record()


def of_the_catalogue(name: str) -> tuple[str, RecordedTrace]:
    """The trace of the catalogue among those of an entry, with its digest."""
    bounds = RULE_TRACES[name].bounds if name in RULE_TRACES else DEFECTS[name].witness
    # An entry of which each version was run by a trace of its release has those alone.
    traces = recorded()[name].traces
    found = [(digest, one) for digest, one in traces.items() if bounds.items() <= present_bounds(one.bounds).items()]
    assert found, AGAIN
    return max(found, key=lambda pair: present_bounds(pair[1].bounds) == bounds)


def as_it_is_now(trace: RecordedTrace) -> EntryTrace:
    return steps_again(present_bounds(trace.bounds), present_steps(trace.steps), trace.property, trace.loop)


def test_what_is_on_record_is_of_the_catalogue_and_of_versions_that_can_be_had() -> None:
    assert set(recorded()) <= set(catalogue_names())
    assert {run.kafka for entry in recorded().values() for run in entry.runs} <= set(pinned_versions())
    assert all(entry.runs for entry in recorded().values())


RECORDED = [name for name in catalogue_names() if name in recorded()]


@pytest.mark.slow_for(
    "R-01",
    "R-04",
    "R-07",
    "R-11",
    "R-15",
    "R-18",
    "R-25",
    "R-28",
    "R-31",
    "R-39",
    "R-43",
    "R-48",
    "R-51",
    "N-02",
    "N-05",
    "N-08",
    "N-11",
    "N-18",
    "L-1",
    "M-5",
    "M-13",
    "M-17",
    "M-20",
    "C-6",
    "C-15",
    "C-16",
    "start_takes_accepted_copy",
    "elr_by_default",
)
@pytest.mark.parametrize(
    "name",
    [name if place % 3 == 0 else pytest.param(name, marks=pytest.mark.slow) for place, name in enumerate(RECORDED)],
)
def test_the_trace_that_was_run_is_that_of_the_entry(name: str) -> None:
    digest, trace = of_the_catalogue(name)
    assert trace_digest(as_it_is_now(trace), trace.bounds) == digest, AGAIN
    if name in DEFECTS:
        drops = sum(action.startswith("shrink") for action, _ in trace.steps)
        assert trace.property == DEFECTS[name].breaks
        of_a_release = trace.bounds != DEFECTS[name].witness
        assert len(trace.steps) == DEFECTS[name].length - 1 or drops or of_a_release, AGAIN
    else:
        assert [(action, dict(given)) for action, given in present_steps(trace.steps)] == [*RULE_TRACES[name].steps]


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED)
def test_the_traces_of_other_releases_are_what_they_were(name: str) -> None:
    for digest, trace in recorded()[name].traces.items():
        assert trace_digest(as_it_is_now(trace), trace.bounds) == digest, AGAIN


def test_a_trace_that_has_changed_is_noticed() -> None:
    digest, trace = of_the_catalogue("R-26")
    now = as_it_is_now(trace)
    assert trace_digest(now) == digest, "its bounds have names that were changed, and none that were merged"
    assert trace_digest(EntryTrace({**now.given, "records": 1}, now.model, now.trace)) != digest
    other = replace(
        now.trace,
        steps=(*now.trace.steps[:-1], replace(now.trace.steps[-1], state={**now.trace.steps[-1].state, "acked": []})),
    )
    assert trace_digest(EntryTrace(now.given, now.model, other)) != digest


def test_options_on_record_that_were_merged_are_added_and_those_that_are_gone_are_left_out() -> None:
    former: dict[str, int | str] = {"directory_losses": 1, "directory_failures": 1}
    assert present_bounds({**former, "deletion_answers": "on", "acks": "1"}) == {"log_dir_failures": 2, "acks": "1"}


def test_every_run_is_of_a_trace_on_record() -> None:
    assert all(run.trace in entry.traces for entry in recorded().values() for run in entry.runs)


def test_no_version_does_otherwise_than_the_model_of_its_release() -> None:
    against = {
        (name, run.kafka) for name, entry in recorded().items() for run in entry.runs if as_expected(run) is False
    }
    assert against == set()


def test_no_change_between_releases_was_seen_not_to_be_one() -> None:
    seen = [one for one in evidence(recorded()) if one.before is not None and one.since is not None]
    assert [(one.claim.rule, one.claim.before) for one in seen if not one.confirmed] == []
    assert {one.claim.rule for one in seen} >= {"register_leaves_isr", "skip_later_epochs", "last_leader_must_live"}


def test_every_change_between_releases_was_seen_on_both_sides() -> None:
    assert [(one.claim.rule, one.claim.before) for one in evidence(recorded()) if not one.confirmed] == []


@pytest.mark.parametrize(
    ("name", "versions"),
    [
        ("R-26", "3.9.0 to 3.9.2"),
        ("R-31", "3.9.0 to 4.0.2"),
        ("R-47", "3.9.0, 4.0.0"),
        ("R-30", ""),
        ("R-53", ""),
        ("N-17", "3.9.0 to 4.2.1"),
        ("C-17", "3.9.0 to 4.4.0"),
    ],
)
def test_an_entry_is_reproduced_where_its_fix_is_not(name: str, versions: str) -> None:
    found = [run.kafka for run in recorded()[name].runs if run.verdict == "reproduced" and run.kafka >= "3.9"]
    assert version_ranges(found, pinned_versions()) == versions


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    some = {name: recorded()[name] for name in ("R-26", "R-03", "drop_stale_reply")}
    some["R-26"] = with_brokers_run(some["R-26"], BrokersRun("3.9.2", "trace", 1, 1, "2026-01-02"))
    write_record(some, tmp_path / "record.json")
    assert read_record(tmp_path / "record.json") == some


def test_a_record_has_the_same_bytes_whatever_order_its_traces_were_found_in(tmp_path: Path) -> None:
    entry = next(entry for entry in recorded().values() if len(entry.traces) > 1)
    other = replace(entry, traces=dict(reversed(list(entry.traces.items()))))
    for name, one in (("one", entry), ("other", other)):
        write_record({"R-00": one}, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_what_brokers_did_takes_the_place_of_what_they_did_before() -> None:
    first = BrokersRun("4.1.2", "n-01", 0, 1, "2026-01-02")
    entry = with_brokers_run(with_brokers_run(RecordedEntry(), first), BrokersRun("3.9.2", "n-01", 1, 1, "2026-01-02"))
    assert [(one.kafka, one.reproduced) for one in entry.on_brokers] == [("3.9.2", 1), ("4.1.2", 0)]
    entry = with_brokers_run(entry, replace(first, reproduced=9, runs=10))
    entry = with_brokers_run(entry, replace(first, how="trace", reproduced=1))
    assert [(one.kafka, one.how, one.reproduced) for one in entry.on_brokers] == [
        ("3.9.2", "n-01", 1),
        ("4.1.2", "n-01", 9),
        ("4.1.2", "trace", 1),
    ]


def test_without_a_record_nothing_is_known(tmp_path: Path) -> None:
    assert read_record(tmp_path / "none.json") == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"format": "insync-kafka-record/1", "entries": {"R-26": 3}}',
        '{"format": "insync-kafka-record/2", "entries": {}}',
    ],
)
def test_what_is_no_record_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "record.json").write_text(text)
    with pytest.raises(UserError, match=r"no record of the catalogue\. Write it again: insync kafka replay --all"):
        read_record(tmp_path / "record.json")
