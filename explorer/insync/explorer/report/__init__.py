"""Internal: pictures of traces: one description, and the forms in which it is rendered."""

from __future__ import annotations
