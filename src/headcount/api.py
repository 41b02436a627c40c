"""The two calls that make a release."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

from headcount.engines import DEFAULT_MEMORY, Session
from headcount.errors import EngineError, LedgerError, SettingsError, SourceError
from headcount.inputs import Request, SourceName, TableLike, check_named, open_source
from headcount.inputs.unit import Unit
from headcount.ledger.charge import Charge
from headcount.ledger.ledger import Ledger
from headcount.ledger.names import public_name
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.mechanisms import DEFAULT, Mechanism, Options, Progress, mechanism
from headcount.privacy.randomness import Entropy, OsEntropy, SeededEntropy
from headcount.results.release import Guarantee, Release, build_release
from headcount.views.engine_view import EngineView
from headcount.views.histogram import check_columns, table_of, top_of_histogram

#: What ``--columns`` and ``columns=`` accept.
COLUMNS = ("standard", "all")

#: A ledger, the path of one, or its ``postgres://…`` URL.
LedgerName: TypeAlias = Ledger | str | PathLike[str]


def _silent(message: str) -> None:
    pass


def release(
    source: SourceName | TableLike,
    *,
    user: str,
    item: str | Sequence[str],
    budget: Budget,
    table: str | None = None,
    sql: str | None = None,
    engine: str | None = None,
    spark_conf: Mapping[str, str] | None = None,
    method: str = DEFAULT,
    relative_error: float | None = None,
    candidates: int | None = None,
    max_items_per_user: int | None = None,
    columns: str = "standard",
    memory: str = DEFAULT_MEMORY,
    ledger: LedgerName | None = None,
    dataset: str | None = None,
    data_version: str | None = None,
    again: bool = False,
    unsafe_seed: int | None = None,
    progress: Progress = _silent,
) -> Release:
    """Release how many distinct users have each item, with differential privacy.

    Formal guarantee: the result is (``budget.epsilon``, ``budget.delta``)-DP and
    ``budget.delta``-approximate ``budget.rho``-CDP for one user's rows, added or removed.

    Args:
        source: a path or glob of Parquet, CSV or JSON lines files, a DuckDB or SQLite file, a
            pandas or Polars data frame, a PyArrow table, a Spark data frame, an Ibis table of
            any backend, or the URL of a server: ``postgres://…``, ``spark://…``.
        user: the column that identifies the user.
        item: the column, or columns, whose values are counted.
        budget: what may be spent.
        table: the table of a database or catalog.
        sql: a single SELECT on a database, instead of a table.
        engine: what reads files: ``"duckdb"`` if not given, ``"polars"`` or ``"spark"``.
        spark_conf: settings for a Spark that is started for this.
        method: ``"auto"`` chooses, under the same privacy, between ``"pcr"``, which needs the
            histogram only, and ``"rationed"``; ``"pcr-paper"`` has the settings of the paper;
            ``"threshold"`` is for those who know ``max_items_per_user``.
        relative_error: r, the error to aim at for each count; 0.1 if not given.
        candidates: k̄, how many of the most frequent items ``"pcr"`` considers; chosen under the
            same privacy if not given.
        max_items_per_user: for ``"threshold"``, how many items of a user count. If somebody has
            more, counts are too low; the guarantee holds all the same.
        columns: ``"all"`` adds ``noisy_count`` and ``noisy_std_error``, the counts before
            anything was estimated from them.
        memory: what the embedded engine may use before it spills to disk.
        ledger: what the release is charged to, before anybody sees it.
        dataset: whose budget it is charged to; a name that the ledger knows.
        data_version: a name for the state that the data is in, such as a date. The same question
            about the same version is answered with the release of before, at no cost; without a
            version every question is a new one, and is charged.
        again: whether to count and to pay once more for a question that was answered before.
        unsafe_seed: makes the run reproducible, for experiments, and **not private**.
        progress: called with what is being done.

    Raises:
        InputError: what was asked for cannot be done; nothing was spent.
        EngineError: the engine failed; nothing was released.
        LedgerError: the ledger refused the release or failed; nothing was released.
    """
    _check_budget(budget)
    options = Options(relative_error, candidates, max_items_per_user)
    chosen = mechanism(method).of(options, budget)
    _check_columns(columns)
    entropy = _entropy(unsafe_seed)
    items = _listed(item)
    request = Request(table, sql, engine, spark_conf or {}, columns=[user, *items], user=user)
    version = _version(data_version, ledger)
    asked = _asked(
        source, chosen, budget, table=table, sql=sql, user=user, item=items, columns=columns
    )
    charge = Charge(
        ledger, dataset, budget, {**asked, "data_version": version}, private=entropy.private
    )
    answer = charge.answer(source, engine, spark_conf or {}, again=again)
    if answer is not None:
        return answer
    with Session(memory) as session:
        # All that can fail without data fails before anything is reserved.
        check_named(source, request)
        _try_out(entropy)
        charge.reserve(None if sql is not None else user)
        with charge.returned_if_it_fails():
            progress("opening the source")
            events = open_source(session, source, request)
            check_columns(events, user, items)
            charge.ensure_counted_by(events.counted_by(user))
            guarantee = Guarantee.of(
                budget, method=chosen.name, private=entropy.private, unit=events.unit
            )
            view = EngineView(events, user, items)
        with charge.while_reading(chosen_rows=sql is not None or events.unit is not Unit.USER):
            run = chosen.prepare(view, entropy, progress)
        with charge.spent_if_it_fails():
            return charge.settled(build_release(run(), guarantee, columns))


def release_counts(
    counts: Mapping[Any, int] | TableLike,
    *,
    budget: Budget,
    item: str | Sequence[str] | None = None,
    count: str = "count",
    minimum: int = 1,
    users: int | None = None,
    method: str = DEFAULT,
    relative_error: float | None = None,
    candidates: int | None = None,
    columns: str = "standard",
    ledger: LedgerName | None = None,
    dataset: str | None = None,
    user: str | None = None,
    unsafe_seed: int | None = None,
    progress: Progress = _silent,
) -> Release:
    """Release counts from a histogram of distinct users that exists already.

    Formal guarantee: as for `release`, **provided** that each count is of distinct users, each
    item stands once, every item that ``minimum`` or more users have is there, and ``users``, if
    given, is the number of all users who were counted: one more user raises it by exactly 1.

    Args:
        counts: a mapping from items to counts, or a table of any kind that `release` takes.
        budget: what may be spent.
        item: the item column or columns of a table; all but the count column if not given.
        count: the column of a table that holds the counts.
        minimum: the smallest count that was kept, if the histogram was cut; 1 if it is whole.
        users: how many users were counted, before any cut and by the same ids; with it, ``"pcr"``
            releases more.
        method: as for `release`; ``"rationed"`` and ``"threshold"`` need events.
        relative_error: as for `release`.
        candidates: as for `release`.
        columns: as for `release`.
        ledger: as for `release`; each call is charged.
        dataset: as for `release`.
        user: with a ledger, the column that identified the users who were counted. A budget
            protects one kind of user, and the ledger refuses another.
        unsafe_seed: as for `release`.
        progress: as for `release`.
    """
    _check_budget(budget)
    chosen = mechanism(method).for_histogram(Options(relative_error, candidates), budget)
    _check_columns(columns)
    if isinstance(minimum, bool) or not isinstance(minimum, int) or minimum < 1:
        raise SourceError("minimum must be a whole number of at least 1")
    if users is not None and (isinstance(users, bool) or not isinstance(users, int) or users < 0):
        raise SourceError("users must be a whole number of at least 0")
    if ledger is not None and user is None:
        raise LedgerError(
            "with a ledger, say which column identified the users who were counted (user=): a "
            "budget protects one kind of user"
        )
    entropy = _entropy(unsafe_seed)
    asked = _asked(counts, chosen, budget, minimum=minimum, user=user)
    charge = Charge(ledger, dataset, budget, asked, private=entropy.private)
    guarantee = Guarantee.of(budget, method=chosen.name, private=entropy.private)
    _try_out(entropy)
    charge.reserve(user)
    with charge.returned_if_it_fails(), Session() as session:
        if isinstance(counts, Mapping):
            counts, item, count = table_of(counts), "item", "count"
        wanted = None if item is None else [count, *_listed(item)]
        histogram = open_source(session, counts, Request(columns=wanted))
        if item is None:
            item = [column for column in histogram.table.columns if column != count]
        items = _listed(item)
        check_columns(histogram, count, items)
        top = top_of_histogram(histogram, count, items, minimum, chosen.histogram_limit, users)
    with charge.spent_if_it_fails():
        made = chosen.on_histogram(top, minimum - 1, entropy, progress)
        return charge.settled(build_release(made, guarantee, columns))


def _check_budget(budget: Budget) -> None:
    if not isinstance(budget, Budget):
        raise TypeError("budget must be a headcount.Budget")


def _asked(source: object, chosen: Mechanism, budget: Budget, **more: object) -> dict[str, object]:
    """Return the question, as a ledger writes it down."""
    numbers = {"rho": budget.rho, "epsilon": budget.epsilon, "delta": budget.delta}
    about = {"source": public_name(source), "method": chosen.name, "settings": chosen.to_dict()}
    return {**about, "budget": numbers, **more}


def _check_columns(columns: str) -> None:
    if columns not in COLUMNS:
        raise SettingsError(f"columns must be one of: {', '.join(COLUMNS)}")


def _version(data_version: str | None, ledger: object) -> str | None:
    if data_version is None:
        return None
    if ledger is None:
        raise SettingsError("a version of the data goes with a ledger, which knows what was asked")
    if not isinstance(data_version, str) or not data_version.strip():
        raise SettingsError("a version of the data is a text of your choice, such as a date")
    return data_version


def _try_out(entropy: Entropy) -> None:
    try:
        entropy.try_out()
    except Exception as error:
        raise EngineError(
            "noise cannot be drawn: OpenDP, which samples it, does not work here "
            f"({type(error).__name__}); install it again. Nothing was spent"
        ) from None


def _entropy(unsafe_seed: int | None) -> Entropy:
    if unsafe_seed is None:
        return OsEntropy()
    if isinstance(unsafe_seed, bool) or not isinstance(unsafe_seed, int) or unsafe_seed < 0:
        raise SettingsError("a seed must be a whole number of at least 0")
    return SeededEntropy(unsafe_seed)


def _listed(item: str | Sequence[str]) -> list[str]:
    items = [item] if isinstance(item, str) else item
    if not isinstance(items, list | tuple) or not all(isinstance(name, str) for name in items):
        raise SourceError("item must be the name of a column, or a list of names")
    return list(items)
