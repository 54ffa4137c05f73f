"""What the model forbids in a state is asked of Kafka all the same, which must refuse it, or do nothing.

That makes sense for what reaches Kafka's code from outside at any time: a write, a fetch, the time to look for slow
followers, an election, the end of a reassignment, a deletion of records, a flush, a second process with the id of a
broker that runs, and the time at which the controller looks at its leaders, while all sessions last. It makes none for
these:

- `expand_isr`, `receive`, `receive_alter_partition_response`, `accept_alter_partition`, `reject_alter_partition`: there
  is nothing to be received or handled where the model forbids it, and that Kafka asks for a larger ISR where the model
  does not is a difference anyhow;
- `fence`, `unfence`, `begin_stop`: a session that ends, and a heartbeat, of one that is fenced or stops already make
  Kafka's controller look at its partitions once more, which the model leaves to the next change;
- `apply_metadata`, `load_snapshot`: the loader that gives brokers their metadata never gives them what they have;
- `fetch`, in a model that notes fetch sessions: Kafka's leader opens one also as it refuses the fetch;
- `crash`, `stop`, `reassign`, `change_minimum`: what forbids them is the budget alone, or that the broker does not run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from insync.conformance.correspondence.facts import Difference
from insync.conformance.steps.gaps import is_otherwise_done
from insync.conformance.steps.likeness import broker_id
from insync.conformance.steps.pair import Pair
from insync.kafka.cluster.metadata_image import believed_by
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState

__all__ = ["Forbidden", "forbidden_of"]

_LATER = 31_000
_MUCH_LATER = 61_000
_TOLD_NOTHING = ("NONE", "waiting")
"""What a producer is told, or not, of a record that is or will be written."""
_FORBIDDEN_RECORD = "forbidden"


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Something that may be asked of Kafka where the model forbids it.

    Attributes:
        action: the name of the action.
        broker: who is asked, or whom it is about.
        label: what is done, in words.
    """

    action: str
    broker: str
    label: str

    def is_forbidden(self, pair: Pair) -> bool:
        """Return whether the model forbids it in the state that both are in, other than by its budgets."""
        state = pair.taken[-1].state
        return self.broker in state["broker"] and _CONDITIONS[self.action](self.broker, state, pair)

    def ask(self, pair: Pair) -> list[Difference]:
        """Ask it of Kafka, and return what is not as it was, or as the model has it."""
        number = broker_id(self.broker)
        if self.action == "write":
            acks = {"all": -1, "1": 1, "0": 0}[pair.model.acks.value]
            pair.probe("write", broker=number, value=_FORBIDDEN_RECORD, acks=acks, wait=_LATER)
            told = (pair.seen.brokers[number].acknowledgements or {}).get(_FORBIDDEN_RECORD, "no answer")
            answered = [Difference(f"the answer to {self.label}", "a refusal", told)] if told in _TOLD_NOTHING else []
            return answered + pair.differences()
        wait = {"fetch": _LATER, "shrink_isr": _MUCH_LATER}.get(self.action, 0)
        arguments = {"broker": number, "wait": wait}
        if self.action == "delete_record":
            log = pair.seen.brokers[number].log
            arguments["below"] = 1 if log is None else log.start + 1
        if self.action in _OF_NOBODY:
            arguments.pop("broker")
        pair.probe(_COMMANDS.get(self.action, self.action), **arguments)
        return pair.differences()


def forbidden_of(model: Cluster) -> list[Forbidden]:
    """Return all that may be asked of Kafka where a model forbids it."""
    asked = []
    for number in range(1, model.b.replicas + 1):
        broker = f"b{number}"
        asked += [Forbidden(action, broker, label.format(broker)) for action, label in _LABELS.items()]
    return [*asked, *(Forbidden(action, "b1", label) for action, label in _OF_NOBODY.items())]


_LABELS = {
    "write": "{} is given a record",
    "fetch": "{} fetches",
    "shrink_isr": "{} looks for slow followers",
    "elect": "{} is to be elected",
    "delete_record": "{} is to delete a record",
    "flush": "{} flushes its log",
    "register_twice": "another process registers as {}",
}
_OF_NOBODY = {
    "cancel_reassignment": "the operator cancels a reassignment that there is not",
    "check_leaders": "the controller looks at its leaders",
}
_COMMANDS = {
    "shrink_isr": "shrink",
    "elect": "elect_in_order",
    "delete_record": "delete_records",
    "register_twice": "register",
}


def _runs(name: str, state: ReadableState) -> bool:
    broker: dict[str, Any] = state["broker"][name]
    return bool(broker["running"] and broker.get("has_replica", True))


def _leads(name: str, state: ReadableState) -> bool:
    return _runs(name, state) and believed_by(state, name)["leader"] == name


def _enabled(pair: Pair, action: str, **given: str) -> bool:
    numbers = pair.walk.enabled.get(action, ())
    return any(given.items() <= pair.walk.stepper.actions[number].shown_parameters.items() for number in numbers)


def _write(name: str, state: ReadableState, pair: Pair) -> bool:
    """It does not lead, or its ISR is too small for acks=all."""
    if not _runs(name, state):
        return False
    left = state["written"] < pair.model.b.records
    return not _leads(name, state) or (left and not _enabled(pair, "write", leader=name))


def _fetch(name: str, state: ReadableState, pair: Pair) -> bool:
    """It believes that somebody leads who runs, and no fetch from there is allowed; a session would be noted."""
    if pair.model.features.notes_sessions:
        return False
    leader = believed_by(state, name)["leader"]
    if not _runs(name, state) or leader in (None, name) or pair.seen.brokers[broker_id(name)].reply_waits:
        return False
    return bool(state["broker"][leader]["running"]) and not _enabled(pair, "fetch", follower=name, leader=leader)


def _shrink(name: str, state: ReadableState, pair: Pair) -> bool:
    """It leads, and a request is on its way, or all of its ISR have its whole log."""
    seen = pair.seen.brokers[broker_id(name)]
    if not _leads(name, state) or seen.leading is None or seen.log is None:
        return False
    others = [number for number in seen.leading.isr if number != broker_id(name)]
    caught_up = all(seen.leading.known[number].end == seen.log.end for number in others)
    return bool(state["broker"][name]["pending_isr"]) or caught_up


def _elect(name: str, state: ReadableState, pair: Pair) -> bool:
    """It leads already, or is not in the ISR, or is fenced; and nothing else is left to do with the partition."""
    newest, fenced = state["registrations"][0], state["controller"]["fenced"]
    may_not_lead = (None, *fenced, *state["controller"].get("offline_replicas", ()))
    if newest["leader"] in may_not_lead:
        return False  # then anybody may be elected at any time, or nobody
    if is_otherwise_done(pair.seen.controller, pair.model.rules.reassignment_ends):
        return False  # also an election that elects nobody ends the reassignment
    return newest["leader"] == name or name not in newest["isr"] or name in fenced


def _delete(name: str, state: ReadableState, pair: Pair) -> bool:
    """It does not lead, or has no record below its high watermark."""
    broker = state["broker"][name]
    if not _runs(name, state):
        return False
    return not _leads(name, state) or broker.get("log_start", 0) >= broker["hw"]


def _flush(name: str, state: ReadableState, pair: Pair) -> bool:
    """All is on disk."""
    return _runs(name, state) and not _enabled(pair, "flush", replica=name)


def _cancel(name: str, state: ReadableState, pair: Pair) -> bool:
    """There is no reassignment under way."""
    return not pair.seen.controller.adding and not pair.seen.controller.removing


def _register(name: str, state: ReadableState, pair: Pair) -> bool:
    """It runs, and its session lasts."""
    return bool(state["broker"][name]["running"]) and name not in state["controller"]["fenced"]


def _check(name: str, state: ReadableState, pair: Pair) -> bool:
    """Somebody leads, and the preferred leader leads or may not."""
    return bool(pair.seen.controller.order) and _elect(f"b{pair.seen.controller.order[0]}", state, pair)


_CONDITIONS: dict[str, Callable[[str, ReadableState, Pair], bool]] = {
    "write": _write,
    "fetch": _fetch,
    "shrink_isr": _shrink,
    "elect": _elect,
    "delete_record": _delete,
    "flush": _flush,
    "register_twice": _register,
    "cancel_reassignment": _cancel,
    "check_leaders": _check,
}
