"""Internal: the graph of a small space, fair cycles in it, and runs that never do what they must."""

from __future__ import annotations
