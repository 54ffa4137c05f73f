"""What the trace grid shows of a state of the quorum: a cell per server, and one for the clients' values.

A server's cell reads `L2 [v1@2 | v2@2]`: it leads epoch 2, and its log has the records v1 and v2 of that epoch; the
high watermark, the bar, has passed the first. `*@2` is the record with which a leader begins, `+n3@2` one that adds a
voter, and `-n3@2` one that removes one.
"""

from __future__ import annotations

from typing import Any, cast

from insync.model import GridCell, LogCell, LogRecord, ReadableState

__all__ = ["LEGEND", "quorum_grid"]

LEGEND = {
    "L#": "leads epoch #",
    "F#": "follows, in epoch #",
    "C#": "is a candidate of epoch #",
    "V#": "is Unattached in epoch #, and has voted",
    "U#": "is Unattached in epoch #, and has not voted",
    "R#": "led epoch # and has resigned",
    "X#": "is in an illegal state",
    "P#": "is Prospective in epoch #: it requests pre-votes",
    "off": "is not started yet, or has lost its disk",
    "o": "is an observer",
    "+n#@#": "a record that adds a voter",
    "-n#@#": "a record that removes one",
}
"""What the marks in the cells mean."""

_MARKS = {
    "LEADER": "L",
    "FOLLOWER": "F",
    "PROSPECTIVE": "P",
    "CANDIDATE": "C",
    "VOTED": "V",
    "UNATTACHED": "U",
    "RESIGNED": "R",
    "ILLEGAL": "X",
}

_CHANGES = {"added": "+", "removed": "-"}


def quorum_grid(state: ReadableState) -> dict[str, GridCell]:
    """Return the cells of a state: columns n1, n2, ... and clients."""
    servers = cast(dict[str, dict[str, Any]], state["server"])
    cells: dict[str, GridCell] = {name: _server(name, server) for name, server in servers.items()}
    written = cast(dict[str, str], state["written"])
    cells["clients"] = " ".join(f"{value} {known.lower()}" for value, known in written.items() if known != "NEVER")
    return cells


def _server(name: str, server: dict[str, Any]) -> LogCell:
    records = [LogRecord(_record(record), str(record["epoch"])) for record in server["log"] if record["epoch"]]
    state, members = server["state"], server.get("members", [name])
    mark = f"{_MARKS[state]}{server['epoch']}" if members else "off"
    observer = " o" if members and name not in members else ""
    while len(records) < server["high_watermark"]:
        records.append(LogRecord("-"))
    return LogCell(tuple(records), server["high_watermark"], f"{mark}{observer}")


def _record(record: dict[str, Any]) -> str:
    change = next((f"{sign}{record[field]}" for field, sign in _CHANGES.items() if record.get(field)), "*")
    return str(record["value"] or change)
