"""Spark, on this machine or on a cluster."""

from headcount.engines.spark.count import Spark
from headcount.engines.spark.read import read_frame, read_path, read_table
from headcount.engines.spark.start import connect

__all__ = ["Spark", "connect", "read_frame", "read_path", "read_table"]
