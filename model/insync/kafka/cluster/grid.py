"""What the trace grid shows of a state of the cluster.

A broker's cell reads `L3 [r0@2 | r1@3] +b2`: it believes that it leads in epoch 3 (F: it follows; -: nobody
leads). Its log has two records, and the bar is the high watermark, behind the first one. It has asked for b2 to be
added to the ISR. `~1` says that its metadata is one change late, `m~1` that it knows its ISR and not a change of
min.insync.replicas from before, `?` that it has no replica by its metadata and was not told; `down` that it does not
run, `offline` that the directory with the log has failed; `x` is a deleted record; `out` a broker without a replica;
`of b1 b2 b3` are the replicas, and behind it stand those that a reassignment is adding and removing. `consumer at 2,
got r0@0 r1@0` is the position of a consumer, with what it got without a reset.
`!` beside a cell: this step has cut the broker's log below its high watermark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from insync.kafka.cluster.broker_state import is_offline, unassigned_in
from insync.kafka.cluster.metadata_image import believed_by
from insync.model import GridCell, LogCell, LogRecord, ReadableState

__all__ = ["CUT_BELOW_WATERMARK", "LEGEND", "cluster_grid", "cut_below_watermark", "has_uncommitted"]

CUT_BELOW_WATERMARK = "!"
"""The mark of a broker whose log a step has cut below its high watermark."""

DELETED = "x"
"""What stands in the place of a deleted record."""

UNTOLD = "?"
"""What is said of a broker that goes on with a replica which its metadata has not."""

LEGEND = {
    "L#": "believes it leads, epoch #",
    "F#": "follows, epoch #",
    "-#": "knows no leader, epoch #",
    "~#": "metadata # changes late",
    "m~#": "# changes of min.insync.replicas late, from before its ISR",
    "+b#": "asks to add b# to the ISR",
    "-b#": "asks to drop b# from the ISR",
    UNTOLD: "has no replica by its metadata, and was not told",
    DELETED: "a deleted record",
    CUT_BELOW_WATERMARK: "cuts its log below its own high watermark",
}
"""What the marks in the cells mean."""


def cluster_grid(state: ReadableState) -> dict[str, GridCell]:
    """Return the cells of a state of `Cluster`: b1, b2, ..., controller, clients."""
    brokers = cast(dict[str, dict[str, Any]], state["broker"])
    newest, *_ = cast(list[dict[str, Any]], state["registrations"])
    cells: dict[str, GridCell] = {}
    cells |= {name: _broker(name, broker, believed_by(state, name), state) for name, broker in brokers.items()}
    cells["controller"] = _controller(state, newest)
    cells["clients"] = _clients(state)
    return cells


def cut_below_watermark(before: ReadableState, after: ReadableState) -> list[str]:
    """Return the brokers that run on and have a replica, whose log now ends below what was their high watermark."""
    old, new = cast(dict[str, dict[str, Any]], before["broker"]), cast(dict[str, dict[str, Any]], after["broker"])
    runs_on = [name for name in new if old[name]["running"] and new[name]["running"]]
    kept = [name for name in runs_on if name in believed_by(after, name).get("replicas", runs_on)]
    return [name for name in kept if new[name]["leo"] < old[name]["hw"]]


def has_uncommitted(state: ReadableState) -> bool:
    """Return whether the active controller has decided what a quorum has not committed."""
    quorum = cast(dict[str, Any], state.get("quorum", {"uncommitted": 0, "controller": state["controller"]}))
    return quorum["uncommitted"] > 0 or quorum["controller"] != state["controller"]


def _broker(name: str, broker: dict[str, Any], view: Mapping[str, Any], state: ReadableState) -> LogCell:
    log = _log(broker, cast(dict[str, str], state["epoch_of"]))
    late = f"~{broker['image_lag']}" if broker["image_lag"] else ""
    if not broker["running"]:
        return replace(log, before="down")
    if is_offline(broker):
        return replace(log, before="offline")
    if "replicas" in view and name not in view["replicas"]:
        return replace(log, before="out", after=late)
    role = "-" if view["leader"] is None else "L" if view["leader"] == name else "F"
    added = [f"+{other}" for other in broker["pending_isr"] if other not in view["isr"]]
    dropped = [f"-{other}" for other in view["isr"] if broker["pending_isr"] and other not in broker["pending_isr"]]
    unheard = f"m~{broker['configs_behind']}" if broker.get("configs_behind") else ""
    kept = UNTOLD if broker.get("kept", {}).get("replicas") else ""
    return replace(
        log, before=f"{role}{view['epoch']}", after=" ".join(filter(None, [*added, *dropped, late, unheard, kept]))
    )


def _log(broker: dict[str, Any], epochs: dict[str, str]) -> LogCell:
    records = [LogRecord(record, epochs[record]) for record in broker["log"][: broker["leo"]]]
    deleted = broker.get("log_start", 0)
    records[:deleted] = [LogRecord(DELETED)] * deleted
    return LogCell(tuple(records), broker["hw"])


def _controller(state: ReadableState, newest: dict[str, Any]) -> str:
    controller = cast(dict[str, Any], state["controller"])
    parts = [f"{newest['leader'] or 'none'}@{newest['epoch']} ISR {_members(newest['isr'])}"]
    if "replicas" in newest:
        parts.append(f"of {_members(_ordered(controller, newest['replicas']))}")
        parts += [f"{change} {_members(controller[change])}" for change in ("adding", "removing") if controller[change]]
    elif "places" in controller:
        parts.append(f"of {_members(_ordered(controller, list(controller['places'])))}")
    if controller.get("elr"):
        parts.append(f"ELR {_members(controller['elr'])}")
    if controller["fenced"]:
        parts.append(f"fenced {_members(controller['fenced'])}")
    if controller.get("offline_replicas"):
        parts.append(f"offline {_members(controller['offline_replicas'])}")
    if unassigned := unassigned_in(state):
        parts.append(f"in no directory {_members(unassigned)}")
    if controller.get("last_known_leader"):
        parts.append(f"last {controller['last_known_leader']}")
    parts += _quorum(state)
    if newest.get("by_stale_controller"):
        parts.append("by a stale one")
    if controller.get("stale_controller"):
        parts.append("and a stale one")
    return " ".join(parts)


def _ordered(controller: dict[str, Any], replicas: list[str]) -> list[str]:
    """Replicas in the order of the assignment, the preferred leader first."""
    places = controller.get("places")
    return replicas if places is None else sorted(replicas, key=places.__getitem__)


def _quorum(state: ReadableState) -> list[str]:
    """What is not committed, and whether any controller is active."""
    inactive = cast(dict[str, Any], state.get("quorum", {})).get("inactive")
    return (["not committed"] if has_uncommitted(state) else []) + (["no active one"] if inactive else [])


def _clients(state: ReadableState) -> str:
    acked = cast(list[str], state["acked"])
    seen = [record or "-" for record in cast(list[str | None], state["seen"])]
    while seen and seen[-1] == "-":
        seen.pop()
    parts = ([f"acked {' '.join(acked)}"] if acked else []) + ([f"seen {' '.join(seen)}"] if seen else [])
    parts += [f"deleted below {state['deleted_below']}"] if state.get("deleted_below") else []
    restarts = cast(dict[str, Any], state["spent"]).get("producer_restarts", 0)
    parts += [f"producer epoch {restarts}"] if restarts else []
    return ", ".join([*parts, *_consumer(state)])


def _consumer(state: ReadableState) -> list[str]:
    if "consumer" not in state:
        return []
    consumer, epochs = cast(dict[str, Any], state["consumer"]), cast(dict[str, str], state["epoch_of"])
    first, position = int(consumer["begin"]), int(consumer["position"])
    got = " ".join(f"{record}@{epochs[record]}" for record in consumer["got"][first:position])
    return [f"consumer at {position}" + (f", got {got}" if got else "")]


def _members(members: list[str]) -> str:
    return "".join(members) if not members else " ".join(members)
