"""Tumult Analytics on a local Spark: rows, sums and means of known items, with Gaussian noise."""

from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    QueryBuilder,
    RhoZCDPBudget,
    Session,
)

from experiments.peers.job import Question, SumsJob, answer
from experiments.peers.runners.tumult import local_spark


def release(job: SumsJob) -> list[dict[str, float]]:
    """Return a number for each item, for each question."""
    with local_spark() as spark:
        return [answered(spark, job, question) for question in job.questions]


def answered(spark: SparkSession, job: SumsJob, question: Question) -> dict[str, float]:
    """Answer a question in a session of its own, which spends the whole budget on it."""
    session = Session.from_dataframe(
        privacy_budget=RhoZCDPBudget(job.rho),
        source_id="events",
        dataframe=spark.read.parquet(job.events),
        protected_change=AddRowsWithID(id_column="user"),
    )
    items = (
        QueryBuilder("events")
        .enforce(MaxGroupsPerID("item", question.most_items))
        .enforce(MaxRowsPerGroupPerID("item", 1))
        .groupby(KeySet.from_dict({"item": list(range(job.items))}))
    )
    clipped = {"column": "value", "low": question.low, "high": question.high, "name": "made"}
    asked = {
        "rows": lambda: items.count(name="made"),
        "sum": lambda: items.sum(**clipped),
        "mean": lambda: items.average(**clipped),
    }[question.what]()
    made = session.evaluate(asked, session.remaining_privacy_budget)
    return {str(row["item"]): float(row["made"]) for row in made.collect()}


if __name__ == "__main__":
    answer(release, "tmlt-analytics", SumsJob.of)
