"""What runs in the driver: the loop over the levels, the run directory, which is the truth, the session."""

from __future__ import annotations
