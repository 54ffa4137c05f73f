"""What the trace grid shows of a state of Kafka's models: a cell of text per replica, and one for the controller.

A replica's cell reads `L3 [r0@3 | r1@3]`: it leads in epoch 3 (F: it follows; -: it has heard of no leader yet), and
its log has the records r0 and r1 of epoch 3, of which the high watermark, the bar, has passed the first.
"""

from __future__ import annotations

from typing import cast

from insync.model import ReadableState

__all__ = ["async_isr_grid", "replication_grid"]


def replication_grid(state: ReadableState) -> dict[str, str]:
    """Return the cells of a state of `Replication`: columns b1, b2, ... and controller."""
    replicas = cast(dict[str, dict[str, object]], state["replica"])
    cells = {name: _replica(name, replica) for name, replica in replicas.items()}
    quorum = cast(dict[str, object], state["quorum"])
    epoch = cast(int, state["next_epoch"]) - 1
    leader = quorum["leader"] or "no leader"
    decided = f"{leader} @{epoch}" if epoch >= 0 else str(leader)
    cells["controller"] = f"{decided}  {_isr(quorum['isr'])}"
    return cells


def _replica(name: str, replica: dict[str, object]) -> str:
    epoch = replica["epoch"]
    role = "- " if epoch is None else f"{'L' if replica['leader'] == name else 'F'}{epoch}"
    return f"{role} {_log(cast(list[dict[str, str] | None], replica['log']), cast(int, replica['hw']))}"


def _log(log: list[dict[str, str] | None], high_watermark: int) -> str:
    """Draw the records with a bar at the high watermark, which may lie beyond the end: `[r0@3 - |]`."""
    entries = [f"{entry['id']}@{entry['epoch']}" if entry else "-" for entry in log]
    while len(entries) > high_watermark and entries[-1] == "-":
        entries.pop()
    return f"[{' '.join([*entries[:high_watermark], '|', *entries[high_watermark:]])}]"


def async_isr_grid(state: ReadableState) -> dict[str, str]:
    """Return the cells of a state of `AsyncIsr`: an offset per replica, the leader's view, the controller."""
    leader = cast(dict[str, object], state["leader"])
    controller = cast(dict[str, object], state["controller"])
    offsets = cast(dict[str, int], leader["offset"])
    cells = {name: f"offset {offset}" for name, offset in offsets.items()}
    isr, pending = cast(list[str], leader["isr"]), cast(list[str], leader["pending_isr"])
    known = f"{leader['version']} HW {min(offsets[name] for name in {*isr, *pending})}  {_isr(isr)}"
    asked = sorted(set(pending) - set(isr))
    cells["leader's view"] = known + (f" + {' '.join(asked)}" if asked else " asked" if pending else "")
    cells["controller"] = f"{controller['version']}  {_isr(controller['isr'])}"
    return cells


def _isr(members: object) -> str:
    return f"ISR {' '.join(cast(list[str], members)) or 'empty'}"
