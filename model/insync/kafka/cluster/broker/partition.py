"""The partition at a broker: who leads or follows, what a leader knows of followers, and the ISR that it asks for.

Kafka: Partition.makeLeader, makeFollower, updateFollowerFetchState, maybeExpandIsr, maybeShrinkIsr.
"""

from __future__ import annotations

from insync.kafka.cluster.broker.fetch_response import FetchResponse
from insync.kafka.cluster.broker_state import RemoteReplica
from insync.kafka.cluster.indices import Target
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import Coded, Moment, Never, asks_for_isr, delay, mark, step
from insync.kafka.releases import Counting, IsrWrite, Truncation
from insync.kafka.replica import Replica
from insync.model import And, Condition, Demand, Hardness, If, Not, Num, Or, SetValue, require, set_of, when

__all__ = ["Partition"]

_WAITING = Never("nothing here decides how long a leader waits for a follower")


def _second_look(moment: Moment) -> Demand | None:
    """A leader has looked at a follower before, and that did something between its two looks (KAFKA-15221)."""
    steps, number = moment.steps, moment.number
    wanted = ("check_follower_in_sync", dict(moment.given))
    looked = next((n for n in range(number, 0, -1) if (steps[n].action, dict(steps[n].parameters)) == wanted), None)
    if looked is None:
        return None
    between = steps[looked + 1 : number]
    if not any(moment.given["follower"] in one.parameters.values() for one in between):
        return None
    text = "{follower} fetches or registers while Partition.maybeExpandIsr of {leader} looks".format(**moment.given)
    again = f"{text} at it a second time, having looked at step {looked}"
    return Demand(number, Hardness.RACE, again)


class Partition(Part):
    """What a broker is to the partition: its leader or a follower, and who of the followers is in sync."""

    @step(
        "{leader} adds {follower} to the ISR",
        needs=_second_look,
        drawn=asks_for_isr,
        by_view=True,
        classes=Coded(
            "Kafka's leader sends the request within the fetch. It is then a step of the model at once, "
            "after the fetch or before it, marked *Kafka by itself*"
        ),
        brokers=Coded("the leader's request is waited for"),
    )
    def expand_isr(self, s: ClusterState, leader: Replica, follower: Replica) -> None:
        """A leader asks for a follower that has caught up to be taken into the ISR.

        Kafka does this within a fetch of that follower; here it may come later, with what the last fetch said, but with
        directories that fail only while the follower has its log. Whether it may join by its registration is left to
        the controller, which has the last word.
        Kafka: Partition.maybeExpandIsr, canAddReplicaToIsr.
        """
        cluster = self.cluster
        require(leader != follower, cluster.image.leads(s, leader))
        if self.features.directories_fail:
            require(cluster.image.is_online(s, follower))
        l = s.broker[leader]
        isr = cluster.image.registration_of(s, leader).isr
        require(l.pending_isr.is_empty(), Not(isr.contains(follower)), self.has_caught_up(s, leader, follower))
        if self.rules.isr_within_replicas:
            require(cluster.image.is_assigned(cluster.image.registration_of(s, leader), follower))
        current = l.remote_replicas[follower].broker_epoch_is_current
        l.seen_in_sync -= {follower}
        cluster.alter_partition.propose(s, leader, isr | {follower}, current)

    @step(
        "{leader} drops {follower} from the ISR",
        needs=delay("{leader} drops {follower}, which has not caught up for replica.lag.time.max.ms"),
        drawn=asks_for_isr,
        by_view=True,
        classes=Coded("time passes, then `Partition.maybeShrinkIsr`"),
        brokers=_WAITING,
    )
    def shrink_isr(self, s: ClusterState, leader: Replica, follower: Replica) -> None:
        """A leader asks for a member that has been behind for too long to be taken out of the ISR.

        How long that is (replica.lag.time.max.ms) is not modelled: it may be any time.
        Kafka: Partition.maybeShrinkIsr, getOutOfSyncReplicas.
        """
        cluster = self.cluster
        require(leader != follower, self.may_be_slow(s, 1), cluster.image.leads(s, leader))
        l = s.broker[leader]
        isr = cluster.image.registration_of(s, leader).isr
        require(l.pending_isr.is_empty(), isr.contains(follower), Not(l.remote_replicas[follower].leo == l.leo))
        self.spend_on_slowness(s, 1)
        cluster.alter_partition.propose(s, leader, isr - {follower}, True)

    @step(
        "{leader} drops {followers} from the ISR at once",
        needs=delay("{leader} drops {followers}, which have not caught up for replica.lag.time.max.ms"),
        drawn=asks_for_isr,
        by_view=True,
        classes=Coded("time passes, then `Partition.maybeShrinkIsr`"),
        brokers=_WAITING,
    )
    def shrink_isr_by_several(self, s: ClusterState, leader: Replica, followers: Target) -> None:
        """A leader finds several members that have been behind for too long, and one proposal is without all of them.

        Kafka: Partition.getOutOfSyncReplicas, prepareIsrShrink.
        """
        cluster = self.cluster
        dropped = [replica for replica in self.all(Replica) if replica in followers]
        l, isr = s.broker[leader], cluster.image.registration_of(s, leader).isr
        require(len(dropped) > 1, len(dropped) <= self.b.isr_shrinks, leader not in dropped)
        require(cluster.image.leads(s, leader), l.pending_isr.is_empty(), self.may_be_slow(s, len(dropped)))
        require(*[And(isr.contains(r), Not(l.remote_replicas[r].leo == l.leo)) for r in dropped])
        self.spend_on_slowness(s, len(dropped))
        cluster.alter_partition.propose(s, leader, isr - followers, True)

    @step(
        "{leader} sees that {follower} has caught up",
        drawn=mark("leader", "{follower} has caught up"),
        by_view=True,
        never=Never("Kafka looks at a follower's state once since 3.7"),
    )
    def check_follower_in_sync(self, s: ClusterState, leader: Replica, follower: Replica) -> None:
        """The first half of an expansion where the code reads the follower's state twice (KAFKA-15221).

        Kafka: Partition.maybeExpandIsr, as it was before 3.7.
        """
        cluster = self.cluster
        require(not self.rules.join_reads_one_snapshot, leader != follower, cluster.image.leads(s, leader))
        l = s.broker[leader]
        isr = cluster.image.registration_of(s, leader).isr
        require(Not(l.seen_in_sync.contains(follower)), Not(isr.contains(follower)), self.reaches(s, leader, follower))
        l.seen_in_sync |= {follower}

    def may_be_slow(self, s: ClusterState, followers: int) -> Condition:
        """Whether this number of followers may be too slow now: the budget has room, or slowness has none."""
        if not self.guards.slowness_has_a_budget:
            return self.b.isr_shrinks > 0
        spent = s.spent.isr_shrinks
        return spent < self.b.isr_shrinks if followers == 1 else spent + followers <= self.b.isr_shrinks

    def spend_on_slowness(self, s: ClusterState, followers: int) -> None:
        """Count followers that are too slow, where there is a budget for that."""
        if self.guards.slowness_has_a_budget:
            s.spent.isr_shrinks += followers

    def has_caught_up(self, s: ClusterState, leader: Replica, follower: Replica) -> Condition:
        """Whether a follower may join the ISR, by what the leader knows of it."""
        if not self.rules.join_reads_one_snapshot:
            return s.broker[leader].seen_in_sync.contains(follower)
        return self.reaches(s, leader, follower)

    def reaches(self, s: ClusterState, leader: Replica, follower: Replica) -> Condition:
        """Whether a follower's last fetch was at the high watermark and at the start of the leader's epoch, or beyond.

        Kafka: Partition.isFollowerInSync.
        """
        cluster = self.cluster
        l = s.broker[leader]
        rules, fixes, guards, end = self.rules, self.fixes, self.guards, l.remote_replicas[follower].leo.or_else(-1)
        compares_start = fixes.join_needs_log_start and self.features.deletes
        if fixes.join_below_minimum_needs_end:
            thin = cluster.image.registration_of(s, leader).isr.count() < cluster.topic_config.minimum_at(s, leader)
            whole: Condition = Or(Not(thin), end >= l.leo)
        else:
            whole = True
        return And(
            end >= 0 if guards.join_needs_fetch else True,
            end >= l.hw if guards.join_needs_watermark else True,
            end >= l.leader_epoch_start if rules.join_needs_epoch_start else True,
            l.remote_replicas[follower].log_start >= l.log_start if compares_start else True,
            whole,
        )

    def asks_within_fetch(self, s: ClusterState, leader: Replica, follower: Replica) -> SetValue | None:
        """The follower that has just fetched, if Kafka's leader asks for it at once; what it knows of sessions is late.

        Kafka: Partition.maybeExpandIsr, needsExpandIsr, isReplicaIsrEligible.
        """
        cluster = self.cluster
        if self.rules.isr_write is IsrWrite.DIRECT or self.guards.counting is not Counting.MAXIMAL:
            return None
        asks = And(s.broker[leader].pending_isr.is_empty(), self.reaches(s, leader, follower))
        if self.rules.unsent_ask_is_dropped:
            asks = And(asks, cluster.alter_partition.may_ask(s, leader))
            if self.features.forgets_requests:
                asks = And(
                    asks, Not(And(s.registrations[0].leader == leader, cluster.replication_control.awaits_proposal(s)))
                )
        if self.rules.isr_needs_unfenced:
            asks = And(asks, Not(cluster.quorum.known_fenced(s).contains(follower)))
        return If(asks, set_of([follower]), set())

    def count_fetch(self, s: ClusterState, leader: Replica, follower: Replica, response: FetchResponse) -> None:
        """The leader notes the follower's log end; if that is another one, it commits what has reached the ISR with it.

        Before that Kafka's leader asks for a follower that has caught up to be taken into the ISR, and so waits for it.
        Here that is a step of its own (`expand_isr`), and the leader waits all the same.
        Kafka: Partition.updateFollowerFetchState, with Replica.updateFetchStateOrThrow, maybeExpandIsr and
        maybeIncrementLeaderHW.
        """
        cluster = self.cluster
        l, f = s.broker[leader], s.broker[follower]
        remote, outside = l.remote_replicas[follower], Or(f.leo > l.leo, f.leo < l.log_start)
        moves = Not(remote.leo == response.offset)
        with when(Not(Or(response.diverging, outside) if self.rules.ignore_diverging_fetch else outside)):
            remote.leo = response.offset
            remote.broker_epoch_is_current = True
            cluster.deletions.note_start(s, leader, follower)
            with when(moves):
                cluster.high_watermark.advance_watermark(
                    s, leader, asked_for=self.asks_within_fetch(s, leader, follower)
                )

    def start_to_follow(self, s: ClusterState, follower: Replica, same_leader: Condition) -> None:
        """Begin to follow in a new epoch: forget the leadership, and truncate first if the release does it so.

        Kafka: Partition.makeFollower, ReplicaManager.makeFollowers.
        """
        cluster = self.cluster
        f = s.broker[follower]
        f.leader_epoch_start = 0
        f.led_since = 0
        cluster.deletions.forget_starts(s, follower)
        for other, is_other in self.beside(follower):
            with when(is_other):
                self.forget(f.remote_replicas[other])
        f.last_fetched_epoch_empty = False
        with when(Not(same_leader)):
            f.session = False
        with when(cluster.epoch_requests.truncates_first(same_leader)):
            f.truncating = True
            if self.rules.truncation is Truncation.HIGH_WATERMARK:
                cluster.log.truncate(s, follower, f.hw)
        f.truncates_to_hw = And(f.latest_epoch < 0, f.hw < f.leo)
        cluster.stale_fetcher.note_place(s, follower)

    def start_to_lead(self, s: ClusterState, leader: Replica, epoch: Num, re_elected: Condition) -> None:
        """Begin a leadership: note its start, forget what was known of the followers.

        A leader that is elected again keeps the log ends of ISR members, as Kafka does, though it may have missed an
        epoch in which they followed another leader. Kafka: Partition.makeLeader, Replica.resetReplicaState.
        """
        cluster = self.cluster
        l = s.broker[leader]
        l.leader_epoch_start = l.leo
        l.truncates_to_hw = False
        cluster.stale_fetcher.forget_fetcher(s, leader)
        with when(Not(re_elected)):
            l.led_since = l.leo
            cluster.coordinator.give_up_waiting(s, leader)
            cluster.deletions.forget_starts(s, leader)
        if self.rules.cache_epoch_on_election:
            l.latest_epoch = epoch
        isr = cluster.image.registration_of(s, leader).isr
        for follower, is_other in self.beside(leader):
            member = isr.contains(follower)
            forgets = If(member, self.fixes.forget_isr_when_re_elected, self.guards.forget_followers)
            with when(And(is_other, Or(Not(re_elected), forgets))):
                self.forget(l.remote_replicas[follower])

    def forget_removed(self, s: ClusterState, leader: Replica) -> None:
        """Forget followers that are not replicas any more (Partition.updateAssignmentAndIsr)."""
        cluster = self.cluster
        for follower, is_other in self.beside(leader):
            with when(
                And(is_other, Not(cluster.image.is_assigned(cluster.image.registration_of(s, leader), follower)))
            ):
                self.forget(s.broker[leader].remote_replicas[follower])

    def forget(self, remote: RemoteReplica) -> None:
        """Forget what a leader knows of a follower (Replica.resetReplicaState)."""
        remote.leo = None
        remote.broker_epoch_is_current = False
