"""What pre-votes are for in the network of `kraft`: a leader that works is left alone, however late messages come."""

from __future__ import annotations

from typing import Any

import pytest

from insync.explorer import check
from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.pre_votes import PreVotes
from insync.model import Condition, Not

PROPERTY = "working_leaders_are_left_alone"


def quorum(servers: int) -> Kraft:
    return Kraft(servers=servers, records=0, restarts=0, askers="on")


def test_nothing_is_noted_unless_it_is_asked_for() -> None:
    unwatched = Kraft(records=0, restarts=0)
    assert "asks_beside" not in unwatched.decode(unwatched.program.initials[0])["server"]["n1"]


@pytest.mark.slow
def test_two_servers_leave_a_leader_alone() -> None:
    assert check(quorum(2), properties=[PROPERTY]).verdict == "holds"


@pytest.mark.slow
def test_voters_that_would_vote_beside_their_leader_depose_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def votes_anyway(self: PreVotes, state: Any, has_fetched: Condition, behind: Condition) -> Condition:
        return Not(behind)

    monkeypatch.setattr(PreVotes, "grants", votes_anyway)
    (found,) = check(quorum(3), properties=[PROPERTY]).violations
    last = [step.action for step in found.trace.steps[-3:]]
    assert last == ["request_pre_votes", "handle_pre_vote_request", "handle_pre_vote"]
