"""Whether Kafka goes round the loop of a run for ever, as the model does.

Of a loop of several steps, Kafka's observed state at its end must be that at its start. Of a run that stays where it
is, what the run must not neglect is asked of Kafka, be it that the model cannot do it there or that it changes nothing
in the model, and must change nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from insync.conformance.classes.observation import Observation
from insync.conformance.correspondence.facts import Difference
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.steps.forbidden import forbidden_of
from insync.conformance.steps.pair import Pair
from insync.explorer.traces.trace import Trace

__all__ = ["ForEver", "goes_round", "stays"]


@dataclass(frozen=True, slots=True)
class ForEver:
    """What was seen of a run that never ends.

    Attributes:
        shown: whether Kafka was seen to go on so.
        said: how, or why that is not known.
        differences: what changed in Kafka alone when it was asked for what the run must not neglect.
        asked: what that was, in words; empty where nothing changed.
    """

    shown: bool
    said: str
    differences: tuple[Difference, ...] = ()
    asked: str = ""


def goes_round(begun: Observation, ended: Observation) -> ForEver:
    """Return whether Kafka is at the end of a loop of several steps where it was at the start of it."""
    before, after = _standing(begun), _standing(ended)
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if not changed:
        return ForEver(True, "Kafka is at the end of the loop as at its start, in all that is seen of it")
    first = changed[0]
    return ForEver(
        False,
        f"whether Kafka goes on so is not shown: {first}, which the model has not got, was {before.get(first)} at the "
        f"start of the loop and is {after.get(first)} at its end",
    )


def stays(pair: Pair, trace: Trace) -> ForEver:
    """Return whether Kafka stays where it is, asked for what the run must not neglect; time passes meanwhile."""
    fairness = trace.fairness
    fair = () if fairness is None else (*fairness.weak, *fairness.strong)
    actions = {part.split("(")[0].strip() for one in fair for part in one.split("|")}
    asked: list[str] = []
    for label, found in (*_taken_idly(pair, actions), *_asked_though_forbidden(pair, actions)):
        asked.append(label)
        if found:
            return ForEver(False, "", tuple(found), label)
    if not asked:
        return ForEver(
            False,
            "whether Kafka stays so is not shown: nothing that the run must not neglect can be asked of its classes",
        )
    return ForEver(True, f"Kafka stays so: nothing changes when {' and '.join(asked)}")


def _asked_though_forbidden(pair: Pair, actions: Collection[str]) -> Iterator[tuple[str, list[Difference]]]:
    for one in forbidden_of(pair.model):
        if one.action in actions and one.is_forbidden(pair):
            yield one.label, one.ask(pair)


def _taken_idly(pair: Pair, actions: Collection[str]) -> Iterator[tuple[str, list[Difference]]]:
    """Take on both what is possible in the model and leaves it as it is."""
    codes, stepper = pair.walk.codes, pair.walk.stepper
    enabled = [number for action in sorted(actions) for number in pair.walk.enabled.get(action, ())]
    for number in enabled:
        if stepper.attempt(codes, number) != codes:
            continue
        try:
            found = pair.take(number)
        except NotSchedulable:
            continue
        if pair.walk.codes != codes and not found:  # Kafka has done more by itself, and the model after it
            found = [Difference("what Kafka does by itself then", "nothing", pair.taken[-1].label)]
        yield stepper.actions[number].label, found


def _standing(seen: Observation) -> dict[str, Any]:
    """All that is seen, by name, without what counts up with each change of metadata."""
    controller = replace(seen.controller, end=0, partition_epoch=0)
    brokers = {
        f"b{number}": replace(
            broker, applied=0, requests=tuple(replace(one, partition_epoch=0) for one in broker.requests)
        )
        for number, broker in seen.brokers.items()
    }
    parts: dict[str, Any] = {"controller": controller, **brokers}
    if seen.consumer is not None:
        parts["consumer"] = seen.consumer
    return {f"{part}.{name}": value for part, one in parts.items() for name, value in asdict(one).items()}
