"""Whole numbers of 64 bits in queries, the same on every engine."""

from typing import Any

from headcount.engines.base import Expression


def whole(number: int) -> Any:  # noqa: ANN401 (Ibis has no types)
    """Return a number as a literal of a query, in 64 bits."""
    import ibis

    return ibis.literal(number, type="int64")


def as_number(truth: Expression) -> Expression:
    """Return 1 or 0; PostgreSQL has no cast to 64 bits for that."""
    return truth.ifelse(whole(1), whole(0))


def root_of(number: Expression) -> Expression:
    """Return the whole square root: a float's, and one less where that is too large.

    The number is below 2⁶²·(1 + 2⁻³⁰), so that the square of a root fits in 64 bits.
    """
    root = number.cast("float64").sqrt().floor().cast("int64")
    return root - as_number(root * root > number)
