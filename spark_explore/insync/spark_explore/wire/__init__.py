"""Internal: what travels between driver and executors, and lies in a run directory."""

from __future__ import annotations
