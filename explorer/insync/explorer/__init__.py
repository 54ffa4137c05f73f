"""Exploring a model on one machine: exhaustive search, random walks, verdicts and traces."""

from __future__ import annotations

from insync.explorer.check import check
from insync.explorer.limits import Limits, StopReason
from insync.explorer.progress import Progress, Reporter, WalkProgress, WalkReporter
from insync.explorer.simulate import SimulationResult, WalkLengths, simulate
from insync.explorer.traces.trace import RefusedStep, Trace, TraceStep
from insync.explorer.verdict import CheckResult, PropertyResult, Verdict, Violation

__all__ = [
    "CheckResult",
    "Limits",
    "Progress",
    "PropertyResult",
    "RefusedStep",
    "Reporter",
    "SimulationResult",
    "StopReason",
    "Trace",
    "TraceStep",
    "Verdict",
    "Violation",
    "WalkLengths",
    "WalkProgress",
    "WalkReporter",
    "check",
    "simulate",
]
