"""Whose privacy a release protects."""

from enum import Enum


class Unit(Enum):
    """What neighbouring datasets differ in; the value is the text that a guarantee states."""

    #: A table or file, or SQL that reads the rows of one, one at a time.
    USER = "one user: all rows of one user id, added or removed"
    #: SQL in which one person's rows may change what becomes of another's.
    QUERY = "one user: all rows of one user id in the result of the given SQL, added or removed"
    #: A database view: what it does to the underlying rows is not examined.
    VIEW = "one user: all rows of one user id in the given view, added or removed"
    #: A relation of DuckDB, which may be any query.
    RELATION = (
        "one user: all rows of one user id in the result of the given DuckDB relation, added or "
        "removed"
    )
    #: An Ibis expression that is more than a table.
    EXPRESSION = (
        "one user: all rows of one user id in the result of the given Ibis expression, added or "
        "removed"
    )
    #: SQL whose user column is not known to be an unchanged column of a table.
    COMPUTED = (
        "one value of the user column that the given SQL computes: all rows of its result with "
        "that value, added or removed"
    )

    def stated(self, within: str | None = None) -> str:
        """Return the text of a guarantee.

        Args:
            within: the period within which a user's rows are protected; None if all of them are.
                For a period, it also says what that means for somebody with rows in several
                (`unit.md`).
        """
        if within is None:
            return self.value
        who, _, rows = self.value.removesuffix(_CHANGED).partition(":")
        return (
            f"{who} within one {within}:{rows} that lie in one {within}{_CHANGED}. All rows of "
            f"somebody who has some in k {within}s are protected less: with k times the ε and "
            "k·e^((k−1)·ε) times the δ"
        )

    @classmethod
    def of(cls, text: str) -> "Unit | None":
        """Return the unit that a guarantee states, whatever the period; None if it states none."""
        periods = PROTECTED_PERIODS.values()
        return next((unit for unit in cls if text in map(unit.stated, periods)), None)


_CHANGED = ", added or removed"

#: What ``protect=`` accepts, and the period within which it protects a user's rows.
PROTECTED_PERIODS = {
    "user": None,
    "user-day": "day",
    "user-week": "week",
    "user-month": "month",
    "user-year": "year",
}
