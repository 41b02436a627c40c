"""Names that people give: which are none, and what was meant by one that is mistyped.

Errors name columns and tables anyway, but never data.
"""

import difflib
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from headcount.engines.layout import likely_delimiter, shown_delimiter

#: What errors say of such a text.
UNSPEAKABLE = "has a NUL or half of a character (a lone surrogate) in it; take it out"


def is_unspeakable(text: str, errors: str = "strict") -> bool:
    """Whether no engine or system can be told a text: it has a NUL, or half of a character.

    With ``errors="surrogateescape"`` the bytes of a path that are not UTF-8 are allowed.
    """
    try:
        return b"\0" in text.encode("utf-8", errors)
    except UnicodeEncodeError:  # half of a character: a lone surrogate
        return True


def did_you_mean(given: str, there: Iterable[str]) -> str:
    """Return a question that suggests the existing name most like a given one, or nothing.

    A shared ending such as .csv does not count: the names must be alike without it.
    """
    ending = PurePath(given).suffix.casefold()
    folded = {name.casefold().removesuffix(ending): name for name in there}
    close = difflib.get_close_matches(given.casefold().removesuffix(ending), folded, n=1)
    return f". Did you mean {folded[close[0]]!r}?" if close else ""


def no_such_column(column: str, there: Sequence[str]) -> str:
    """Return what an error says about a column that the events do not have."""
    if there and there[0].lstrip().startswith(("{", "[{")):  # not names, but somebody's row
        return (
            f"there is no column {column!r}, and the first line looks like JSON lines, not like "
            "column names: use --input-format json (input_format='json')"
        )
    delimiter = likely_delimiter(there[0]) if len(there) == 1 else None
    if delimiter is not None:
        typed = "tab" if delimiter == "\t" else delimiter
        return (
            f"there is no column {column!r}; the only column is {there[0]!r}. If the fields are "
            f"separated by {shown_delimiter(delimiter)}, use --delimiter '{typed}' "
            f"(delimiter={typed!r})"
        )
    listed = ", ".join(map(repr, there))
    return f"there is no column {column!r}; the columns are: {listed}{did_you_mean(column, there)}"


def holds_lists(column: str, columns: Iterable[str], lists: str = "{}") -> str:
    """Return what an error says about a column of lists.

    Args:
        column: the one that holds them.
        columns: all that are asked for.
        lists: SQL for the lists, with {} for the column.
    """
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in columns}
    quoted[column] = f"unnest({lists.format(quoted[column])}) AS {quoted[column]}"
    return (
        f"column {column!r} holds lists, and each of their values needs a row of its own: --sql "  # noqa: S608 (shown, not run)
        f"'SELECT {', '.join(quoted.values())} FROM events' (sql=), or df.explode({column!r}) in a "
        "data frame"
    )


def holds_no_values(column: str) -> str:
    """Return what an error says about a column of values that can be neither users nor items."""
    return (
        f"column {column!r} holds values other than text, numbers and times; make such values of "
        "them with SQL (--sql, sql=), or where the table is made"
    )
