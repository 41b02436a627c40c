"""The call that makes a forecast, with checks of its arguments."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING

from headcount.engines.layout import InputFormat
from headcount.errors import SettingsError
from headcount.inputs import SourceName, TableLike
from headcount.pipeline import silent
from headcount.planning.forecast import Forecast
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.mechanisms import Options, Progress, mechanism
from headcount.question import DEFAULT_METHOD, Method, budget_of, column_names

if TYPE_CHECKING:
    from headcount.evaluation.standin import Shape

#: The shapes used when nothing is guessed: users, items per user, and items in all.
TYPICAL = ((1000, 20, 1000), (10_000, 20, 5000), (100_000, 10, 10_000))


def plan(
    *,
    budget: Budget | None = None,
    epsilon: float | None = None,
    rho: float | None = None,
    delta: float | None = None,
    users: int | None = None,
    items_per_user: float | None = None,
    items: int | None = None,
    like: SourceName | TableLike | None = None,
    user: str | None = None,
    item: str | Sequence[str] | None = None,
    table: str | None = None,
    sql: str | None = None,
    input_format: InputFormat | None = None,
    delimiter: str | None = None,
    method: Method = DEFAULT_METHOD,
    relative_error: float | None = None,
    candidates: int | None = None,
    max_items_per_user: int | None = None,
    progress: Progress = silent,
) -> Forecast:
    """Forecast what a release will give, from a guess or from data that is not secret.

    The method is simulated on a stand-in, with seeded noise. Nothing is charged, and the forecast
    is not a release: it does not protect what ``like`` holds.

    Args:
        budget: what the release may spend; or give one of the next two.
        epsilon: as for `release`.
        rho: as for `release`.
        delta: as for `release`.
        users: a guess of how many users there are; needs the next two as well.
        items_per_user: a guess of how many different items a user has, on average.
        items: a guess of how many different items there are.
        like: instead of a guess, data that is like yours and **not secret**: made up, or public.
            Any source that `release` accepts, except Spark.
        user: the column of ``like`` that identifies the user.
        item: its column, or columns, whose values are counted.
        table: its table, if it is a database.
        sql: a single SELECT on a database, instead of a table.
        input_format: as for `release`.
        delimiter: as for `release`.
        method: as for `release`.
        relative_error: as for `release`.
        candidates: as for `release`.
        max_items_per_user: as for `release`.
        progress: called with a text about each step.

    Raises:
        InputError: the arguments are invalid, or the stand-in cannot be read.
    """
    budget = budget_of(budget, rho=rho, epsilon=epsilon, delta=delta)
    options = Options(relative_error, candidates, max_items_per_user)
    mechanism(method).of(options, budget)  # refuses impossible options before anything is read
    guessed = any(value is not None for value in (users, items_per_user, items))
    told = (like, user, item, table, sql, input_format, delimiter)
    given = any(value is not None for value in told)
    if guessed and given:
        raise SettingsError(
            "a forecast starts from a guess (--users, users=) or from a stand-in (--like, "
            "like=), not both"
        )
    # Imported only here, as no release needs it.
    from headcount.evaluation.dataset import read_dataset
    from headcount.planning.simulation import Planner

    planner = Planner(budget, method, options, progress)
    users, items = _plain(users), _plain(items)
    if guessed:
        if users is None or items_per_user is None or items is None:
            raise _missing("a guess", users=users, items_per_user=items_per_user, items=items)
        return planner.from_guess(_shape(users, items_per_user, items, max_items_per_user))
    if not given:
        raise SettingsError(
            "a forecast needs a guess (--users, --items-per-user and --items; users=, "
            "items_per_user= and items=), or data that is not secret (--like, like=)"
        )
    if like is None or user is None or item is None:
        raise _missing("a stand-in", like=like, user=user, item=item)
    progress("reading the stand-in")
    return planner.from_stand_in(
        read_dataset(
            like,
            user=user,
            item=column_names(item),
            table=table,
            sql=sql,
            input_format=input_format,
            delimiter=delimiter,
        )
    )


def typical_forecasts(
    budget: Budget, method: Method, options: Options, progress: Progress
) -> list[Forecast]:
    """Forecast what a release gives on data of a few typical shapes."""
    from headcount.planning.simulation import Planner

    planner = Planner(budget, method, options, progress)
    bound = options.max_items_per_user
    return [
        planner.from_guess(_shape(users, min(mean, bound or mean), items, bound), others=())
        for users, mean, items in TYPICAL
    ]


def _plain(number: int | None) -> int | None:
    """Return a whole number of another library as Python's own."""
    whole = isinstance(number, Integral) and not isinstance(number, bool)
    return int(number) if number is not None and whole else number


def _shape(users: int, items_per_user: float, items: int, bound: int | None) -> "Shape":
    """Return a guess, with the bound unless the mean exceeds it."""
    from headcount.evaluation.standin import Shape

    guess = Shape(users, items_per_user, items)
    return guess if bound is None or items_per_user > bound else replace(guess, most_per_user=bound)


def _missing(what: str, **parts: object) -> SettingsError:
    """Return the error for missing parts, naming each as an option and as an argument."""
    named = {name: f"--{name.replace('_', '-')} ({name}=)" for name in parts}
    missing = ", ".join(named[name] for name, value in parts.items() if value is None)
    *others, last = named.values()
    return SettingsError(f"{what} needs {', '.join(others)} and {last}; missing: {missing}")
