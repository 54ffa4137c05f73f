"""What TLC found on the published module kraft_kip_996: `kraft_996_published` has the same states, depths and steps.

TLC counts a successor twice where both parts of a disjunction hold: that a fetch fails and that a disruption is left,
that a leader should resign and that a disruption is left, that no pre-vote is awaited and that they are enough.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import insync_published_quorum.properties  # noqa: F401 - declares what the module promises
from insync.explorer import check
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.kafka.published.quorum.voter import Voter
from insync.model import Not, StateView, Switch, action, require
from insync_published_quorum.kraft_996_published import Kraft996Published
from insync_views import Counts

ROWS = list(csv.DictReader((Path(__file__).parent / "kraft_996.csv").read_text().splitlines()))
BOUNDS = ("servers", "records", "records_per_epoch", "epochs", "disruptions", "restarts")
PROPERTIES = {
    "LeaderCompleteness": "leader_has_all_acknowledged_values",
    "LogMatching": "no_log_divergence",
    "ElectionSafety": "never_two_leaders_in_an_epoch",
    "NoIllegalState": "no_illegal_state",
    "Durability": "acknowledged_values_last",
    "ValidRolesAndStates": "states_are_consistent",
}
Row = dict[str, str]


class CountedTwice(Kraft996Published):
    """The published model with one step more for each that TLC counts twice."""

    @action
    def fetch_timeout_again(self, s: StateView, i: Voter) -> None:
        """Who need not wait any more, and may stop to."""
        require(self.fetch_fails(s.server[i]), s.disruptions < self.b.disruptions)
        self.fetch_timeout(s, i)

    @action
    def resign_again(self, s: StateView, i: Voter) -> None:
        """Who should resign, and may."""
        require(self.should_resign(s, i), s.disruptions < self.b.disruptions)
        self.resign(s, i)

    @action
    def stand_for_election_again(self, s: StateView, i: Voter) -> None:
        """Who has enough pre-votes and waits for none."""
        require(Not(self.is_asking(s, i, pre_vote=True)))
        self.stand_for_election(s, i)


def name_of(row: Row) -> str:
    return "-".join([*(row[name] for name in BOUNDS), row["view"]])


def model_of(row: Row) -> Kraft996Published:
    received = Switch.OFF if row["view"] else Switch.ON
    return CountedTwice(**{name: int(row[name]) for name in BOUNDS}, received=received)


def properties_of(row: Row) -> list[str]:
    return [PROPERTIES[name] for name in row["invariants"].split(";")]


GATE = [row for row in ROWS if int(row["distinct"]) < 100]
"""Rows that the evaluator searches in a moment; machine code has to be compiled for each."""


@pytest.mark.slow_but("2-1-4-1-0-0-view")
@pytest.mark.parametrize("row", GATE, ids=name_of)
def test_the_evaluator_agrees_with_tlc(row: Row) -> None:
    found = check_by_evaluator(model_of(row), properties=properties_of(row))
    assert (found.verdict, Counts.of(found)) == (row["verdict"], Counts.on_record(row))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_agrees_with_tlc(row: Row) -> None:
    found = check(model_of(row), properties=properties_of(row), symmetry=False)
    assert (found.verdict, Counts.of(found)) == (row["verdict"], Counts.on_record(row))
