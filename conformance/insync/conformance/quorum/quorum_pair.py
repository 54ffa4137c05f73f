"""A model of the quorum and Kafka's quorum side by side: each step is taken on both, and both are compared after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from insync.conformance.classes.subject import Argument, KafkaRaised
from insync.conformance.quorum.beside_kafka import correspondence_of
from insync.conformance.quorum.correspondence import differing
from insync.conformance.quorum.quorum_harness import QuorumSubject
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync.conformance.steps.gaps import NotSchedulable
from insync.conformance.steps.likeness import Difference
from insync.explorer.stepping.stepper import Move, Stepper, Walk
from insync.explorer.traces.trace import TraceStep, trace_step
from insync.model import ReadableState
from insync.runtime.errors import GuardError

__all__ = ["QuorumPair"]

_THROWN = "Kafka throws an exception, and the model has an illegal state"


class QuorumPair:
    """The model and a quorum of Kafka's, which are in the same state until they differ.

    Args:
        stepper: of a model of the quorum.
        subject: who takes the commands.

    Attributes:
        walk: of the model.
        taken: the steps so far, with the model's states; the first is the start.
        own: the numbers of the steps that Kafka took by itself: a leader that leads at once, a fetch that is sent.
        compared: how many facts were compared after the last step.
        spoilt: whether Kafka has thrown where the model has an illegal state, behind which nothing is compared.
    """

    def __init__(self, stepper: Stepper, subject: QuorumSubject) -> None:
        self.model = stepper.model
        self.walk = Walk(stepper)
        self.taken: list[TraceStep] = [trace_step(self.model, self.walk.moves[-1])]
        self.own: list[int] = []
        self.compared, self.spoilt = 0, False
        self.seen: QuorumSeen
        self._subject = subject
        self._beside = correspondence_of(self.model, subject.version)
        self._acknowledged: set[int] = set()

    @property
    def always(self) -> frozenset[str]:
        """The actions without which little happens."""
        return self._beside.always

    @property
    def moves(self) -> list[Move]:
        """The moves of the model so far."""
        return self.walk.moves

    def open(self) -> list[Difference]:
        """Start the servers, and return on what both differ at the start."""
        self._give("open", **self._beside.opening())
        self._go_on("open", {})
        self._follow()
        return self.differences()

    def take(self, number: int) -> list[Difference]:
        """Take an enabled action on both, and return on what they differ after it.

        Raises:
            NotSchedulable: it cannot be brought about on Kafka, and the model has not taken it either; or Kafka throws
                after it, and the model has an illegal state.
        """
        action = self.walk.stepper.actions[number]
        given = action.shown_parameters
        command = self._beside.command_of(action.name, given, self.seen, self.taken[-1].state)
        self._step(number)
        if command is None:
            return [Difference("the message", "there", "not there")]
        try:
            name, arguments = command
            self._give(name, **arguments)
            self._go_on(action.name, given)
        except KafkaRaised as raised:
            if _is_illegal(self.taken[-1].state):
                self.spoilt = True
                raise NotSchedulable(_THROWN) from raised
            return [Difference("exception", None, str(raised.args[0]))]
        self._follow()
        return self.differences()

    def kafka_state(self) -> ReadableState:
        """Return the state as Kafka has it, where traces show it: messages stay the model's."""
        state: dict[str, Any] = dict(self.taken[-1].state)
        facts = self._facts()
        founders = state.get("founders", ())
        state["server"] = {name: _put(name, server, facts, founders) for name, server in state["server"].items()}
        return state

    def differences(self) -> list[Difference]:
        """Return the facts that differ."""
        kafka = self._facts()
        model = self._beside.facts_of_model(self.taken[-1].state, kafka)
        self.compared = len(model)
        return differing(model, kafka)

    def _facts(self) -> dict[str, Any]:
        return dict(self._beside.facts_of_kafka(self.seen, self._acknowledged))

    def _give(self, command: str, **arguments: Argument) -> None:
        self.seen = self._subject.give(command, **arguments)
        for server in self.seen.servers.values():
            self._acknowledged.update(server.acknowledged)

    def _go_on(self, action: str, given: Mapping[str, str]) -> None:
        """Give the commands that are still to be given for a step."""
        command = self._beside.next_command(action, given, self.seen)
        while command is not None:
            name, arguments = command
            self._give(name, **arguments)
            command = self._beside.next_command(action, given, self.seen)

    def _step(self, number: int) -> None:
        self.walk.step(number)
        self.taken.append(trace_step(self.model, self.walk.moves[-1]))

    def _follow(self) -> None:
        """Let the model take the steps that Kafka has taken by itself; where it cannot, the states will differ."""
        while any(self._follow_in(*step) for step in self._beside.own_steps(self.seen, self.taken[-1].state)):
            continue

    def _follow_in(self, action: str, given: dict[str, str]) -> bool:
        """Let the model take a step that Kafka has taken by itself; return whether it can."""
        try:
            number = self.walk.number_of(action, given)
        except GuardError:
            return False
        self.own.append(len(self.taken))
        self._step(number)
        return True


def _is_illegal(state: ReadableState) -> bool:
    """Whether a server made a transition that Kafka refuses."""
    return any(server["state"] == "ILLEGAL" for server in state["server"].values())


def _put(name: str, server: dict[str, Any], facts: dict[str, Any], founders: Iterable[str]) -> dict[str, Any]:
    """What the model knows of a server, with what Kafka's has in place of it."""
    put = {
        field: facts[f"{name}.{field}"]
        for field in ("state", "epoch", "leader", "high_watermark")
        if f"{name}.{field}" in facts
    }
    records = list(_records(facts.get(f"{name}.log", []), set(founders)))
    nothing = dict.fromkeys(server["log"][0])
    log = [{**nothing, **record} for record in records] + [{**nothing, "epoch": 0}] * (
        len(server["log"]) - len(records)
    )
    return {**server, **put, "end": len(records), "log": log}


def _records(log: Iterable[str], voters: set[str]) -> Iterator[dict[str, Any]]:
    """Records as the model has them: of voters who came or went since the ones before."""
    for record in log:
        what, _, epoch = record.rpartition("@")
        after = set(what.strip("{}").split(",")) if what.startswith("{") else voters
        value = what if what.startswith("v") else None
        changes = {"added": min(after - voters, default=None), "removed": min(voters - after, default=None)}
        yield {"epoch": int(epoch), "value": value, **{name: one for name, one in changes.items() if one}}
        voters = after
