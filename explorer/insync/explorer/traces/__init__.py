"""Traces: the one type, its file, its replay, and the forms in which people and tools read it."""

from __future__ import annotations
