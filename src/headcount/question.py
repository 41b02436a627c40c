"""What is asked: everything that a release depends on, as one frozen value.

The Python call and the command line build a question, the pipeline answers it, the ledger writes it
down, and it can be kept as JSON. How it is answered is no part of it: under which ledger, with how
much memory.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from os import PathLike, fspath
from typing import Any, Literal, Self, cast, get_args

from headcount.errors import BudgetError, SettingsError, SourceError
from headcount.inputs import Request, SourceName, TableLike
from headcount.inputs.known import KnownItems, read_known_items
from headcount.inputs.periods import Period, Periods, Protect, periods_of
from headcount.inputs.where import parsed
from headcount.privacy.accounting.budget import DEFAULT_DELTA, Budget
from headcount.privacy.mechanisms import DEFAULT, Known, Mechanism, Options, mechanism
from headcount.privacy.mechanisms.further import Further, Totals
from headcount.privacy.mechanisms.pcr.candidates import LARGEST_COUNT
from headcount.results.canonical import strict_json
from headcount.results.rows import RowLimits
from headcount.views.histogram import check_names

#: The form of a question that is written today.
FORMAT = "headcount-question-1"

#: What ``method=`` accepts, apart from mechanisms that were registered from outside.
Method = Literal["auto", "pcr", "pcr-paper", "pcr-noise-reduction", "rationed", "threshold"]
#: What ``columns=`` accepts.
Columns = Literal["standard", "all"]
DEFAULT_METHOD = cast("Method", DEFAULT)


@dataclass(frozen=True, kw_only=True)
class Question:
    """How many distinct users have each item of a table of events.

    The parameters are those of `headcount.release`, which describes them. A question that can be
    made is valid, as far as that can be told without reading any data.

    Raises:
        InputError: something in it has no meaning, or is outside its range.
    """

    source: SourceName | TableLike = field(hash=False, repr=False)  # a password may stand in it
    user: str
    item: str | Sequence[str]
    budget: Budget
    per: str | Sequence[str] = ()
    table: str | None = None
    sql: str | None = None
    where: str | None = None
    items_from: SourceName | TableLike | Sequence[Any] | None = field(
        default=None, hash=False, repr=False
    )
    engine: str | None = None
    spark_conf: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    method: Method = DEFAULT_METHOD
    relative_error: float | None = None
    candidates: int | None = None
    max_items_per_user: int | None = None
    min_users: int | None = None
    top: int | None = None
    by: tuple[Period, str] | None = None
    timezone: str | None = None
    protect: Protect = "user"
    columns: Columns = "standard"
    data_version: str | None = None
    total: bool = False
    other: bool = False

    def __post_init__(self) -> None:
        _check_budget(self.budget)
        if not all(isinstance(asked, bool) for asked in (self.total, self.other)):
            raise SettingsError("total and other are asked for with True")
        if (self.total or self.other) and self.protect != "user":
            raise SettingsError(
                "a total is of users, over all periods: it goes with protect='user', which is the "
                "default"
            )
        if self.other and (self.min_users is not None or self.top is not None):
            raise SettingsError(
                "other is about items that are not listed, which a limit on the rows that are "
                "shown changes: ask for one of them"
            )
        _ = self.mechanism
        _check_columns(self.columns)
        object.__setattr__(self, "item", column_names(self.item))
        object.__setattr__(self, "per", column_names(self.per))
        object.__setattr__(self, "spark_conf", dict(self.spark_conf))
        if self.items_from is not None and not isinstance(self.items_from, str | PathLike):
            read = read_known_items(self.items_from, self.items, self.source)
            object.__setattr__(self, "items_from", read)
        if isinstance(self.by, list):  # as JSON has it
            object.__setattr__(self, "by", tuple(self.by))
        if not all(isinstance(text, str | None) for text in (self.table, self.sql)):
            raise SourceError("table is the name of a table, and sql is text")
        _ = self.request
        _ = self.row_limits
        named = [name.casefold() for name in (self.user, *self.items)]
        if self.periods is not None and self.periods.period in named:
            raise SourceError(
                f"the first days of periods go into a column called {self.periods.period!r}, so "
                "that neither the user column nor an item column can be called so; rename it"
            )
        if self.periods is not None and self.items_from is not None:
            raise SettingsError(
                "a list of items does not go with periods: it would have to name the days as well"
            )
        check_names(self.user, self.items)
        version = self.data_version
        if version is not None and not (
            isinstance(version, str) and version.strip() and version.isprintable()
        ):
            raise SettingsError(
                "a version of the data is a text of your choice, on one line, such as a date"
            )

    @property
    def items(self) -> list[str]:
        """The columns whose values are counted, those of segments first."""
        return [*self.per, *self.item]

    @property
    def periods(self) -> Periods | None:
        """In which periods users are counted, and what is protected; None if there are none."""
        return periods_of(self.by, self.timezone, self.protect)

    @property
    def counted(self) -> list[str]:
        """The columns that make an item of the result: those that were named, and the period."""
        return self.items + ([] if self.periods is None else [self.periods.period])

    @property
    def mechanism(self) -> Mechanism:
        """What finds and counts items, with its parameters and its share of the budget."""
        options = Options(self.relative_error, self.candidates, self.max_items_per_user)
        budget = self.budget.part(1 - self.further.share)
        if self.items_from is not None:
            if self.method != DEFAULT_METHOD:
                raise SettingsError("a list of items has a method of its own: leave the method out")
            return Known.of(options, budget)
        return mechanism(self.method).of(options, budget)

    @property
    def further(self) -> Further:
        """What is asked beside the counts."""
        return Further(Totals(self.total, self.other))

    @property
    def row_limits(self) -> RowLimits:
        """Which rows of the release are kept."""
        return RowLimits(self.min_users, self.top, tuple(self.per))

    @property
    def known_items(self) -> KnownItems | None:
        """The public list of items, if there is one; after `with_list_read`."""
        return self.items_from if isinstance(self.items_from, KnownItems) else None

    def with_list_read(self) -> Self:
        """Return the question with the list that a file of items holds."""
        if self.items_from is None or self.known_items is not None:
            return self
        return replace(self, items_from=read_known_items(self.items_from, self.items, self.source))

    @property
    def request(self) -> Request:
        """What has to be read."""
        where = None if self.where is None else parsed(self.where)
        times = [] if self.periods is None else [self.periods.column]
        named = [self.user, *self.items, *times, *(where.columns if where else ())]
        # What is given as the user may be no name at all, which is refused where it is read.
        columns = [name for place, name in enumerate(named) if name not in named[:place]]
        return Request(
            self.table,
            self.sql,
            self.engine,
            self.spark_conf,
            columns=columns,
            user=self.user,
            where=where,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain values, with its format.

        An address is written as it was given, with a password if there is one in it.
        """
        if not isinstance(self.source, str | PathLike):
            raise SourceError("a question about a table in memory cannot be written down")
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        plain: dict[str, Any] = {
            "source": fspath(self.source),
            "item": list(self.item),
            "budget": self.budget.given,
        }
        plain["per"] = list(self.per)
        if self.known_items is not None:
            raise SourceError("a question with a list of items in memory cannot be written down")
        if self.items_from is not None:
            plain["items_from"] = str(self.items_from)
        return {"format": FORMAT, **values, **plain}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the question that plain values describe; what is left out has its default."""
        if not isinstance(values, Mapping) or values.get("format") != FORMAT:
            raise SettingsError(f'a question is an object whose "format" is "{FORMAT}"')
        given = {key: value for key, value in values.items() if key != "format"}
        _check_names(given, {each.name for each in fields(cls)}, "a question")
        _require(given, ("source", "user", "item", "budget"), "a question")
        if not isinstance(given["source"], str):
            raise SourceError("the source of a question is a path or an address, as text")
        if not isinstance(given["budget"], Mapping):
            raise SettingsError("the budget of a question is an object with rho or epsilon")
        _check_names(given["budget"], {"rho", "epsilon", "delta"}, "a budget")
        conf = given.get("spark_conf", {})
        if not isinstance(conf, Mapping) or not all(
            isinstance(text, str) for text in conf.values()
        ):
            raise SettingsError("the settings of Spark are an object whose values are text")
        return cls(**{**given, "budget": Budget(**given["budget"])})

    def to_json(self) -> str:
        """Return the question as JSON, as `to_dict` has it."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the question that JSON describes."""
        try:
            values = strict_json(text)
        except (TypeError, ValueError, RecursionError):
            raise SettingsError(
                "a question is a JSON object without duplicate keys; this is not one"
            ) from None
        return cls.from_dict(values)


@dataclass(frozen=True, kw_only=True)
class HistogramQuestion:
    """How many distinct users have each item, of a histogram that exists already.

    The parameters are those of `headcount.release_counts`, which describes them.
    """

    counts: Mapping[Any, int] | TableLike = field(hash=False, repr=False)
    budget: Budget
    item: str | Sequence[str] | None = None
    count: str = "count"
    minimum: int = 1
    users: int | None = field(default=None, repr=False)  # not noisy
    method: Method = DEFAULT_METHOD
    relative_error: float | None = None
    candidates: int | None = None
    min_users: int | None = None
    top: int | None = None
    columns: Columns = "standard"
    user: str | None = None

    def __post_init__(self) -> None:
        _check_budget(self.budget)
        _ = self.mechanism
        _check_columns(self.columns)
        if isinstance(self.minimum, bool) or not isinstance(self.minimum, int) or self.minimum < 1:
            raise SourceError("minimum must be a whole number of at least 1")
        _ = self.row_limits
        users = self.users
        if users is not None and (
            isinstance(users, bool) or not isinstance(users, int) or users < 0
        ):
            raise SourceError("users must be a whole number of at least 0")
        if self.item is not None:
            object.__setattr__(self, "item", column_names(self.item))

    @property
    def row_limits(self) -> RowLimits:
        """Which rows of the release are kept."""
        return RowLimits(self.min_users, self.top)

    @property
    def mechanism(self) -> Mechanism:
        """What will answer it, with its parameters."""
        options = Options(self.relative_error, self.candidates)
        return mechanism(self.method).for_histogram(options, self.budget)


def column_names(item: str | Sequence[str]) -> tuple[str, ...]:
    """Return the columns that were given, as one name or as several."""
    items = [item] if isinstance(item, str) else item
    if not isinstance(items, list | tuple) or not all(isinstance(name, str) for name in items):
        raise SourceError("item must be the name of a column, or a list of names")
    return tuple(items)


def budget_of(
    budget: Budget | None, *, rho: float | None, epsilon: float | None, delta: float | None
) -> Budget:
    """Return the budget that was given, whole or as the numbers that make one."""
    if budget is None:
        return Budget(rho=rho, epsilon=epsilon, delta=DEFAULT_DELTA if delta is None else delta)
    _check_budget(budget)
    if any(number is not None for number in (rho, epsilon, delta)):
        raise BudgetError("give a budget, or rho or epsilon and perhaps delta, but not both")
    return budget


def _check_budget(budget: Budget) -> None:
    if not isinstance(budget, Budget):
        raise TypeError("budget must be a headcount.Budget")


def _check_columns(columns: str) -> None:
    if columns not in get_args(Columns):
        raise SettingsError(f"columns must be one of: {', '.join(get_args(Columns))}")


def _check_users(users: int | None) -> None:
    if users is None:
        return
    if isinstance(users, bool) or not isinstance(users, int) or not 0 <= users <= LARGEST_COUNT:
        raise SourceError("users must be a whole number of at least 0, and no more than people")


def _check_names(given: Mapping[str, Any], known: set[str], what: str) -> None:
    unknown = sorted(repr(name) for name in given if name not in known)
    if unknown:
        raise SettingsError(
            f"{what} has no {', '.join(unknown)}; it has: {', '.join(sorted(known))}"
        )


def _require(given: Mapping[str, Any], names: Sequence[str], what: str) -> None:
    missing = [name for name in names if name not in given]
    if missing:
        raise SettingsError(f"{what} needs {', '.join(missing)}")
