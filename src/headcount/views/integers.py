"""64-bit integers in queries, the same on every engine."""

from typing import Any

from headcount.engines.base import Expression


def whole(number: int) -> Any:  # noqa: ANN401 (Ibis has no types)
    """Return a number as a 64-bit literal in a query."""
    import ibis

    return ibis.literal(number, type="int64")


def as_number(truth: Expression) -> Expression:
    """Return a truth value as 1 or 0; PostgreSQL cannot cast one to 64 bits."""
    return truth.ifelse(whole(1), whole(0))


def root_of(number: Expression) -> Expression:
    """Return the square root, rounded down: that of floats, minus 1 where it is too large.

    The number must be below 2⁶²·(1 + 2⁻³⁰), so that the square of a root fits in 64 bits.
    """
    root = number.cast("float64").sqrt().floor().cast("int64")
    return root - as_number(root * root > number)
