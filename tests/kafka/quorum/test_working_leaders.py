"""What pre-votes are for in the network of `kraft`: a leader that works is left alone, however late messages come."""

from __future__ import annotations

import pytest

from insync.conformance.quorum.beside_kafka import AS_KAFKA
from insync.explorer import check
from insync.kafka.quorum import prospects
from insync.kafka.quorum.kraft import Kraft
from insync.model import Condition, Not

PROPERTY = "working_leaders_are_left_alone"


def quorum(servers: int) -> Kraft:
    return Kraft(servers=servers, elections=2, records=0, pre_votes="on", askers="on", **AS_KAFKA)


def test_nothing_is_noted_unless_it_is_asked_for() -> None:
    unwatched = Kraft(servers=2, elections=2, records=0, pre_votes="on", **AS_KAFKA)
    assert "asks_beside" not in unwatched.decode(unwatched.program.initials[0])["server"]["n1"]


@pytest.mark.slow
def test_two_servers_leave_a_leader_alone() -> None:
    assert check(quorum(2), properties=[PROPERTY]).verdict == "holds"


@pytest.mark.slow
def test_voters_that_would_vote_beside_their_leader_depose_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def votes_anyway(free: Condition, follows: Condition, has_fetched: Condition, behind: Condition) -> Condition:
        return Not(behind)

    monkeypatch.setattr(prospects, "grants_pre_vote", votes_anyway)
    (found,) = check(quorum(3), properties=[PROPERTY]).violations
    assert [step.label for step in found.trace.steps[-3:]] == [
        "n2 asks whether it would be elected",
        "n1 tells n2 whether it would vote for it",
        "n2 gets the pre-vote of n1",
    ]
