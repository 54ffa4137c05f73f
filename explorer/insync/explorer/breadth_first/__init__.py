"""Breadth-first search on one machine: levels, partitions, the threads that own them, and the way back to the start."""

from __future__ import annotations
