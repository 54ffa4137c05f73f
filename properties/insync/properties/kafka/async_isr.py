"""What asynchronous ISR updates promise: each replica that the controller may elect has all committed records."""

from __future__ import annotations

from insync.kafka.published import AsyncIsr
from insync.model import Condition, StateView, for_all
from insync.properties import Failure, invariant, said

__all__ = ["valid_high_watermark"]


def _reason(failure: Failure) -> str:
    member = failure.bindings["member"]
    leader, controller = failure.state["leader"], failure.state["controller"]
    offsets = leader["offset"]
    counted = {*leader["isr"], *leader["pending_isr"]}
    if not counted:  # in a state that is not reachable, which a proof may ask about
        return said(
            "The leader counts with nobody, so that nothing holds its high watermark back, and member {member} of the "
            "{controller}'s ISR has replicated to offset {offset}.",
            member=member,
            controller="controller",
            offset=offsets[member],
        )
    return said(
        "The leader counts with {{{counted}}} and its high watermark is {hw}, but {member}, in the {controller}'s ISR "
        "{{{isr}}}, has replicated only to offset {offset}.",
        counted=[name for name in offsets if name in counted],
        hw=min(offsets[name] for name in counted),
        member=member,
        controller="controller",
        isr=controller["isr"],
        offset=offsets[member],
    )


@invariant(AsyncIsr, because=_reason)
def valid_high_watermark(model: AsyncIsr, s: StateView) -> Condition:
    """Every member of the controller's ISR has replicated up to the leader's high watermark.

    TLA+: ValidHighWatermark.
    """
    return for_all(s.controller.isr, lambda member: model.high_watermark(s) <= s.leader.offset[member])
