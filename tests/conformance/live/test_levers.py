"""One fetch passes at a time: one that was asked for in an earlier epoch is dropped, a refused one is repeated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from insync.conformance.live.levers import CannotBeHeld, Levers
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.live_nodes import NotInTime
from insync.conformance.live.proxies import FETCH, Frame, Link

TOPIC = "topic"
TRIES = 60


def fetch_of(follower: int, leader: int, epoch: int) -> Frame:
    part = {"Partition": 0, "CurrentLeaderEpoch": epoch}
    body = {"Topics": [{"TopicId": TOPIC, "Partitions": [part]}]}
    return Frame(0.0, Link(leader, to_controller=False), True, f"broker-{follower}-fetcher-0", FETCH, body, 0)


def answer_to(follower: int, leader: int, error: int) -> Frame:
    body = {"Responses": [{"TopicId": TOPIC, "Partitions": [{"PartitionIndex": 0, "ErrorCode": error}]}]}
    return Frame(0.0, Link(leader, to_controller=False), False, f"broker-{follower}-fetcher-0", FETCH, body, 0)


class Held:
    """A hold whose follower asks again as soon as what waits has passed or was dropped, in the epoch that it is in."""

    def __init__(self, cluster: Followed, matches: Callable[[Frame], bool]) -> None:
        self._cluster, self.matches = cluster, matches
        self.waiting: list[Frame] = []
        self.passed: list[int] = []

    def _ask(self) -> None:
        if self.matches(frame := fetch_of(2, 1, self._cluster.epochs[0])):
            self.waiting = [frame]

    def drop(self) -> None:
        if len(self._cluster.epochs) > 1:
            del self._cluster.epochs[0]
        self._ask()

    def let_pass(self) -> None:
        (frame,) = self.waiting
        self.passed.append(frame.body["Topics"][0]["Partitions"][0]["CurrentLeaderEpoch"])
        self._cluster.tell(answer_to(2, 1, self._cluster.errors.pop(0)))
        self._ask()


class Followed:
    """A cluster whose second broker fetches from the first.

    Args:
        epochs: of its fetches, each after a connection was dropped.
        errors: that the answers have.
    """

    def __init__(self, epochs: list[int], errors: list[int]) -> None:
        self.epochs, self.errors = epochs, errors
        self.holds: list[Held] = []
        self.listeners: list[Callable[[Frame], None]] = []
        self.proxies = self.plan = self
        self.numbers = [1, 2]

    def hold(self, matches: Callable[[Frame], bool]) -> Held:
        self.holds.append(Held(self, matches))
        return self.holds[-1]

    def tell(self, frame: Frame) -> None:
        for listener in self.listeners:
            listener(frame)

    def until(self, attempt: Callable[[], Any], what: str, patience: float) -> None:
        if not any(attempt() for _ in range(TRIES)):
            raise NotInTime(what)

    @property
    def passed(self) -> list[int]:
        return [epoch for hold in self.holds for epoch in hold.passed]


def levers_of(cluster: Followed) -> Levers:
    return Levers(cast(LiveCluster, cluster), TOPIC)


def test_a_fetch_passes_once() -> None:
    cluster = Followed([3], [0, 0])
    levers_of(cluster).fetch(2, 1, 3)
    assert cluster.passed == [3]


def test_a_fetch_of_an_earlier_epoch_is_dropped_until_one_of_the_epoch_waits() -> None:
    cluster = Followed([1, 2, 2, 3], [0])
    levers_of(cluster).fetch(2, 1, 3)
    assert cluster.passed == [3]


@pytest.mark.parametrize("error", [6, 74, 75])
def test_a_fetch_that_is_refused_as_one_of_the_two_has_not_heard_of_the_epoch_is_tried_again(error: int) -> None:
    cluster = Followed([3], [error, error, 0])
    levers_of(cluster).fetch(2, 1, 3)
    assert cluster.passed == [3, 3, 3]


def test_another_error_is_an_answer() -> None:
    cluster = Followed([3], [1])
    levers_of(cluster).fetch(2, 1, 3)
    assert cluster.passed == [3]


def test_one_that_is_refused_all_the_time_or_never_asks_cannot_be_held() -> None:
    with pytest.raises(CannotBeHeld, match="b1 refuses what b2 asks in epoch 3"):
        levers_of(Followed([3], [74] * 50)).fetch(2, 1, 3)
    with pytest.raises(CannotBeHeld, match="b2 asks b1 for nothing in epoch 4"):
        levers_of(Followed([3], [0])).fetch(2, 1, 4)
