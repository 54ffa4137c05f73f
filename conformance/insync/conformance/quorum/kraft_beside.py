"""How the model `kraft` corresponds to Kafka's quorum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from insync.conformance.classes.subject import Argument
from insync.conformance.jars.pinned import version_order
from insync.conformance.quorum.correspondence import Command, Facts, number_in
from insync.conformance.quorum.pre_vote_steps import next_pre_vote, require_pre_votes, require_same_restart
from insync.conformance.quorum.quorum_facts import facts_of_kafka, facts_of_model, model_epoch, pending_of
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync.conformance.quorum.quorum_steps import command_of
from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.mail import LogEnd
from insync.model import ReadableState

__all__ = ["KraftBeside"]

_PRE_VOTES = (4, 0)
"""The first release that asks for pre-votes (KIP-996)."""
_UNLIKE = {"request_vote": require_pre_votes, "restart": require_same_restart}
"""Steps that are not what they were before."""


class KraftBeside:
    """The model `kraft` and a release of Kafka.

    Args:
        model: the model.
        version: the release.
    """

    always = frozenset(
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

    def __init__(self, model: Kraft, version: str) -> None:
        self._servers = model.b.servers
        self._pre_votes = version_order(version)[:2] >= _PRE_VOTES
        self._ends = {end: (int(model.offset_of(end)), int(model.epoch_of(end))) for end in LogEnd.numbers(model.b)}
        self._number_of_end = {end: number for number, end in self._ends.items()}

    def opening(self) -> Mapping[str, Argument]:
        """Return the arguments of `open`: how many servers."""
        return {"servers": self._servers}

    def command_of(
        self, action: str, given: Mapping[str, str], seen: QuorumSeen, state: ReadableState
    ) -> Command | None:
        """Return the command that a step is, None where Kafka has no such message; raises NotSchedulable."""
        if self._pre_votes and action in _UNLIKE:
            _UNLIKE[action](number_in(given["i"]), seen)
        return command_of(action, given, seen, state, self._ends)

    def next_command(self, action: str, given: Mapping[str, str], seen: QuorumSeen) -> Command | None:
        """Return which pre-vote, or request for one, is delivered next as part of a timeout."""
        if not self._pre_votes or action != "request_vote":
            return None
        letter = next_pre_vote(number_in(given["i"]), seen)
        return None if letter is None else ("deliver", {"letter": letter.number})

    def own_steps(self, seen: QuorumSeen, state: ReadableState) -> Iterator[tuple[str, dict[str, str]]]:
        """Return who leads as it was elected, and who fetches as it follows."""
        for number, server in seen.servers.items():
            name, its = f"n{number}", state["server"][f"n{number}"]
            same_epoch = its["epoch"] == model_epoch(server.epoch)
            if server.state == "Leader" and its["state"] == "CANDIDATE" and same_epoch:
                yield "become_leader", {"i": name}
            asked = pending_of(seen, number)
            if asked is not None and its["pending"] is None:
                yield "send_fetch_request", {"i": name, "leader": asked}

    def facts_of_model(self, state: ReadableState) -> Facts:
        """Return what is compared of a state of the model."""
        return facts_of_model(state)

    def facts_of_kafka(self, seen: QuorumSeen, acknowledged: Set[int]) -> Facts:
        """Return what is compared of Kafka's quorum."""
        return facts_of_kafka(seen, acknowledged, self._number_of_end)
