"""Whose privacy a release protects."""

from enum import Enum


class Unit(Enum):
    """What neighbouring datasets differ in; the value is the text that a guarantee states."""

    #: A table or file, or SQL that reads the rows of one, one by one.
    USER = "one user: all rows of one user id, added or removed"
    #: SQL in which one person's rows may change what becomes of another's.
    QUERY = "one user: all rows of one user id in the result of the given SQL, added or removed"
    #: A view of a database: what it does to the rows below is not looked at.
    VIEW = "one user: all rows of one user id in the given view, added or removed"
    #: An Ibis expression that is more than a table.
    EXPRESSION = (
        "one user: all rows of one user id in the result of the given Ibis expression, added or "
        "removed"
    )
    #: SQL whose user column is not known to be a column of a table, unchanged.
    COMPUTED = (
        "one value of the user column that the given SQL computes: all rows of its result with "
        "that value, added or removed"
    )
