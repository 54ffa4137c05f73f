"""Commands given to Kafka's classes, and what was seen of Kafka after the last of them."""

from __future__ import annotations

from collections.abc import Mapping

from insync.conformance.classes.observation import BrokerSeen, Observation
from insync.conformance.classes.subject import Answer, Argument, KafkaRaised, Subject
from insync.conformance.correspondence.known_differences import Missing, NotSchedulable, Unlike
from insync.conformance.steps.isr_expansions import Registrations
from insync.conformance.steps.known_reasons import TO_LEAD_WITHOUT_LOG

__all__ = ["Commands"]

_NOT_THERE = "Reflect$NoSuchElement: this release of Kafka has not got "
"""How the harness says that it looked for something in vain."""
_KNOWN_TO_LACK = ("logs that stay away with their directory (KAFKA-16234)",)
"""What releases before it have not got, as their rules say."""
_NO_LOG_TO_LEAD = "NotLeaderOrFollowerException: Log for partition"
"""What `Partition.makeLeader` throws, and `ReplicaManager.applyLocalLeadersDelta` does not catch."""


class Commands:
    """Gives commands, and keeps what was seen.

    Args:
        subject: who takes them.
        leads_without_log: whether a broker may be made the leader whose log is in a directory that has failed (N-16).

    Attributes:
        seen: Kafka's state after the last command.
        acknowledged: the records that producers have had acknowledged so far.
        registered: who may join an ISR by which metadata.
        given: how many commands were given since this was last 0.
    """

    def __init__(self, subject: Subject, *, leads_without_log: bool = False) -> None:
        self._subject, self._leads_without_log = subject, leads_without_log
        self.seen: Observation
        self.acknowledged: set[str] = set()
        self.registered = Registrations()
        self.given = 0

    def give(self, command: str, **arguments: Argument) -> Answer:
        """Give a command.

        Raises:
            Missing: Kafka's classes have not got what the harness calls.
            NotSchedulable: they lack a method as early releases do, or are to lead without a log (N-16).
            Unlike: they throw another exception.
        """
        self.given += 1
        try:
            answer = self._seen(self._subject.take(command, **arguments))
        except KafkaRaised as raised:
            _, missing, what = str(raised.args[0]).partition(_NOT_THERE)
            if missing:
                message = f"this release of Kafka has not got {what}"
                raise (NotSchedulable if what in _KNOWN_TO_LACK else Missing)(message) from raised
            if _NO_LOG_TO_LEAD in str(raised.args[-1]) and self._is_to_lead_without_log(command, arguments):
                message = f"Kafka's classes throw {raised.args[0]}, as a broker that has no log is to lead (before 4.0)"
                raise NotSchedulable(message, TO_LEAD_WITHOUT_LOG) from raised
            what = "what Kafka's classes throw"
            raise Unlike(what, "nothing", str(raised.args[0])) from raised
        if command == "register":
            self.registered.note_start(int(str(arguments["broker"])), self.seen.controller.end)
        return answer

    def _is_to_lead_without_log(self, command: str, arguments: Mapping[str, Argument]) -> bool:
        """Whether a command gives metadata to a broker whose log is in a directory that has failed (N-16)."""
        if command != "apply" or not self._leads_without_log:
            return False
        directory = self.seen.brokers[int(str(arguments["broker"]))].directory
        return directory is not None and directory.offline

    def probe(self, command: str, **arguments: Argument) -> str:
        """Give a command that is no step, and return Kafka's answer, or the exception that it throws."""
        try:
            return self._seen(self._subject.take(command, **arguments)).said
        except KafkaRaised as raised:
            self.give("observe")
            return str(raised.args[0])

    def give_accepted(self, what: str, command: str, **arguments: Argument) -> None:
        """Give a command to which the answer must be that all is well.

        Args:
            what: what the answer is called.
            command: the command.
            arguments: what it is given.

        Raises:
            Unlike: it is another one.
        """
        answer = self.give(command, **arguments)
        if answer.said != "NONE":
            raise Unlike(what, "NONE", answer.said)

    def broker(self, number: int) -> BrokerSeen:
        """Return what was seen of a broker."""
        return self.seen.brokers[number]

    def _seen(self, answer: Answer) -> Answer:
        self.seen = answer.state
        self.registered.note(answer.state.controller)
        self.acknowledged |= answer.state.acknowledged
        return answer
