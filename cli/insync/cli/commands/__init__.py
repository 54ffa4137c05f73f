"""Internal: the commands, one file each; a command is imported when it is called."""

from __future__ import annotations
