"""Internal: broken copies of a program, one change each, and what they are called."""

from __future__ import annotations
