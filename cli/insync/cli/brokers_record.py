"""The record of what running brokers did with an entry of the catalogue, for `insync defects`."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import click

from insync.cli.options.kafka import ClusterChoice
from insync.conformance.catalogue.catalogue_record import (
    RECORD,
    BrokersRun,
    RecordedEntry,
    read_record,
    with_brokers_run,
    write_record,
)
from insync.conformance.catalogue.catalogue_runs import entry_names
from insync.runtime.files import check_writable

__all__ = ["Recorder"]


class Recorder:
    """Records what brokers of a release did with an entry.

    Args:
        given: the name of the entry, in upper or lower case.
        choice: the chosen cluster.

    Raises:
        click.UsageError: no release is chosen.
        UserError: there is no such entry, or the record cannot be written.
    """

    def __init__(self, given: str, choice: ClusterChoice) -> None:
        if choice.kafka is None:
            message = "--record is about a release as it is: give --kafka VERSION with it, and not --libs."
            raise click.UsageError(message)
        (self._name,), self._version = entry_names(given), choice.kafka
        check_writable(RECORD)

    def write(self, how: str, reproduced: Sequence[bool]) -> None:
        """Record the outcome of some runs.

        Args:
            how: what was run on the brokers: `trace`, or the name of a scenario.
            reproduced: for each run, whether the defect occurred.
        """
        record, today = read_record(), datetime.datetime.now(datetime.UTC).date()
        run = BrokersRun(self._version, how, sum(reproduced), len(reproduced), today.isoformat())
        write_record({**record, self._name: with_brokers_run(record.get(self._name, RecordedEntry()), run)})
