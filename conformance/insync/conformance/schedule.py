"""How a step of `cluster` is taken on Kafka's classes: the commands of each action.

Kafka does one thing by itself that the model has as a step: it asks for a larger ISR within the fetch that shows a
follower to have caught up. Everything else waits for a command. Metadata is handed to a broker as far as the model's
broker has it, and at once where that is up to date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from insync.conformance.classes.observation import AlterRequest, BrokerSeen, Observation
from insync.conformance.classes.subject import Answer, Argument, KafkaRaised, Subject
from insync.conformance.gaps import (
    Ends,
    NotSchedulable,
    Unlike,
    ends_of,
    require_incarnations_of_joiner_alone,
    require_no_epoch_of_deleted_records,
    require_one_change,
    require_same_ends,
)
from insync.conformance.likeness import broker_id
from insync.kafka.cluster.configuration import Acks
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState

__all__ = ["NotSchedulable", "Schedule", "Unlike"]

_LATER = 31_000
"""Milliseconds that every step takes: more than replica.lag.time.max.ms, so nobody is waited for outside the ISR."""
_MUCH_LATER = 61_000
_ALTER = "the controller's answer to AlterPartition"
_WRITTEN = ("NONE", "NEW_LEADER_ELECTED")
"""What the controller answers to an ISR that it writes: the second where that ends a reassignment, and a leadership."""
_ACKS = {Acks.ALL: -1, Acks.LEADER: 1, Acks.NONE: 0}

_EVERY_FETCH_IS_FULL = "the harness has no fetch sessions: its leader answers every fetch in full"
_NOT_IN_KAFKA = {
    "evict_session": _EVERY_FETCH_IS_FULL,
    "lose_reply": _EVERY_FETCH_IS_FULL,
    "ask_epoch_end": "Kafka truncates with a fetch since 2.8, and asks no such question",
    "look_at_follower": "Kafka looks at a follower's state once since 3.7",
    "fence_two": "Kafka's controller fences one broker at a time since 3.0",
}

_SERVED = ("NONE", "OFFSET_OUT_OF_RANGE")
"""What the leader answers to a fetch; after the second the follower asks where the log begins or ends, at once."""
_OF_THE_TOPIC = ("change_minimum",)
"""Actions that brokers learn of like a change of the partition, though its registration stays as it is."""

State = Mapping[str, Any]


class Schedule:
    """Takes the steps of a model on Kafka's classes.

    Args:
        subject: who takes the commands.
        model: the model, whose settings Kafka gets.

    Attributes:
        seen: Kafka's state after the last command.
        acknowledged: the records of which producers have been told so far that they are written.
        order: the replicas in Kafka's order, in which it elects.
        given: how many commands the last step took; of one that is not schedulable, before that was clear.
    """

    def __init__(self, subject: Subject, model: Cluster) -> None:
        self._subject, self._model = subject, model
        self.seen: Observation
        self._ends: list[int] = []  # the places in the metadata log of the model's changes, the newest last
        self._accepted: dict[int, list[int]] = {}  # those at which what a broker had asked for was written
        self.order: list[int] = []
        self._out_of_range: dict[int, tuple[int, Ends]] = {}  # who was told so, by whom, and the ends of its log then
        self._cleared: set[int] = set()  # those whom a change of the minimum took out of the ELR
        self.acknowledged: set[str] = set()
        self.given = 0

    def open(self) -> None:
        """Make a cluster with the settings of the model."""
        b = self._model.b
        configuration = {"min.insync.replicas": str(b.min_insync)}
        if self._model.unclean:
            configuration["unclean.leader.election.enable"] = "true"
        other = {"partition_zero": b.partition_zero} if b.partition_zero else {}
        self._command(
            "open",
            brokers=b.replicas,
            replicas=list(range(1, b.replicas - b.spares + 1)),
            elr=self._model.elr,
            configuration=configuration,
            **other,
        )
        self._ends = [self.seen.controller.end]
        self.order = list(self.seen.controller.replicas)

    def take(self, action: str, given: Mapping[str, str], before: ReadableState, after: ReadableState) -> None:
        """Take a step.

        Args:
            action: the name of its action.
            given: the parameters.
            before: the model's state before it.
            after: the model's state after it.

        Raises:
            NotSchedulable: it cannot be brought about.
            Unlike: Kafka refuses what the model accepts, or the other way round.
        """
        self.given = 0
        take = _ACTIONS.get(action)
        if take is None:
            message = _NOT_IN_KAFKA.get(action, f"the harness cannot do {action} yet")
            raise NotSchedulable(message)
        partition_epoch = self.seen.controller.partition_epoch
        take(self, given, before)
        if self.seen.controller.partition_epoch != partition_epoch or action in _OF_THE_TOPIC:
            self._ends.append(self.seen.controller.end)
        self.order = [number for number in self.order if number in self.seen.controller.replicas]
        self._settle(after)
        if action == "register":
            require_no_epoch_of_deleted_records(given["replica"], after, self.seen)

    # ------------------------------------------------------------------------------------------------------ commands

    def _command(self, command: str, **arguments: Argument) -> Answer:
        self.given += 1
        try:
            answer = self._subject.take(command, **arguments)
        except KafkaRaised as raised:
            message = f"Kafka's classes throw {raised.args[0]}"
            raise NotSchedulable(message) from raised
        self.seen = answer.state
        self.acknowledged |= answer.state.acknowledged
        return answer

    def probe(self, command: str, **arguments: Argument) -> str:
        """Give a command that is no step, and return Kafka's answer, or the exception that it throws."""
        try:
            answer = self._subject.take(command, **arguments)
        except KafkaRaised as raised:
            self._command("observe")
            return str(raised.args[0])
        self.seen = answer.state
        self.acknowledged |= answer.state.acknowledged
        return answer.said

    def _expect(self, what: str, answer: Answer) -> None:
        if answer.said != "NONE":
            raise Unlike(what, "NONE", answer.said)

    def _broker(self, number: int) -> BrokerSeen:
        return self.seen.brokers[number]

    def _settle(self, after: State) -> None:
        """Hand metadata to brokers that are up to date in the model, and replies to those who know their effect."""
        for name, broker in after["broker"].items():
            number = broker_id(name)
            seen = self._broker(number)
            hears = broker["running"] and broker["lag"] == 0 and not broker.get("repeats") and seen.running
            if hears and seen.applied < self.seen.controller.end:
                self._command("apply", broker=number, to=self.seen.controller.end)
            self._hear_replies(number)

    def _hear_replies(self, number: int) -> None:
        waiting = self._accepted.get(number, [])
        while waiting and self._broker(number).running and self._broker(number).applied >= waiting[0]:
            self._command("deliver_reply", broker=number)
            waiting.pop(0)

    # ------------------------------------------------------------------------------------------ leaders and followers

    def _write(self, given: Mapping[str, str], before: State) -> None:
        leader = broker_id(given["leader"])
        record = f"r{before['written']}"
        self._command("write", broker=leader, value=record, acks=_ACKS[self._model.acks], wait=_LATER)

    def _fetch(self, given: Mapping[str, str], before: State) -> None:
        if self._model.sessions:
            raise NotSchedulable(_EVERY_FETCH_IS_FULL)
        follower, leader = broker_id(given["follower"]), broker_id(given["leader"])
        self._forget_late_requests(leader, before)
        if self._broker(follower).reply_waits:  # one that the model has dropped, as Kafka does when it arrives
            self._command("receive_fetch", broker=follower)
        answer = self._command("send_fetch" if self._model.late_replies else "fetch", broker=follower, wait=_LATER)
        if answer.said not in _SERVED:
            what = f"{given['follower']}'s fetch"
            raise Unlike(what, "NONE", answer.said)
        self._out_of_range.pop(follower, None)
        if answer.said == _SERVED[1]:
            self._out_of_range[follower] = leader, ends_of(self.seen, leader)

    def _receive(self, given: Mapping[str, str], before: State) -> None:
        follower = broker_id(given["follower"])
        if follower in self._out_of_range:
            require_same_ends(given["follower"], *self._out_of_range[follower], self.seen)
        self._command("receive_fetch", broker=follower)

    def _receive_rewritten(self, given: Mapping[str, str], before: State) -> None:
        self._command("receive_fetch", broker=broker_id(given["follower"]), rewritten=True)

    def _expand(self, given: Mapping[str, str], before: State) -> None:
        """Kafka's leader asks within a fetch alone, and then this step has been taken already (see `replay`)."""
        leader, follower = given["leader"], given["follower"]
        leading = self._broker(broker_id(leader)).leading
        known = leading and leading.known.get(broker_id(follower))
        if known and not known.may_join:
            message = (
                f"by the metadata of {leader} {follower} is fenced, stopping or another incarnation, "
                "so Kafka's leader does not ask; in the model it asks, and the controller refuses"
            )
            raise NotSchedulable(message, "by the leader's metadata the follower may not join, so Kafka does not ask")
        message = f"Kafka's leader asks for {follower} within a fetch of {follower} alone, and none has made it ask"
        raise NotSchedulable(message, "Kafka's leader asks within a fetch alone, and none has made it ask")

    def _shrink(self, given: Mapping[str, str], before: State) -> None:
        leader, wanted = broker_id(given["leader"]), _ids(given.get("follower") or given["followers"])
        seen = self._broker(leader)
        if seen.leading is not None and seen.log is not None:
            end = seen.log.end
            slow = [n for n in seen.leading.isr if n != leader and seen.leading.known[n].end != end]
            if slow != wanted:
                them = " and ".join(f"b{number}" for number in slow)
                message = f"Kafka would take {them} out of the ISR at once, as all of them are slow"
                raise NotSchedulable(message, "Kafka would take others out of the ISR as well, who are slow too")
        self._forget_late_requests(leader, before)
        self._command("shrink", broker=leader, wait=_MUCH_LATER)

    def _forget_late_requests(self, leader: int, before: State) -> None:
        """Let a leader have the answers that it does not wait for any more, as it asks again when it has them.

        In the model a request that is too late is none: it has no effect, and the controller refuses it. Nor has the
        reply to one of which the leader knows the outcome by its metadata. Only a request that is in time is kept.
        """
        seen = self._broker(leader)
        if seen.leading is None or seen.leading.proposed:
            return
        for _ in range(len(self._accepted.pop(leader, []))):
            self._command("deliver_reply", broker=leader)
        unheard = [request for request in seen.requests if not request.replied]
        if not unheard:
            return
        if (leader, unheard[0].isr) != _proposal(before):
            self._refused(leader, unheard[0])

    def _delete(self, given: Mapping[str, str], before: State) -> None:
        start = before["broker"][given["leader"]]["start"]
        self._command("delete_records", broker=broker_id(given["leader"]), below=start + 1)

    # ------------------------------------------------------------------------------------------------- the controller

    def _accept(self, given: Mapping[str, str], before: State) -> None:
        sender, request = self._sender(before)
        partition_epoch = self.seen.controller.partition_epoch
        answer = self._command("deliver_request", broker=sender)
        if self.seen.controller.partition_epoch == partition_epoch or answer.said not in _WRITTEN:
            self._require_incarnations(request, accepted=False)
            raise Unlike(_ALTER, "NONE", answer.said)
        if self._broker(sender).running:  # else nobody waits for the reply
            self._accepted.setdefault(sender, []).append(self.seen.controller.end)

    def _refuse(self, given: Mapping[str, str], before: State) -> None:
        sender, request = self._sender(before)
        self._refused(sender, request)

    def _refused(self, sender: int, request: AlterRequest) -> None:
        answer = self._command("deliver_request", broker=sender)
        if answer.said == "NONE":
            self._require_incarnations(request, accepted=True)
            raise Unlike(_ALTER, "a refusal", answer.said)
        self._command("deliver_reply", broker=sender)

    def _require_incarnations(self, request: AlterRequest, *, accepted: bool) -> None:
        if not self._model.rules.register_leaves_isr:
            require_incarnations_of_joiner_alone(request, accepted)

    def _sender(self, before: State) -> tuple[int, AlterRequest]:
        """Who has asked for another ISR in time; what is on its way from there must be what the model has."""
        sender, asked = _proposal(before)
        unheard = [request for request in self._broker(sender).requests if not request.replied]
        if len(unheard) > 1 and unheard[0].isr != asked:  # of an earlier incarnation
            self._refused(sender, unheard[0])
            unheard = unheard[1:]
        if not unheard or unheard[0].isr != asked:
            message = f"no request of b{sender} for the ISR {before['alter']['isr']} is on its way"
            raise NotSchedulable(message, "no such request is on its way in Kafka")
        return sender, unheard[0]

    def _fence(self, given: Mapping[str, str], before: State) -> None:
        self._command("fence", broker=broker_id(given["replica"]))

    def _unfence(self, given: Mapping[str, str], before: State) -> None:
        self._command("unfence", broker=broker_id(given["replica"]))

    def _elect(self, given: Mapping[str, str], before: State) -> None:
        answer = self._command("elect", broker=broker_id(given["replica"]))
        if answer.said == "REASSIGNMENT_IN_PROGRESS":
            message = "the preferred leader is the first replica, and the order cannot change during a reassignment"
            raise NotSchedulable(message)
        self._expect(f"the answer to the election of {given['replica']}", answer)

    def _reassign(self, given: Mapping[str, str], before: State) -> None:
        target = _ids(given["target"])
        self._expect("the answer to the reassignment", self._command("reassign", replicas=target))
        self.order = [*target, *(number for number in self.order if number not in target)]

    def _cancel(self, given: Mapping[str, str], before: State) -> None:
        self._expect("the answer to the cancellation", self._command("cancel_reassignment"))

    def _change_minimum(self, given: Mapping[str, str], before: State) -> None:
        back = before["controller"]["minimum_is_one"]
        self._cleared |= set(self.seen.controller.elr)
        value = str(self._model.b.min_insync) if back else "1"
        answer = self._command("configure", name="min.insync.replicas", value=value)
        self._expect("the answer to the change of min.insync.replicas", answer)

    # -------------------------------------------------------------------------------------------------------- brokers

    def _apply(self, given: Mapping[str, str], before: State) -> None:
        number, place = broker_id(given["replica"]), int(given["place"])
        end = self._ends[-1 - place] if place else self.seen.controller.end
        self._command("apply", broker=number, to=end, wait=_LATER)
        self._hear_replies(number)

    def _flush(self, given: Mapping[str, str], before: State) -> None:
        self._command("flush", broker=broker_id(given["replica"]))

    def _pause(self, given: Mapping[str, str], before: State) -> None:
        """A follower that waits does not ask; here nobody asks but by a command, so there is nothing to do."""

    def _receive_isr(self, given: Mapping[str, str], before: State) -> None:
        leader = broker_id(given["leader"])
        if not self._accepted.get(leader):
            message = f"no reply to an AlterPartition of b{leader} is on its way"
            raise NotSchedulable(message, "no such reply is on its way in Kafka")
        self._accepted[leader].pop(0)
        self._command("deliver_reply", broker=leader, wait=_LATER)

    def _apply_known(self, given: Mapping[str, str], before: State) -> None:
        self._apply({"replica": given["leader"], "place": str(before["broker"][given["leader"]]["lag"])}, before)

    def _crash(self, given: Mapping[str, str], before: State) -> None:
        number = broker_id(given["replica"])
        self._command("crash", broker=number, spared=int(given["spared"]))
        self._accepted.pop(number, None)

    def _begin_stop(self, given: Mapping[str, str], before: State) -> None:
        self._command("start_controlled_shutdown", broker=broker_id(given["replica"]))

    def _stop(self, given: Mapping[str, str], before: State) -> None:
        number = broker_id(given["replica"])
        self._command("stop", broker=number)
        self._command("fence", broker=number)
        self._accepted.pop(number, None)

    def _register(self, given: Mapping[str, str], before: State) -> None:
        number, was = broker_id(given["replica"]), self.seen.controller
        self._command("register", broker=number, wait=_MUCH_LATER)
        if number in self._cleared:
            require_one_change(number, was, self.seen.controller)


def _ids(label: str) -> list[int]:
    """The ids of the brokers that a label names: of one, or of a set."""
    return [int(number) for number in re.findall(r"b(\d+)", label)]


def _proposal(state: State) -> tuple[int, tuple[int, ...]]:
    """Who has asked for another ISR in time, and for which; -1 and none where nobody has."""
    leader, isr = state["changes"][0]["leader"], state["alter"]["isr"]
    return (broker_id(leader), tuple(sorted(map(broker_id, isr)))) if leader and isr else (-1, ())


_ACTIONS: dict[str, Callable[[Schedule, Mapping[str, str], State], None]] = {
    "write": Schedule._write,
    "fetch": Schedule._fetch,
    "receive": Schedule._receive,
    "receive_rewritten": Schedule._receive_rewritten,
    "expand_isr": Schedule._expand,
    "shrink_isr": Schedule._shrink,
    "shrink_isr_by_several": Schedule._shrink,
    "receive_isr": Schedule._receive_isr,
    "pause_fetching": Schedule._pause,
    "resume_fetching": Schedule._pause,
    "apply_known_metadata": Schedule._apply_known,
    "accept_isr": Schedule._accept,
    "refuse_isr": Schedule._refuse,
    "fence": Schedule._fence,
    "unfence": Schedule._unfence,
    "elect": Schedule._elect,
    "apply_metadata": Schedule._apply,
    "reassign": Schedule._reassign,
    "cancel_reassignment": Schedule._cancel,
    "change_minimum": Schedule._change_minimum,
    "delete_record": Schedule._delete,
    "flush": Schedule._flush,
    "crash": Schedule._crash,
    "begin_stop": Schedule._begin_stop,
    "stop": Schedule._stop,
    "register": Schedule._register,
}
