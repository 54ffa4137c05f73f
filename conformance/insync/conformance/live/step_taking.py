"""Takes a step of `cluster` on real brokers: which requests are made, held and released, which brokers are killed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from insync.conformance.live.broker_files import cut_log
from insync.conformance.live.levers import CannotBeHeld, Levers
from insync.conformance.live.live_nodes import NotInTime
from insync.conformance.live.metadata_log import Decision, PartitionAt
from insync.conformance.live.operator import Operator, Sending
from insync.conformance.steps.likeness import ACKS, broker_id
from insync.explorer.traces.trace import TraceStep
from insync.kafka.cluster.broker.fetch_session import EVERY_FETCH_IS_FULL
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.steps import Never, words_of
from insync.model import ReadableState

__all__ = ["StepTaking"]

Given = Mapping[str, Any]


class StepTaking:
    """Takes the steps of a model on a cluster.

    Args:
        operator: who does things to the cluster.
        model: the model.

    Attributes:
        acknowledged: the records whose producers have received an acknowledgement so far.
    """

    def __init__(self, operator: Operator, model: Cluster) -> None:
        self._operator, self._model, self._cluster = operator, model, operator.cluster
        self._sent: list[Sending] = []
        self._ends: list[tuple[int, int]] = []  # where the records of each of the model's changes begin and end
        self.acknowledged: set[str] = set()

    def open(self) -> None:
        """Make the topic, and hold everything from then on."""
        b = self._model.b
        configs = {"unclean_leader_election_enable": "true"} if b.settings.unclean_leader_election else {}
        self._operator.create(list(range(1, b.replicas - b.spares + 1)), b.min_insync_replicas, **configs)
        self._levers = Levers(self._cluster, self._operator.topic_id)
        self._levers.settle([broker for broker in self._operator.now.replicas if broker != 1], 1)
        end = self._operator.history[-1].offset + 1
        self._ends.append((end, end))

    def take(self, step: TraceStep, before: ReadableState, after: ReadableState) -> None:
        """Take a step.

        Raises:
            CannotBeHeld: it cannot be brought about; the message says why.
        """
        take = _ACTIONS.get(step.action or "")
        if take is None:
            how = words_of(type(self._model), step.action or "").brokers
            reason = how.reason if isinstance(how, Never) else ""
            raise CannotBeHeld(reason or f"nothing brings about {step.action} on a cluster yet")
        begun = self._operator.history[-1]
        try:
            take(self, step.parameters, before)
        except NotInTime as fault:
            raise CannotBeHeld(str(fault)) from fault
        self._note_changes(begun, before)
        self._settle(after)

    def _note_changes(self, begun: Decision, before: Given) -> None:
        """Note where the metadata of a change is, and hold it whole for the brokers that were up to date."""
        history = self._operator.history
        now, first = history[-1], next((one for one in history if one.offset > begun.offset), begun)
        if _shown(begun.partition) == _shown(now.partition):
            return
        self._ends.append((first.offset - len(first.kinds) + 1, now.offset + 1))
        self._hold_whole(before)

    def _hold_whole(self, before: Given) -> None:
        for name, broker in before["broker"].items():
            if broker["running"] and broker["image_lag"] == 0:
                self._levers.refresh(broker_id(name))

    def _settle(self, after: Given) -> None:
        """Let brokers act on metadata that are up to date in the model."""
        for name, broker in after["broker"].items():
            if broker["running"] and broker["image_lag"] == 0:
                self._apply(broker_id(name), 0)

    def _apply(self, broker: int, place: int) -> None:
        _, end = self._ends[len(self._ends) - 1 - place]
        next_ = self._ends[len(self._ends) - place][0] if place else 0
        self._levers.apply(broker, end, place == 0, next_)

    def hear(self) -> None:
        """Note which records are acknowledged by now."""
        for sending in self._sent:
            if sending.error is None and sending.is_answered() and sending.wait() == 0:
                self.acknowledged.add(sending.record)

    # ------------------------------------------------------------------------------------------------------- actions

    def _write(self, given: Given, before: Given) -> None:
        leader, record = broker_id(given["leader"]), f"r{before['written']}"
        self._sent.append(self._operator.send(leader, record, ACKS[self._model.acks]))
        self._cluster.until(lambda: record in self._operator.log(leader), f"{record} in the log of b{leader}")

    def _fetch(self, given: Given, before: Given) -> None:
        if self._model.features.sessions:
            raise CannotBeHeld(EVERY_FETCH_IS_FULL.reason)
        follower = before["broker"][given["follower"]]
        epoch = int(before["registrations"][follower["image_lag"]]["epoch"])
        self._levers.fetch(broker_id(given["follower"]), broker_id(given["leader"]), epoch)

    def _apply_metadata(self, given: Given, before: Given) -> None:
        self._apply(broker_id(given["replica"]), int(given["place"]))
        self._levers.pass_reply(broker_id(given["replica"]))

    def _elect(self, given: Given, before: Given) -> None:
        self._operator.prefer(broker_id(given["replica"]))

    def _reassign(self, given: Given, before: Given) -> None:
        wanted = [broker_id(name) for name in re.findall(r"\w+", given["target"])]
        self._operator.reassign(wanted)

    def _change_minimum(self, given: Given, before: Given) -> None:
        controller, operator = before["controller"], self._operator
        if controller.get("elr") or controller.get("last_known_leader") not in (None, "none"):
            message = "what of the ELR a change of min.insync.replicas takes back is not read here"
            raise CannotBeHeld(message)
        known = len(operator.configurations)
        operator.configure(
            "min.insync.replicas", str(self._model.b.min_insync_replicas) if controller["minimum_is_one"] else "1"
        )
        self._cluster.until(lambda: len(operator.configurations) > known, "the change in the metadata log")
        self._ends.append(operator.configurations[-1])
        self._hold_whole(before)

    def _fence(self, given: Given, before: Given) -> None:
        broker = broker_id(given["replica"])
        if before["broker"][given["replica"]]["running"]:
            self._levers.silence(broker)
        self._cluster.until(lambda: self._operator.brokers[broker].fenced, f"that b{broker} is fenced")

    def _unfence(self, given: Given, before: Given) -> None:
        broker = broker_id(given["replica"])
        self._levers.unsilence(broker)
        self._cluster.until(lambda: not self._operator.brokers[broker].fenced, f"that b{broker} is unfenced")

    def _crash(self, given: Given, before: Given) -> None:
        broker = broker_id(given["replica"])
        self._operator.kill(broker)
        cut_log(self._cluster.disk(broker), self._operator.topic, int(given["spared"]))

    def _register(self, given: Given, before: Given) -> None:
        name = given["replica"]
        if name not in before["controller"]["fenced"]:
            message = f"Kafka's controller registers no other incarnation of {name} while the session of one lasts"
            raise CannotBeHeld(message)
        broker, former = broker_id(name), self._operator.brokers[broker_id(name)].incarnation
        self._levers.unsilence(broker)
        self._levers.silence(broker)
        self._operator.start(broker)
        self._levers.let_metadata_through(broker, lambda: self._operator.brokers[broker].incarnation != former)

    def _expand_isr(self, given: Given, before: Given) -> None:
        self._levers.wait_for_proposal(broker_id(given["leader"]))

    def _accept_alter_partition(self, given: Given, before: Given) -> None:
        former = self._operator.now.partition_epoch
        self._levers.pass_proposal(broker_id(before["registrations"][0]["leader"]))
        self._cluster.until(lambda: self._operator.now.partition_epoch > former, "that the ISR is accepted")


_ACTIONS: dict[str, Callable[[StepTaking, Given, Given], None]] = {
    "write": StepTaking._write,
    "fetch": StepTaking._fetch,
    "apply_metadata": StepTaking._apply_metadata,
    "elect": StepTaking._elect,
    "reassign": StepTaking._reassign,
    "change_minimum": StepTaking._change_minimum,
    "fence": StepTaking._fence,
    "unfence": StepTaking._unfence,
    "crash": StepTaking._crash,
    "register": StepTaking._register,
    "expand_isr": StepTaking._expand_isr,
    "accept_alter_partition": StepTaking._accept_alter_partition,
}


def _shown(made: PartitionAt | None) -> object:
    """What of a partition the model knows, whatever the order of its members."""
    if made is None:
        return None
    members: Sequence[tuple[int, ...]] = (made.isr, made.elr, made.replicas, made.adding, made.removing)
    return made.leader, made.leader_epoch, *map(frozenset, members)
