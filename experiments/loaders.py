"""The paper's public files, each read from its own format into a table of user and item.

The files are not part of the project; their owners distribute them.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.safe_pickle import read_text_frame
from headcount.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa

REDDIT_SAMPLE_USERS = 340

# Left out of Wikipedia's abstracts before they are split into words and punctuation.
_ADDRESS = re.compile(r"https?://\S*")
_TOKEN = re.compile(r"\w+(?:['’.\-]\w+)*|[^\w\s]")


def finance(path: Path) -> "pa.Table":
    """Read raw_analyst_ratings.csv: each row is a user, and its ``stock`` is the item."""
    import pyarrow as pa

    stocks = _columns(path, ["stock"])["stock"]
    return _table(pa.array(range(len(stocks))), stocks)


def movielens(path: Path) -> "pa.Table":
    """Read ratings.csv: ``userId`` has ``movieId``."""
    columns = _columns(path, ["userId", "movieId"])
    return _table(columns["userId"], columns["movieId"])


def reddit(path: Path) -> "pa.Table":
    """Read clean_askreddit.csv: ``author`` has the words of ``clean_text``, split at spaces."""
    return _words(_posts(path))


def reddit_sample(path: Path) -> "pa.Table":
    """Read the first 340 authors of clean_askreddit.csv, in file order."""
    return _words(_first_users(_posts(path), REDDIT_SAMPLE_USERS))


def wikipedia(path: Path) -> "pa.Table":
    """Read the pickle of Wikipedia abstracts: each row's ``abstract_original`` is a user's text.

    The paper's preprocessing splits texts with NLTK. Here a regular expression splits them into
    words and punctuation, so rare items differ slightly.
    """
    texts = read_text_frame(path, "abstract_original")
    tokens = (
        (str(row), _TOKEN.findall(_ADDRESS.sub("", text)))
        for row, text in enumerate(texts)
        if isinstance(text, str)
    )
    return _words(tokens)


def _posts(path: Path) -> Iterator[tuple[str, list[str]]]:
    columns = _columns(path, ["author", "clean_text"])
    for author, text in zip(columns["author"], columns["clean_text"], strict=True):
        if author.is_valid and text.is_valid:
            yield str(author), text.as_py().split(" ")


def _first_users(
    posts: Iterable[tuple[str, list[str]]], most: int
) -> Iterator[tuple[str, list[str]]]:
    seen: set[str] = set()
    for author, words in posts:
        if author in seen or len(seen) < most:
            seen.add(author)
            yield author, words


def _words(texts: Iterable[tuple[str, list[str]]]) -> "pa.Table":
    import pyarrow as pa

    users: list[str] = []
    words: list[str] = []
    for user, text in texts:
        different = set(text) - {""}
        users += [user] * len(different)
        words += different
    return _table(pa.array(users, pa.string()), pa.array(words, pa.string()))


def _columns(path: Path, names: list[str]) -> "pa.Table":
    """Read columns of a CSV file as text."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        return csv.read_csv(
            path,
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                include_columns=names,
                column_types={name: pa.string() for name in names},
                strings_can_be_null=True,
            ),
        )
    except (OSError, KeyError, pa.ArrowException):
        raise SourceError(
            f"cannot read {str(path)!r} as CSV with the column{'s' if names[1:] else ''} "
            f"{', '.join(names)}"
        ) from None


def _table(users: Any, items: Any) -> "pa.Table":
    import pyarrow as pa

    return pa.table({"user": users, "item": items})
