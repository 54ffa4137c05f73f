"""A random walk asks an operator for what it says, and for as much of each as it may."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.random_walk import random_walk

BROKERS = (1, 2, 3)


class Asked:
    """An operator of brokers that do at once what they are asked for."""

    def __init__(self) -> None:
        self.done: list[tuple[str, int]] = []
        self.up, self.paused = set(BROKERS), set[int]()
        self.now = SimpleNamespace(leader=1, isr=list(BROKERS))
        self.cluster = self

    @property
    def running(self) -> list[int]:
        return sorted(self.up)

    def until(self, attempt: Any, what: str) -> None:
        assert attempt(), what

    def create(self, brokers: list[int], min_insync: int) -> None:
        assert (brokers, min_insync) == ([1, 2, 3], 2)

    def send(self, leader: int, record: str) -> Any:
        assert leader not in self.paused
        self.done.append(("send", leader))
        return SimpleNamespace(record=record, is_answered=lambda: True, wait=lambda: 0 if record != "r1" else 7)

    def prefer(self, broker: int) -> None:
        assert broker not in self.paused
        self.done.append(("prefer", broker))
        self.now.leader = broker

    def pause(self, broker: int) -> None:
        self.paused.add(broker)
        self.done.append(("pause", broker))

    def resume(self, broker: int) -> None:
        self.paused.remove(broker)
        self.done.append(("resume", broker))

    def kill(self, broker: int) -> None:
        self.up.remove(broker)
        self.done.append(("kill", broker))

    def stop(self, broker: int) -> None:
        self.up.remove(broker)
        self.done.append(("stop", broker))

    def start(self, broker: int) -> None:
        self.up.add(broker)
        self.done.append(("start", broker))


WORDS = {
    "send": "a record is sent to b{}",
    "prefer": "b{} is elected",
    "pause": "b{} stands still",
    "resume": "b{} goes on",
    "kill": "b{} is killed, and started",
    "stop": "b{} is stopped, and started",
}


@pytest.mark.parametrize("seed", range(4))
def test_what_is_done_is_what_is_said(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    operator, said = Asked(), list[str]()
    written = random_walk(seed).run(cast(Operator, operator), said.append)
    assert said == [WORDS[kind].format(broker) for kind, broker in operator.done if kind != "start"]
    kinds = [kind for kind, _ in operator.done]
    assert (kinds.count("kill"), kinds.count("stop"), kinds.count("start")) == (1, 1, 2)
    assert kinds.count("pause") == kinds.count("resume") <= 3, "nobody stands still at the end"
    sent = [f"r{number}" for number in range(kinds.count("send"))]
    assert written.acknowledged == [record for record in sent if record != "r1"], "an error is no acknowledgement"


def test_the_seed_alone_says_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    first, second, other = Asked(), Asked(), Asked()
    for operator, seed in ((first, 5), (second, 5), (other, 6)):
        random.seed()
        random_walk(seed).run(cast(Operator, operator), lambda line: None)
    assert first.done == second.done
    assert first.done != other.done
