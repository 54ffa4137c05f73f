"""Public: `check` and `simulate` on Spark, with the results of `insync.explorer`; the folders inside are internal."""

from __future__ import annotations

from insync.spark_explore.driver.check import check
from insync.spark_explore.driver.export import export
from insync.spark_explore.driver.options import SparkOptions
from insync.spark_explore.driver.simulate import simulate

__all__ = ["SparkOptions", "check", "export", "simulate"]
