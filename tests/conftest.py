"""Settings that all tests share. Nothing heavy is imported here: every test run pays for it."""

from __future__ import annotations

import os

from hypothesis import settings

# No deadline: the first example of a model compiles it, which takes far longer than the others.
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI", "").lower() in {"1", "true"} else "dev")
