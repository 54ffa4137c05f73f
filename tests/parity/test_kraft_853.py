"""What TLC found on the published module kraft_kip_853: `kraft_853` has the same states, depths and steps.

TLC's states have things that `kraft_853` has not, because nothing that it has reads them: which messages were received
(which TLC's VIEW livenessView leaves out), how the last fetch of a server went, how many configurations there were, of
whom a leader knows that it knows nothing, on which host a new server is, and the fetch that it sends when it starts.
Here they are there.

TLC's VIEW view leaves out the counters too, which guards read: its counts are those of a search that takes states for
the same from which different steps are possible. The rows with it are among the others, for the same number of states.
TLC counts a fetch of a server that has nothing twice, because both parts of ValidFetchPosition hold.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import check
from insync.kafka.quorum.fetches import Result
from insync.kafka.quorum.kraft_853 import Kraft853
from insync.kafka.quorum.member_fetches import MemberReply
from insync.kafka.quorum.member_mail import KINDS
from insync.kafka.quorum.members import HeardEpoch, changes_voters
from insync.kafka.quorum.voter import Voter
from insync.model import (
    NONE,
    Array,
    Bool,
    BoundValues,
    If,
    Int,
    Option,
    Range,
    Record,
    RecordView,
    Set,
    State,
    StateView,
    action,
    bound,
    record,
    require,
)

BOUNDS = ("servers", "spares", "records", "epochs", "additions", "removals", "restarts", "crashes")
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


class Host(Range):
    """A host but the first on which a server can be started."""

    lo, hi = 1, bound("servers") - 1


class Published(Kraft853):
    """The model with the steps and the states of TLC's livenessView; there are as many hosts as servers."""

    def declare(self, b: BoundValues) -> State:
        state = super().declare(b)
        refusal = Record(
            error=Result, leader=Option(Voter), epoch=Int(0, b.epochs), high_watermark=Int(0, self.capacity)
        )
        return State(
            **state.fields,
            host=Array(Voter, Int(0, b.servers - 1)),
            introduced=Array(Voter, Array(Voter, Bool)),
            introduction_refused=Array(Voter, Array(Voter, Option(refusal))),
        )

    def voter(self, highest: int, states: Any, asked: Any, **more: Any) -> Record:
        answered = Option(Record(by=Voter, error=Option(Result)))
        changes = self.b.additions + self.b.removals + 1
        return super().voter(
            highest, states, asked, **more, answered=answered, tracked=Set(Voter), configuration_id=Int(0, changes)
        )

    def initial(self, s: StateView) -> None:
        super().initial(s)
        for i in self.all(Voter)[: self.b.servers - self.b.spares]:
            s.server[i].tracked, s.server[i].configuration_id = s.founders, 1

    def forget_fetch(self, me: RecordView) -> None:
        super().forget_fetch(me)
        me.answered = NONE

    def track(self, me: RecordView) -> None:
        super().track(me)
        me.tracked = me.members

    def take_reply(self, s: StateView, i: Voter, reply: MemberReply) -> None:
        me = s.server[i]
        by = me.pending.value.to
        super().take_reply(s, i, reply)
        me.answered = record(by=by, error=If(reply.failed, reply.result, NONE))

    def switch(self, s: StateView, i: Voter, known: Any) -> None:
        super().switch(s, i, known)
        me = s.server[i]
        me.configuration_id = 1 + sum((If(changes_voters(entry), 1, 0) for entry in me.log), start=0)

    def track_anew(self, me: RecordView, members: Any) -> None:
        super().track_anew(me, members)
        me.tracked = members

    @action
    def add_voter(self, s: StateView, i: Voter, new: Voter) -> None:
        super().add_voter(s, i, new)
        s.server[i].configuration_id += 1

    @action
    def remove_voter(self, s: StateView, i: Voter, old: Voter) -> None:
        super().remove_voter(s, i, old)
        s.server[i].configuration_id += 1

    @action
    def lose_disk(self, s: StateView, i: Voter) -> None:
        super().lose_disk(s, i)
        s.server[i].configuration_id = 0
        for j in self.all(Voter):
            for one, other in ((i, j), (j, i)):
                s.introduced[one][other] = False
                s.introduction_refused[one][other] = NONE

    @action
    def start_server(self, s: StateView, new: Voter, leader: Voter) -> None:
        super().start_server(s, new, leader)
        s.server[new].configuration_id = s.server[leader].configuration_id
        s.introduced[new][leader] = True

    @action
    def start_server_elsewhere(self, s: StateView, new: Voter, leader: Voter, host: Host) -> None:
        """A server begins on another host than the first."""
        self.start_server(s, new, leader)
        s.host[new] = host

    @action
    def refuse_introduction(self, s: StateView, i: Voter, new: Voter) -> None:
        """The fetch of a server that is started is answered; it has asked in epoch 0."""
        require(i != new, s.introduced[new][i])
        me = s.server[i]
        s.introduced[new][i] = False
        error = If(self.leads(me), Result.FENCED, Result.NOT_LEADER)
        s.introduction_refused[i][new] = record(
            error=error, leader=me.leader, epoch=me.epoch, high_watermark=me.high_watermark
        )

    @action
    def accept_first_fetch_again(self, s: StateView, i: Voter, follower: Voter, epoch: HeardEpoch) -> None:
        """A leader accepts the fetch of a server that has nothing: TLC counts it twice."""
        require(self.leads(s.server[i]), s.server[i].epoch == epoch)
        self.handle_first_fetch(s, i, follower, epoch)


class WithHistory(Published):
    """The model with the states of TLC: it also knows which messages were received."""

    def declare(self, b: BoundValues) -> State:
        state = super().declare(b)
        return State(**state.fields, **{f"received_{kind}": state.fields[kind] for kind in KINDS})

    def receive(self, s: StateView, kind: str, i: Voter, sender: Voter, message: Any) -> None:
        super().receive(s, kind, i, sender, message)
        getattr(s, f"received_{kind}")[sender][i].add(message)


def cases() -> list[object]:
    """Each row; all but the first are slow."""
    slow = [pytest.mark.slow, pytest.mark.timeout(3600)]
    return [
        pytest.param(
            row, id="-".join([*(row[name] for name in BOUNDS), row["view"]]), marks=[] if row is ROWS[0] else slow
        )
        for row in ROWS
    ]


@pytest.mark.parametrize("row", cases())
def test_agrees_with_tlc(row: Row) -> None:
    model = (Published if row["view"] else WithHistory)(**{name: int(row[name]) for name in BOUNDS})
    found = check(model, properties=[PROPERTIES[name] for name in row["invariants"].split(";")])
    assert (found.verdict, found.distinct_states, found.depth, found.transitions + 1) == (
        row["verdict"],
        int(row["distinct"]),
        int(row["depth"]),
        int(row["generated"]),
    )
