"""Results of a model of one lamp, made by hand, which reports are written of."""

from __future__ import annotations

from insync.explorer.traces.trace import Trace, TraceStep

__all__ = ["BOUNDS", "HEAD", "TRACE", "WIDTH", "columns"]

WIDTH = 100
BOUNDS = {"lamps": 2}
HEAD = "lamp   lamps 2"
TRACE = Trace(
    "lamp",
    BOUNDS,
    "dark",
    (TraceStep(None, {}, {"lamp": "off"}), TraceStep("press", {}, {"lamp": "on"}, "press")),
    "The lamp is on.",
)


def columns(state: object) -> dict[str, str]:
    """Return the columns of a grid."""
    return {"lamp": str(dict(state)["lamp"])}  # type: ignore[call-overload]
