"""Internal: what runs in the driver, such as the session, the loop over the levels and the run directory."""

from __future__ import annotations
