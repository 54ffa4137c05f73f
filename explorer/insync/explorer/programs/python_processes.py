"""Processes of Python that `multiprocessing` starts: where they look for their modules."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["modules_of_python"]

_SAFE_PATH = "PYTHONSAFEPATH"


@contextmanager
def modules_of_python() -> Iterator[None]:
    """Have processes that start in this block pass over the current folder when they import their first modules.

    `multiprocessing` starts them by `python -c`, which would look there first: for `multiprocessing.py` itself, and for
    whatever that imports. So a file in a folder that somebody sent would run.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before
