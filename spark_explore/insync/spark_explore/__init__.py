"""Public: `check`, `simulate` and `export` on Spark, with the results of `insync.explorer`.

The folders are internal: `driver` runs in the driver, `executor` in the Python workers of the executors, and `wire` is
what both share.

A name is imported when it is first used: Spark's workers import modules of `executor` and `wire` alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from insync.spark_explore.driver.check import SparkOptions, check
    from insync.spark_explore.driver.export import export
    from insync.spark_explore.driver.simulate import simulate

__all__ = ["SparkOptions", "check", "export", "simulate"]

_MODULE_OF = {"SparkOptions": "check", "check": "check", "export": "export", "simulate": "simulate"}


if not TYPE_CHECKING:  # else type checkers would accept every name

    def __getattr__(name: str) -> object:
        """Load a public name with the module of the driver that defines it."""
        if name not in _MODULE_OF:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        found = getattr(importlib.import_module(f"{__name__}.driver.{_MODULE_OF[name]}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
