"""A model of the quorum and Kafka's quorum side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from insync.conformance.classes.subject import Argument, KafkaRaised
from insync.conformance.correspondence.correspondence import Named
from insync.conformance.correspondence.facts import Difference, differing
from insync.conformance.correspondence.known_differences import Compared, KnownDifference, Step, Thrown, Unlike
from insync.conformance.correspondence.side_by_side import SideBySide
from insync.conformance.quorum.kraft_beside import KraftBeside
from insync.conformance.quorum.quorum_harness import QuorumSubject
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync.explorer.stepping.stepper import Stepper
from insync.kafka.quorum.kraft import Kraft
from insync.model import ReadableState

__all__ = ["QuorumCorrespondence", "QuorumPair"]

_THROWN = "Kafka throws an exception, and the model has an illegal state"


class QuorumCorrespondence:
    """What is a step of a model of the quorum on Kafka's classes, and what is compared after it.

    Args:
        beside: the model beside the release.
        subject: who takes the commands.
    """

    differences: Sequence[KnownDifference[Compared]] = ()
    own_may_come_first = False

    def __init__(self, beside: KraftBeside, subject: QuorumSubject) -> None:
        self.seen: QuorumSeen
        self.given = 0
        self._beside, self._subject = beside, subject
        self._acknowledged: set[int] = set()

    @property
    def always(self) -> Collection[str]:
        """The actions without which little happens."""
        return self._beside.always

    def open(self) -> None:
        """Start the servers."""
        self._give("open", **self._beside.opening())
        self._go_on("open", {})

    def take(self, step: Step) -> None:
        """Give Kafka the commands of a step; raises NotSchedulable and Unlike."""
        self.given = 0
        command = self._beside.command_of(step.action, step.given, self.seen, step.before)
        if command is None:
            what = "the message"
            raise Unlike(what, "there", "not there")
        try:
            name, arguments = command
            self._give(name, **arguments)
            self._go_on(step.action, step.given)
        except KafkaRaised as raised:
            if _is_illegal(step.after):
                raise Thrown(_THROWN) from raised
            what = "exception"
            raise Unlike(what, None, str(raised.args[0])) from raised

    def own_steps(self, state: ReadableState) -> Iterable[Named]:
        """Return what Kafka seems to have done by itself: a leader that leads at once, a fetch that is sent."""
        return self._beside.own_steps(self.seen, state)

    def compare(self, state: ReadableState) -> tuple[int, list[Difference]]:
        """Return how many facts both have, and those that differ."""
        kafka = self._facts()
        model = self._beside.facts_of_model(state)
        return len(model), differing(model, kafka)

    def compared(self, step: Step, state: ReadableState, found: Sequence[Difference]) -> Compared:
        """Return what known differences are looked for in."""
        return Compared(step, state, found)

    def unlike_after(self, step: Step, state: ReadableState, possible: Callable[[Named], bool]) -> list[Difference]:
        """Return nothing: all that is seen is compared as facts."""
        return []

    def kafka_state(self, state: ReadableState) -> ReadableState:
        """Return the state as Kafka has it, where traces show it: messages stay the model's."""
        put: dict[str, Any] = dict(state)
        facts, founders = self._facts(), self._beside.founders
        put["server"] = {name: _put(name, server, facts, founders) for name, server in put["server"].items()}
        return put

    def _facts(self) -> dict[str, Any]:
        return dict(self._beside.facts_of_kafka(self.seen, self._acknowledged))

    def _give(self, command: str, **arguments: Argument) -> None:
        self.given += 1
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


class QuorumPair(SideBySide[QuorumCorrespondence]):
    """The model and a quorum of Kafka's.

    Args:
        stepper: of a model of the quorum.
        subject: who takes the commands.

    Raises:
        TypeError: the model is not the one of the quorum that is compared.
    """

    def __init__(self, stepper: Stepper, subject: QuorumSubject) -> None:
        self.model = stepper.model
        if not isinstance(self.model, Kraft):
            message = f"{self.model.name} is not compared with Kafka's quorum"
            raise TypeError(message)
        super().__init__(stepper, QuorumCorrespondence(KraftBeside(self.model), subject))

    @property
    def seen(self) -> QuorumSeen:
        """Kafka's state after the last command."""
        return self.correspondence.seen


def _is_illegal(state: ReadableState) -> bool:
    """Whether a server made a transition that Kafka refuses."""
    return any(server["state"] == "ILLEGAL" for server in state["server"].values())


def _put(name: str, server: dict[str, Any], facts: dict[str, Any], founders: Iterable[str]) -> dict[str, Any]:
    """A server of the model, with what Kafka's has in place of it."""
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
