"""How the model `kraft_853` corresponds to Kafka's quorum whose voters come and go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from insync.conformance.classes.subject import Argument
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.correspondence import Command, Facts, asks_pre_votes, number_in
from insync.conformance.quorum.late_answers import heeded, require_heeded
from insync.conformance.quorum.member_facts import facts_of_kafka, facts_of_model
from insync.conformance.quorum.member_steps import command_of, next_in_opening, next_of_change
from insync.conformance.quorum.pre_vote_facts import pre_votes_of_kafka, pre_votes_of_model
from insync.conformance.quorum.pre_vote_steps import next_pre_vote, require_pre_votes, require_same_restart
from insync.conformance.quorum.quorum_facts import pending_of
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync.kafka.quorum.kraft_853 import Kraft853
from insync.model import ReadableState

__all__ = ["MembersBeside"]

_UNLIKE = {"request_vote": require_pre_votes, "restart": require_same_restart}
"""Steps that are not what they were before."""
_LAST_EPOCH = "a single voter that restarts begins an epoch, and there are no more in the model"


class MembersBeside:
    """The model `kraft_853` and a release of Kafka.

    Args:
        model: the model.
        version: the release.
    """

    always = frozenset({"client_request", "handle_fetch", "handle_nothing", "handle_record", "send_fetch_request"})

    def __init__(self, model: Kraft853, version: str) -> None:
        self._bounds = model.b
        self._pre_votes, self._takes_all = bool(model.pre_votes), not model.only_awaited
        self._within_timeouts = asks_pre_votes(version) and not self._pre_votes
        self._answered: set[int] = set()

    def opening(self) -> Mapping[str, Argument]:
        """Return the arguments of `open`: how many servers, how many first voters, and whether pre-votes are steps."""
        founders = self._bounds.servers - self._bounds.spares
        opened = {"servers": self._bounds.servers, "founders": founders}
        return {**opened, "pre_votes": True} if self._pre_votes else opened

    def command_of(
        self, action: str, given: Mapping[str, str], seen: QuorumSeen, state: ReadableState
    ) -> Command | None:
        """Return the command that a step is, None where Kafka has no such message; raises NotSchedulable."""
        if self._within_timeouts and action in _UNLIKE:
            _UNLIKE[action](number_in(given["i"]), seen)
        if self._is_last_of_all(action, given, seen):
            raise NotSchedulable(_LAST_EPOCH)
        if self._takes_all:
            require_heeded(action, given, seen, state)
        return command_of(action, given, seen)

    def _is_last_of_all(self, action: str, given: Mapping[str, str], seen: QuorumSeen) -> bool:
        """Whether the only voter would begin an epoch that the model has not got."""
        if action not in ("restart", "resigned_timeout"):
            return False
        number = number_in(given["i"])
        its = seen.servers[number]
        alone = its.membership is not None and its.membership.voters == (number,)
        further = 2 if action == "resigned_timeout" else 1
        return alone and its.voted != number and its.epoch + further > self._bounds.epochs

    def next_command(self, action: str, given: Mapping[str, str], seen: QuorumSeen) -> Command | None:
        """Return which message is delivered next as part of a step."""
        if action == "open":
            return next_in_opening(seen)
        if self._within_timeouts and action == "request_vote":
            letter = next_pre_vote(number_in(given["i"]), seen)
            if letter is not None:
                return "deliver", {"letter": letter.number}
        return next_of_change(seen)

    def own_steps(self, seen: QuorumSeen, state: ReadableState) -> Iterator[tuple[str, dict[str, str]]]:
        """Return what Kafka does by itself.

        Who has no time left asks for pre-votes, the only voter stands, who is elected leads, who follows fetches.
        """
        for number, server in seen.servers.items():
            name, its = f"n{number}", state["server"][f"n{number}"]
            leads, same_epoch = server.state == "Leader", its["epoch"] == server.epoch
            if leads and its["epoch"] == server.epoch - 1 and its["members"] == [name]:
                yield "ask_for_pre_votes" if self._pre_votes else "request_vote", {"i": name}
            if server.state == "Prospective" and its["state"] in ("UNATTACHED", "VOTED") and same_epoch:
                yield "ask_for_pre_votes", {"i": name}
            if leads and its["state"] == "CANDIDATE" and same_epoch:
                yield "become_leader", {"i": name}
            asked = pending_of(seen, number)
            if asked is not None and its["pending"] is None:
                yield "send_fetch_request", {"i": name, "leader": asked}

    def facts_of_model(self, state: ReadableState, kafka: Facts) -> Facts:
        """Return what is compared of a state of the model: of answers those that Kafka waits for."""
        facts = facts_of_model(state) | pre_votes_of_model(state)
        return heeded(facts, kafka) if self._takes_all else facts

    def facts_of_kafka(self, seen: QuorumSeen, acknowledged: Set[int]) -> Facts:
        """Return what is compared of Kafka's quorum; a value is acknowledged by who was asked to write it."""
        for server in seen.servers.values():
            self._answered.update(server.membership.answered if server.membership else ())
        facts = facts_of_kafka(seen, self._answered, self._bounds.servers)
        return facts | (pre_votes_of_kafka(seen, earlier=0) if self._pre_votes else {})
