"""What a quorum of controllers is for: what goes wrong without a rule of it, M-18 to M-21."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.truncation import CALM
from insync.kafka.releases import ControllerFence

__all__ = ["UNCOMMITTED"]

FAILS: dict[str, int | str] = {**CALM, "replicas": 2, "records": 1, "controller_failovers": 1}
"""Two brokers, and a controller that fails once."""

UNCOMMITTED = (
    Defect(
        name="M-18",
        title="Brokers learn of decisions that are not committed",
        ticket="mutant of KIP-595",
        affected="none",
        story="The active controller fences the leader and elects another one, which learns of that at once, takes a "
        "record and acknowledges it alone. The controller fails, and the next one knows nothing of the election: the "
        "former leader leads, without the record.",
        fix="tell brokers what a majority of the controllers has (KafkaRaftClient.updateListenersProgress)",
        breaks="no_acknowledged_record_is_lost",
        length=5,
        bounds={**FAILS, "fencings": 1},
        rules={"brokers_hear_committed": False},
    ),
    Defect(
        name="M-19",
        title="A controller answers before its decision is committed",
        ticket="mutant of the purgatory of QuorumController",
        affected="none",
        story="A leader asks for an ISR without its follower, and is told at once that it has it. It commits a record "
        "alone. The controller fails, and for the next one the follower is in the ISR still.",
        fix="keep the answer until a majority has the decision (ControllerWriteEvent, DeferredEventQueue)",
        breaks="electable_replicas_are_complete",
        length=6,
        bounds={**FAILS, "isr_shrinks": 1, "late_alter_partition_responses": "on"},
        rules={"answers_wait_for_commit": False},
        base={"metadata_keeps_proposal": True},
    ),
    Defect(
        name="M-20",
        title="What a deposed controller decides is committed",
        ticket="mutant of the leader epoch of the metadata log",
        affected="none",
        story="A controller is cut off and does not know that it is deposed. The next one accepts an ISR without the "
        "follower. The old one elects that follower, with the ISR that it knows, and that is committed.",
        fix="let the leader of the newest epoch alone commit (KIP-595)",
        breaks="electable_replicas_are_complete",
        length=9,
        bounds={**FAILS, "isr_shrinks": 1},
        rules={"controller_fence": ControllerFence.NOTHING},
        base={"brokers_refuse_deposed": False},
    ),
    Defect(
        name="M-21",
        title="A controller goes on knowing what was lost",
        ticket="mutant of OffsetControlManager.deactivate",
        affected="none",
        story="The active controller fences a broker and elects another one, and loses its leadership before that is "
        "committed. It forgets the election and not that the broker is fenced: when it is active again, who leads is "
        "fenced.",
        fix="go back to the last stable offset (SnapshotRegistry.revertToSnapshot)",
        breaks="leader_is_eligible",
        length=3,
        bounds={**FAILS, "fencings": 1},
        rules={"lost_decisions_are_undone": False},
    ),
)
"""The entries, by number."""
