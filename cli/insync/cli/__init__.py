"""Internal: the `insync` command, the only part of insync that prints, reads options and ends the process."""

from __future__ import annotations
