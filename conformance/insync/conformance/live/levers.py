"""What makes brokers take one step at a time: fetches, metadata, requests for an ISR wait until they are let pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.live_nodes import NotInTime
from insync.conformance.live.metadata_frames import partition_parts, sent_below
from insync.conformance.live.proxies import ALTER_PARTITION, FETCH, HEARTBEAT, Frame, Hold, to_controller

__all__ = ["CannotBeHeld", "Levers"]

_PATIENCE = 20.0
_NOT_YET = (6, 74, 75)
"""Errors that a follower gets while one of the two has not learned of the other's epoch."""
_TRIES = 20


class CannotBeHeld(Exception):
    """What is wanted cannot be brought about by holding frames; the message says why."""


class Levers:
    """Holds everything that the model has as steps, from now on.

    Args:
        cluster: the cluster, in which nothing is under way.
        topic: the id of the topic.
    """

    def __init__(self, cluster: LiveCluster, topic: str) -> None:
        self._cluster, self._topic = cluster, topic
        self._answers: dict[tuple[int, int], list[int]] = {}
        self._acting: dict[int, int] = {}
        brokers = cluster.plan.numbers
        pairs = [(one, other) for one in brokers for other in brokers if one != other]
        hold = cluster.proxies.hold
        self._fetches = {pair: hold(_fetch(*pair)) for pair in pairs}
        self._metadata = {broker: hold(to_controller(broker, FETCH, request=False)) for broker in brokers}
        self._asking = {broker: hold(to_controller(broker, ALTER_PARTITION, request=True)) for broker in brokers}
        self._told = {broker: hold(to_controller(broker, ALTER_PARTITION, request=False)) for broker in brokers}
        self._silent: dict[int, Hold] = {}
        cluster.proxies.listeners.append(self._listen)

    def _listen(self, frame: Frame) -> None:
        if frame.key == HEARTBEAT and frame.is_request:
            self._note_heartbeat(frame)
        answer = frame.key == FETCH and not frame.is_request and not frame.link.to_controller
        if answer and frame.client.startswith("broker-"):
            follower = int(frame.client.split("-")[1])
            errors = [part["ErrorCode"] for part in partition_parts(frame.body, "Responses", self._topic)]
            self._answers.setdefault((follower, frame.link.broker), []).extend(errors or [0])

    def _note_heartbeat(self, frame: Frame) -> None:
        broker = frame.link.broker
        self._acting[broker] = max(self._acting.get(broker, 0), frame.body["CurrentMetadataOffset"] + 1)

    def settle(self, followers: list[int], leader: int) -> None:
        """Wait until what was under way when all was held is over: each follower's next fetch waits.

        Raises:
            CannotBeHeld: a follower does not ask.
        """
        for follower in followers:
            self._wait(lambda f=follower: bool(self._fetches[f, leader].waiting), f"b{follower} does not ask b{leader}")  # type: ignore[misc]

    # -------------------------------------------------------------------------------------------------------- fetches

    def fetch(self, follower: int, leader: int, epoch: int) -> None:
        """Let a follower fetch once from a leader, and wait until it has taken in the answer.

        Raises:
            CannotBeHeld: it does not ask in this epoch, or is refused all the time.
        """
        answers = self._answers.setdefault((follower, leader), [])
        for _ in range(_TRIES):
            self._fetch_once(follower, leader, epoch, len(answers))
            if answers[-1] not in _NOT_YET:
                return
        message = f"b{leader} refuses what b{follower} asks in epoch {epoch}"
        raise CannotBeHeld(message)

    def _fetch_once(self, follower: int, leader: int, epoch: int, answered: int) -> None:
        hold, answers = self._fetches[follower, leader], self._answers[follower, leader]
        # What waits was asked for before the last step; a new connection asks for what is wanted now.
        hold.drop()
        self._wait(lambda: self._asks(hold, epoch), f"b{follower} asks b{leader} for nothing in epoch {epoch}")
        frame = hold.waiting[0]
        hold.let_pass()
        self._wait(lambda: len(answers) > answered, f"b{leader} does not answer b{follower}")
        again = f"b{follower} asks b{leader} no more"
        self._wait(lambda: any(one is not frame for one in hold.waiting), again, later=True)

    def _asks(self, hold: Hold, epoch: int) -> bool:
        found = [partition_parts(frame.body, "Topics", self._topic) for frame in list(hold.waiting)]
        if any(part["CurrentLeaderEpoch"] == epoch for parts in found for part in parts):
            return True
        if found:
            hold.drop()
        return False

    # ------------------------------------------------------------------------------------------------------- metadata

    def refresh(self, broker: int) -> None:
        """Have what is held of a broker's metadata replaced by all that there is now."""
        self._metadata[broker].drop()

    def apply(self, broker: int, end: int, newest: bool, next_: int) -> None:
        """Let a broker act on metadata.

        Args:
            broker: the broker.
            end: it shall act on all below this offset of the metadata log.
            newest: whether that is all that there is.
            next_: else, where the next change begins.

        Raises:
            CannotBeHeld: what is held for it ends elsewhere.
        """
        if self._acting.get(broker, 0) >= end:
            return
        hold = self._metadata[broker]
        if newest:
            hold.drop()
            self._wait(lambda: any(self._below(frame) for frame in list(hold.waiting)), f"b{broker} gets no metadata")
        else:
            ends = [self._below(frame) for frame in list(hold.waiting)]
            if not any(end <= below <= next_ for below in ends):
                message = f"the metadata that is held for b{broker} cannot be cut after this change"
                raise CannotBeHeld(message)

        def acts() -> bool:
            self._hear(broker)
            if self._acting.get(broker, 0) >= end:
                return True
            if hold.waiting and (newest or self._below(hold.waiting[0]) <= next_):
                hold.let_pass()
            return False

        self._wait(acts, f"b{broker} does not act on its metadata")

    def let_metadata_through(self, broker: int, until: Callable[[], bool]) -> None:
        """Let a broker that starts have all its metadata."""
        hold = self._metadata[broker]

        def ready() -> bool:
            if hold.waiting:
                hold.let_pass()
            return until()

        self._wait(ready, f"b{broker} does not start", patience=6 * _PATIENCE)

    def _below(self, frame: Frame) -> int:
        return max([sent_below(part) for part in partition_parts(frame.body, "Responses")], default=0)

    def _hear(self, broker: int) -> None:
        """Look at what a broker says whose heartbeats are held."""
        silent = self._silent.get(broker)
        if silent is not None and not silent.released:
            for frame in list(silent.waiting):
                self._note_heartbeat(frame)
            silent.drop()

    # ------------------------------------------------------------------------------------------- controller and brokers

    def silence(self, broker: int) -> None:
        """Keep a broker's heartbeats from the controller."""
        self._silent[broker] = self._cluster.proxies.hold(to_controller(broker, HEARTBEAT, request=True))

    def unsilence(self, broker: int) -> None:
        """Let a broker's heartbeats pass."""
        if broker in self._silent:
            self._silent.pop(broker).release()

    def wait_for_proposal(self, leader: int) -> None:
        """Wait until a leader asks for an ISR."""
        self._wait(lambda: bool(self._asking[leader].waiting), f"b{leader} asks for no ISR")

    def pass_proposal(self, leader: int) -> None:
        """Let the controller have what a leader asks for."""
        self.wait_for_proposal(leader)
        self._asking[leader].let_pass()

    def pass_reply(self, leader: int) -> None:
        """Let a leader have the answer to that, if there is one on its way."""
        if self._told[leader].waiting:
            self._told[leader].let_pass()

    def _wait(self, attempt: Callable[[], Any], else_: str, patience: float = _PATIENCE, later: bool = False) -> None:
        try:
            self._cluster.until(attempt, else_, patience)
        except NotInTime as fault:
            if later:  # a follower whose fetcher has ended asks no more, and has taken in the answer
                return
            raise CannotBeHeld(else_) from fault


def _fetch(follower: int, leader: int) -> Callable[[Frame], bool]:
    client = f"broker-{follower}-fetcher-"

    def matches(frame: Frame) -> bool:
        to_leader = frame.link.broker == leader and not frame.link.to_controller
        return to_leader and frame.is_request and frame.key == FETCH and frame.client.startswith(client)

    return matches
