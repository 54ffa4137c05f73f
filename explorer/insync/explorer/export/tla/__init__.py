"""Internal: a model as a TLA+ module."""

from __future__ import annotations
