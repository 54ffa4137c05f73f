"""What TLC found on the published module kraft_kip_853: `kraft_853_published` has the same states, depths and steps.

TLC's VIEW view leaves out the counters too, which guards read: its counts are those of a search that takes states for
the same from which different steps are possible. The rows with it are among the others, for the same number of states.
TLC counts a fetch of a server that has nothing twice, because both parts of ValidFetchPosition hold.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import insync_published_quorum.properties  # noqa: F401 - declares what the module promises
from insync.explorer import check
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.kafka.published.quorum.voter import Voter
from insync.model import StateView, Switch, action, require
from insync_published_quorum.kraft_853_published import Kraft853Published
from insync_published_quorum.members import HeardEpoch
from insync_views import Counts

BOUNDS = ("servers", "spares", "records", "records_per_epoch", "epochs", "additions", "removals", "restarts", "crashes")
ROWS = list(csv.DictReader((Path(__file__).parent / "kraft_853.csv").read_text().splitlines()))
PROPERTIES = {
    "LeaderHasAllAckedValues": "leader_has_all_acknowledged_values",
    "AckedValueNotLost": "acknowledged_values_stay_with_a_voter",
    "NoLogDivergence": "no_log_divergence",
    "NeverTwoLeadersInSameEpoch": "never_two_leaders_in_an_epoch",
    "NoIllegalState": "no_illegal_state",
    "StatesMatchRoles": "states_match_roles",
}
Row = dict[str, str]


class CountedTwice(Kraft853Published):
    """The published model with one step more for each that TLC counts twice."""

    @action
    def accept_first_fetch_again(self, s: StateView, i: Voter, follower: Voter, epoch: HeardEpoch) -> None:
        """A leader accepts the fetch of a server that has nothing."""
        require(self.leads(s.server[i]), s.server[i].epoch == epoch)
        self.handle_first_fetch(s, i, follower, epoch)


def name_of(row: Row) -> str:
    return "-".join([*(row[name] for name in BOUNDS), row["view"]])


def model_of(row: Row) -> Kraft853Published:
    received = Switch.OFF if row["view"] else Switch.ON
    return CountedTwice(**{name: int(row[name]) for name in BOUNDS}, received=received)


def properties_of(row: Row) -> list[str]:
    return [PROPERTIES[name] for name in row["invariants"].split(";")]


GATE = [row for row in ROWS if int(row["distinct"]) < 100]
"""Rows that the evaluator searches in a moment; machine code has to be compiled for each."""


@pytest.mark.slow_for("2-0-1-4-1-0-0-0-0-")
@pytest.mark.parametrize("row", GATE, ids=name_of)
def test_the_evaluator_agrees_with_tlc(row: Row) -> None:
    found = check_by_evaluator(model_of(row), properties=properties_of(row))
    assert (found.verdict, Counts.of(found)) == (row["verdict"], Counts.on_record(row))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_agrees_with_tlc(row: Row) -> None:
    found = check(model_of(row), properties=properties_of(row))
    assert (found.verdict, Counts.of(found)) == (row["verdict"], Counts.on_record(row))


class Narrow(Kraft853Published):
    """Too few places for messages."""

    @property
    def rounds(self) -> int:
        return 1


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_too_few_places_for_messages_are_no_other_count() -> None:
    found = check(Narrow())
    assert [violation.property for violation in found.violations] == ["type_ok"]
