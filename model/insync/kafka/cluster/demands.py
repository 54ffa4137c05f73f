"""What a trace of the cluster takes to happen: what its steps say of themselves, and what only several show together.

An order of steps that asynchronous messages take by themselves is not worth a word. A demand is what has to be brought
about to see the trace on a real cluster: docs/guide/cluster.md says how.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

from insync.kafka.cluster.broker_state import is_offline
from insync.kafka.cluster.metadata_image import believed_by
from insync.kafka.cluster.steps import Moment, words_of
from insync.kafka.releases import ReleaseRules
from insync.model import Demand, Hardness, Taken

__all__ = ["demands_of"]


def demands_of(model: type, rules: ReleaseRules, steps: Sequence[Taken]) -> list[Demand]:
    """Return what must happen for the steps of a trace to come about, in their order.

    Args:
        model: the class of the cluster, whose steps say what they take.
        rules: the rules of the release.
        steps: all steps, the initial state first.
    """
    found = [*_acts(model, steps), *_late_metadata(model, steps), *_late_answers(steps)]
    if not rules.watermark_after_truncation:
        found += _early_watermarks(steps)
    return sorted(found, key=lambda demand: demand.step)


def _acts(model: type, steps: Sequence[Taken]) -> Iterator[Demand]:
    """What each step says that it takes."""
    for number, step in enumerate(steps[1:], start=1):
        needs = words_of(model, step.action or "").needs
        if needs is not None and (found := needs(Moment(steps[: number + 1]))) is not None:
            yield found


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


def _late_metadata(model: type, steps: Sequence[Taken]) -> Iterator[Demand]:
    """Brokers that act on what they knew while the controller has decided otherwise, or miss a decision altogether."""
    for broker in cast(dict[str, Any], steps[0].state["broker"]):
        waiting: list[int] = []  # the steps whose decisions the broker has not applied
        acted = False
        for number, (before, step) in enumerate(pairwise(steps), start=1):
            old, new = _broker(before, broker), _broker(step, broker)
            if waiting and words_of(model, step.action or "").by_view and broker in step.parameters.values():
                acted = True
            lag, former = _lag(step, new), _lag(before, old)
            if not new["running"] or is_offline(new):
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
                    yield Demand(number, Hardness.DELAY, f"{broker} learns of {made} at once: its metadata was late")
                waiting, acted = waiting[len(applied) :], False
        if acted:
            text = f"{broker} has acted to the end by what held before step {waiting[0]}: its metadata is late"
            yield Demand(len(steps) - 1, Hardness.DELAY, text)


def _late_answers(steps: Sequence[Taken]) -> Iterator[Demand]:
    """Requests and responses that are on their way while something else happens that they do not know of."""
    asked: int | None = None
    fetched: dict[str, int] = {}
    told: dict[str, int] = {}
    for number, step in enumerate(steps):
        action, named = step.action or "", step.parameters
        if action in ("accept_alter_partition", "lose_alter_partition_response", "reject_alter_partition"):
            if asked is not None and _brokers_changed(steps[asked:number]):
                text = f"the controller answers what it was asked in step {asked}, and brokers have come or gone since"
                yield Demand(number, Hardness.DELAY, text)
            asked = None
        if action in ("expand_isr", "shrink_isr", "shrink_isr_by_several") and _proposed(step):
            asked = number
        if action == "receive_alter_partition_response":
            told[named["leader"]] = number
        if action == "apply_repeated_metadata" and number - told.get(named["leader"], number) > 1:
            leader = named["leader"]
            text = f"metadata brings {leader} only now what a response has told it in step {told[leader]}"
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
    return bool(cast(dict[str, Any], step.state["alter_partition"])["isr"])


def _broker(step: Taken, name: str) -> dict[str, Any]:
    return cast(dict[str, dict[str, Any]], step.state["broker"])[name]


def _controller(step: Taken) -> dict[str, Any]:
    return cast(dict[str, Any], step.state["controller"])


def _lag(step: Taken, broker: dict[str, Any]) -> int:
    """By how many decisions a broker is late, of those that are committed."""
    quorum = cast(dict[str, int], step.state.get("quorum", {}))
    return max(broker["image_lag"] - quorum.get("uncommitted", 0), 0)


def _view(step: Taken, name: str) -> Mapping[str, Any]:
    """What a broker believes of the partition."""
    return believed_by(step.state, name)
