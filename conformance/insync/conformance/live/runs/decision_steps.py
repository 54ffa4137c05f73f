"""What the controller writes, as steps of the model, and whether a state of the model is what it has written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from insync.conformance.live.metadata_log import Decision
from insync.explorer.stepping.stepper import Stepper
from insync.model import ReadableState
from insync.model.evaluator import Codes

__all__ = ["apart", "same_decision", "steps_of"]

_OF_THE_PARTITION = ("accept_alter_partition", "elect", "reassign", "cancel_reassignment")
_OF_A_BROKER = {
    "registered": ("register",),
    "unfenced": ("unfence",),
    "fenced": ("fence", "begin_stop"),  # a broker with nothing to hand over is fenced as soon as it asks to stop
    "stopping": ("begin_stop",),
}


def steps_of(decision: Decision, stepper: Stepper, codes: Codes, names: Mapping[int, str]) -> Iterator[int]:
    """Yield the numbers of the actions that a decision may be, in a state."""
    enabled = stepper.enabled(codes)
    about = [kind.split(" ") for kind in decision.kinds if " " in kind]
    if not about:
        for action in _OF_THE_PARTITION:
            yield from enabled.get(action, ())
    for what, broker in about:
        for action in _OF_A_BROKER[what]:
            for number in enabled.get(action, ()):
                if stepper.values(number)["replica"] == names[int(broker)]:
                    yield number


def apart(decision: Decision) -> list[Decision]:
    """Return the parts of what was written at once about the partition and about brokers, in their order.

    The controller writes in one batch what it has decided within some milliseconds, which may be two things.
    """
    kinds = decision.kinds
    parts = [tuple(kind for kind in kinds if (" " in kind) is of_a_broker) for of_a_broker in (False, True)]
    return [
        replace(decision, kinds=part) for part in sorted(filter(None, parts), key=lambda part: kinds.index(part[0]))
    ]


def same_decision(
    decision: Decision, state: ReadableState, names: Mapping[int, str], *, elr: bool, emptied: bool = False
) -> bool:
    """Return whether the controller of a state has decided the same.

    Args:
        decision: the decision.
        state: the state.
        names: what the model calls the brokers.
        elr: whether the model keeps eligible leader replicas.
        emptied: whether there are none by then, though the model has them still.
    """
    made, newest, controller = decision.partition, state["registrations"][0], state["controller"]
    if made is None:
        return False
    # To the model's controller a broker that stops is as one that is fenced.
    out = {names[broker] for broker, known in decision.brokers.items() if known.fenced or known.stopping}
    if newest["leader"] != names.get(made.leader) or newest["epoch"] != str(made.leader_epoch):
        return False
    shown = {"isr": (newest["isr"], made.isr)}
    if "replicas" in newest:
        shown["replicas"] = (newest["replicas"], made.replicas)
        shown["adding"] = (controller["adding"], made.adding)
        shown["removing"] = (controller["removing"], made.removing)
    if elr:
        shown["elr"] = ([] if emptied else controller["elr"], made.elr)
        last = names.get(made.last_known[0]) if made.last_known else None
        if controller["last_known_leader"] != last:
            return False
    return set(controller["fenced"]) == out and all(
        set(mine) == {names[broker] for broker in its} for mine, its in shown.values()
    )
