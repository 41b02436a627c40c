"""What the page of a release is made from: what was published, and nothing else.

Anyone may have made a published file, so everything that a page relies on is checked here.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headcount.errors import SettingsError, SourceError
from headcount.ledger.published import document_of_file
from headcount.outputs.escapes import unless_blank
from headcount.outputs.json import document_to_json
from headcount.privacy.mechanisms.base import COUNT
from headcount.results.canonical import FORMAT, Plain, document_of
from headcount.results.digits import errors_of, for_people
from headcount.results.guarantee import Guarantee
from headcount.results.notices import Notice, notices_about
from headcount.results.periods import period_among
from headcount.results.release import Release
from headcount.results.totals import TotalInWords, totals_in_words

#: What a file says about the ledger that was charged.
_CHARGED = ("dataset", "reservation")


@dataclass(frozen=True)
class Measure:
    """A column of numbers released about the items, with 95 % intervals, row by row.

    ``texts`` and ``intervals`` are the same numbers, formatted for people.
    """

    name: str
    values: list[float]
    lower: list[float]
    upper: list[float]
    texts: list[str]
    intervals: list[str]


@dataclass(frozen=True)
class Document:
    """A published release, as in its JSON file.

    Attributes:
        columns: the names of its columns.
        rows: its rows, highest counts first.
        guarantee: the promise.
        json: the text of a JSON file that `headcount verify` recognises.
    """

    columns: list[str]
    rows: list[list[Plain]]
    guarantee: Guarantee
    json: str

    @classmethod
    def of_release(cls, release: Release) -> "Document":
        """Return the document of a release in memory."""
        return cls._of(document_of(release.table), release.table.column_names)

    @classmethod
    def of_file(cls, path: Path) -> "Document":
        """Return the document of a published Parquet or JSON file."""
        try:
            return cls._of(document_of_file(path))
        except (AttributeError, KeyError, OverflowError, SettingsError, TypeError, ValueError):
            raise SourceError(f"{str(path)!r} is not a release that headcount wrote") from None

    @classmethod
    def _of(cls, document: Mapping[str, Any], columns: list[str] | None = None) -> "Document":
        items: list[dict[str, Plain]] = document["items"]
        columns = columns or (list(items[0]) if items else [COUNT])
        rows = [[item[name] for name in columns] for item in items]
        if COUNT not in columns or any(len(item) != len(columns) for item in items):
            raise ValueError("the rows of a release have the same columns, and a count")
        if not all(isinstance(value, Plain) for row in rows for value in row):
            raise ValueError("the values of a release are plain")
        guarantee = Guarantee.from_account(document)
        _check_guarantee(guarantee)
        made = cls(columns, rows, guarantee, document_to_json(document).decode())
        made.measures()
        made.notices()
        made.totals()
        return made

    def __len__(self) -> int:
        return len(self.rows)

    def notices(self) -> list[Notice]:
        """Return what readers should know about the release."""
        return list(notices_about(self.guarantee, len(self)))

    @property
    def says_if_charged(self) -> bool:
        """Whether it says if a ledger was charged, which releases in earlier forms do not."""
        return self.guarantee.format == FORMAT

    def totals(self) -> list[TotalInWords]:
        """Return the numbers released about all users together."""
        return totals_in_words(self.guarantee.totals)

    @property
    def item_columns(self) -> list[str]:
        """The columns that say which item a row is about."""
        return self.columns[: self.columns.index(COUNT)]

    def column(self, name: str) -> list[Plain]:
        """Return the values of one column."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def names(self) -> list[str]:
        """Return the item of each row as a single text."""
        return [_joined(row[: len(self.item_columns)]) for row in self.rows]

    def measures(self) -> list[Measure]:
        """Return the numbers released about the items, the count first."""
        found = []
        for name in self.columns[len(self.item_columns) :]:
            prefix = "" if name == COUNT else f"{name}_"
            bounds = f"{prefix}lower", f"{prefix}upper"
            if set(bounds) <= set(self.columns):
                values, lower, upper = map(self._numbers, (name, *bounds))
                texts, *ends = map(self._texts, (name, *bounds))
                intervals = [f"{low} to {high}" for low, high in zip(*ends, strict=True)]
                found.append(Measure(name, values, lower, upper, texts, intervals))
        return found

    def errors(self) -> list[int | None]:
        """Return, for each column, the position of its standard error's column, or None."""
        of = errors_of(self.columns[len(self.item_columns) :])
        return [self.columns.index(of[name]) if name in of else None for name in self.columns]

    def whole_columns(self) -> list[bool]:
        """Return whether each column holds only integers, which JSON in a browser cannot tell."""
        return [all(isinstance(value, int) for value in self.column(name)) for name in self.columns]

    def row_for_people(self, row: list[Plain]) -> list[str]:
        """Return the released numbers of a row, with as many digits as their errors justify."""
        errors, items = self.errors(), len(self.item_columns)
        return [
            for_people(value, None if error is None else row[error])
            for value, error in zip(row[items:], errors[items:], strict=True)
        ]

    def _texts(self, name: str) -> list[str]:
        error = self.errors()[self.columns.index(name)]
        errors = [None if error is None else row[error] for row in self.rows]
        return list(map(for_people, self.column(name), errors))

    def _numbers(self, name: str) -> list[float]:
        return [_number(value) for value in self.column(name)]

    def period(self) -> str | None:
        """Return the name of the column that holds each row's period, if there is one."""
        return period_among(self.item_columns, self.column)

    @property
    def is_series(self) -> bool:
        """Whether rows are about periods alone: people read such rows in order of time."""
        return self.item_columns == [self.period()]

    def rows_for_people(self) -> list[list[Plain]]:
        """Return the rows in the order in which people read them."""
        return sorted(self.rows, key=lambda row: str(row[0])) if self.is_series else self.rows

    def by_period(self, period: str) -> Iterator[tuple[str, str, list[Plain]]]:
        """Yield each row's period, the rest of its item, and the row."""
        place, items = self.columns.index(period), len(self.item_columns)
        for row in self.rows:
            rest = [value for n, value in enumerate(row[:items]) if n != place]
            yield str(row[place]), _joined(rest), row


def _joined(values: list[Plain]) -> str:
    return " · ".join(map(name_of, values))


def name_of(value: Plain) -> str:
    """Return a value of an item column formatted for people, as the page's script does too."""
    if isinstance(value, bool):
        return str(value).lower()
    return "(none)" if value is None else unless_blank(str(value))


def _number(value: Plain) -> float:
    number = float(value)  # type: ignore[arg-type]  # raises if it is not a number
    if not math.isfinite(number):
        raise ValueError("counts are finite")
    return number


def _check_guarantee(guarantee: Guarantee) -> None:
    """Refuse an account with values of the wrong type, as anyone may have written the file."""
    spent = guarantee.spent
    numbers = [guarantee.rho, guarantee.delta, guarantee.epsilon, spent["rho"], spent["delta"]]
    numbers += [part["rho"] for part in guarantee.spent_on.values()]
    numbers += guarantee.delta_split.values()
    if not all(type(number) in (int, float) and 0 <= number < math.inf for number in numbers):
        raise ValueError("a budget is made of numbers")
    if not isinstance(guarantee.private, bool) or not isinstance(guarantee.settings, dict):
        raise TypeError("a guarantee says whether it holds, and how it was made")
    history = guarantee.provenance
    texts = [guarantee.unit, guarantee.method, guarantee.version, history.date]
    texts += [*history.mechanisms, *history.post_processing, *history.public]
    if not all(isinstance(text, str | None) for text in texts):
        raise TypeError("a guarantee names whom it protects, and what made it")
    if guarantee.delta_split and set(guarantee.delta_split) != {"selection", "conversion"}:
        raise ValueError("δ pays for two things")
    charged = history.ledger
    if charged is not None and [type(charged[name]) for name in _CHARGED] != [str, int]:
        raise TypeError("a charge names the dataset, and the entry that reserved the budget")
