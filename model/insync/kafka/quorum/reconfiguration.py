"""How voters come and go (KIP-853): a server is started, added, and removed, one change at a time."""

from __future__ import annotations

from insync.kafka.quorum.part import Part, step
from insync.kafka.quorum.replicated_log import epoch_at
from insync.kafka.quorum.sorts import Voter, VoterState
from insync.kafka.quorum.state import KraftState, ServerState
from insync.model import And, Condition, Not, Or, require, set_of, when

__all__ = ["Reconfiguration"]


class Reconfiguration(Part):
    """What an administrator does, and what becomes of a leader that is no voter any more."""

    @step("{new} is started", on=lambda f: f.starts_servers)
    def start_server(self, s: KraftState, new: Voter) -> None:
        """The next server begins with an empty disk as an observer."""
        require(new == s.started)
        s.started += 1
        s.server[new].members = set_of(self.quorum.voter_set.founders)

    @step("{i} adds {new} to the voters", on=lambda f: f.adds_voters)
    def add_voter(self, s: KraftState, i: Voter, new: Voter) -> None:
        """A leader adds a server and counts it from then on, as far as it has fetched; that may be further than others.

        Kafka's leader requests its versions first, and adds nobody who has not caught up, which is left out.
        Kafka: AddVoterHandler.
        """
        me = s.server[i]
        runs = self.quorum.voter_set.runs(s.server[new])
        require(s.additions < self.b.additions, runs, Not(me.members.contains(new)), self.may_change(me))
        s.additions += 1
        self.quorum.replicated_log.append(me, added=new)
        me.members = me.members | {new}
        self.quorum.fetching.commit(s, i)

    @step("{i} removes {old} from the voters", on=lambda f: f.removes_voters)
    def remove_voter(self, s: KraftState, i: Voter, old: Voter) -> None:
        """A leader removes a voter, which may be itself: then it leads on as an observer until that is committed.

        It commits at once what is then on a majority, such as all of it where it is the only voter left.
        Kafka: RemoveVoterHandler.
        """
        me = s.server[i]
        require(s.removals < self.b.removals, me.members.contains(old), me.members.count() > 1, self.may_change(me))
        s.removals += 1
        self.quorum.replicated_log.append(me, removed=old)
        me.members = me.members - {old}
        self.quorum.fetching.commit(s, i)

    def may_change(self, me: ServerState) -> Condition:
        """Return whether a leader may change the voters: no change is under way, a record of its own is committed.

        Kafka: AddVoterHandler.handleAddVoterRequest.
        """
        ours = [
            And(epoch_at(me, offset) == me.epoch, me.high_watermark >= offset)
            for offset in range(1, self.quorum.capacity + 1)
        ]
        return And(me.state == VoterState.LEADER, self.quorum.voter_set.is_committed(me), Or(*ours))

    def leave(self, s: KraftState, i: Voter, accepted: Condition) -> None:
        """Resign as a leader that is no voter, once the last voters of its log are committed.

        Kafka: RemoveVoterHandler.highWatermarkUpdated.
        """
        me = s.server[i]
        with when(And(accepted, self.quorum.voter_set.is_committed(me), Not(me.members.contains(i)))):
            self.quorum.elections.lead_no_longer(s, i)
