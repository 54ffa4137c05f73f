"""Internal: the engine in plain Python, with stepping and all that is built on single steps of the evaluator."""

from __future__ import annotations
