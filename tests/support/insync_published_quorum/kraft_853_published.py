"""`kraft_853` with all that the states of TLC have, for comparison with the published module kraft_kip_853.

TLC's states have things that `kraft_853` has not, because nothing that it has reads them: which messages were received,
how the last fetch of a server went, how many configurations there were, of whom a leader knows that it knows nothing,
on which host a new server is, and the fetch that it sends when it starts. Here they are there.
"""

from __future__ import annotations

from typing import Any

from insync.kafka.published.quorum.fetches import Result
from insync.kafka.published.quorum.voter import Voter
from insync.model import (
    NONE,
    Array,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    If,
    Int,
    Option,
    Range,
    Record,
    RecordView,
    Set,
    Setting,
    Settings,
    State,
    StateView,
    Switch,
    action,
    bound,
    record,
    require,
)
from insync_published_quorum.kraft_853 import Kraft853
from insync_published_quorum.member_fetches import MemberReply
from insync_published_quorum.member_mail import KINDS
from insync_published_quorum.members import Members, changes_voters

__all__ = ["Kraft853Published"]


class Host(Range):
    """A host but the first on which a server can be started; there are as many as servers (Hosts)."""

    lo, hi = 1, bound("servers") - 1


class Kraft853Published(Kraft853):
    """KIP-853 as published, with everything that TLC counts states by; without `received` those of livenessView."""

    name = "kraft_853_published"
    bounds = Bounds(
        **{
            **Members.bounds,
            "spares": Bound(0, 0, 2, "of these, servers that are started later (the others are InitClusterSize)"),
            "additions": Bound(0, 0, 2, "voters that are added (MaxAddReconfigs)"),
        }
    )
    settings = Settings(
        received=Setting(Switch.ON, "whether states tell which messages were received; TLC's VIEWs leave that out"),
    )

    def declare(self, b: BoundValues) -> State:
        """Lay out the state: also hosts, how first fetches go, and the messages that were received."""
        fields = super().declare(b).fields
        refusal = Record(
            error=Result, leader=Option(Voter), epoch=Int(0, b.epochs), high_watermark=Int(0, self.capacity)
        )
        received = {f"received_{kind}": fields[kind] for kind in KINDS} if b.settings.received else {}
        return State(
            **fields,
            host=Array(Voter, Int(0, b.servers - 1)),
            introduced=Array(Voter, Array(Voter, Bool)),
            introduction_refused=Array(Voter, Array(Voter, Option(refusal))),
            **received,
        )

    @property
    def rounds(self) -> int:
        """As before; of the messages that were received there are more where logs are longer."""
        longer = max(0, self.b.records * (self.b.servers - 1) - 1)
        return super().rounds + (longer if self.b.settings.received else 0)

    def voter(self, highest: int, states: Any, asked: Any, **more: Any) -> Record:
        """Lay out what one server knows: also how its last fetch went, whom it tracks, and its configuration's id."""
        answered = Option(Record(by=Voter, error=Option(Result)))
        changes = self.b.additions + self.b.removals + 1
        return super().voter(
            highest, states, asked, **more, answered=answered, tracked=Set(Voter), configuration_id=Int(0, changes)
        )

    def initial(self, s: StateView) -> None:
        """Start with all voters tracked, in the first configuration. TLA+: Init."""
        super().initial(s)
        for i in self.all(Voter)[: self.b.servers - self.b.spares]:
            s.server[i].tracked, s.server[i].configuration_id = s.founders, 1

    def receive(self, s: StateView, kind: str, i: Voter, sender: Voter, message: Any) -> None:
        """Take a message, and remember that. TLA+: Discard, net_messages_processed."""
        super().receive(s, kind, i, sender, message)
        if self.b.settings.received:
            getattr(s, f"received_{kind}")[sender][i].add(message)

    # ------------------------------------------------------------------------------------ what servers also remember

    def forget_fetch(self, me: RecordView) -> None:
        """Wait for no answer, and have had none. TLA+: ResetFetchState."""
        super().forget_fetch(me)
        me.answered = NONE

    def take_reply(self, s: StateView, i: Voter, reply: MemberReply) -> None:
        """Take the response to a fetch, and remember how it went. TLA+: UpdateFetchStateWithFetchRes."""
        me = s.server[i]
        by = me.pending.value.to
        super().take_reply(s, i, reply)
        me.answered = record(by=by, error=If(reply.failed, reply.result, NONE))

    def track(self, me: RecordView) -> None:
        """Track the voters. TLA+: UpdateFollowerEndOffsetMap."""
        super().track(me)
        me.tracked = me.members

    def track_anew(self, me: RecordView, members: Any) -> None:
        """Track these, and know nothing of them. TLA+: ResetFollowerEndOffsetMap."""
        super().track_anew(me, members)
        me.tracked = members

    def switch(self, s: StateView, i: Voter, known: Any) -> None:
        """Take the last configuration of the log, and its id. TLA+: ConfigFor."""
        super().switch(s, i, known)
        me = s.server[i]
        me.configuration_id = 1 + sum((If(changes_voters(entry), 1, 0) for entry in me.log), start=0)

    # ------------------------------------------------------------------------------------------------------- actions

    @action(label="{i} adds {new} to the voters")
    def add_voter(self, s: StateView, i: Voter, new: Voter) -> None:
        """A leader adds a server. TLA+: AcceptAddVoterRequest."""
        super().add_voter(s, i, new)
        s.server[i].configuration_id += 1

    @action(label="{i} removes {old} from the voters")
    def remove_voter(self, s: StateView, i: Voter, old: Voter) -> None:
        """A leader removes a voter. TLA+: AcceptRemoveVoterRequest."""
        super().remove_voter(s, i, old)
        s.server[i].configuration_id += 1

    @action(label="{i} loses its disk for good")
    def lose_disk(self, s: StateView, i: Voter) -> None:
        """A voter dies, and what is on its way to it and from it. TLA+: CrashLoseState."""
        super().lose_disk(s, i)
        s.server[i].configuration_id = 0
        for j in self.all(Voter):
            for one, other in ((i, j), (j, i)):
                s.introduced[one][other] = False
                s.introduction_refused[one][other] = NONE

    @action(label="{new} is started with the voters that {leader} knows")
    def start_server(self, s: StateView, new: Voter, leader: Voter) -> None:
        """The next server begins on the first host, and sends a fetch. TLA+: StartNewServer."""
        super().start_server(s, new, leader)
        s.server[new].configuration_id = s.server[leader].configuration_id
        s.introduced[new][leader] = True

    @action(label="{new} is started on host {host} with the voters that {leader} knows")
    def start_server_elsewhere(self, s: StateView, new: Voter, leader: Voter, host: Host) -> None:
        """The next server begins on another host than the first. TLA+: StartNewServer."""
        self.start_server(s, new, leader)
        s.host[new] = host

    @action(label="{i} refuses the first fetch of {new}")
    def refuse_introduction(self, s: StateView, i: Voter, new: Voter) -> None:
        """The fetch of a server that is started, in epoch 0, is answered for nobody. TLA+: RejectFetchRequest."""
        require(i != new, s.introduced[new][i])
        me = s.server[i]
        s.introduced[new][i] = False
        error = If(self.leads(me), Result.FENCED, Result.NOT_LEADER)
        s.introduction_refused[i][new] = record(
            error=error, leader=me.leader, epoch=me.epoch, high_watermark=me.high_watermark
        )
