"""Internal: sets of states that are sorted files, for what does not fit into the memory."""

from __future__ import annotations
