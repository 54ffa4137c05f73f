"""What test suites use: a subject under test, steps through a model, and the text of a failure."""

from __future__ import annotations
