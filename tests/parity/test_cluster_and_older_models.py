"""The cluster model beside the published modules: the same defects, and lengths that differ by steps that are known.

The table in docs/guide/cluster-results.md has the same numbers; the last test compares.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from insync.explorer import Trace, check
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.kafka.published import Kip101, Kip279, Kip320, Kip320FirstTry, Replication, TruncateToHighWatermark
from insync.kafka.published.replication import Replica
from insync.model import And, Condition, If, Model, Num, StateView, action, for_all, invariant, minimum, require
from insync.properties.kafka import cluster

DOCS = Path(__file__).parents[2] / "docs" / "guide" / "cluster-results.md"

# ----------------------------------------------------------------------------------- mutants of the published modules


class Kip101WithKnownEpoch(Kip101):
    """KIP-101 with KAFKA-7415: a leader that has not written yet knows its epoch; otherwise R-04 comes before R-03."""

    def truncation_offset(self, s: StateView, leader: Replica, follower: Replica) -> Num:
        f, other = s.replica[follower], s.replica[leader]
        asked = self.epoch_at(s, follower, f.leo - 1)
        answer: Num = If(And(other.leader == leader, other.epoch.or_else(-1) > asked), other.leo, f.hw)
        for offset in reversed(range(self.b.log_size)):
            answer = If(And(offset < other.leo, self.epoch_at(s, leader, offset) > asked), offset, answer)
        answer = If(And(other.leo > 0, self.epoch_at(s, leader, other.leo - 1) == asked), other.leo, answer)
        end: Num = If(f.leo == 0, 0, minimum(answer, f.leo))
        return end


class Kip320WithoutEpochStart(Kip320):
    """KIP-320 without its fourth rule: who joins need not have reached the leader's own epoch."""

    def may_join_isr(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        return self.caught_up(s, leader, follower, s.replica[leader].hw)


class Kip320CountsEarlierEpochs(Kip320):
    """KIP-320 without its third rule (R-10): the high watermark counts members in whatever epoch."""

    @action(label="{leader} advances its HW")
    def leader_advance_high_watermark(self, s: StateView, leader: Replica) -> None:
        mine = s.replica[leader]
        require(self.believes_it_leads(s, leader), mine.hw < mine.leo)
        require(for_all(mine.isr, lambda r: And(s.replica[r].leader == leader, mine.hw < s.replica[r].leo)))
        mine.hw += 1


class Kip320BeyondItsClaims(Kip320):
    """KIP-320 with what it does not claim, in words that are as near to those of the cluster as its state allows."""

    @invariant
    def watermark_never_goes_back(self, s: StateView) -> Condition:
        """No replica's high watermark is beyond that of the true leader, whom clients ask."""
        return for_all(
            self.all(Replica),
            lambda leader: for_all(
                self.all(Replica),
                lambda other: If(self.is_true_leader(s, leader), s.replica[other].hw <= s.replica[leader].hw, True),
            ),
        )

    @invariant
    def isr_and_elr_are_sound(self, s: StateView) -> Condition:
        """Who was dropped by the controller's latest request, which is all that it knows of failures, is not back."""
        newest = s.requests[s.next_epoch - 1]
        sound: Condition = If(s.next_epoch > 0, s.quorum.isr.is_subset(newest.isr), True)
        return sound


# ----------------------------------------------------------------------------------------------------- what is compared

KINDS = {
    "decide": "controller_elect_leader controller_shrink_isr controller_drop_leader elect",
    "learn": "become_leader become_follower apply_metadata",
    "write": "leader_write write",
    "fetch": "follower_fetch fetch receive",
    "commit": "leader_advance_high_watermark",
    "cut": "follower_truncate ask_epoch_end",
    "isr": "leader_expand_isr leader_shrink_isr expand_isr shrink_isr accept_alter_partition",
}
"""The kinds of steps, with the actions of both families."""


@dataclass(frozen=True)
class Comparison:
    """A defect in both families: how many steps of which kind a shortest trace has; none where nothing fails."""

    defect: str
    older: type[Replication]
    bounds: tuple[int, int, int, int]
    in_older: str
    atomic: str
    late: str


COMPARED = (
    Comparison(
        "R-01", TruncateToHighWatermark, (2, 2, 1, 2),
        "decide 2 learn 3 write 1 fetch 1 commit 1 isr 1",
        "decide 2 write 1 fetch 2",
        "decide 2 learn 1 write 1 fetch 2",
    ),
    Comparison(
        "R-03", Kip101WithKnownEpoch, (2, 2, 2, 2),
        "decide 3 learn 4 write 2 commit 1",
        "decide 2 write 2 fetch 1 cut 1",
        "decide 2 learn 3 write 2 fetch 1 cut 1",
    ),
    Comparison(
        "R-04", Kip101, (2, 2, 2, 2),
        "decide 3 learn 4 write 2 fetch 1 commit 1",
        "decide 2 write 2 fetch 2 cut 1",
        "decide 2 learn 3 write 2 fetch 2 cut 1",
    ),
    Comparison(
        "R-06", Kip320WithoutEpochStart, (3, 1, 1, 2),
        "decide 2 learn 4 write 1 fetch 1 commit 1 isr 2",
        "decide 1 write 1 fetch 4 isr 4",
        "decide 1 learn 3 write 1 fetch 4 isr 4",
    ),
    Comparison(
        "R-08", Kip279, (3, 1, 1, 3),
        "decide 4 learn 3 write 1 fetch 1 commit 1",
        "",
        "decide 2 learn 2 write 1 fetch 4 cut 1",
    ),
    Comparison(
        "R-09", Kip320FirstTry, (3, 1, 1, 3),
        "decide 4 learn 4 write 1 fetch 1 commit 1 cut 1",
        "",
        "decide 2 learn 3 write 1 fetch 5",
    ),
    Comparison(
        "N-01", Kip320CountsEarlierEpochs, (3, 1, 1, 3),
        "decide 4 learn 5 write 1 fetch 1 commit 1",
        "",
        "decide 2 learn 4 write 1 fetch 6",
    ),
)  # fmt: skip


def kinds(trace: Trace) -> str:
    """Count the steps of a trace by kind."""
    kind_of = {name: kind for kind, names in KINDS.items() for name in names.split()}
    counted = Counter(kind_of[step.action] for step in trace.steps if step.action)
    return " ".join(f"{kind} {counted[kind]}" for kind in KINDS if counted[kind])


def shortest(model: Model, name: str) -> str:
    """Search for a violation, and count the steps of the shortest trace; nothing if the property holds."""
    result = check(model, properties=[name], threads=1)
    assert result.verdict in ("holds", "violated")
    return " ".join(kinds(violation.trace) for violation in result.violations)


def steps(counted: str) -> int:
    """Sum up the steps of all kinds."""
    return sum(int(number) for number in counted.split()[1::2])


# ------------------------------------------------------------------------------------------------------------ the tests


@pytest.mark.slow
@pytest.mark.parametrize("one", COMPARED, ids=[one.defect for one in COMPARED])
def test_a_defect_is_in_both_families_by_steps_of_the_same_kinds(one: Comparison) -> None:
    replicas, log_size, max_records, max_leader_epoch = one.bounds
    older = one.older(
        replicas=replicas, log_size=log_size, max_records=max_records, max_leader_epoch=max_leader_epoch
    )  # fmt: skip
    assert shortest(older, "strong_isr") == one.in_older
    defect = DEFECTS[one.defect]
    assert shortest(Cluster(**{**defect.witness, "metadata_lag": 0}), defect.breaks) == one.atomic
    assert shortest(Cluster(**defect.witness), defect.breaks) == one.late
    assert steps(one.late) == defect.length - 1


CALM: dict[str, int | str] = {
    "release": "2.1", "power_failures": 0, "fencings": 0, "isr_shrinks": 1, "min_insync_replicas": 1, "records": 2,
}  # fmt: skip
NOT_CLAIMED = {"watermark_never_goes_back", "isr_and_elr_are_sound"}
"""What kip320 does not keep either: KIP-207 came in 2.2; KIP-841, which keeps out who is fenced, in 3.3."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "bounds",
    [
        {"preferred_elections": 3},
        pytest.param({"preferred_elections": 2, "late_fetch_responses": "on"}, marks=pytest.mark.slow),
        pytest.param({"preferred_elections": 2, "fencings": 1}, marks=pytest.mark.slow),
    ],
)
def test_2_1_without_crashes_and_with_atomic_metadata_breaks_nothing_that_kip320_keeps(
    bounds: dict[str, int | str],
) -> None:
    model = Cluster(**{**CALM, **bounds, "metadata_lag": 0})
    result = check(model, properties=sorted(set(cluster.__all__) - NOT_CLAIMED))
    assert (result.verdict, result.stopped_by) == ("holds", None)


@pytest.mark.slow
def test_what_2_1_breaks_then_kip320_breaks_as_well() -> None:
    for name in NOT_CLAIMED:
        here = Cluster(**{**CALM, "preferred_elections": 1, "fencings": 1, "metadata_lag": 0})
        assert check(here, properties=[name]).verdict == "violated"
        there = Kip320BeyondItsClaims(replicas=2, max_records=1)
        assert check(there, properties=[name]).verdict == "violated"


@pytest.mark.slow
def test_2_1_with_late_metadata_breaks_what_kip320_keeps_by_n_01_and_r_23() -> None:
    late: dict[str, int | str] = {**CALM, "preferred_elections": 2, "records": 1}
    result = check(Cluster(**late), properties=["electable_replicas_are_complete"])
    assert [violation.trace_length for violation in result.violations] == [11]
    without_n_01: dict[str, int | str] = {**late, "defect": "N-01", "fixed": "on"}
    assert check(Cluster(**without_n_01), properties=["electable_replicas_are_complete"]).verdict == "violated"
    without_both = Cluster(**{**without_n_01, "release": "2.7"})
    assert check(without_both, properties=["electable_replicas_are_complete"]).verdict == "holds"


@pytest.mark.parametrize("one", COMPARED, ids=[one.defect for one in COMPARED])
def test_the_guide_has_the_same_numbers(one: Comparison) -> None:
    row = next(line for line in DOCS.read_text().splitlines() if line.startswith(f"| {one.defect} | `"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    expected = [
        f"{steps(counted)}: {counted}" if counted else "holds" for counted in (one.in_older, one.atomic, one.late)
    ]
    assert cells[2:5] == expected
    assert re.findall(r"\d+", cells[1])[-4:] == [str(number) for number in one.bounds]
