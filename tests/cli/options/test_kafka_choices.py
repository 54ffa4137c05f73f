"""What `--record` writes about runs on brokers."""

from __future__ import annotations

from collections.abc import Mapping

import click
import pytest

from insync.cli.options.kafka import ClusterChoice, OutcomeRecorder
from insync.conformance.catalogue import catalogue_record
from insync.conformance.catalogue.catalogue_record import RecordedEntry


def test_a_record_says_in_how_many_runs_it_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    written: dict[str, RecordedEntry] = {}

    def write(entries: Mapping[str, RecordedEntry]) -> None:
        written.update(entries)

    before = catalogue_record.read_record()
    monkeypatch.setattr(catalogue_record, "write_record", write)
    OutcomeRecorder("r-50", ClusterChoice("3.9.1", None)).write("lost_directory", [True, False, True])
    (run,) = [one for one in written["R-50"].on_brokers if (one.kafka, one.how) == ("3.9.1", "lost_directory")]
    assert (run.reproduced, run.runs) == (2, 3)
    assert written["R-50"].runs == before["R-50"].runs, "what classes did stays"
    assert {name: entry for name, entry in written.items() if name != "R-50"} == {
        name: entry for name, entry in before.items() if name != "R-50"
    }


def test_a_distribution_has_no_record() -> None:
    with pytest.raises(click.UsageError, match="--record is about a release as it is"):
        OutcomeRecorder("R-50", ClusterChoice(None, None))
