"""Names that were mistyped: columns and tables are named in errors anyway, data never is."""

import difflib
from collections.abc import Iterable


def did_you_mean(given: str, there: Iterable[str]) -> str:
    """Return a question about the name that looks most like one that is not there, or nothing."""
    folded = {name.casefold(): name for name in there}
    close = difflib.get_close_matches(given.casefold(), folded, n=1)
    return f". Did you mean {folded[close[0]]!r}?" if close else ""
