"""How the model `kraft` corresponds to Kafka's quorum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from insync.conformance.classes.subject import Argument
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.correspondence import Command, Facts
from insync.conformance.quorum.pre_vote_facts import pre_votes_of_kafka, pre_votes_of_model
from insync.conformance.quorum.quorum_facts import facts_of_kafka, facts_of_model, model_epoch, pending_of
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync.conformance.quorum.quorum_steps import command_of
from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.mail import LogEnd
from insync.model import ReadableState

__all__ = ["KraftBeside"]

_LAST_EPOCH = "who hears first that a leader has resigned stands at once, and there are no more elections in the model"


class KraftBeside:
    """The model `kraft` and a release of Kafka.

    Args:
        model: the model.
    """

    always = frozenset(
        {
            "client_request",
            "handle_begin_quorum",
            "handle_fetch",
            "handle_leader_change",
            "handle_nothing",
            "handle_pre_vote",
            "handle_pre_vote_request",
            "handle_record",
            "handle_vote",
            "handle_vote_request",
        }
    )

    def __init__(self, model: Kraft) -> None:
        self._servers, self._elections = model.b.servers, model.b.elections
        self._pre_votes, self._ends = bool(model.pre_votes), bool(model.b.resignations)
        self._urged: str | None = None
        self._end_numbered = {
            end: (int(model.offset_of(end)), int(model.epoch_of(end))) for end in LogEnd.numbers(model.b)
        }
        self._number_of_end = {end: number for number, end in self._end_numbered.items()}

    def opening(self) -> Mapping[str, Argument]:
        """Return the arguments of `open`: how many servers, and whether pre-votes and ends of epochs are delivered."""
        delivered = {"pre_votes": self._pre_votes, "ends": self._ends}
        return {"servers": self._servers, **{name: True for name, is_so in delivered.items() if is_so}}

    def command_of(
        self, action: str, given: Mapping[str, str], seen: QuorumSeen, state: ReadableState
    ) -> Command | None:
        """Return the command that a step is, None where Kafka has no such message; raises NotSchedulable."""
        command = command_of(action, given, seen, state, self._end_numbered)
        self._urged = given["i"] if _urges(command, seen) else None
        if self._urged and not self._pre_votes and state["elections"] == self._elections:
            raise NotSchedulable(_LAST_EPOCH)
        return command

    def next_command(self, action: str, given: Mapping[str, str], seen: QuorumSeen) -> Command | None:
        """Return None: all of a step is one command."""
        return None

    def own_steps(self, seen: QuorumSeen, state: ReadableState) -> Iterator[tuple[str, dict[str, str]]]:
        """Return what Kafka does by itself.

        Who is elected leads, who has no time left or was urged by a leader that has resigned asks for pre-votes or
        stands, who follows fetches.
        """
        for number, server in seen.servers.items():
            name, its = f"n{number}", state["server"][f"n{number}"]
            same_epoch = its["epoch"] == model_epoch(server.epoch)
            if server.state == "Leader" and its["state"] == "CANDIDATE" and same_epoch:
                yield "become_leader", {"i": name}
            asks = ("UNATTACHED", "VOTED", "FOLLOWER") if name == self._urged else ("UNATTACHED", "VOTED")
            if server.state == "Prospective" and its["state"] in asks and same_epoch:
                yield "ask_for_pre_votes", {"i": name}
            if server.state == "Candidate" and its["state"] == "FOLLOWER" and name == self._urged:
                yield "request_vote", {"i": name}
            asked = pending_of(seen, number)
            if asked is not None and its["pending"] is None:
                yield "send_fetch_request", {"i": name, "leader": asked}

    def facts_of_model(self, state: ReadableState, kafka: Facts) -> Facts:
        """Return what is compared of a state of the model."""
        return facts_of_model(state) | pre_votes_of_model(state)

    def facts_of_kafka(self, seen: QuorumSeen, acknowledged: Set[int]) -> Facts:
        """Return what is compared of Kafka's quorum."""
        return facts_of_kafka(seen, acknowledged, self._number_of_end) | pre_votes_of_kafka(seen)


def _urges(command: Command | None, seen: QuorumSeen) -> bool:
    """Whether a command delivers that a leader has resigned to whom it wants to stand at once."""
    if command is None or command[0] != "deliver":
        return False
    return any(letter.urges for letter in seen.letters if letter.number == command[1]["letter"])
