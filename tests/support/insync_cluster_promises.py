"""What the properties of a cluster mean, written a second time from their sentences, in Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState

__all__ = ["CLUSTER_MEANINGS", "CLUSTER_RUN_MEANINGS", "SeenCluster"]


class SeenCluster:
    """A state of a cluster whose high watermark waits for the larger of the committed and the proposed ISR."""

    def __init__(self, model: Cluster, state: ReadableState) -> None:
        self.state: Mapping[str, Any] = state
        self.model, self.brokers = model, state["broker"]
        self.offsets = range(model.b.records)
        self.newest: Mapping[str, Any] = state["registrations"][0]
        self.fenced, self.elr = set(state["controller"]["fenced"]), set(state["controller"].get("elr", ()))
        self.isr, self.seen = set(self.newest["isr"]), state["seen"]
        self.gone = set(state.get("deleted", ()))

    def view(self, name: str) -> Mapping[str, Any]:
        """The change that a broker has applied last."""
        found: Mapping[str, Any] = self.state["registrations"][self.brokers[name]["image_lag"]]
        return found

    def replicas(self, change: Mapping[str, Any]) -> set[str]:
        fixed = list(self.brokers)[: self.model.b.replicas - self.model.b.spares]
        return set(change.get("replicas", fixed))

    @property
    def electable(self) -> set[str]:
        found = self.isr | self.elr
        return found & self.replicas(self.newest) if self.model.b.reassignments else found

    def minimum(self, change: Mapping[str, Any], switch: Mapping[str, Any]) -> int:
        """min.insync.replicas, but no more than there are replicas."""
        return 1 if switch.get("minimum_is_one") else min(self.model.b.min_insync_replicas, len(self.replicas(change)))

    def running(self) -> list[str]:
        return [name for name, broker in self.brokers.items() if broker["running"]]

    def in_their_eyes(self) -> list[str]:
        """Who believes that it leads."""
        return [name for name in self.running() if self.view(name)["leader"] == name]

    def leaders(self) -> list[str]:
        """Who leads: the controller says so, and it has heard of it."""
        chosen, epoch = self.newest["leader"], self.newest["epoch"]
        return [name for name in self.in_their_eyes() if name == chosen and self.view(name)["epoch"] == epoch]

    def log(self, name: str) -> dict[int, str]:
        """The records of a log, by offset."""
        broker = self.brokers[name]
        return {offset: broker["log"][offset] for offset in range(broker.get("log_start", 0), broker["leo"])}

    def shown(self, name: str) -> list[int]:
        """The offsets that consumers may read from a broker."""
        return list(range(self.brokers[name].get("log_start", 0), self.brokers[name]["hw"]))

    def repeats(self, name: str) -> bool:
        """Whether who reads from a broker gets what was read before."""
        log = self.log(name)
        return all(log.get(offset) == self.seen[offset] for offset in self.shown(name) if self.seen[offset] is not None)

    def knows(self, leader: str, follower: str) -> bool:
        """Whether a follower has what the leader counts for it, if that is to be asked."""
        known = self.brokers[leader]["remote_replicas"][follower]
        if not known["broker_epoch_is_current"] or self.view(leader)["epoch"] != self.view(follower)["epoch"]:
            return True
        first = max(self.brokers[name].get("log_start", 0) for name in (leader, follower))
        mine, other = self.log(leader), self.log(follower)
        return all(o in mine and mine[o] == other.get(o) for o in range(first, known["leo"] or 0))


def _tells(s: SeenCluster, leader: str) -> bool:
    broker = s.brokers[leader]
    told = max((offset + 1 for offset in s.offsets if s.seen[offset] is not None), default=0)
    return bool(
        broker["hw"] >= told or (s.model.rules.hide_stale_watermark and broker["hw"] < broker["leader_epoch_start"])
    )


def _complete(s: SeenCluster, name: str) -> bool:
    wanted = {offset: record for offset, record in enumerate(s.seen) if record is not None and record not in s.gone}
    log = s.log(name)
    return all(log.get(offset) == record for offset, record in wanted.items())


def _same(s: SeenCluster, one: str, other: str) -> bool:
    both = {*s.shown(one)} & {*s.shown(other)}
    return all(s.brokers[one]["log"][offset] == s.brokers[other]["log"][offset] for offset in both)


def _ordered(s: SeenCluster, name: str) -> bool:
    log = list(s.log(name).values())
    return s.brokers[name]["hw"] <= s.brokers[name]["leo"] and log == sorted(set(log))


def _may_lead(s: SeenCluster, leader: str | None) -> bool:
    return leader is None or leader in (s.isr & s.replicas(s.newest)) - s.fenced


def _sound(s: SeenCluster) -> bool:
    moves, replicas = s.model.b.reassignments, s.replicas(s.newest)
    unfenced = not s.isr & s.fenced and (not moves or s.isr <= replicas)
    if not s.model.features.elr:
        return unfenced or (len(s.isr) == 1 and s.newest["leader"] is None)
    enough = len(s.isr) >= s.minimum(s.newest, s.state["controller"])
    return unfenced and not s.isr & s.elr and not (enough and s.elr) and (not moves or s.elr <= replicas)


def _counts(s: SeenCluster, leader: str) -> bool:
    view = s.view(leader)
    moves = len(view["isr"]) >= s.minimum(view, view)
    return (s.model.features.elr and not moves) or s.electable <= {*view["isr"], *s.brokers[leader]["pending_isr"]}


CLUSTER_MEANINGS: dict[str, Callable[[SeenCluster], bool]] = {
    "no_acknowledged_record_is_lost": lambda s: all(
        {*s.state["acked"]} - s.gone <= {*s.log(name).values()} for name in s.leaders()
    ),
    "reads_repeat": lambda s: all(s.repeats(name) for name in s.in_their_eyes()),
    "follower_reads_repeat": lambda s: all(s.repeats(name) for name in s.running()),
    "watermark_never_goes_back": lambda s: all(_tells(s, name) for name in s.leaders()),
    "acks_mean_enough_copies": lambda s: not s.state["acked_under_min_isr"],
    "electable_replicas_are_complete": lambda s: all(_complete(s, name) for name in s.running() if name in s.electable),
    "no_divergence": lambda s: all(_same(s, a, b) for a, b in itertools.combinations(s.running(), 2)),
    "leaders_know_their_followers": lambda s: all(
        s.knows(leader, name) for leader in s.in_their_eyes() for name in s.running() if name != leader
    ),
    "logs_keep_write_order": lambda s: all(_ordered(s, name) for name in s.brokers),
    "leader_is_eligible": lambda s: _may_lead(s, s.newest["leader"]),
    "isr_and_elr_are_sound": _sound,
    "reassignments_keep_redundancy": lambda s: not s.state.get("reassigned_under_min_isr", False),
    "leader_counts_electable_replicas": lambda s: all(_counts(s, name) for name in s.leaders()),
}
"""For each property, whether it holds in a state."""


def _asked_for(s: SeenCluster, record: str) -> bool:
    """Whether anything is asked for a record: somebody leads, and it was not deleted."""
    return s.newest["leader"] is not None and record not in s.gone


def _held(s: SeenCluster, record: str) -> set[str]:
    """The running brokers that have a record."""
    return {name for name in s.running() if record in s.log(name).values()}


def _back(s: SeenCluster, name: str) -> tuple[bool, bool]:
    out = name in s.running() and name in s.replicas(s.newest) and name not in s.isr
    return out, not out or s.newest["leader"] is None


def _led_again(s: SeenCluster) -> tuple[bool, bool]:
    all_run, led = s.replicas(s.newest) <= {*s.running()}, s.newest["leader"] is not None
    return all_run and not led, led or not all_run


def _replaced(s: SeenCluster, name: str) -> tuple[bool, bool]:
    dead = s.newest["leader"] == name and name not in s.running()
    heirs = (s.isr & s.replicas(s.newest) & {*s.running()}) - s.fenced - {name}
    return dead and bool(heirs), not dead or not heirs


def _learns(s: SeenCluster, name: str) -> tuple[bool, bool]:
    broker = s.brokers[name]
    told = [s.brokers[leader]["hw"] for leader in s.leaders() if leader != name]
    listens = name in s.running() and name in s.replicas(s.newest)
    behind = listens and any(broker["hw"] < hw and broker["hw"] < broker["leo"] for hw in told)
    return behind, not behind or s.newest["leader"] is None


CLUSTER_RUN_MEANINGS: dict[str, Callable[..., tuple[bool | None, bool]]] = {
    "a_leader_again": _led_again,
    "a_dead_leader_is_replaced": _replaced,
    "all_acknowledged": lambda s: (None, len(s.state["acked"]) == s.model.b.records),
    "running_is_back_in_isr": _back,
    "followers_learn_the_watermark": _learns,
    "acknowledged_is_on_all_running": lambda s, record: (
        record in s.state["acked"],
        not _asked_for(s, record) or _held(s, record) == {*s.running()},
    ),
    "written_is_settled": lambda s, record: (
        bool(_held(s, record)),
        not _asked_for(s, record) or record in s.seen or not _held(s, record),
    ),
}
"""For each property of runs and its binding, whether what it waits for is so in a state, and what must come."""
