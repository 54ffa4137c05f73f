"""Internal: the levels of a breadth-first search, their partitions, the threads that own them, and the way back."""

from __future__ import annotations
