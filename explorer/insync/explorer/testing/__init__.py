"""Internal: what the pytest fixture and the state machines do, and the text of a failure."""

from __future__ import annotations
