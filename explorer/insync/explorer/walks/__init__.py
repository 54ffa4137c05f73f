"""Random walks: seeded, counted, and shortened where they fail."""

from __future__ import annotations
