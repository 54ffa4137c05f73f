"""Internal: the one type of traces, its file, and the forms in which people and tools read it."""

from __future__ import annotations
