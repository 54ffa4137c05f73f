"""The table of what scenarios did on running brokers."""

from __future__ import annotations

from insync.conformance.catalogue.brokers_table import brokers_table
from insync.conformance.catalogue.catalogue_record import BrokersRun, RecordedEntry

RECORD = {
    "N-98": RecordedEntry(
        on_brokers=(
            BrokersRun("4.1.1", "n-98", 1, 1, "2026-01-01"),
            BrokersRun("4.1.2", "n-98", 1, 1, "2026-01-01"),
            BrokersRun("4.1.2", "trace", 1, 1, "2026-01-01"),
            BrokersRun("4.3.1", "n-98", 8, 10, "2026-01-02"),
        )
    ),
    "N-99": RecordedEntry(on_brokers=(BrokersRun("4.3.1", "n-99", 0, 1, "2026-01-03"),)),
    "N-97": RecordedEntry(),
}


def test_releases_that_did_the_same_share_a_line() -> None:
    assert brokers_table(RECORD, ["N-99", "N-98", "N-96"]) == [
        "| scenario | Kafka | run on | seen in |",
        "|---|---|---|---|",
        "| n-98 | 4.1.1 to 4.1.2 | 2026-01-01 | 1 of 1 each |",
        "| n-98 | 4.3.1 | 2026-01-02 | 8 of 10 |",
        "| n-99 | 4.3.1 | 2026-01-03 | 0 of 1 |",
    ]


def test_without_scenarios_there_is_no_table() -> None:
    assert brokers_table(RECORD, ["N-97"]) == []
