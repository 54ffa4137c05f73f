"""A model file that leaves a mark when it runs, and the steps of a trace of it: nobody may run it unasked."""

from __future__ import annotations

__all__ = ["HOSTILE", "STEPS"]

HOSTILE = """
from pathlib import Path
from insync.kafka.cluster.model import Cluster
from insync.model import Bool, Model, State, action

Path(__file__).with_suffix(".ran").touch()


class Evil(Model):
    def declare(self, b):
        return State(on=Bool)

    @action
    def press(self, s):
        s.on = True
"""
"""The text of the file; beside it appears one of its name with the ending `.ran`."""

STEPS = [{"action": None, "parameters": {}, "state": {"on": False}}]
