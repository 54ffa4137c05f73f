"""Exploring a model on Spark: the results of `insync.explorer`, with the states partitioned across executors."""

from __future__ import annotations

from insync.spark_explore.check import check
from insync.spark_explore.export import export
from insync.spark_explore.options import SparkOptions
from insync.spark_explore.simulate import simulate

__all__ = ["SparkOptions", "check", "export", "simulate"]
