"""KIP-497: only the controller writes the ISR; the leader asks for changes and learns of them later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from insync.kafka.published.replication import CONTROLLER, isr_text
from insync.kafka.replica import Replica
from insync.model import (
    NONE,
    Array,
    Arrow,
    Bound,
    Bounds,
    BoundValues,
    Drawn,
    If,
    Index,
    Int,
    Mark,
    Model,
    Not,
    Num,
    Option,
    ReadableState,
    Record,
    Set,
    SetValue,
    State,
    StateView,
    Subset,
    Taken,
    action,
    minimum,
    require,
    set_of,
)

__all__ = ["AsyncIsr", "Isr", "Replica", "Version"]

LEADER = 0
"""The leader never changes in this model: it is the first replica."""


class Version(Index):
    """The controller's count of ISR changes."""

    label = "v"
    first = 0

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """Versions start with 0."""
        return bounds.max_version + 1


class Isr(Subset, of=Replica):
    """A set of replicas that the leader asks the controller for."""


class AsyncIsr(Model):
    """KIP-497: the leader counts with every ISR that the controller may already have written, until it learns which.

    The semantics are those of the TLA+ module AsyncIsr of hachikuji/kafka-specification, which has no bound on offsets
    and versions of its own: here writing stops at max_offset and the controller at max_version. There is one leader
    epoch. Unlike the code, the leader may have several requests on their way, and keeps those that are refused in mind
    until the next update.
    """

    tells_apart = "the first replica is the leader"
    bounds = Bounds(
        replicas=Bound(3, 1, 5, "replicas of the partition"),
        max_offset=Bound(2, 1, 15, "highest end offset of a log"),
        max_version=Bound(2, 0, 15, "highest version of the controller's ISR"),
    )
    headline = ("valid_high_watermark",)

    def declare(self, b: BoundValues) -> State:
        """Lay out the state: what the controller and the leader know, and the messages ever sent between them."""
        return State(
            controller=Record(isr=Set(Replica), version=Version),
            leader=Record(
                isr=Set(Replica),
                version=Version,
                pending_isr=Set(Replica),
                pending_version=Option(Version),
                offset=Array(Replica, Int(0, b.max_offset)),
            ),
            # requests[v]: the ISRs that the leader asked for when it knew version v.
            requests=Array(Version, Set(Isr)),
            # updates[v]: the ISR that the controller announced as version v; sent iff 1 <= v <= controller.version.
            updates=Array(Version, Set(Replica)),
        )

    def initial(self, s: StateView) -> None:
        """Start with every replica in the ISR, at version 0 and offset 0 (TLA+: Init)."""
        s.controller.isr = set_of(self.all(Replica))
        s.leader.isr = set_of(self.all(Replica))

    @action(label="controller drops {replica}")
    def controller_shrink_isr(self, s: StateView, replica: Replica) -> None:
        """The controller takes a replica out of the ISR on its own, as when a broker is fenced.

        TLA+: ControllerShrinkIsr. Kafka: ReplicationControlManager.handleBrokerFenced.
        """
        require(replica != LEADER, s.controller.isr.contains(replica))
        self.controller_write_isr(s, s.controller.isr - {replica})

    @action(label="controller accepts ISR {isr}")
    def controller_handle_request(self, s: StateView, isr: Isr) -> None:
        """The controller writes an ISR that the leader asked for, if the request names the current version.

        TLA+: ControllerHandleRequest. Kafka: ReplicationControlManager.alterPartition.
        """
        require(s.requests[s.controller.version].contains(isr))
        self.controller_write_isr(s, isr)

    @action(label="b1 asks to drop {replica}")
    def leader_request_shrink_isr(self, s: StateView, replica: Replica) -> None:
        """The leader asks for an ISR without this member, and goes on counting with it.

        TLA+: LeaderRequestShrinkIsr. Kafka: Partition.maybeShrinkIsr.
        """
        require(replica != LEADER, s.leader.isr.contains(replica))
        self.request_isr(s, s.leader.isr - {replica})

    @action(label="b1 asks to add {replica}")
    def leader_request_expand_isr(self, s: StateView, replica: Replica) -> None:
        """The leader asks for an ISR with a replica that has reached its high watermark, and counts with it at once.

        TLA+: LeaderRequestExpandIsr. Kafka: Partition.maybeExpandIsr.
        """
        require(Not(s.leader.isr.contains(replica)), self.high_watermark(s) <= s.leader.offset[replica])
        self.request_isr(s, s.leader.isr | {replica})

    @action(label="b1 writes a record")
    def leader_write(self, s: StateView) -> None:
        """The leader appends a producer's record.

        TLA+: LeaderWrite. Kafka: Partition.appendRecordsToLeader.
        """
        require(s.leader.offset[LEADER] < self.b.max_offset)
        s.leader.offset[LEADER] += 1

    @action(label="b1 learns {version}")
    def leader_handle_update(self, s: StateView, version: Version) -> None:
        """The leader adopts an ISR that the controller wrote, and forgets what it asked for.

        TLA+: LeaderHandleUpdate. Kafka: Partition.handleAlterPartitionUpdate.
        """
        require(version > 0, s.leader.version < version, version <= s.controller.version)
        s.leader.isr = s.updates[version]
        s.leader.version = version
        s.leader.pending_isr = set()
        s.leader.pending_version = NONE

    @action(label="{replica} fetches a record")
    def follower_replicate(self, s: StateView, replica: Replica) -> None:
        """A follower appends the leader's next record, in the ISR or not.

        TLA+: FollowerReplicate. Kafka: Partition.fetchRecords.
        """
        require(replica != LEADER, s.leader.offset[replica] < s.leader.offset[LEADER])
        s.leader.offset[replica] += 1

    def high_watermark(self, s: StateView) -> Num:
        """The least offset in the leader's ISR and all that it has asked for since (TLA+: HighWatermark)."""
        potential = s.leader.isr | s.leader.pending_isr
        counted = [If(potential.contains(r), s.leader.offset[r], self.b.max_offset) for r in self.all(Replica)]
        return minimum(*counted)

    def controller_write_isr(self, s: StateView, isr: SetValue | Isr) -> None:
        """Write the ISR under the next version, and announce it (TLA+: ControllerWriteIsr)."""
        require(s.controller.version < self.b.max_version)
        s.controller.version += 1
        s.controller.isr = isr
        s.updates[s.controller.version] = isr

    def request_isr(self, s: StateView, isr: SetValue | Isr) -> None:
        """Ask the controller for an ISR, under the version that the leader knows."""
        sent = s.requests[s.leader.version]
        s.requests[s.leader.version] = sent | {isr}
        s.leader.pending_isr = s.leader.pending_isr | isr
        s.leader.pending_version = s.leader.version

    def abstraction(self, s: StateView) -> Mapping[str, object]:
        """The controller's ISR, the leader's and the one it has asked for, and each lag behind the leader."""
        ends = s.leader.offset
        return {
            "ISR": s.controller.isr,
            "leader's ISR": s.leader.isr,
            "pending ISR": s.leader.pending_isr,
            "lag": [ends[LEADER] - ends[r] for r in self.all(Replica)],
        }

    def grid(self, state: ReadableState) -> dict[str, str]:
        """One column per replica, one for what the leader knows, one for the controller."""
        leader = cast(dict[str, object], state["leader"])
        controller = cast(dict[str, object], state["controller"])
        offsets = cast(dict[str, int], leader["offset"])
        cells = {name: f"offset {offset}" for name, offset in offsets.items()}
        isr, pending = cast(list[str], leader["isr"]), cast(list[str], leader["pending_isr"])
        known = f"{leader['version']} HW {min(offsets[name] for name in {*isr, *pending})}  {isr_text(isr)}"
        asked = sorted(set(pending) - set(isr))
        cells["leader's view"] = known + (f" + {' '.join(asked)}" if asked else " asked" if pending else "")
        cells[CONTROLLER] = f"{controller['version']}  {isr_text(controller['isr'])}"
        return cells

    def lifelines(self) -> tuple[str, ...]:
        """The replicas, with b1 as the leader, and the controller."""
        return *map(str, self.all(Replica)), CONTROLLER

    def step_drawing(self, steps: Sequence[Taken], label: str) -> tuple[Drawn, ...]:
        """Fetches, what the leader asks for, and what it learns."""
        action, named, new = steps[-1].action or "", steps[-1].parameters, steps[-1].state
        if action == "controller_shrink_isr":
            return (Mark(CONTROLLER, f"drops {named['replica']}"),)
        if action == "controller_handle_request":
            return (Mark(CONTROLLER, isr_text(new["controller"]["isr"])),)
        if action in ("leader_request_shrink_isr", "leader_request_expand_isr"):
            return (Arrow("b1", CONTROLLER, f"{'drop' if 'shrink' in action else 'add'} {named['replica']}"),)
        if action == "leader_handle_update":
            return (Arrow(CONTROLLER, "b1", f"{named['version']}: ISR {' '.join(new['leader']['isr'])}"),)
        if action == "follower_replicate":
            return (Arrow(named["replica"], "b1", "fetch"), Arrow("b1", named["replica"], "a record", reply=True))
        return (Mark("b1", "writes a record"),)
