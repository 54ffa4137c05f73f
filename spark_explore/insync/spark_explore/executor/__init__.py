"""Internal: what runs in the Python workers of the executors: tasks over partitions of states."""

from __future__ import annotations
