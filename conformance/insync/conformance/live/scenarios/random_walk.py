"""A random walk of what clients and operators do: nothing is expected of it but that the model explains it."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable

from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator, Sending
from insync.conformance.live.scenarios.scenario import Scenario, Written
from insync.runtime.errors import UserError

__all__ = ["random_walk"]

_STEPS = 12
_RECORDS = 4
_ELECTIONS = 3
_SETTLED = 3.0


def random_walk(seed: int) -> Scenario:
    """Return the walk of a seed: the same things are done in it each time, but brokers take the time that they take."""
    return Scenario(
        name=f"walk-{seed}",
        title="what clients and operators do at random",
        means="records, elections, pauses, and one broker that is killed and one that is stopped",
        elr=False,
        min_insync=2,
        plan=ClusterPlan(session=9000, lag=60000),
        run=lambda operator, tell: _RandomWalk(seed, operator, tell).run(),
    )


class _RandomWalk:
    def __init__(self, seed: int, operator: Operator, tell: Callable[[str], None]) -> None:
        self._random, self._operator, self._tell = random.Random(seed), operator, tell
        self._sent: list[Sending] = []
        self._paused: int | None = None
        self._left = {"prefer": _ELECTIONS, "kill": 1, "stop": 1, "write": _RECORDS, "pause": 3}

    def run(self) -> Written:
        operator = self._operator
        operator.create([1, 2, 3], min_insync=2)
        for _ in range(_STEPS):
            kinds = [kind for kind, left in self._left.items() if left]
            kind = self._random.choice([*kinds, "write"] if self._left["write"] else kinds or ["rest"])
            self._left[kind] = self._left.get(kind, 1) - 1
            self._do(kind)
            time.sleep(self._random.choice([0.05, 0.3, 1.0]))
        self._resume()
        operator.cluster.until(lambda: len(operator.now.isr) == 3, "that all are in the ISR again")
        time.sleep(_SETTLED)
        return Written([one.record for one in self._sent if self._is_acknowledged(one)])

    def _is_acknowledged(self, sending: Sending) -> bool:
        try:
            return sending.is_answered() and sending.wait() == 0
        except OSError:  # its leader has died
            return False

    def _do(self, kind: str) -> None:
        operator, now = self._operator, self._operator.now
        up = [broker for broker in operator.cluster.running if broker != self._paused]
        if kind == "write" and now.leader in up:
            self._tell(f"a record is sent to b{now.leader}")
            with contextlib.suppress(OSError):  # a broker that has just started may not listen yet
                self._sent.append(operator.send(now.leader, f"r{len(self._sent)}"))
        elif kind == "prefer":
            electable = [broker for broker in up if broker in now.isr and broker != now.leader]
            if electable:
                self._prefer(self._random.choice(electable))
        elif kind == "pause" and self._paused is None:
            self._paused = self._random.choice(up)
            self._tell(f"b{self._paused} stands still")
            operator.pause(self._paused)
        elif kind == "pause":
            self._resume()
        elif kind in ("kill", "stop"):
            self._resume()
            self._restart(self._random.choice(operator.cluster.running), kind)

    def _prefer(self, broker: int) -> None:
        self._tell(f"b{broker} is elected")
        try:
            self._operator.prefer(broker)
        except UserError as fault:  # it has left the ISR meanwhile
            self._tell(f"it is not: {fault}")

    def _restart(self, broker: int, how: str) -> None:
        self._tell(f"b{broker} is {'killed' if how == 'kill' else 'stopped'}, and started")
        if how == "kill":
            self._operator.kill(broker)
        else:
            self._operator.stop(broker)
        self._operator.start(broker)
        self._operator.cluster.until(lambda: broker in self._operator.now.isr, f"that b{broker} is in the ISR again")

    def _resume(self) -> None:
        if self._paused is not None:
            self._tell(f"b{self._paused} goes on")
            self._operator.resume(self._paused)
            self._paused = None
