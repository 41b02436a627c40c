"""Which of Spark's times are moments: Ibis does not tell."""

from typing import Any


def with_time_zones(table: Any, frame: Any) -> Any:  # noqa: ANN401 (Ibis and Spark have no types)
    """Return an Ibis table of a data frame, in which moments have a time zone.

    Spark has two types of times. TIMESTAMP is a moment, and on a day in a time zone only.
    TIMESTAMP_NTZ is what a clock showed. Ibis takes both for the second.

    Args:
        table: a table of Spark's catalog, as Ibis has it.
        frame: the data frame behind it.
    """
    import ibis
    from pyspark.sql.types import TimestampType

    moments = [field.name for field in frame.schema if isinstance(field.dataType, TimestampType)]
    types = dict(table.schema().items()) | dict.fromkeys(moments, "timestamp('UTC')")
    return table.op().copy(schema=ibis.schema(types)).to_expr()
