"""What partitions by key and a group of consumers promise, and two things that they do not."""

from __future__ import annotations

from typing import Any, cast

from insync.kafka.groups.consumer_group import ConsumerGroup, GroupMember
from insync.kafka.groups.keyed_topic import KeyedTopic, SentRecord, TopicPartition
from insync.model import And, Condition, Implies, Not, Or, StateView, exists
from insync.properties import Failure, invariant, offset_in, said, step_invariant

__all__ = [
    "a_key_has_one_partition",
    "committed_offsets_go_forward",
    "nobody_works_beside_another",
    "nothing_is_passed_over",
    "one_consumer_a_partition",
    "order_of_a_key_is_kept",
    "records_are_processed_once",
]


def _record(failure: Failure, number: str) -> dict[str, Any]:
    return cast(list[dict[str, Any]], failure.state["records"])[int(failure.bindings[number])]


def _parted(failure: Failure) -> str:
    one, other = _record(failure, "first"), _record(failure, "second")
    return said(
        "{first} and {second} have the key {key}, and are in {partition} and {other_partition}.",
        first=f"r{failure.bindings['first']}",
        second=f"r{failure.bindings['second']}",
        key=one["key"],
        partition=one["partition"],
        other_partition=other["partition"],
    )


@invariant(KeyedTopic, because=_parted)
def a_key_has_one_partition(model: KeyedTopic, s: StateView, first: SentRecord, second: SentRecord) -> Condition:
    """All records of a key are in one partition, so its reader has them in their order."""
    return Implies(model.of_one_key(s, first, second), s.records[first].partition == s.records[second].partition)


def _overtaken(failure: Failure) -> str:
    return said(
        "{first} is processed for the first time, after {second}, which was sent later with the same key.",
        first=f"r{failure.bindings['first']}",
        second=f"r{failure.bindings['second']}",
    )


@step_invariant(ConsumerGroup, because=_overtaken)
def order_of_a_key_is_kept(
    model: ConsumerGroup, before: StateView, after: StateView, first: SentRecord, second: SentRecord
) -> Condition:
    """No record is processed for the first time after one that was sent later with the same key."""
    is_new = And(Not(before.processed[first]), after.processed[first])
    return Implies(And(model.of_one_key(before, first, second), is_new), Not(before.processed[second]))


def _shared(failure: Failure) -> str:
    return said("{first} and {second} both take {partition} for their own.", **failure.bindings)


@invariant(ConsumerGroup, because=_shared)
def one_consumer_a_partition(
    model: ConsumerGroup, s: StateView, first: GroupMember, second: GroupMember, partition: TopicPartition
) -> Condition:
    """No two members of a generation have the same partition."""
    return Implies(first != second, Not(And(model.owns(s, first, partition), model.owns(s, second, partition))))


@invariant(ConsumerGroup, because=_shared)
def nobody_works_beside_another(
    model: ConsumerGroup, s: StateView, first: GroupMember, second: GroupMember, partition: TopicPartition
) -> Condition:
    """No two consumers have a partition, not even one that has been expelled; Kafka does not promise that."""
    first_has, second_has = (s.member[one].position[partition].is_some() for one in (first, second))
    return Implies(first != second, Not(And(first_has, second_has)))


def _passed(failure: Failure) -> str:
    partition, offset = failure.bindings["partition"], int(failure.bindings["offset"])
    number = cast(dict[str, list[int]], failure.state["log"])[partition][offset]
    return said(
        "{record} is at {offset} of {partition}, of which {committed} is committed; nobody has processed it, and no "
        "member of the generation will.",
        record=f"r{number}",
        offset=offset_in(offset, partition),
        partition=partition,
        committed=cast(dict[str, int], failure.state["committed"])[partition],
    )


@invariant(ConsumerGroup, because=_passed)
def nothing_is_passed_over(
    model: ConsumerGroup, s: StateView, partition: TopicPartition, offset: SentRecord
) -> Condition:
    """Every record below a committed offset was processed, or a member of the generation is about to process it."""
    log, committed = s.log[partition], s.committed[partition].or_else(0)

    def comes(one: GroupMember) -> Condition:
        return And(model.owns(s, one, partition), s.member[one].position[partition].or_else(0) <= offset)

    passed = And(offset < log.length, offset < committed)
    return Implies(passed, Or(s.processed[log[offset]], exists(GroupMember, comes)))


def _went_back(failure: Failure) -> str:
    return said("The committed offset of {partition} goes back, and no operator has done that.", **failure.bindings)


@step_invariant(ConsumerGroup, because=_went_back)
def committed_offsets_go_forward(
    model: ConsumerGroup, before: StateView, after: StateView, partition: TopicPartition
) -> Condition:
    """A committed offset goes forward only, unless an operator takes it back."""
    goes_on = after.committed[partition].or_else(0) >= before.committed[partition].or_else(0)
    return Implies(before.resets == after.resets, goes_on)


def _again(failure: Failure) -> str:
    return said("{member} processes a record of {partition} that has been processed before.", **failure.bindings)


@step_invariant(ConsumerGroup, because=_again)
def records_are_processed_once(
    model: ConsumerGroup, before: StateView, after: StateView, member: GroupMember, partition: TopicPartition
) -> Condition:
    """No record is processed again; a group that commits after it has processed does not promise that."""
    was, now = before.member[member].position[partition], after.member[member].position[partition]
    at, log = was.or_else(0), before.log[partition]
    is_read = And(was.is_some(), now.is_some(), at < log.length, now.or_else(0) == at + 1)
    return Implies(is_read, Not(before.processed[log[at]]))
