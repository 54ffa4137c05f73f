"""The options of the commands: what they are called, which values they take, and the objects that they become."""

from __future__ import annotations
