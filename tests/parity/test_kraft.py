"""What TLC found on the published module KRaft: `kraft_published` has the same states, depths and verdicts.

TLC counts a successor twice where a fetch from an empty log is accepted, because ValidFetchPosition is a disjunction of
which both parts hold. With a step more for that, the steps are as many as TLC's generated states, less the initial one.

A VIEW of TLC says that states are the same if they differ in its counters alone. Without restarts that changes nothing:
how many elections there were can be told from the messages. With restarts TLC's count is that of a search that does not
see what guards read, so it depends on the order in which TLC finds states; `with_view` searches likewise.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from insync.explorer import check
from insync.explorer.verdict import CheckResult
from insync.kafka.quorum.kraft_published import KraftPublished, Position
from insync.kafka.quorum.voter import AnyEpoch, QuorumEpoch, Voter, VoterState
from insync.model import StateView, action, require
from insync.model.evaluator import Evaluator

ROWS = list(csv.DictReader((Path(__file__).parent / "kraft.csv").read_text().splitlines()))
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
    def accept_from_the_start_again(self, s: StateView, i: Voter, follower: Voter, epoch: QuorumEpoch) -> None:
        """A leader accepts a fetch from an empty log."""
        require(s.server[i].state == VoterState.LEADER, s.server[i].epoch == epoch)
        self.handle_fetch(s, i, follower, epoch, Position(0), AnyEpoch(0))


def bounds_of(row: Row) -> dict[str, int]:
    return {name: int(row[name]) for name in BOUNDS}


def searched(row: Row) -> CheckResult:
    properties = [PROPERTIES[name] for name in row["invariants"].split(";")]
    return check(CountedTwice(**bounds_of(row)), properties=properties, symmetry=bool(row["symmetry"]))


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


@pytest.mark.parametrize("row", cases())
def test_agrees_with_tlc(row: Row) -> None:
    found = searched(row)
    assert found.verdict == row["verdict"]
    if row["verdict"] == "violated":
        assert found.violations[0].trace_length == int(row["trace_length"])
        return
    assert found.depth == int(row["depth"])
    if row["symmetry"]:
        assert found.representatives == int(row["distinct"])
        return
    assert found.distinct_states == int(row["distinct"])
    assert found.transitions + 1 == int(row["generated"])


def test_every_row_is_compared_once() -> None:
    assert len(cases()) + len([row for row in ROWS if row["view"] and int(row["restarts"])]) == len(ROWS) == 31


def with_view(model: KraftPublished) -> int:
    """Count the states that a search finds which takes those for equal that differ in the counters alone."""
    program, steps = model.program, Evaluator(model.program)
    shown = [n for n, cell in enumerate(program.schema.cells) if cell.path not in ("elections", "restarts")]
    queue = list(program.initials)
    seen = {tuple(state[n] for n in shown) for state in queue}
    for state in queue:
        for number in steps.enabled(state):
            after = steps.step(number, state)
            view = tuple(after[n] for n in shown)
            if view not in seen:
                seen.add(view)
                queue.append(after)
    return len(seen)


@pytest.mark.slow
@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["view"] and int(row["restarts"])], ids=lambda r: r["distinct"]
)
def test_a_view_without_what_guards_read_misses_states(row: Row) -> None:
    assert with_view(KraftPublished(**bounds_of(row))) == int(row["distinct"])
