"""How voters come and go (KIP-853): a server is started, added, and removed, one change at a time."""

from __future__ import annotations

from insync.kafka.published.quorum.voter import Voter
from insync.kafka.published.quorum.voter_log import epoch_at
from insync.model import And, Condition, If, Not, Or, RecordView, SetValue, StateView, action, require, set_of
from insync_published_quorum.actor import PublishedActor
from insync_published_quorum.members import MemberState, Role

__all__ = ["Reconfiguration"]


class Reconfiguration(PublishedActor):
    """What an administrator does, but for how a new voter is told of its leader."""

    def announce(self, s: StateView, i: Voter, voters: SetValue) -> None:
        """Tell these voters but itself who leads the epoch."""
        raise NotImplementedError

    @action(label="{new} is started with the voters that {leader} knows")
    def start_server(self, s: StateView, new: Voter, leader: Voter) -> None:
        """The next server begins with an empty disk as an observer, which is told who the voters are.

        The module also has it send a fetch at once, whose answer nobody takes. TLA+: StartNewServer.
        """
        me, you = s.server[new], s.server[leader]
        earlier = [Or(j >= new, s.server[j].state != MemberState.ABSENT) for j in self.all(Voter)]
        require(me.state == MemberState.ABSENT, self.leads(you), *earlier)
        me.state, me.role = MemberState.UNATTACHED, Role.OBSERVER
        me.members, me.committed = you.members, you.committed

    @action(label="{i} adds {new} to the voters")
    def add_voter(self, s: StateView, i: Voter, new: Voter) -> None:
        """A leader adds a server, which need not have caught up, and counts it from then on.

        TLA+: AcceptAddVoterRequest.
        """
        me, you = s.server[i], s.server[new]
        require(s.additions < self.b.additions, you.state != MemberState.ABSENT, Not(me.members.contains(new)))
        require(self.may_change(me), me.members.count() < self.b.most)
        s.additions += 1
        self.append(me, added=new)
        me.members, me.committed = me.members | {new}, False
        self.track(me)
        self.announce(s, i, set_of([new]))

    @action(label="{i} removes {old} from the voters")
    def remove_voter(self, s: StateView, i: Voter, old: Voter) -> None:
        """A leader removes a voter, which may be itself: then it leads on as an observer until that is committed.

        TLA+: AcceptRemoveVoterRequest.
        """
        me = s.server[i]
        require(s.removals < self.b.removals, me.members.contains(old))
        require(self.may_change(me), me.members.count() > self.b.fewest)
        s.removals += 1
        self.append(me, removed=old)
        me.members, me.committed = me.members - {old}, False
        me.role = If(i == old, Role.OBSERVER, me.role)
        self.track(me)

    def may_change(self, me: RecordView) -> Condition:
        """Whether a leader may change the voters: no change is under way, and a record of its epoch is committed.

        TLA+: AddVoterCheck, RemoveVoterCheck.
        """
        ours = [
            And(epoch_at(me, offset) == me.epoch, me.high_watermark >= offset) for offset in range(1, self.capacity + 1)
        ]
        return And(self.leads(me), me.committed, Or(*ours))
