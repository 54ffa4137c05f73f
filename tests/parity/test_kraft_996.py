"""What TLC found on the published module kraft_kip_996: `kraft_996` has the same states, depths and steps.

TLC's states have three things that `kraft_996` has not, because nothing that it has reads them: which messages were
received, whether a server knows that the record of the first voters is committed, and who is the first leader. Here
they are there. TLC's VIEW livenessView leaves out the received messages.

TLC counts a successor twice where both parts of a disjunction hold: that a fetch fails and that a disruption is left,
that a leader should resign and that a disruption is left, that no pre-vote is awaited and that they are enough.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import check
from insync.kafka.quorum import pre_vote_transitions as to
from insync.kafka.quorum.fetches import FetchReply, Result
from insync.kafka.quorum.kraft_996 import Kraft996
from insync.kafka.quorum.voter import Voter
from insync.model import Bool, BoundValues, Not, Or, RecordView, State, StateView, action, initial, require, when

ROWS = list(csv.DictReader((Path(__file__).parent / "kraft_996.csv").read_text().splitlines()))
BOUNDS = ("servers", "records", "epochs", "disruptions", "restarts")
PROPERTIES = {
    "LeaderCompleteness": "leader_has_all_acknowledged_values",
    "LogMatching": "no_log_divergence",
    "ElectionSafety": "never_two_leaders_in_an_epoch",
    "NoIllegalState": "no_illegal_state",
    "Durability": "acknowledged_values_last",
    "ValidRolesAndStates": "states_are_consistent",
}
Row = dict[str, str]


class Published(Kraft996):
    """The model with the steps and the states of TLC's livenessView."""

    def fetch_state(self) -> dict[str, Any]:
        return {**super().fetch_state(), "config_committed": Bool}

    @initial
    def one_leads(self, s: StateView, leader: Voter) -> None:
        require(leader == Voter(0))
        super().one_leads(s, leader)
        for i in self.all(Voter):
            s.server[i].config_committed = True

    def take_reply(self, me: RecordView, i: Voter, reply: FetchReply) -> None:
        wrong = Or(reply.result == Result.NOT_LEADER, reply.result == Result.FENCED)
        _, handled = to.heard(me, i, reply.leader, reply.epoch, wrong, reply.failed)
        with when(Not(handled)):
            me.config_committed = reply.high_watermark >= 1
        super().take_reply(me, i, reply)

    def commit(self, s: StateView, i: Voter) -> None:
        before = s.server[i].high_watermark
        super().commit(s, i)
        with when(s.server[i].high_watermark > before):
            s.server[i].config_committed = True

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


class WithHistory(Published):
    """The model with the states of TLC: it also knows which messages were received."""

    def declare(self, b: BoundValues) -> State:
        state = super().declare(b)
        kinds = {name: field for name, field in state.fields.items() if name not in self.voters(b)}
        return State(**state.fields, **{f"received_{name}": field for name, field in kinds.items()})

    @property
    def rounds(self) -> int:
        return 2 * super().rounds + 2

    def receive(self, s: StateView, kind: str, i: Voter, sender: Voter, message: Any) -> None:
        super().receive(s, kind, i, sender, message)
        getattr(s, f"received_{kind}")[sender][i].add(message)


def cases() -> list[object]:
    return [
        pytest.param(
            row,
            id="-".join([*(row[name] for name in BOUNDS), row["view"]]),
            marks=[pytest.mark.slow, pytest.mark.timeout(3600)],
        )
        for row in ROWS
    ]


@pytest.mark.parametrize("row", cases())
def test_agrees_with_tlc(row: Row) -> None:
    model = (Published if row["view"] else WithHistory)(**{name: int(row[name]) for name in BOUNDS})
    properties = [PROPERTIES[name] for name in row["invariants"].split(";")]
    found = check(model, properties=properties, symmetry=False)
    assert (found.verdict, found.distinct_states, found.depth, found.transitions + 1) == (
        row["verdict"],
        int(row["distinct"]),
        int(row["depth"]),
        int(row["generated"]),
    )
