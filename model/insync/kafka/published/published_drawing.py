"""How steps of the published models are drawn: who writes to the controller, what it sends, who fetches from whom.

In the protocol of these models a leader wrote the ISR to ZooKeeper by itself; `controller` stands for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from insync.model import Arrow, Drawn, LogCell, Mark, MarkKind, ReadableState, Taken

__all__ = ["CONTROLLER", "draw_async_isr", "draw_replication"]

CONTROLLER = "controller"
"""The lifeline and the column of the controller."""


def draw_replication(before: ReadableState, step: Taken, cells: Mapping[str, object]) -> tuple[Drawn, ...]:
    """Return how a step of `Replication` is drawn.

    Args:
        before: the state before the step.
        step: the step.
        cells: what the grid shows of the state after it.
    """
    action, named = step.action or "", step.parameters
    after = step.state
    isr = f"ISR {' '.join(after['quorum']['isr']) or 'empty'}"
    leader, follower = named.get("leader", ""), named.get("follower", "")
    if action == "controller_elect_leader":
        return (Mark(CONTROLLER, f"elects {leader} @{after['next_epoch'] - 1}", MarkKind.LEADS),)
    if action in ("controller_shrink_isr", "controller_drop_leader"):
        return (Mark(CONTROLLER, f"drops {named.get('replica', leader)}"),)
    if action in ("become_leader", "become_follower"):
        role = "lead" if action == "become_leader" else f"follow {leader}"
        return (Arrow(CONTROLLER, follower or leader, f"{role} @{named['epoch']}"),)
    if action in ("leader_expand_isr", "leader_shrink_isr"):
        return (Arrow(leader, CONTROLLER, isr),)
    if action == "leader_write":
        return (Mark(leader, f"writes {named['new']}"),)
    if action == "leader_advance_high_watermark":
        return (Mark(leader, f"HW {after['replica'][leader]['hw']}"),)
    if action == "follower_fetch":
        old = before["replica"][follower]
        return (Arrow(follower, leader, "fetch"), Arrow(leader, follower, _fetched(old, cells[follower]), reply=True))
    if action == "follower_truncate":
        end = f"cut to {after['replica'][follower]['leo']}"
        return (Arrow(follower, leader, "where to cut?"), Arrow(leader, follower, end, reply=True))
    return (Mark(follower or leader, action.replace("_", " ")),)


def _fetched(old: Mapping[str, Any], cell: object) -> str:
    """What a fetch has brought: the record that is new, else the high watermark."""
    assert isinstance(cell, LogCell)
    new = [str(record) for record in cell.records[old["leo"] :] if record.text != "-"]
    return " ".join(new) or f"HW {cell.watermark}"


def draw_async_isr(step: Taken) -> tuple[Drawn, ...]:
    """Return how a step of `AsyncIsr` is drawn, whose leader is b1."""
    action, named = step.action or "", step.parameters
    after = step.state
    isr = f"ISR {' '.join(after['controller']['isr']) or 'empty'}"
    if action == "controller_shrink_isr":
        return (Mark(CONTROLLER, f"drops {named['replica']}"),)
    if action == "controller_handle_request":
        return (Mark(CONTROLLER, isr),)
    if action in ("leader_request_shrink_isr", "leader_request_expand_isr"):
        return (Arrow("b1", CONTROLLER, f"{'drop' if 'shrink' in action else 'add'} {named['replica']}"),)
    if action == "leader_handle_update":
        return (Arrow(CONTROLLER, "b1", f"{named['version']}: ISR {' '.join(after['leader']['isr'])}"),)
    if action == "follower_replicate":
        return (Arrow(named["replica"], "b1", "fetch"), Arrow("b1", named["replica"], "a record", reply=True))
    return (Mark("b1", "writes a record"),)
