"""Placement: the brokers of the replicas of many partitions, and the replicas that are left when brokers fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, cast

from insync.model import (
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Drawn,
    Index,
    Int,
    Mark,
    MarkKind,
    Model,
    Not,
    Num,
    ReadableState,
    Set,
    State,
    StateView,
    Taken,
    UserError,
    action,
    for_all,
    invariant,
    require,
)

__all__ = ["Partition", "Placement", "Server", "replicas_of"]


class Server(Index):
    """A broker of the cluster."""

    label = "b"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """As many as the bound says."""
        return bounds.brokers


class Partition(Index):
    """A partition of a topic."""

    label = "p"
    first = 0

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """As many as the bound says."""
        return bounds.topic_partitions


def replicas_of(partition: int, replicas: int, brokers: int) -> list[int]:
    """Return the brokers of a partition, the preferred leader first: from broker `partition` on, one after the other.

    Kafka begins at a random broker and shifts the followers; without racks it spreads replicas in the same way.
    Kafka: StripedReplicaPlacer.place, before KRaft AdminUtils.assignReplicasToBrokers.
    """
    return [(partition + place) % brokers for place in range(replicas)]


class Placement(Model):
    """Many partitions on many brokers: which of them lose their leader or their redundancy as brokers fail."""

    name = "placement"
    bounds = Bounds(
        brokers=Bound(4, 1, 12, "brokers of the cluster"),
        topic_partitions=Bound(4, 1, 24, "partitions of the topic"),
        replicas=Bound(3, 1, 7, "replicas of each partition"),
        min_insync_replicas=Bound(2, 1, 7, "min.insync.replicas"),
        failures=Bound(1, 0, 12, "brokers that are down at a time"),
    )
    former_names: ClassVar[Mapping[str, str]] = {"min_insync": "min_insync_replicas"}
    headline = ("every_partition_has_a_leader", "every_partition_takes_writes")

    def __init__(self, **chosen: int | str | Enum) -> None:
        super().__init__(**chosen)
        if self.b.replicas > self.b.brokers:
            message = (
                f"placement: {self.b.replicas} replicas need as many brokers, and there are {self.b.brokers}; "
                f"give more brokers or fewer replicas."
            )
            raise UserError(message)

    def remarks(self) -> list[str]:
        """Say where min.insync.replicas means less than it says."""
        if self.b.min_insync_replicas <= self.b.replicas:
            return []
        most = self.b.replicas
        fewest = self.b.min_insync_replicas
        return [f"min.insync.replicas {fewest} is more than the {most} replicas, so it counts as {most}."]

    def declare(self, b: BoundValues) -> State:
        """Lay out the state: who is down."""
        return State(down=Set(Server), failures=Int(0, min(b.failures, b.brokers)))

    @action(label="{broker} fails")
    def fail(self, s: StateView, broker: Server) -> None:
        """A broker fails; each partition that it leads goes to the next live replica in the order of assignment."""
        require(s.failures < min(self.b.failures, self.b.brokers), Not(s.down.contains(broker)))
        s.down |= {broker}
        s.failures += 1

    @action(label="{broker} returns")
    def recover(self, s: StateView, broker: Server) -> None:
        """A broker returns and catches up with the partitions that it has replicas of."""
        require(s.down.contains(broker), s.failures > 0)
        s.down -= {broker}
        s.failures -= 1

    def live(self, s: StateView, partition: Partition) -> Num:
        """How many replicas of a partition are on brokers that run."""
        held = {Server(broker) for broker in self.replicas(partition)}
        running: Any = held - s.down
        return running.count()

    def replicas(self, partition: int) -> list[int]:
        """The brokers of a partition."""
        return replicas_of(partition, self.b.replicas, self.b.brokers)

    @invariant
    def every_partition_has_a_leader(self, s: StateView) -> Condition:
        """Every partition has a replica on a broker that runs, so it can have a leader."""
        return for_all(self.all(Partition), lambda partition: self.live(s, partition) >= 1)

    @invariant
    def every_partition_takes_writes(self, s: StateView) -> Condition:
        """Every partition has min.insync.replicas replicas on brokers that run, so it takes writes with acks=all."""
        needed = min(self.b.min_insync_replicas, self.b.replicas)
        return for_all(self.all(Partition), lambda partition: self.live(s, partition) >= needed)

    def step_drawing(self, steps: Sequence[Taken], label: str) -> tuple[Drawn, ...]:
        """A broker that fails or returns."""
        fails = steps[-1].action == "fail"
        text, kind = ("fails", MarkKind.DOWN) if fails else ("returns", MarkKind.UP)
        return (Mark(steps[-1].parameters["broker"], text, kind),)

    def grid(self, state: ReadableState) -> dict[str, str]:
        """One column per broker, with the partitions that it leads, and one for what partitions have lost."""
        down = cast(list[str], state["down"])
        led: dict[str, list[str]] = {str(broker): [] for broker in self.all(Server)}
        lost = []
        for partition in self.all(Partition):
            live = [str(Server(b)) for b in self.replicas(partition) if str(Server(b)) not in down]
            if live:
                led[live[0]].append(str(partition))
            if len(live) < self.b.replicas:
                lost.append(f"{partition} {len(live)}/{self.b.replicas}")
        cells = {name: "down" if name in down else f"leads {' '.join(parts)}".strip() for name, parts in led.items()}
        return {**cells, "replicas left": ", ".join(lost)}
