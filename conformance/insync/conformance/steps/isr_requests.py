"""What leaders ask of the controller for the ISR, and what it answers: AlterPartition requests on their way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from insync.conformance.classes.observation import AlterRequest
from insync.conformance.correspondence.known_differences import NotSchedulable, Unlike
from insync.conformance.steps.commands import Commands
from insync.conformance.steps.gaps import require_incarnations_of_joiner_alone
from insync.conformance.steps.known_reasons import NO_REQUEST, NO_REQUEST_AGAIN, NO_RESPONSE
from insync.conformance.steps.likeness import broker_id
from insync.kafka.releases import Rules
from insync.model import ReadableState

__all__ = ["IsrRequests"]

_ANSWER = "the controller's answer to AlterPartition"
_WRITTEN = ("NONE", "NEW_LEADER_ELECTED")
"""What the controller answers to an ISR that it writes: the second where that ends a reassignment, and a leadership."""


class IsrRequests:
    """Delivers requests and responses, and knows which responses are on their way.

    Args:
        kafka: what takes the commands.
        rules: of the model.
        ends: the places in the metadata log of the model's changes, the newest last.
    """

    def __init__(self, kafka: Commands, rules: Rules, ends: Sequence[int]) -> None:
        self._kafka, self._ends, self._registering_leaves_isr = kafka, ends, rules.release.register_leaves_isr
        self._refuses_again = rules.guards.retry_keeps_partition_epoch and rules.guards.compare_partition_epoch
        self._configured: list[int] = []  # the places of those of configuration alone
        self._accepted: dict[int, list[int]] = {}  # the places of the changes that a broker is still to be told

    def accept(self, before: ReadableState) -> None:
        """Let the controller have the request that is on its way, and write what it asks for."""
        sender = self._written(before)
        if self._kafka.broker(sender).running:  # else nobody waits for the response
            self._accepted.setdefault(sender, []).append(self._kafka.seen.controller.end)

    def accept_unheard(self, before: ReadableState) -> None:
        """The same, and the connection breaks before the response arrives: the sender sends its request again."""
        self._kafka.give("lose_reply", broker=self._written(before))

    def get_again(self, before: ReadableState) -> None:
        """Let the controller have the request that has come again, and refuse it; its sender learns that."""
        sender, isr = _again(before)
        unheard = [request for request in self._kafka.broker(sender).requests if not request.replied]
        if not unheard or unheard[0].isr != isr:
            self._require_no_proposal(sender, isr)
            message = f"no request of b{sender} for the ISR {before['alter_partition_retry']['isr']} has come again"
            raise NotSchedulable(message, NO_REQUEST_AGAIN)
        if self._refuses_again:  # else it is one like any other, and the controller will have it with the next step
            self._refused(sender, unheard[0])

    def _written(self, before: ReadableState) -> int:
        """Let the controller have the request that is on its way, and write what it asks for; return its sender."""
        sender, request = self._sender(before)
        partition_epoch = self._kafka.seen.controller.partition_epoch
        answer = self._kafka.give("deliver_request", broker=sender)
        if self._kafka.seen.controller.partition_epoch == partition_epoch or answer.said not in _WRITTEN:
            self._require_incarnations(request, accepted=False)
            raise Unlike(_ANSWER, "NONE", answer.said)
        return sender

    def refuse(self, before: ReadableState) -> None:
        """Let the controller have the request that is on its way, and refuse it."""
        self._refused(*self._sender(before))

    def receive(self, leader: int, wait: int) -> None:
        """Let a leader have the next response, before it learns of the change by its metadata."""
        if not self._accepted.get(leader):
            seen = self._kafka.broker(leader)
            if all(request.replied for request in seen.requests):  # else it has asked again, and awaits that answer
                self._require_no_proposal(leader)
            message = f"no response to an AlterPartition of b{leader} is on its way"
            raise NotSchedulable(message, NO_RESPONSE)
        self._accepted[leader].pop(0)
        self._kafka.give("deliver_reply", broker=leader, wait=wait)

    def hear_configuration(self, given: Mapping[str, str]) -> None:
        """Let a leader that knows its ISR by a response have the next configuration before it by its metadata.

        An ISR before that, which a response has told it, comes with it: of a lower partition epoch, and passed over.
        """
        leader = broker_id(given["leader"])
        applied = self._kafka.broker(leader).applied
        self._kafka.give("apply", broker=leader, to=next(place for place in self._configured if place > applied))

    def note_configuration(self) -> None:
        """Note that the newest change of the model is one of configuration."""
        self._configured.append(self._ends[-1])

    def hear_known(self, broker: int) -> None:
        """Let a broker have the responses whose effect it knows by its metadata."""
        waiting, seen = self._accepted.get(broker, []), self._kafka.broker
        while waiting and seen(broker).running and seen(broker).applied >= waiting[0]:
            self._kafka.give("deliver_reply", broker=broker)
            waiting.pop(0)

    def forget_late(self, leader: int, before: ReadableState) -> None:
        """Let a leader have the answers that it does not wait for any more, as it asks again when it has them.

        In the model a request that is too late is none: it has no effect, and the controller refuses it. Nor has the
        response to a request whose outcome the leader knows by metadata. A request is kept only if it is in time, or
        will come again because its answer was lost.
        """
        seen = self._kafka.broker(leader)
        if seen.leading is None or seen.leading.proposed:
            return
        for _ in range(len(self._accepted.pop(leader, []))):
            self._kafka.give("deliver_reply", broker=leader)
        unheard = [request for request in seen.requests if not request.replied]
        if not unheard:
            return
        if (leader, unheard[0].isr) not in (_proposal(before), _again(before)):
            self._refused(leader, unheard[0])

    def drop(self, broker: int) -> None:
        """Forget the responses to a broker that does not run any more."""
        self._accepted.pop(broker, None)

    def _refused(self, sender: int, request: AlterRequest) -> None:
        answer = self._kafka.give("deliver_request", broker=sender)
        if answer.said == "NONE":
            self._require_incarnations(request, accepted=True)
            raise Unlike(_ANSWER, "a refusal", answer.said)
        self._kafka.give("deliver_reply", broker=sender)

    def _require_incarnations(self, request: AlterRequest, *, accepted: bool) -> None:
        if not self._registering_leaves_isr:
            require_incarnations_of_joiner_alone(request, accepted)

    def _require_no_proposal(self, leader: int, isr: tuple[int, ...] = ()) -> None:
        """Demand that a leader with nothing on its way does not wait for an answer to a proposal.

        Args:
            leader: the leader.
            isr: what it must not have proposed; none for anything.

        Raises:
            Unlike: it does.
        """
        leading = self._kafka.broker(leader).leading
        if leading is not None and leading.proposed and isr in ((), leading.proposed):
            what = f"what is on its way of the ISR {list(leading.proposed)} that b{leader} has proposed"
            raise Unlike(what, "a request, or its answer", "nothing")

    def _sender(self, before: ReadableState) -> tuple[int, AlterRequest]:
        """Who has asked for another ISR in time; what is on its way from there must be what the model has."""
        sender, asked = _proposal(before)
        unheard = [request for request in self._kafka.broker(sender).requests if not request.replied]
        if len(unheard) > 1 and unheard[0].isr != asked:  # of an earlier incarnation
            self._refused(sender, unheard[0])
            unheard = unheard[1:]
        if not unheard or unheard[0].isr != asked:
            self._require_no_proposal(sender, asked)
            message = f"no request of b{sender} for the ISR {before['alter_partition']['isr']} is on its way"
            raise NotSchedulable(message, NO_REQUEST)
        return sender, unheard[0]


def _proposal(state: ReadableState) -> tuple[int, tuple[int, ...]]:
    """Who has asked for another ISR in time, and for which; -1 and none where nobody has."""
    return _of_leader(state, state["alter_partition"]["isr"])


def _again(state: ReadableState) -> tuple[int, tuple[int, ...]]:
    """Whose request for which ISR will come again; -1 and none where there is none."""
    return _of_leader(state, state["alter_partition_retry"]["isr"] if "alter_partition_retry" in state else [])


def _of_leader(state: ReadableState, isr: list[str]) -> tuple[int, tuple[int, ...]]:
    leader = state["registrations"][0]["leader"]
    return (broker_id(leader), tuple(sorted(map(broker_id, isr)))) if leader and isr else (-1, ())
