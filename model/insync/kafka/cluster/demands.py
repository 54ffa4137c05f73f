"""What a trace of the cluster takes to happen: who operates, what fails, what is late, what races.

An order of steps that asynchronous messages take by themselves is not worth a word. What is said here is what somebody
who wants to see the trace on a real cluster has to bring about: docs/guide/cluster.md says how.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

from insync.kafka.cluster.grid import has_uncommitted
from insync.kafka.cluster.metadata_image import believed_by
from insync.kafka.releases import ReleaseRules
from insync.model import Demand, Hardness, Taken

__all__ = ["demands_of"]

_OPERATIONS = {
    "elect": "{replica} is made leader although nothing has failed, as the preferred one is",
    "begin_stop": "{replica} is told to stop",
    "reassign": "the partition is assigned to other replicas",
    "reorder": "the order of replicas is changed, so that {replica} is preferred",
    "cancel_reassignment": "a reassignment is taken back",
    "change_minimum": "min.insync.replicas is changed",
    "restart_producer": "the producer is started anew",
    "delete_record": "a record is deleted at {leader}, by an operator or by age",
    "start_move": "{replica} is moved to another directory",
    "cancel_move": "the move of {replica} to another directory is taken back",
    "lose_directory": "the directory of {replica} with the log is taken out of log.dirs",
    "register_again": "{replica} registers once more, as after an upgrade of metadata.version",
    "repair_directory": "the directory of {replica} that has failed is mended before it starts",
}

_DELAYS = {
    "shrink_isr": "{leader} drops {follower}, which has not caught up for replica.lag.time.max.ms",
    "shrink_isr_by_several": "{leader} drops {followers}, which have not caught up for replica.lag.time.max.ms",
    "receive_rewritten": "{leader} has handled a fetch of {follower}, and sends the answer when its log has changed",
    "pause_fetching": "the fetcher of {follower} fails, and its partition waits to be tried again",
    "fail_over": "ZooKeeper's session of the controller ends though it runs, as in a long pause",
    "elect_as_deposed": "the deposed controller has not heard of the new one, and elects whom it was asked to before",
    "accept_isr_unheard": "the connection to the controller breaks when it has written the ISR and not answered yet",
    "refuse_isr_as_deposed": "the deposed controller has not heard of the new one, and is asked what that one was not",
    "evict_session": "the leader of {follower} needs the place of its fetch session for another one",
    "lose_reply": "the connection of {follower} to {leader} breaks when {leader} has answered a fetch",
    "load_snapshot": "{replica} is so late that the metadata which it lacks is deleted, and gets a snapshot",
    "throttle": "{follower} has used up its replication quota",
}

_RACES = {
    "consume_beyond": "{replica} appends while FileRecords.slice looks twice at how large the file is",
    "fetch_again": "the former fetcher of {follower} has appended while ReplicaManager.applyLocalFollowersDelta has "
    "noted where the log ends, and not stopped it yet",
}

_BY_BROKERS = frozenset(
    {
        *("write", "fetch", "receive", "receive_rewritten", "ask_epoch_end", "expand_isr", "look_at_follower"),
        *("shrink_isr", "shrink_isr_by_several", "delete_record"),
        *("consume", "consume_beyond", "validate_position", "reset_position", "fetch_again"),
    }
)
"""What brokers do by what they believe of the partition."""


def demands_of(rules: ReleaseRules, steps: Sequence[Taken]) -> list[Demand]:
    """Return what must happen for the steps of a trace to come about, in their order.

    Args:
        rules: the rules of the release.
        steps: all steps, the initial state first.
    """
    found = [*_acts(steps), *_late_metadata(steps), *_late_answers(steps)]
    if not rules.watermark_after_truncation:
        found += _early_watermarks(steps)
    return sorted(found, key=lambda demand: demand.step)


def _acts(steps: Sequence[Taken]) -> Iterator[Demand]:
    """What is a demand by the action that is taken, and the state that it is taken in."""
    for number, (before, step) in enumerate(pairwise(steps), start=1):
        action, named = step.action or "", dict(step.parameters)
        if action in _OPERATIONS:
            yield Demand(number, Hardness.OPERATION, _OPERATIONS[action].format(**named))
        if action in _DELAYS:
            yield Demand(number, Hardness.DELAY, _DELAYS[action].format(**named))
        if action == "fail_directory":
            yield Demand(
                number, Hardness.FAILURE, f"the directory of {named['replica']} with the log fails, and it runs on"
            )
        if action == "fail_copy_directory":
            yield Demand(
                number, Hardness.FAILURE, f"the directory to which {named['replica']} copies fails, and it runs on"
            )
        if action in _RACES:
            yield Demand(number, Hardness.RACE, _RACES[action].format(**named))
        if action == "crash":
            yield Demand(number, Hardness.FAILURE, _crash(before, named))
        if action == "fence" and _broker(before, named["replica"])["running"]:
            text = f"{named['replica']} runs, but the controller has not heard of it for broker.session.timeout.ms"
            yield Demand(number, Hardness.DELAY, text)
        if action == "lose_leadership":
            yield Demand(number, Hardness.FAILURE, _lost_leadership(before))
        if action == "fence_two":
            text = f"the sessions of {named['first']} and {named['second']} expire at the same time"
            yield Demand(number, Hardness.FAILURE, text)
        if action == "find_older_checkpoint":
            text = f"the last high watermark that {named['replica']} has written to disk is an older one"
            yield Demand(number, Hardness.FAILURE, text)
        if action == "find_older_start":
            text = f"{named['replica']} has died within log.flush.start.offset.checkpoint.interval.ms of a deletion"
            yield Demand(number, Hardness.FAILURE, text)
        if action == "register" and named["replica"] not in _controller(before)["fenced"]:
            yield Demand(number, Hardness.RACE, _registers_early(named["replica"]))
        if action == "send_again" and _is_of_former(before, named["record"]):
            text = f"{named['record']}, which the former producer has sent, comes late or is sent again by it"
            yield Demand(number, Hardness.DELAY, text)
        if action == "expand_isr" and (looked := _looked_before(steps, number)):
            text = f"{named['follower']} fetches or registers while Partition.maybeExpandIsr of {named['leader']} looks"
            yield Demand(number, Hardness.RACE, f"{text} at it a second time, having looked at step {looked}")


def _lost_leadership(before: Taken) -> str:
    """A controller that fails, by whether something is lost with it."""
    text = "the active controller dies, or is cut off from the others"
    return f"{text}, before a majority has what it has decided" if has_uncommitted(before.state) else text


def _is_of_former(before: Taken, record: str) -> bool:
    """Whether a record was sent before the producer has started anew."""
    epochs = cast(dict[str, int], before.state.get("producer_epoch", {}))
    spent = cast(dict[str, Any], before.state["spent"])
    return record in epochs and epochs[record] < spent["producer_restarts"]


def _crash(before: Taken, named: dict[str, str]) -> str:
    """A crash, by what it loses."""
    replica = named["replica"]
    if int(named["spared"]) < _broker(before, replica)["leo"]:
        return f"{replica} loses what it has not flushed, as in a power failure; a killed process loses nothing"
    return f"{replica} is killed"


def _registers_early(replica: str) -> str:
    """Why a broker that is not fenced yet can hardly register.

    While its session lasts another incarnation is refused, and when it ends the controller fences it as the next thing
    it does: ClusterControlManager.registerBroker, BrokerHeartbeatManager.hasValidSession.
    """
    text = f"{replica} registers when its session has ended and before it is fenced"
    return f"{text}: the controller stalls in ClusterControlManager.registerBroker"


def _early_watermarks(steps: Sequence[Taken]) -> Iterator[Demand]:
    """Readers that come between a high watermark and the truncation that goes with it, as before KAFKA-14704."""
    for number, (before, step) in enumerate(pairwise(steps), start=1):
        if step.action in ("fetch", "receive") and _rises_where_logs_part(before, step, step.parameters["follower"]):
            follower = step.parameters["follower"]
            text = f"somebody reads at {follower} after it has set its high watermark, and before it truncates"
            yield Demand(number, Hardness.RACE, f"{text}, both in AbstractFetcherThread.processFetchRequest")


def _rises_where_logs_part(before: Taken, step: Taken, follower: str) -> bool:
    """Whether a high watermark rises though the follower's log is not a part of the leader's."""
    old, new = _broker(before, follower), _broker(step, follower)
    leader = _view(before, follower)["leader"]
    if leader is None or new["hw"] <= old["hw"] or new["leo"] != old["leo"]:
        return False
    its = _broker(before, leader)
    ends_earlier: bool = its["leo"] < old["leo"]
    return ends_earlier or old["log"][: old["leo"]] != its["log"][: old["leo"]]


def _looked_before(steps: Sequence[Taken], number: int) -> int | None:
    """Return the step at which a leader first looked at a follower, if that did something between (KAFKA-15221)."""
    named = steps[number].parameters
    wanted = ("look_at_follower", dict(named))
    looked = next((n for n in range(number, 0, -1) if (steps[n].action, dict(steps[n].parameters)) == wanted), None)
    if looked is None:
        return None
    between = steps[looked + 1 : number]
    return looked if any(named["follower"] in step.parameters.values() for step in between) else None


def _late_metadata(steps: Sequence[Taken]) -> Iterator[Demand]:
    """Brokers that act on what they knew while the controller has decided otherwise, or miss a decision altogether."""
    for broker in cast(dict[str, Any], steps[0].state["broker"]):
        waiting: list[int] = []  # the steps whose decisions the broker has not applied
        acted = False
        for number, (before, step) in enumerate(pairwise(steps), start=1):
            old, new = _broker(before, broker), _broker(step, broker)
            if waiting and step.action in _BY_BROKERS and broker in step.parameters.values():
                acted = True
            lag, former = _lag(step, new), _lag(before, old)
            if not new["running"] or new.get("offline"):
                waiting, acted = [], False
            elif lag > former:
                waiting.append(number)
            elif lag < former:
                applied = waiting[: len(waiting) - lag]
                if acted:
                    text = f"{broker} has acted until now by what held before step {waiting[0]}: its metadata was late"
                    yield Demand(number, Hardness.DELAY, text)
                elif len(applied) > 1:
                    made = f"steps {', '.join(map(str, applied[:-1]))} and {applied[-1]}"
                    yield Demand(number, Hardness.DELAY, f"{broker} hears of {made} at once: its metadata was late")
                waiting, acted = waiting[len(applied) :], False
        if acted:
            text = f"{broker} has acted to the end by what held before step {waiting[0]}: its metadata is late"
            yield Demand(len(steps) - 1, Hardness.DELAY, text)


def _late_answers(steps: Sequence[Taken]) -> Iterator[Demand]:
    """Requests and replies that are on their way while something else happens that they do not know of."""
    asked: int | None = None
    fetched: dict[str, int] = {}
    told: dict[str, int] = {}
    for number, step in enumerate(steps):
        action, named = step.action or "", step.parameters
        if action in ("accept_isr", "accept_isr_unheard", "refuse_isr"):
            if asked is not None and _brokers_changed(steps[asked:number]):
                text = f"the controller answers what it was asked in step {asked}, and brokers have come or gone since"
                yield Demand(number, Hardness.DELAY, text)
            asked = None
        if action in ("expand_isr", "shrink_isr", "shrink_isr_by_several") and _proposed(step):
            asked = number
        if action == "receive_isr":
            told[named["leader"]] = number
        if action == "apply_known_metadata" and number - told.get(named["leader"], number) > 1:
            text = (
                f"metadata brings {named['leader']} only now what a reply has told it in step {told[named['leader']]}"
            )
            yield Demand(number, Hardness.DELAY, text)
        if action == "fetch":
            fetched[named["follower"]] = number
        if action == "receive" and number - fetched.get(named["follower"], number) > 1:
            text = f"{named['follower']} receives what was answered to its fetch of step {fetched[named['follower']]}"
            yield Demand(number, Hardness.DELAY, text)


def _brokers_changed(steps: Sequence[Taken]) -> bool:
    """Whether another incarnation of a broker, or another set of fenced ones, came after the first of these steps."""
    changed = any(step.action in ("crash", "register") for step in steps[1:])
    return changed or _controller(steps[0])["fenced"] != _controller(steps[-1])["fenced"]


def _proposed(step: Taken) -> bool:
    return bool(cast(dict[str, Any], step.state["alter"])["isr"])


def _broker(step: Taken, name: str) -> dict[str, Any]:
    return cast(dict[str, dict[str, Any]], step.state["broker"])[name]


def _controller(step: Taken) -> dict[str, Any]:
    return cast(dict[str, Any], step.state["controller"])


def _lag(step: Taken, broker: dict[str, Any]) -> int:
    """By how many decisions a broker is late, of those that are committed."""
    quorum = cast(dict[str, int], step.state.get("quorum", {}))
    return max(broker["lag"] - quorum.get("uncommitted", 0), 0)


def _view(step: Taken, name: str) -> Mapping[str, Any]:
    """What a broker believes of the partition."""
    return believed_by(step.state, name)
