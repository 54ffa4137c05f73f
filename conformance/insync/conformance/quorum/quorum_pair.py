"""The model `kraft` and Kafka's quorum side by side: each step is taken on both, and both are compared after it."""

from __future__ import annotations

from typing import Any, ClassVar

from insync.conformance.classes.subject import Argument, KafkaRaised
from insync.conformance.jars.pinned import version_order
from insync.conformance.quorum.pre_vote_steps import (
    answer_of,
    granting,
    question_to,
    require_pre_votes,
    require_same_restart,
)
from insync.conformance.quorum.quorum_facts import differing, facts_of_kafka, facts_of_model, model_epoch, pending_of
from insync.conformance.quorum.quorum_harness import QuorumSubject
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync.conformance.quorum.quorum_steps import command_of, number_in
from insync.conformance.steps.likeness import Difference
from insync.explorer.evaluator.stepping import Move, Stepper, Walk
from insync.explorer.traces.counterexample import trace_step
from insync.explorer.traces.trace import TraceStep
from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.mail import LogEnd
from insync.model import ReadableState
from insync.model.errors import GuardError

__all__ = ["QuorumPair"]

_PRE_VOTES = (4, 0)
"""The first release that asks for pre-votes (KIP-996)."""
_UNLIKE = {"request_vote": require_pre_votes, "restart": require_same_restart}
"""Steps that are not what they were before."""


class QuorumPair:
    """The model and a quorum of Kafka's, which are in the same state until they differ.

    Args:
        stepper: of a model `kraft`.
        subject: who takes the commands.

    Attributes:
        walk: of the model.
        taken: the steps so far, with the model's states; the first is the start.
        own: the numbers of the steps that Kafka took by itself: a leader that leads at once, a fetch that is sent.
        compared: how many facts were compared after the last step.
        spoilt: whether Kafka has got a command of a step that turned out not to be schedulable: never.
    """

    always: ClassVar[frozenset[str]] = frozenset(
        {
            "client_request",
            "handle_begin_quorum",
            "handle_fetch",
            "handle_leader_change",
            "handle_nothing",
            "handle_record",
            "handle_vote",
            "handle_vote_request",
        }
    )

    def __init__(self, stepper: Stepper, subject: QuorumSubject) -> None:
        assert isinstance(stepper.model, Kraft)
        self.model = stepper.model
        self.walk = Walk(stepper)
        self.taken: list[TraceStep] = [trace_step(self.model, self.walk.moves[-1])]
        self.own: list[int] = []
        self.compared, self.spoilt = 0, False
        self.seen: QuorumSeen
        self._subject = subject
        self._pre_votes = version_order(subject.version)[:2] >= _PRE_VOTES
        self._acknowledged: set[int] = set()
        self._ends = {
            end: (int(self.model.offset_of(end)), int(self.model.epoch_of(end))) for end in LogEnd.numbers(self.model.b)
        }

    @property
    def moves(self) -> list[Move]:
        """The moves of the model so far."""
        return self.walk.moves

    def open(self) -> list[Difference]:
        """Start the servers, and return on what both differ at the start."""
        self._give("open", servers=self.model.b.servers)
        return self.differences()

    def take(self, number: int) -> list[Difference]:
        """Take an enabled action on both, and return on what they differ after it.

        Raises:
            NotSchedulable: it cannot be brought about on Kafka; the model has not taken it either.
        """
        action = self.walk.stepper.actions[number]
        if self._pre_votes and action.name in _UNLIKE:
            _UNLIKE[action.name](number_in(action.shown_parameters["i"]), self.seen)
        command = command_of(action.name, action.shown_parameters, self.seen, self.taken[-1].state, self._ends)
        self._step(number)
        if command is None:
            return [Difference("the message", "there", "not there")]
        name, arguments = command
        try:
            self._give(name, **arguments)
            if self._pre_votes and name == "time_out":
                self._get_pre_votes(number_in(action.shown_parameters["i"]))
        except KafkaRaised as raised:
            return [Difference("exception", None, str(raised.args[0]))]
        self._follow()
        return self.differences()

    def kafka_state(self) -> ReadableState:
        """Return the state as Kafka has it, where traces show it: messages stay the model's."""
        state: dict[str, Any] = dict(self.taken[-1].state)
        facts = self._facts()
        state["server"] = {name: _put(name, server, facts) for name, server in state["server"].items()}
        return state

    def differences(self) -> list[Difference]:
        """Return the facts that differ."""
        model = facts_of_model(self.taken[-1].state)
        self.compared = len(model)
        return differing(model, self._facts())

    def _facts(self) -> dict[str, Any]:
        numbers = {end: number for number, end in self._ends.items()}
        return dict(facts_of_kafka(self.seen, self._acknowledged, numbers))

    def _give(self, command: str, **arguments: Argument) -> None:
        self.seen = self._subject.give(command, **arguments)
        for server in self.seen.servers.values():
            self._acknowledged.update(server.acknowledged)

    def _get_pre_votes(self, asker: int) -> None:
        """Deliver the pre-vote requests of a server to those who would vote for it, and their answers."""
        for voter in granting(asker, self.seen):
            for wanted in (question_to, answer_of):
                letter = wanted(asker, voter, self.seen)
                if letter is not None:
                    self._give("deliver", letter=letter.number)

    def _step(self, number: int) -> None:
        self.walk.step(number)
        self.taken.append(trace_step(self.model, self.walk.moves[-1]))

    def _follow(self) -> None:
        """Let the model take the steps that Kafka has taken by itself: who was elected leads, who follows fetches."""
        for number, server in self.seen.servers.items():
            name, its = f"n{number}", self.taken[-1].state["server"][f"n{number}"]
            same_epoch = its["epoch"] == model_epoch(server.epoch)
            if server.state == "Leader" and its["state"] == "CANDIDATE" and same_epoch:
                self._follow_in("become_leader", {"i": name})
            asked = pending_of(self.seen, number)
            if asked is not None and its["pending"] is None:
                self._follow_in("send_fetch_request", {"i": name, "leader": asked})

    def _follow_in(self, action: str, given: dict[str, str]) -> None:
        """Let the model take a step that Kafka has taken by itself; where it cannot, the states will differ."""
        try:
            number = self.walk.number_of(action, given)
        except GuardError:
            return
        self.own.append(len(self.taken))
        self._step(number)


def _put(name: str, server: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    """What the model knows of a server, with what Kafka's has in place of it."""
    log = [record.rpartition("@") for record in facts[f"{name}.log"]]
    records = [{"epoch": int(epoch), "value": None if value == "*" else value} for value, _, epoch in log]
    more = [{"epoch": 0, "value": None}] * (len(server["log"]) - len(records))
    put = {field: facts[f"{name}.{field}"] for field in ("state", "epoch", "leader", "high_watermark")}
    return {**server, **put, "end": len(records), "log": records + more}
