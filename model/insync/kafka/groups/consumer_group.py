"""A group of consumers that reads a topic: who owns which partition, what is committed, and what is passed over."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import ClassVar, cast

from insync.kafka.groups.keyed_topic import PARTITIONER, KeyedTopic, TopicPartition
from insync.model import (
    NONE,
    Absent,
    And,
    Array,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Index,
    Int,
    Not,
    Num,
    Option,
    Or,
    ReadableState,
    Record,
    Set,
    Setting,
    Settings,
    State,
    StateView,
    Switch,
    action,
    bound,
    count,
    require,
    when,
)

__all__ = ["Commits", "ConsumerGroup", "FirstOffset", "GroupMember", "Revocation"]


class GroupMember(Index):
    """A consumer of the group."""

    size, label = bound("members"), "m"


class Commits(Enum):
    """When a consumer commits the offset of what it processes."""

    AFTER = "after"
    BEFORE = "before"


class FirstOffset(Enum):
    """auto.offset.reset: where a consumer begins a partition that has no committed offset."""

    EARLIEST = "earliest"
    LATEST = "latest"


class Revocation(Enum):
    """What a member does with its partitions when it joins the group again."""

    EAGER = "eager"
    NONE = "none"


class ConsumerGroup(KeyedTopic):
    """A consumer group of the classic protocol: members share the partitions of a topic, and commit offsets."""

    name = "consumer_group"
    bounds = Bounds(
        **KeyedTopic.bounds,
        members=Bound(2, 1, 3, "consumers of the group"),
        expirations=Bound(1, 0, 3, "sessions of consumers that expire although they run"),
        deaths=Bound(0, 0, 2, "consumers that die, and may come back"),
        resets=Bound(0, 0, 2, "times that an operator takes a committed offset back"),
    )
    settings = Settings(
        partitioner=PARTITIONER,
        commits=Setting(Commits.AFTER, "when a consumer commits what it processes"),
        auto_offset_reset=Setting(FirstOffset.EARLIEST, "auto.offset.reset"),
        generations_checked=Setting(Switch.ON, "whether the coordinator compares the generation of a commit"),
        revocation=Setting(Revocation.EAGER, "what a member does with its partitions as it joins again"),
    )
    former_names: ClassVar[Mapping[str, str]] = {"offset_reset": "auto_offset_reset"}
    headline = (
        "one_consumer_a_partition",
        "committed_offsets_go_forward",
        "nothing_is_passed_over",
        "order_of_a_key_is_kept",
        "a_key_has_one_partition",
    )
    legend: ClassVar = {"|": "committed", "?": "the coordinator waits for members to join", "+": "has joined"}

    def declare(self, b: BoundValues) -> State:
        """Lay out the topic, the group as its coordinator has it, and each member as it knows itself.

        A generation ends as a member joins, for the first time or again, expires, or learns of new partitions. A
        consumer that commits first `claims` the record after its position, once that was accepted.
        """
        offset = Int(0, b.records)
        last = b.members + 2 * b.expirations + 2 * b.deaths + b.additions
        group = Record(generation=Int(0, last), rebalances=Bool, members=Set(GroupMember), joined=Set(GroupMember))
        down, position = Absent.unless(b.deaths > 0, Bool), Array(TopicPartition, Option(offset))
        claims = Absent.unless(b.settings.commits is Commits.BEFORE, Array(TopicPartition, Bool))
        return State(
            **self.topic_fields(b),
            group=group,
            assigned=Int(0, b.topic_partitions + b.additions),
            committed=Array(TopicPartition, Option(offset)),
            member=Array(GroupMember, Record(generation=Int(0, last), down=down, position=position, claims=claims)),
            processed=Array(b.records, Bool),
            expirations=Int(0, b.expirations),
            deaths=Int(0, b.deaths),
            resets=Int(0, b.resets),
        )

    # --------------------------------------------------------------------------------------------------- the group

    @action(label="{member} joins")
    def join(self, s: StateView, member: GroupMember) -> None:
        """A consumer asks to join: a new one, one that learns of a rebalance, or one that learns of new partitions.

        It has learned before that it was expelled. With the eager protocol it gives up its partitions first.
        Kafka: ConsumerCoordinator.onJoinPrepare, GroupMetadataManager.classicGroupJoin (4.1.2, read).
        """
        mine, group = s.member[member], s.group
        is_member = group.members.contains(member)
        require(Not(mine.down), Not(group.joined.contains(member)))
        require(Or(And(Not(is_member), mine.generation == 0), And(self.is_current(s, member), self._rejoins(s))))
        group.members |= {member}
        group.joined |= {member}
        group.rebalances = True
        if self.b.settings.revocation is Revocation.EAGER:
            self._give_up(s, member)

    def _rejoins(self, s: StateView) -> Condition:
        """Whether members of the generation are to join again."""
        return Or(s.group.rebalances, s.partitions > s.assigned)

    @action(label="the group begins a generation")
    def begin_generation(self, s: StateView) -> None:
        """All members have joined: each is told its partitions, and begins where the group has committed.

        Partitions go round among the members (RoundRobinAssignor). JoinGroup, SyncGroup and OffsetFetch are one step:
        in between a member does nothing with its partitions, and commits of earlier generations are refused.
        Kafka: GroupMetadataManager.completeClassicGroupJoin, ConsumerCoordinator.refreshCommittedOffsets (4.1.2, read).
        """
        group = s.group
        require(group.rebalances, Not(group.members.is_empty()), group.members == group.joined)
        group.generation += 1
        group.rebalances, group.joined, s.assigned = False, set(), s.partitions
        for member in self.all(GroupMember):
            with when(group.members.contains(member)):
                s.member[member].generation = group.generation
                for partition in self.all(TopicPartition):
                    self._take_up(s, member, partition)

    def _take_up(self, s: StateView, member: GroupMember, partition: TopicPartition) -> None:
        members = s.group.members
        before = count([one for one in self.all(GroupMember) if one < member], members.contains)
        turn = Or(
            *(And(members.length == n, before == int(partition) % n) for n in range(1, len(self.all(GroupMember)) + 1))
        )
        position = s.member[member].position
        with when(And(turn, int(partition) < s.partitions)):
            position[partition] = s.committed[partition].or_else(self._beginning(s, partition))

    def _beginning(self, s: StateView, partition: TopicPartition) -> Num | int:
        return 0 if self.b.settings.auto_offset_reset is FirstOffset.EARLIEST else s.log[partition].length

    @action(label="the session of {member} expires")
    def expire(self, s: StateView, member: GroupMember) -> None:
        """The coordinator expels a member of the generation that runs, and has sent no heartbeat in session.timeout.ms.

        Kafka: GroupMetadataManager.expireClassicGroupMemberHeartbeat (4.1.2, read).
        """
        require(s.expirations < self.b.expirations, self.is_current(s, member), Not(s.member[member].down))
        s.expirations += 1
        self._expel(s, member)

    @action(label="{member} dies")
    def die(self, s: StateView, member: GroupMember) -> None:
        """A consumer ends without a word; the coordinator has it for a member until its session expires."""
        require(s.deaths < self.b.deaths, self.is_current(s, member))
        s.deaths += 1
        s.member[member].down = True
        self._give_up(s, member)

    @action(label="the coordinator misses {member}")
    def miss(self, s: StateView, member: GroupMember) -> None:
        """The session of a consumer expires that has died; it may come back as a new member."""
        require(s.member[member].down, s.group.members.contains(member))
        s.member[member].down = False
        self._expel(s, member)

    @action(label="{member} learns that it was expelled")
    def hear(self, s: StateView, member: GroupMember) -> None:
        """A heartbeat is answered UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION: the consumer gives up its partitions."""
        require(s.member[member].generation > 0, Not(self.is_current(s, member)))
        self._give_up(s, member)

    def _expel(self, s: StateView, member: GroupMember) -> None:
        s.group.members -= {member}
        s.group.joined -= {member}
        s.group.rebalances = Not(s.group.members.is_empty())

    def _give_up(self, s: StateView, member: GroupMember) -> None:
        s.member[member].generation = 0
        for partition in self.all(TopicPartition):
            s.member[member].position[partition] = NONE
            s.member[member].claims[partition] = False

    # ------------------------------------------------------------------------------------------------- the records

    @action(label="{member} processes the next record of {partition}")
    def process(self, s: StateView, member: GroupMember, partition: TopicPartition) -> None:
        """A consumer processes the next record of a partition that it takes for its own."""
        at, log = s.member[member].position[partition], s.log[partition]
        require(at.is_some(), at.or_else(0) < log.length)
        if self.b.settings.commits is Commits.BEFORE:
            require(s.member[member].claims[partition])
            s.member[member].claims[partition] = False
        s.processed[log[at.or_else(0)]] = True
        s.member[member].position[partition] = at.or_else(0) + 1

    @action(label="{member} commits its offset of {partition}")
    def commit(self, s: StateView, member: GroupMember, partition: TopicPartition) -> None:
        """A consumer commits: its position, or that after the record which it is about to process.

        Who is no member, or of another generation, is refused, and gives up its partitions.
        Kafka: ClassicGroup.validateOffsetCommit (4.1.2, read).
        """
        at, committed = s.member[member].position[partition], s.committed[partition]
        ahead = 1 if self.b.settings.commits is Commits.BEFORE else 0
        offset = at.or_else(0) + ahead
        require(at.is_some(), offset <= s.log[partition].length, offset != committed.or_else(0))
        accepted = Or(self.is_current(s, member), not self.b.settings.generations_checked)
        with when(accepted):
            s.committed[partition] = offset
            s.member[member].claims[partition] = True
        with when(Not(accepted)):
            self._give_up(s, member)

    @action(label="operator takes the offset of {partition} back")
    def reset(self, s: StateView, partition: TopicPartition) -> None:
        """An operator has a group without members begin a partition again (kafka-consumer-groups --reset-offsets)."""
        require(s.resets < self.b.resets, s.group.members.is_empty(), s.committed[partition].or_else(0) > 0)
        s.resets += 1
        s.committed[partition] = 0

    # -------------------------------------------------------------------------------------------- who owns what

    def is_current(self, s: StateView, member: GroupMember) -> Condition:
        """Whether a consumer is a member at the coordinator, in the generation that it believes to be in."""
        mine = s.member[member].generation
        return And(s.group.members.contains(member), mine > 0, mine == s.group.generation)

    def owns(self, s: StateView, member: GroupMember, partition: TopicPartition) -> Condition:
        """Whether a partition is that of a member of the generation."""
        return And(self.is_current(s, member), s.member[member].position[partition].is_some())

    # ----------------------------------------------------------------------------------------------------- a trace

    def grid(self, state: ReadableState) -> dict[str, str]:
        """A column for each partition, with its records and what is committed, for the group, and for each member."""
        records = cast(list[Mapping[str, str]], state["records"])
        shown: dict[str, str] = {}
        for place, partition in enumerate(map(str, self.all(TopicPartition))):
            if place >= cast(int, state["partitions"]):
                shown[partition] = "-"
                continue
            log = cast(Mapping[str, list[int]], state["log"])[partition]
            committed = cast(Mapping[str, int | None], state["committed"])[partition]
            names = [f"r{number}:{records[number]['key']}" for number in log]
            if committed is not None:
                names.insert(committed, "|")
            shown[partition] = f"[{' '.join(names)}]"
        group = cast(Mapping[str, object], state["group"])
        joined = cast(list[str], group["joined"])
        members = [f"{one}{'+' if one in joined else ''}" for one in cast(list[str], group["members"])]
        shown["group"] = f"{group['generation']}{'?' if group['rebalances'] else ''} {' '.join(members)}".rstrip()
        for name, member in cast(Mapping[str, Mapping[str, object]], state["member"]).items():
            positions = cast(Mapping[str, int | None], member["position"])
            own = " ".join(f"{one}@{at}" for one, at in positions.items() if at is not None)
            shown[name] = "down" if member.get("down") else f"{member['generation']} {own}".rstrip()
        processed = cast(list[bool], state["processed"])
        shown["processed"] = " ".join(f"r{number}" for number, done in enumerate(processed) if done)
        return shown
