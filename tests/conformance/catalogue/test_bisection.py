"""Where it changes whether a trace is reproduced; versions that cannot be asked are passed over."""

from __future__ import annotations

import pytest

from insync.conformance.catalogue.bisection import Bisection
from insync.conformance.catalogue.catalogue_record import RecordedRun

WORDS = {"r": "reproduced", "a": "agrees", "d": "diverges", "n": "not_schedulable"}


@pytest.mark.parametrize(
    ("verdicts", "changes"),
    [
        ("", []), ("r", []), ("rr", []), ("ra", []), ("dd", []), ("n", []), ("rd", ["01"]), ("dr", ["01"]),
        ("rnd", ["02"]), ("nrd", ["12"]), ("rdn", ["01"]), ("rdr", ["01", "12"]), ("rnnr", []), ("rndnr", ["02", "24"]),
    ],
)  # fmt: skip
def test_it_changes_between_versions_of_which_one_alone_does_what_the_trace_says(
    verdicts: str, changes: list[str]
) -> None:
    runs = tuple(
        RecordedRun(str(number), "classes", WORDS[one], 3, "2026-01-01", "", predicted=True)
        for number, one in enumerate(verdicts)
    )
    found = Bisection("N-01", runs).changes
    assert [change.before.kafka + change.since.kafka for change in found] == changes
