"""What the trace grid shows of a state of Kafka's models: a cell of text per replica, and one for the controller.

A replica's cell reads `L3 [r0@3 | r1@3]`: it leads in epoch 3 (F: it follows; -: it has heard of no leader yet), and
its log has the records r0 and r1 of epoch 3, of which the high watermark, the bar, has passed the first.
"""

from __future__ import annotations

from typing import cast

from insync.model import GridCell, LogCell, LogRecord, ReadableState

__all__ = ["LEGEND", "async_isr_grid", "replication_grid"]

LEGEND = {
    "L#": "believes it leads, epoch #",
    "F#": "follows, epoch #",
    "-": "knows no leader",
}
"""What the marks in the cells of `Replication` mean."""


def replication_grid(state: ReadableState) -> dict[str, GridCell]:
    """Return the cells of a state of `Replication`: columns b1, b2, ... and controller."""
    replicas = cast(dict[str, dict[str, object]], state["replica"])
    cells: dict[str, GridCell] = {name: _replica(name, replica) for name, replica in replicas.items()}
    quorum = cast(dict[str, object], state["quorum"])
    epoch = cast(int, state["next_epoch"]) - 1
    leader = quorum["leader"] or "no leader"
    decided = f"{leader} @{epoch}" if epoch >= 0 else str(leader)
    cells["controller"] = f"{decided}  {_isr(quorum['isr'])}"
    return cells


def _replica(name: str, replica: dict[str, object]) -> LogCell:
    """Return the log of a replica with its role; the high watermark may lie beyond the end: `[r0@3 - |]`."""
    epoch, high_watermark = replica["epoch"], cast(int, replica["hw"])
    role = "- " if epoch is None else f"{'L' if replica['leader'] == name else 'F'}{epoch}"
    log = cast(list[dict[str, str] | None], replica["log"])
    records = [LogRecord(entry["id"], entry["epoch"]) if entry else LogRecord("-") for entry in log]
    while len(records) > high_watermark and records[-1].text == "-":
        records.pop()
    return LogCell(tuple(records), high_watermark, role)


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
