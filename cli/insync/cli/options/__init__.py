"""Internal: what the options of the commands are called, which values they take, and what becomes of them."""

from __future__ import annotations
