"""What is on record is what Kafka's classes do: a part of it is run again."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest

from insync.conformance.catalogue.catalogue_record import read_record
from insync.conformance.catalogue.catalogue_runs import recorded_run, run_entry
from insync_classes import HarnessOf, JarsOf

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

CHANGED = ("R-26", "R-29", "R-31", "R-46", "R-47", "N-01", "N-02", "N-06", "drop_stale_reply")
"""Entries of which releases within reach have some and not others, and what is new."""


@pytest.mark.parametrize("version", ["3.9.2", "4.1.2", "4.2.1"])
def test_a_release_does_what_is_on_record(jars_of: JarsOf, harness_of: HarnessOf, version: str) -> None:
    record, today = read_record(), datetime.datetime.now(datetime.UTC).date()
    with harness_of(jars_of(version)) as harness:
        found = {name: recorded_run(name, run_entry(name, harness), today) for name in CHANGED}
    known = {name: next(run for run in record[name].runs if run.kafka == version) for name in CHANGED}
    assert found == {name: replace(run, date=today.isoformat()) for name, run in known.items()}
