"""Which of Spark's times are moments, which Ibis does not tell."""

from typing import Any


def with_time_zones(table: Any, frame: Any) -> Any:  # noqa: ANN401 (Ibis and Spark have no types)
    """Return a data frame's Ibis table, in which moments have a time zone.

    Spark has two types of times. TIMESTAMP is a moment, which has a day only in a time zone.
    TIMESTAMP_NTZ is what a clock showed. Ibis treats both as the second.

    Args:
        table: a table of Spark's catalog, as Ibis has it.
        frame: the data frame behind it.
    """
    import ibis
    from pyspark.sql.types import TimestampType

    moments = [field.name for field in frame.schema if isinstance(field.dataType, TimestampType)]
    types = dict(table.schema().items()) | dict.fromkeys(moments, "timestamp('UTC')")
    return table.op().copy(schema=ibis.schema(types)).to_expr()
