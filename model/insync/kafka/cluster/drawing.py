"""How a step of the cluster is drawn: by what it says itself, what the controller has decided, and acknowledgements.

What a step sends is read off the states before and after it, so that an arrow says which records came, which ISR was
asked for, which change a broker has applied. `clients` are producers, the consumer and operators.
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.kafka.cluster.steps import CLIENTS, CONTROLLER, Drawing, Moment, isr_in_words, words_of
from insync.model import Arrow, Drawn, Mark, MarkKind, Taken

__all__ = ["draw_step"]


def draw_step(model: type, steps: Sequence[Taken], label: str) -> tuple[Drawn, ...]:
    """Return how the last of some steps of a cluster is drawn.

    Args:
        model: the class of the cluster.
        steps: the steps, the initial state first.
        label: the last of them in words.
    """
    moment, name = Moment(steps), steps[-1].action or ""
    return (*_own(words_of(model, name).drawn, moment, label), *_decided(moment, name), *_acknowledged(moment))


def _own(drawn: Drawing | None, moment: Moment, label: str) -> Sequence[Drawn]:
    if drawn is not None:
        return drawn(moment)
    place = next(iter(moment.given.values()), "")
    return [Mark(place if place in moment.after["broker"] else CONTROLLER, label)]


def _decided(moment: Moment, name: str) -> Sequence[Drawn]:
    """Say what the controller has decided, if it has."""
    old, new = moment.before["registrations"][0], moment.after["registrations"][0]
    if name == "lose_leadership":
        return ()
    if (old["leader"], old["epoch"]) != (new["leader"], new["epoch"]):
        leads = f"{new['leader'] or 'nobody'} leads @{new['epoch']}"
        return (Mark(CONTROLLER, leads, MarkKind.LEADS),)
    if set(old["isr"]) != set(new["isr"]) and name not in ("accept_alter_partition", "lose_alter_partition_response"):
        return (Mark(CONTROLLER, isr_in_words(new["isr"])),)
    return ()


def _acknowledged(moment: Moment) -> Sequence[Drawn]:
    """Say which records are acknowledged, and by whom: the leader whose high watermark or log has grown."""
    before, after = moment.before, moment.after
    new = [record for record in after["acked"] if record not in before["acked"]]
    if not new:
        return ()
    grown = [
        name
        for name, broker in after["broker"].items()
        if (broker["hw"], broker["leo"]) > (before["broker"][name]["hw"], before["broker"][name]["leo"])
    ]
    by = moment.given.get("leader") or next(iter(grown), after["registrations"][0]["leader"]) or CONTROLLER
    return (Arrow(by, CLIENTS, f"acks {' '.join(new)}", reply=True),)
