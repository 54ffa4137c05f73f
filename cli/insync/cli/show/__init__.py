"""Internal: results as text and as JSON, progress, and what went wrong."""

from __future__ import annotations
