"""`kraft_996` with all that the states of TLC have, for comparison with the published module kraft_kip_996.

TLC's states have three things that `kraft_996` has not, because nothing that it has reads them: which messages were
received, whether a server knows that the record of the first voters is committed, and who is the first leader. Here
they are there, and so is MaxValuesPerEpoch.
"""

from __future__ import annotations

from typing import Any

from insync.kafka.published.quorum.fetches import FetchReply, Result
from insync.kafka.published.quorum.voter import Value, Voter
from insync.model import (
    And,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Not,
    Or,
    RecordView,
    Setting,
    Settings,
    State,
    StateView,
    Switch,
    action,
    count,
    initial,
    require,
    when,
)
from insync_published_quorum import pre_vote_transitions as to
from insync_published_quorum.kraft_996 import Kraft996
from insync_published_quorum.pre_voter import PreVoters

__all__ = ["Kraft996Published"]


class Kraft996Published(Kraft996):
    """KIP-996 as published, with everything that TLC counts states by; without `received` those of livenessView."""

    name = "kraft_996_published"
    bounds = Bounds(
        **{
            **PreVoters.bounds,
            "epochs": Bound(1, 1, 4, "epochs that can have a leader (MaxEpoch)"),
            "disruptions": Bound(0, 0, 4, "timeouts and resignations without a reason (MaxDisruptiveElectionTriggers)"),
        },
        records_per_epoch=Bound(4, 0, 4, "of the values, in each epoch (MaxValuesPerEpoch)"),
    )
    settings = Settings(
        received=Setting(Switch.ON, "whether states tell which messages were received; TLC's VIEWs leave that out"),
    )
    tells_apart = "the first server leads at first"

    def declare(self, b: BoundValues) -> State:
        """Lay out the state: also the messages that were received."""
        fields = super().declare(b).fields
        kinds = {name: field for name, field in fields.items() if name not in self.voters(b)}
        received = {f"received_{name}": field for name, field in kinds.items()} if b.settings.received else {}
        return State(**fields, **received)

    @property
    def rounds(self) -> int:
        """How many messages of a kind may be between two servers, and were; more would be a violation of type_ok."""
        longer = max(1, self.b.records * (self.b.servers - 1))
        return 2 * (super().rounds + longer) if self.b.settings.received else super().rounds

    def fetch_state(self) -> dict[str, Any]:
        """Lay out what a server knows: also whether the record of the first voters is committed."""
        return {**super().fetch_state(), "config_committed": Bool}

    @initial(label="{leader} leads epoch 1")
    def one_leads(self, s: StateView, leader: Voter) -> None:
        """Start with the first server as the leader. TLA+: Init."""
        require(leader == Voter(0))
        super().one_leads(s, leader)
        for i in self.all(Voter):
            s.server[i].config_committed = True

    def receive(self, s: StateView, kind: str, i: Voter, sender: Voter, message: Any) -> None:
        """Take a message, and remember that. TLA+: Discard, net_messages_processed."""
        super().receive(s, kind, i, sender, message)
        if self.b.settings.received:
            getattr(s, f"received_{kind}")[sender][i].add(message)

    @action(label="client sends {value} to {i}")
    def client_request(self, s: StateView, i: Voter, value: Value) -> None:
        """A leader appends a client's value, of which there are so many in an epoch. TLA+: HandleClientRequest."""
        me = s.server[i]
        here = count(me.log, lambda entry: And(entry.epoch == me.epoch, entry.value.is_some()))
        require(here < self.b.records_per_epoch)
        super().client_request(s, i, value)

    def take_reply(self, me: RecordView, i: Voter, reply: FetchReply) -> None:
        """Take the response to a fetch, and its high watermark for that of the configuration. TLA+: ConfigFor."""
        wrong = Or(reply.result == Result.NOT_LEADER, reply.result == Result.FENCED)
        _, handled = to.heard(me, i, reply.leader, reply.epoch, wrong, reply.failed)
        with when(Not(handled)):
            me.config_committed = reply.high_watermark >= 1
        super().take_reply(me, i, reply)

    def commit(self, s: StateView, i: Voter) -> None:
        """Commit, the record of the first voters included. TLA+: ConfigFor."""
        before = s.server[i].high_watermark
        super().commit(s, i)
        with when(s.server[i].high_watermark > before):
            s.server[i].config_committed = True
