"""Tumult Analytics on a local Spark: noisy selection of names, then Laplace noise on counts."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    QueryBuilder,
    Session,
)

from experiments.peers.job import Job, answer


@contextmanager
def local_spark() -> Iterator[SparkSession]:
    """Start a Spark with two workers in this process, and end it with all that it started."""
    os.environ["PYSPARK_PYTHON"] = sys.executable  # the workers find the same packages
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    gateway: Any = spark.sparkContext._gateway
    yield spark
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()  # so that its processor time is known


def release(job: Job) -> dict[str, float]:
    """Return a noisy count for each item that is selected."""
    with local_spark() as spark:
        return counted(spark, job)


def counted(spark: SparkSession, job: Job) -> dict[str, float]:
    """Select items and count their users, on a Spark that runs."""
    session = Session.from_dataframe(
        privacy_budget=ApproxDPBudget(job.epsilon, job.delta),
        source_id="events",
        dataframe=spark.read.parquet(job.events),
        protected_change=AddRowsWithID(id_column="user"),
    )
    bounded = (
        QueryBuilder("events")
        .enforce(MaxGroupsPerID("item", job.bound))
        .enforce(MaxRowsPerGroupPerID("item", 1))
    )
    names = session.evaluate(
        bounded.get_groups(["item"]), ApproxDPBudget(job.epsilon / 2, job.delta)
    )
    users = session.evaluate(
        bounded.groupby(KeySet.from_dataframe(names)).count(name="users"),
        session.remaining_privacy_budget,
    )
    return {row["item"]: float(row["users"]) for row in users.collect()}


if __name__ == "__main__":
    answer(release, "tmlt-analytics")
