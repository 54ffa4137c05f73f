"""The counts of other checkers are compared with the code that users run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def fast_code() -> Iterator[None]:
    """Machine code as users have it, where other tests take what is compiled quickly."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INSYNC_CODE", "fast")
        yield
