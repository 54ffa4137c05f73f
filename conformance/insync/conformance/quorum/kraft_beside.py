"""How the model `kraft` corresponds to Kafka's quorum, whose voters stay, or come and go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from insync.conformance.classes.subject import Argument
from insync.conformance.correspondence.facts import Facts
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.quorum_facts import Words, facts_of_kafka, facts_of_model, pending_of
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync.conformance.quorum.quorum_steps import Command, Steps, next_in_opening, next_of_change, number_in
from insync.kafka.quorum.kraft import Kraft
from insync.model import ReadableState

__all__ = ["KraftBeside"]

_LAST_EPOCH = (
    "the first server that learns of a resignation stands at once, and there are no more elections in the model"
)
_LAST_OF_ALL = "the only voter begins an epoch when it restarts, and there are no more in the model"


class KraftBeside:
    """The model `kraft` and a release of Kafka.

    Args:
        model: the model.
    """

    def __init__(self, model: Kraft) -> None:
        self._b, self._features = model.b, model.features
        self._words = Words(model)
        self._steps = Steps(self._words)
        self._urged: str | None = None

    @property
    def always(self) -> frozenset[str]:
        """The actions without which little happens."""
        fetches = {"client_request", "handle_fetch", "handle_records", "send_fetch_request"}
        if self._features.changes_voters:
            return frozenset(fetches)
        votes = {"handle_begin_quorum", "handle_vote", "handle_vote_request"}
        return frozenset(fetches | votes | {"handle_pre_vote", "handle_pre_vote_request"})

    @property
    def founders(self) -> list[str]:
        """The first voters, where voters come and go, by the names of the model."""
        return self._words.founders or []

    def opening(self) -> Mapping[str, Argument]:
        """Return the arguments of `open`: how many servers and first voters, and what is delivered by steps."""
        opened: dict[str, Argument] = {"servers": self._b.servers}
        if self._features.changes_voters:
            opened["founders"] = self._b.servers - self._b.spare_servers
        delivered = {"pre_votes": self._features.pre_votes, "ends": self._features.resigns}
        return {**opened, **{name: True for name, is_so in delivered.items() if is_so}}

    def command_of(
        self, action: str, given: Mapping[str, str], seen: QuorumSeen, state: ReadableState
    ) -> Command | None:
        """Return the command that a step is, None where Kafka has no such message; raises NotSchedulable."""
        left = self._b.elections - int(state["elections"])
        if left < self._begun_alone(action, given, seen):
            raise NotSchedulable(_LAST_OF_ALL)
        command = self._steps.command_of(action, given, seen)
        self._urged = given["i"] if _urges(command, seen) else None
        if self._urged and not left and (not self._features.pre_votes or _is_alone(number_in(given["i"]), seen)):
            raise NotSchedulable(_LAST_EPOCH)
        return command

    def _begun_alone(self, action: str, given: Mapping[str, str], seen: QuorumSeen) -> int:
        """Return how many epochs the only voter begins in a step: two after it has resigned."""
        begun = {"restart": 1, "resigned_timeout": 2}.get(action, 0)
        if not begun:
            return 0
        number = number_in(given["i"])
        return begun if _is_alone(number, seen) and seen.servers[number].voted != number else 0

    def next_command(self, action: str, given: Mapping[str, str], seen: QuorumSeen) -> Command | None:
        """Return which message is delivered next as part of a step; where voters stay, all of a step is one command."""
        if not self._features.changes_voters:
            return None
        return next_in_opening(seen) if action == "open" else next_of_change(seen)

    def own_steps(self, seen: QuorumSeen, state: ReadableState) -> Iterator[tuple[str, dict[str, str]]]:
        """Return what Kafka does by itself.

        Who has no time left or was urged by a leader that has resigned requests pre-votes or stands, as does the only
        voter; who is elected leads; who follows fetches.
        """
        pre_votes = self._features.pre_votes
        for number, server in seen.servers.items():
            name, its = f"n{number}", state["server"][f"n{number}"]
            epoch = self._words.epoch(server.epoch)
            same_epoch, leads = its["epoch"] == epoch, server.state == "Leader"
            if leads and its["epoch"] == epoch - 1 and its.get("members") == [name]:
                yield "request_pre_votes" if pre_votes else "request_vote", {"i": name}
            waits = ("UNATTACHED", "VOTED", "FOLLOWER") if name == self._urged else ("UNATTACHED", "VOTED")
            if server.state == "Prospective" and its["state"] in waits and same_epoch:
                yield "request_pre_votes", {"i": name}
            if server.state == "Candidate" and its["state"] == "FOLLOWER" and name == self._urged:
                yield "request_vote", {"i": name}
            if leads and its["state"] == "CANDIDATE" and same_epoch:
                yield "become_leader", {"i": name}
            leader = pending_of(seen, number)
            if leader is not None and its["fetches_from"] is None:
                yield "send_fetch_request", {"i": name, "leader": leader}

    def facts_of_model(self, state: ReadableState) -> Facts:
        """Return what is compared of a state of the model."""
        return facts_of_model(state, self._words)

    def facts_of_kafka(self, seen: QuorumSeen, acknowledged: Set[int]) -> Facts:
        """Return what is compared of Kafka's quorum."""
        return facts_of_kafka(seen, acknowledged, self._words)


def _is_alone(number: int, seen: QuorumSeen) -> bool:
    """Whether a server is the only voter by its log."""
    membership = seen.servers[number].membership
    return membership is not None and membership.voters == (number,)


def _urges(command: Command | None, seen: QuorumSeen) -> bool:
    """Whether a command delivers the news of a resignation to the server that is to stand at once."""
    if command is None or command[0] != "deliver":
        return False
    return any(letter.urges for letter in seen.letters if letter.number == command[1]["letter"])
