"""What TLC found on the published module KRaft: `kraft_published` has the same states, depths and verdicts.

TLC counts a successor twice where a fetch from an empty log is accepted, because ValidFetchPosition is a disjunction of
which both parts hold. With a step more for that, the steps are as many as TLC's generated states, less the initial one.

A VIEW of TLC says that states are the same if they differ in its counters alone. Without restarts that changes nothing:
how many elections there were can be told from the messages. With restarts TLC's count is that of a search that does not
see what guards read, so it depends on the order in which TLC finds states; `with_view` searches likewise.

The rows of kraft_restarts.csv come from a program of 150 lines of C++ that was written after the module, and for
nothing else; TLC has counted those of which they say so. They go on from the illegal state, which is no error there.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from insync.explorer import check
from insync.explorer.results import CheckResult
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.kafka.published.quorum.kraft_published import KraftPublished, NamedEpoch, Position
from insync.kafka.published.quorum.voter import AnyEpoch, Voter, VoterState
from insync.model import StateView, action, require
from insync_views import Counts, with_view

ROWS = list(csv.DictReader((Path(__file__).parent / "kraft.csv").read_text().splitlines()))
COUNTED = list(csv.DictReader((Path(__file__).parent / "kraft_restarts.csv").read_text().splitlines()))
BOUNDS = ("servers", "records", "elections", "restarts")
PROPERTIES = {
    "LeaderHasAllAckedValues": "leader_has_all_acknowledged_values",
    "NoLogDivergence": "no_log_divergence",
    "NeverTwoLeadersInSameEpoch": "never_two_leaders_in_an_epoch",
    "NoIllegalState": "no_illegal_state",
    "CommittedEntriesReachMajority": "committed_entries_reach_a_majority",
}
Row = dict[str, str]


class CountedTwice(KraftPublished):
    """The published model with one step more for each that TLC counts twice."""

    @action
    def accept_from_the_start_again(self, s: StateView, i: Voter, follower: Voter, epoch: NamedEpoch) -> None:
        """A leader accepts a fetch from an empty log."""
        require(s.server[i].state == VoterState.LEADER, s.server[i].epoch == epoch)
        self.handle_fetch(s, i, follower, epoch, Position(0), AnyEpoch(0))


def bounds_of(row: Row) -> dict[str, int]:
    return {name: int(row[name]) for name in BOUNDS}


def properties_of(row: Row) -> list[str]:
    return [PROPERTIES[name] for name in row["invariants"].split(";")]


def searched(row: Row) -> CheckResult:
    return check(CountedTwice(**bounds_of(row)), properties=properties_of(row), symmetry=bool(row["symmetry"]))


GATE = [row for row in ROWS if int(row["distinct"]) < 300 and not row["view"] and not row["symmetry"]]
"""Rows that the evaluator searches in a moment; machine code has to be compiled for each."""


def counted_cases() -> list[object]:
    """Each row of ours, by ascending size; all are slow."""
    marks = [pytest.mark.slow, pytest.mark.timeout(3600)]
    return [pytest.param(row, id="-".join(row[name] for name in BOUNDS), marks=marks) for row in COUNTED]


def cases() -> list[object]:
    """Each row that TLC ended, but for those whose VIEW leaves out what guards read; the larger ones are slow."""
    plain = [row for row in ROWS if not (row["view"] and int(row["restarts"]))]
    return [
        pytest.param(
            row,
            id="-".join(row.values())[:24],
            marks=[] if row is ROWS[0] else [pytest.mark.slow, pytest.mark.timeout(3600)],
        )
        for row in plain
    ]


@pytest.mark.slow_for("2-1-1-0---55-69-17-holds0")
@pytest.mark.parametrize("row", cases())
def test_agrees_with_tlc(row: Row) -> None:
    found = searched(row)
    assert found.verdict == row["verdict"]
    if row["verdict"] == "violated":
        assert found.violations[0].trace_length == int(row["trace_length"])
        return
    if row["symmetry"]:
        # TLC counts the steps of one state of each orbit, where insync counts those of all states.
        assert (found.representatives, found.depth) == (int(row["distinct"]), int(row["depth"]))
        return
    assert Counts.of(found) == Counts.on_record(row)


def test_every_row_is_compared_once() -> None:
    assert len(cases()) + len([row for row in ROWS if row["view"] and int(row["restarts"])]) == len(ROWS) == 31


@pytest.mark.slow
@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["view"] and int(row["restarts"])], ids=lambda r: r["distinct"]
)
def test_a_view_without_what_guards_read_misses_states(row: Row) -> None:
    assert with_view(CountedTwice(**bounds_of(row)), ("elections", "restarts")) == Counts.on_record(row)


@pytest.mark.slow_for("2-1-1-1---45-55-", "2-1-1-1---271-37", "2-1-1-0---55-69-1")
@pytest.mark.parametrize("row", GATE, ids=lambda row: "-".join(row.values())[:16])
def test_the_evaluator_agrees_with_tlc(row: Row) -> None:
    found = check_by_evaluator(CountedTwice(**bounds_of(row)), properties=properties_of(row))
    assert found.verdict == row["verdict"]
    if row["verdict"] == "violated":
        assert found.violations[0].trace_length == int(row["trace_length"])
    else:
        assert Counts.of(found) == Counts.on_record(row)


@pytest.mark.parametrize("row", counted_cases())
def test_agrees_with_another_program_where_servers_restart(row: Row) -> None:
    """Also from the illegal state, which rows of TLC with one restart, or with that state as an error, do not leave."""
    found = check(CountedTwice(**bounds_of(row)), properties=list(PROPERTIES.values())[:3])
    assert (found.verdict, Counts.of(found)) == ("holds", Counts.on_record(row))
