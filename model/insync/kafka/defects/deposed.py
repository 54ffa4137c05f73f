"""Defects that take a controller of the ZooKeeper era that is deposed and does not know it: R-48, M-13, M-14."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.truncation import CALM
from insync.kafka.releases import ControllerFence, IsrWrite

__all__ = ["DEPOSED"]

IN_ZOOKEEPER: dict[str, object] = {"controller_in_zookeeper": True, "isr_write": IsrWrite.DIRECT}
"""Controller and leaders write to ZooKeeper, as before 2.7."""

DEPOSED = (
    Defect(
        name="R-48",
        title="The decision of a deposed controller reaches nobody",
        ticket="KAFKA-6082",
        affected="before 2.1 (2.0.1 and 2.1.0 were read)",
        story="The controller's ZooKeeper session has ended, another one is elected, and brokers have learned of it. "
        "The old one elects another leader: the state that it reads is of its own epoch, and its write succeeds. "
        "Brokers refuse its request, and the new controller does not know what was written. The leader goes on, and "
        "cannot change the ISR any more, as its version is not ZooKeeper's. (In the ticket a topic is deleted "
        "meanwhile, and is damaged for good.)",
        fix="let ZooKeeper refuse each write of a controller once there is another controller epoch (KAFKA-6082)",
        breaks="decisions_can_be_heard",
        length=4,
        bounds={**CALM, "replicas": 2, "records": 1, "controller_failovers": 1, "isr_shrinks": 1},
        rules={"controller_fence": ControllerFence.VERSION},
        base=IN_ZOOKEEPER,
    ),
    Defect(
        name="M-13",
        title="A deposed controller writes over what has changed since",
        ticket="mutant of the compare-and-set in ZooKeeper",
        affected="none",
        story="The old controller has read an ISR from which the leader then drops a follower, to commit without it. "
        "It makes that follower the leader, with the ISR that it has read.",
        fix="write only if the state's version is the one that was read (KafkaZkClient.updateLeaderAndIsr)",
        breaks="electable_replicas_are_complete",
        length=5,
        bounds={**CALM, "replicas": 2, "records": 1, "controller_failovers": 1, "isr_shrinks": 1},
        rules={"controller_fence": ControllerFence.NOTHING},
        base=IN_ZOOKEEPER,
    ),
    Defect(
        name="M-14",
        title="Brokers accept what a deposed controller sends",
        ticket="mutant of STALE_CONTROLLER_EPOCH",
        affected="none",
        story="A deposed controller writes an election to ZooKeeper and sends it to a broker, which obeys. Its leader "
        "epoch is the next one, and no other decision has it, so to the broker it is as good as the new controller's. "
        "(Not modelled: requests without a leader epoch, as StopReplica was before KIP-570.)",
        fix="refuse requests with a lower controller epoch than the last",
        breaks="electable_replicas_are_complete",
        length=0,
        bounds={
            **CALM,
            "replicas": 2,
            "records": 1,
            "controller_failovers": 1,
            "isr_shrinks": 1,
            "fencings": 1,
            "crashes": 1,
        },
        rules={"brokers_refuse_deposed": False},
        base={**IN_ZOOKEEPER, "controller_fence": ControllerFence.VERSION},
    ),
)
"""The entries: what a release had, and the guards that none has left out."""
