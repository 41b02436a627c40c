"""What is asked: everything that a release depends on, as one frozen value.

The Python call and the command line build a question, the pipeline answers it, the ledger writes it
down, and it can be kept as JSON. How it is answered (under which ledger, with how much memory) is
not part of it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, cast, get_args

from headcount.engines.layout import InputFormat, Layout
from headcount.errors import BudgetError, SettingsError, SourceError
from headcount.inputs import Request, SourceName, TableLike
from headcount.inputs.calendar import DayRange
from headcount.inputs.known import KnownItems, read_known_items
from headcount.inputs.periods import Period, Periods, Protect, periods_of
from headcount.inputs.where import parsed
from headcount.privacy.accounting.budget import DEFAULT_DELTA, Budget
from headcount.privacy.mechanisms import DEFAULT, Known, Mechanism, Options, mechanism
from headcount.privacy.mechanisms.further import Aggregates, Further, Totals
from headcount.results.canonical import strict_json
from headcount.results.provenance import Asked
from headcount.results.rows import RowLimits
from headcount.views.histogram import NOISY_COLUMNS, RESULT_COLUMNS, check_names

if TYPE_CHECKING:
    import pyarrow as pa

#: The form in which questions are written today.
FORMAT = "headcount-question-1"

#: What ``method=`` accepts, apart from mechanisms that were registered from outside.
Method = Literal["auto", "pcr", "pcr-paper", "pcr-noise-reduction", "rationed", "threshold"]
#: What ``between=`` accepts as a day: a date, or text such as ``"2026-03-31"``.
Day: TypeAlias = str | date
#: What ``columns=`` accepts.
Columns = Literal["standard", "all"]
#: What ``count=`` accepts: what is counted besides users.
Count = Literal["rows"]
DEFAULT_METHOD = cast("Method", DEFAULT)


@dataclass(frozen=True, kw_only=True)
class Question:
    """How many distinct users have each item of a table of events.

    The parameters are those of `headcount.release`, which describes them. A question that can be
    built is valid, apart from what only the data can show.

    Raises:
        InputError: something in it has no meaning, or is outside its range.
    """

    source: SourceName | TableLike = field(hash=False, repr=False)  # it may contain a password
    user: str
    budget: Budget
    item: str | Sequence[str] = ()
    per: str | Sequence[str] = ()
    table: str | None = None
    sql: str | None = None
    where: str | None = None
    items_from: SourceName | TableLike | Sequence[Any] | None = field(
        default=None, hash=False, repr=False
    )
    input_format: InputFormat | None = None
    delimiter: str | None = None
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
    between: tuple[Day, Day] | None = None
    protect: Protect = "user"
    columns: Columns = "standard"
    data_version: str | None = None
    total: bool = False
    other: bool = False
    count: Count | None = None
    sum: str | Sequence[str] = ()
    mean: str | Sequence[str] = ()
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)
    max_rows_per_user_item: int | None = None

    def __post_init__(self) -> None:
        check_budget(self.budget)
        if not all(isinstance(asked, bool) for asked in (self.total, self.other)):
            raise SettingsError("total and other must be True or False")
        if self.other and (self.min_users is not None or self.top is not None):
            raise SettingsError(
                "--other cannot be combined with --top or --min-users (other=, top=, min_users=): "
                "it counts users of items that are not listed, and these change which are listed"
            )
        object.__setattr__(self, "sum", column_names(self.sum))
        object.__setattr__(self, "mean", column_names(self.mean))
        object.__setattr__(self, "bounds", _limits_of(self.bounds))
        if self.count not in (None, *get_args(Count)):
            raise SettingsError("users are always counted; count='rows' counts rows as well")
        check_result_columns(self.columns)
        object.__setattr__(self, "item", column_names(self.item))
        object.__setattr__(self, "per", column_names(self.per))
        if isinstance(self.by, list):  # as JSON has it
            object.__setattr__(self, "by", tuple(self.by))
        if self.between is not None:
            days = tuple(DayRange.of(self.between).to_list())
            object.__setattr__(self, "between", days)
        _ = self.mechanism
        object.__setattr__(self, "spark_conf", dict(self.spark_conf))
        if self.items_from is not None and self.only_public_days:
            raise SettingsError(
                "the range already lists the periods, and there is no item column to list "
                "values of: leave out --items-from (items_from=) or --between (between=)"
            )
        if self.items_from is not None and not isinstance(self.items_from, str | PathLike):
            object.__setattr__(self, "items_from", self._read_list())
        if not all(isinstance(text, str | None) for text in (self.table, self.sql)):
            raise SourceError("table must be the name of a table, and sql must be text")
        _ = self.request
        _ = self.row_limits
        named = [name.casefold() for name in (self.user, *self.items)]
        if self.periods is not None and self.periods.period in named:
            raise SourceError(
                f"the first days of periods go into a column called {self.periods.period!r}, so "
                "neither the user column nor an item column can have that name; rename it"
            )
        if not self.counted:
            raise SourceError("name at least one item column, or periods: --by (by=)")
        check_names(self.user, self.items)
        if self.periods is not None and (self.known_items is not None or self.only_public_days):
            self.periods.ensure_countable(1 if self.known_items is None else len(self.known_items))
        self._check_values()
        version = self.data_version
        if version is not None and not (
            isinstance(version, str) and version.strip() and version.isprintable()
        ):
            raise SettingsError(
                "a version of the data is a text of your choice, on one line, such as a date"
            )

    def _check_values(self) -> None:
        """Refuse columns of numbers, and names of results, that clash with others."""
        asked = self.further.aggregates
        if self.user in asked.columns:
            raise SourceError("the user column identifies people, so it cannot be summed")
        if self.periods is not None and self.periods.period in map(str.casefold, asked.columns):
            raise SourceError(
                f"the first days of periods go into a column called {self.periods.period!r}, so a "
                "column that is added up cannot have that name; rename it"
            )
        names = [*self.counted, *RESULT_COLUMNS, *NOISY_COLUMNS]
        for name in names:
            if name.casefold() in map(str.casefold, asked.column_names):
                raise SourceError(
                    f"an item column cannot be called {name!r}, which is a column of the result; "
                    "rename it"
                )

    @property
    def asked(self) -> Asked:
        """Which rows and items are asked for, as a release states it."""
        days = None if self.between is None else list(map(str, self.between))
        listed = None if self.known_items is None else self.known_items.to_dict()
        return Asked(where=self.where, sql=self.sql, between=days, items_from=listed)

    @property
    def items(self) -> list[str]:
        """The columns whose values are counted, those of segments first."""
        return [*self.per, *self.item]

    @property
    def periods(self) -> Periods | None:
        """In which periods users are counted, and what is protected; None if there are none."""
        return periods_of(self.by, self.timezone, self.protect, self.between)

    @property
    def counted(self) -> list[str]:
        """The columns that make an item of the result: those that were named, and the period."""
        return self.items + ([] if self.periods is None else [self.periods.period])

    @property
    def mechanism(self) -> Mechanism:
        """What will find and count items, with its parameters and its share of the budget."""
        options = Options(self.relative_error, self.candidates, self.max_items_per_user)
        budget = self.budget.part(1 - self.further.share)
        if self.items_from is not None or self.only_public_days:
            if self.method != DEFAULT_METHOD:
                raise SettingsError(
                    "a list of items, or of days, has its own method: leave out the method"
                )
            return Known.of(options, budget)
        return mechanism(self.method).of(options, budget)

    @property
    def further(self) -> Further:
        """What is asked besides the counts."""
        aggregates = Aggregates(
            self.count == "rows",
            tuple(self.sum),
            tuple(self.mean),
            self.bounds,
            self.max_rows_per_user_item,
        )
        return Further(Totals(self.total, self.other), aggregates)

    @property
    def values(self) -> list[str] | None:
        """The columns of numbers that are read besides the items; None if pairs are enough."""
        asked = self.further.aggregates
        return list(asked.columns) if asked else None

    @property
    def row_limits(self) -> RowLimits:
        """Which rows of the release are kept."""
        return RowLimits(self.min_users, self.top, tuple(self.per))

    @property
    def known_items(self) -> KnownItems | None:
        """The public list of items, if there is one; after `with_list_read`."""
        return self.items_from if isinstance(self.items_from, KnownItems) else None

    def with_list_read(self) -> Self:
        """Return the question with its list of items read, if that is in a file."""
        if self.items_from is None or self.known_items is not None:
            return self
        return replace(self, items_from=self._read_list())

    @property
    def only_public_days(self) -> bool:
        """Whether only periods are counted, and a range says which there are."""
        return self.between is not None and not self.items

    def _read_list(self) -> KnownItems:
        """Read the list of items; it names the periods too, unless a range does."""
        periods = self.periods
        if periods is None or periods.between is not None:
            return read_known_items(self.items_from, self.items, self.source)
        return read_known_items(self.items_from, self.counted, self.source, periods.period)

    def listed(self, schema: Any) -> "tuple[pa.Table | None, int | None]":  # noqa: ANN401
        """Return what comes out, if that is public, and the most of it that one user can have.

        Args:
            schema: the Ibis schema of the events.
        """
        known, periods = self.known_items, self.periods
        listed = None if known is None else known.with_types_of(schema)
        if periods is None or (listed is None and not self.only_public_days):
            return listed, None
        return periods.of_each(listed)

    @property
    def request(self) -> Request:
        """What has to be read."""
        where = None if self.where is None else parsed(self.where)
        times = [] if self.periods is None else [self.periods.column]
        numbers = self.values or ()
        named = [self.user, *self.items, *times, *numbers, *(where.columns if where else ())]
        # What is given as the user may not be a name at all; that is refused where it is read.
        columns = [name for place, name in enumerate(named) if name not in named[:place]]
        return Request(
            self.table,
            self.sql,
            self.engine,
            self.spark_conf,
            columns=columns,
            user=self.user,
            where=where,
            layout=Layout(self.input_format, self.delimiter),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain values, with its format.

        An address is written as it was given, including any password in it.
        """
        if not isinstance(self.source, str | PathLike):
            raise SourceError("a question about a table in memory cannot be written down")
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        plain: dict[str, Any] = {
            "source": fspath(self.source),
            "item": list(self.item),
            "budget": self.budget.given,
        }
        plain |= {name: list(getattr(self, name)) for name in ("per", "sum", "mean")}
        plain["bounds"] = {column: list(limits) for column, limits in self.bounds.items()}
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
        _require(given, ("source", "user", "budget"), "a question")
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


def column_names(item: str | Sequence[str]) -> tuple[str, ...]:
    """Return the columns that were given, as one name or as several."""
    items = [item] if isinstance(item, str) else item
    if not isinstance(items, list | tuple) or not all(isinstance(name, str) for name in items):
        raise SourceError("item must be the name of a column, or a list of names")
    return tuple(items)


def _limits_of(bounds: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, float]]:
    """Return bounds by column; anything but a pair of numbers is refused later, with the rest."""
    if not isinstance(bounds, Mapping):
        raise SettingsError("bounds are given by column, as in bounds={'amount': (0, 1000)}")
    return {column: _as_floats(limits) for column, limits in bounds.items()}


def _as_floats(limits: Sequence[float]) -> tuple[float, float]:
    """Return limits as the floats that values are compared with; others are refused later."""
    try:
        given = tuple(limits)
    except TypeError:
        return limits  # type: ignore[return-value]
    plain = all(isinstance(limit, int | float) and not isinstance(limit, bool) for limit in given)
    try:
        return tuple(map(float, given)) if plain else given  # type: ignore[return-value]
    except OverflowError:
        return given  # type: ignore[return-value]


def budget_of(
    budget: Budget | None, *, rho: float | None, epsilon: float | None, delta: float | None
) -> Budget:
    """Return the budget that was given, whole or as the numbers that make one."""
    if budget is None:
        return Budget(rho=rho, epsilon=epsilon, delta=DEFAULT_DELTA if delta is None else delta)
    check_budget(budget)
    if any(number is not None for number in (rho, epsilon, delta)):
        raise BudgetError("give a budget, or rho or epsilon and perhaps delta, but not both")
    return budget


def check_budget(budget: Budget) -> None:
    """Refuse what is not a budget."""
    if not isinstance(budget, Budget):
        raise TypeError("budget must be a headcount.Budget")


def check_result_columns(columns: str) -> None:
    """Refuse what ``columns=`` does not accept."""
    if columns not in get_args(Columns):
        raise SettingsError(f"columns must be one of: {', '.join(get_args(Columns))}")


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
