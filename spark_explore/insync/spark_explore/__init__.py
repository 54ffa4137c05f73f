"""Exploring a model on Spark: the results of `insync.explorer`, with the states partitioned across executors."""

from __future__ import annotations

from insync.spark_explore.driver.check import check
from insync.spark_explore.driver.export import export
from insync.spark_explore.driver.options import SparkOptions
from insync.spark_explore.driver.simulate import simulate

__all__ = ["SparkOptions", "check", "export", "simulate"]
