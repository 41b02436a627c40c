"""The two calls that make a release: every argument of a question, and how it is answered."""

from collections.abc import Mapping, Sequence
from typing import Any

from headcount.engines import DEFAULT_MEMORY, CancelToken
from headcount.engines.layout import InputFormat
from headcount.histogram_question import HistogramQuestion
from headcount.inputs import SourceName, TableLike
from headcount.inputs.periods import Period, Protect
from headcount.pipeline import LedgerName, ask, ask_of_histogram, silent
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.mechanisms import Progress
from headcount.question import (
    DEFAULT_METHOD,
    Columns,
    Count,
    Day,
    Method,
    Question,
    budget_of,
)
from headcount.results.release import Release


def release(
    source: SourceName | TableLike,
    *,
    user: str,
    item: str | Sequence[str] = (),
    budget: Budget | None = None,
    epsilon: float | None = None,
    rho: float | None = None,
    delta: float | None = None,
    per: str | Sequence[str] = (),
    table: str | None = None,
    sql: str | None = None,
    where: str | None = None,
    items_from: SourceName | TableLike | Sequence[Any] | None = None,
    input_format: InputFormat | None = None,
    delimiter: str | None = None,
    engine: str | None = None,
    spark_conf: Mapping[str, str] | None = None,
    method: Method = DEFAULT_METHOD,
    relative_error: float | None = None,
    candidates: int | None = None,
    max_items_per_user: int | None = None,
    min_users: int | None = None,
    top: int | None = None,
    by: tuple[Period, str] | None = None,
    timezone: str | None = None,
    between: tuple[Day, Day] | None = None,
    protect: Protect = "user",
    total: bool = False,
    other: bool = False,
    count: Count | None = None,
    sum: str | Sequence[str] = (),  # noqa: A002 (as SQL and the command line call it)
    mean: str | Sequence[str] = (),
    bounds: Mapping[str, tuple[float, float]] | None = None,
    max_rows_per_user_item: int | None = None,
    columns: Columns = "standard",
    memory: str = DEFAULT_MEMORY,
    ledger: LedgerName | None = None,
    dataset: str | None = None,
    data_version: str | None = None,
    again: bool = False,
    unsafe_seed: int | None = None,
    progress: Progress = silent,
    cancel: CancelToken | None = None,
) -> Release:
    """Release how many distinct users have each item, with differential privacy.

    Formal guarantee: the result is (``budget.epsilon``, ``budget.delta``)-DP and
    ``budget.delta``-approximate ``budget.rho``-CDP for one user's rows, added or removed; with
    another ``protect``, for one user's rows within one period.

    Issues a `PrivacyWarning`, before anything is read or spent, if the budget promises little, or
    if this process has already released the same source and no ledger adds the releases up.

    Args:
        source: a path or glob of Parquet, Arrow (Feather), CSV or JSON lines files, ``"-"`` for
            stdin, a DuckDB or SQLite file, a pandas or Polars data frame, a PyArrow table, dataset
            or stream, a DuckDB relation, a Spark data frame, an Ibis table of any backend, or the
            URL of a server: ``postgres://…``, ``spark://…``.
        user: the column that identifies the user.
        item: the column, or columns, whose values are counted; without any, ``by`` counts all users
            of each period.
        budget: what may be spent; or give one of the next two instead.
        epsilon: ε of the whole release, as in (ε, δ)-DP.
        rho: ρ of the whole release, as in zCDP.
        delta: δ that goes with ``epsilon`` or ``rho``; 1e-6 if not given.
        per: the column, or columns, of segments: items are released within each segment, and
            ``top`` applies to each.
        table: the table of a database or catalog.
        sql: a single SELECT on a database, instead of a table; or on files, which are then a table
            called ``events``. The release states it, as it does ``where``.
        where: a condition on the columns of a row, such as ``"country = 'DE'"``: other rows are
            left out.
        items_from: a public list of items: a ``.csv`` or ``.parquet`` file with the item columns, a
            table in memory, or values (tuples, for several columns). Exactly these come out,
            including those that nobody has, and no δ is spent on finding them. With ``by``, it also
            names the first day of each period, unless ``between`` gives the periods.
        input_format: the format of stdin, or of files whose ending does not say it:
            ``"parquet"``, ``"arrow"``, ``"csv"``, ``"tsv"`` or ``"json"`` (lines).
        delimiter: what separates the fields of a line of CSV, such as ``";"``; a comma if not
            given, or a tab in TSV.
        engine: what reads files: ``"duckdb"`` if not given, ``"polars"`` or ``"spark"``.
        spark_conf: settings for a Spark session that is started for this release.
        method: ``"auto"`` chooses, under the same privacy, between ``"pcr"``, which needs only the
            histogram, and ``"rationed"``; ``"pcr-paper"`` has the settings of the paper;
            ``"threshold"`` is for those who know ``max_items_per_user``.
        relative_error: r, the error to aim at for each count; 0.1 if not given.
        candidates: k̄, how many of the most frequent items ``"pcr"`` considers; chosen under the
            same privacy if not given.
        max_items_per_user: for ``"threshold"`` and ``items_from``, the most items of a user that
            count. If somebody has more, counts are too low; the guarantee holds either way.
        min_users: leaves out items whose released count is lower. It costs nothing, and saves
            nothing.
        top: keeps only this many of the highest counts. This does not change the cost.
        by: a period and a column of dates or timestamps, such as ``("week", "when")``: users are
            counted within each day, week (from Monday), month or year; a column named after the
            period holds its first day. Rows without a time are left out.
        timezone: the time zone that decides which day a time with a zone falls on, by its IANA
            name; UTC if not given. Times without a zone are taken as they are written.
        between: the first and the last day whose rows count, such as ``("2026-01-01",
            "2026-03-31")``. With it the periods are public: without ``item``, or with
            ``items_from``, exactly its periods come out, and no δ is spent on finding them.
        protect: ``"user"`` protects all rows of a person; ``"user-day"``, ``"user-week"``,
            ``"user-month"`` and ``"user-year"`` only those within one period, which is less.
        total: whether to also release the number of all users who have an item.
        other: whether to also release the number of users who have an item that is not listed.
        count: ``"rows"`` also releases how many rows each item has.
        sum: the column, or columns, whose sum over the rows of each item is also released. Values
            need no bounds. NULL, NaN and infinite values count for nothing.
        mean: the column, or columns, whose mean over the rows of each item is also released.
        bounds: the limits that values of a column are clipped to, as in ``{"amount": (0, 1000)}``,
            if they are known without looking at the data. They make the noise smaller.
        max_rows_per_user_item: the most rows of a user for an item that count in rows, sums and
            means, if such a bound is known. It makes the noise smaller.
        columns: ``"all"`` adds ``noisy_count`` and ``noisy_std_error``, the counts before
            anything was estimated from them.
        memory: how much memory the embedded engine may use before it spills to disk.
        ledger: the ledger that the release is charged to, before anybody sees it.
        dataset: the dataset whose budget it is charged to, by its name in the ledger.
        data_version: a name for the state that the data is in, such as a date. The same question
            about the same version is answered with the earlier release, at no cost; without a
            version, every question is new, and is charged.
        again: whether to count and pay again for a question that has been answered before.
        unsafe_seed: makes the run reproducible, for experiments, and **not private**.
        progress: called with a text about each step. What it raises ends the release before noise
            is drawn, and is ignored from then on: what was paid for is not lost.
        cancel: ends the release when its ``cancel`` is called, from another thread.

    Raises:
        InputError: what was asked for cannot be done; nothing was spent.
        EngineError: the engine failed; nothing was released.
        LedgerError: the ledger refused the release or failed; nothing was released.
        CancelledError: it was cancelled; nothing was released.
    """
    question = Question(
        source=source,
        user=user,
        item=item,
        budget=budget_of(budget, rho=rho, epsilon=epsilon, delta=delta),
        per=per,
        table=table,
        sql=sql,
        where=where,
        items_from=items_from,
        input_format=input_format,
        delimiter=delimiter,
        engine=engine,
        spark_conf=spark_conf or {},
        method=method,
        relative_error=relative_error,
        candidates=candidates,
        max_items_per_user=max_items_per_user,
        min_users=min_users,
        top=top,
        by=by,
        timezone=timezone,
        between=between,
        protect=protect,
        total=total,
        other=other,
        count=count,
        sum=sum,
        mean=mean,
        bounds=bounds or {},
        max_rows_per_user_item=max_rows_per_user_item,
        columns=columns,
        data_version=data_version,
    )
    return ask(
        question,
        ledger=ledger,
        dataset=dataset,
        again=again,
        memory=memory,
        unsafe_seed=unsafe_seed,
        progress=progress,
        cancel=cancel,
    )


def release_counts(
    counts: Mapping[Any, int] | TableLike,
    *,
    budget: Budget | None = None,
    epsilon: float | None = None,
    rho: float | None = None,
    delta: float | None = None,
    item: str | Sequence[str] | None = None,
    count: str = "count",
    minimum: int = 1,
    users: int | None = None,
    method: Method = DEFAULT_METHOD,
    relative_error: float | None = None,
    candidates: int | None = None,
    min_users: int | None = None,
    top: int | None = None,
    columns: Columns = "standard",
    ledger: LedgerName | None = None,
    dataset: str | None = None,
    user: str | None = None,
    unsafe_seed: int | None = None,
    progress: Progress = silent,
    cancel: CancelToken | None = None,
) -> Release:
    """Release counts from a histogram of distinct users that exists already.

    Formal guarantee: as for `release`, **provided** that each count is of distinct users, each
    item appears once, every item that ``minimum`` or more users have is there, and ``users``, if
    given, is the number of all users who were counted: one more user raises it by exactly 1.

    Args:
        counts: a mapping from items to counts, or a table of any kind that `release` takes.
        budget: as for `release`.
        epsilon: as for `release`.
        rho: as for `release`.
        delta: as for `release`.
        item: the item column or columns of a table; all but the count column if not given.
        count: the column of a table that holds the counts.
        minimum: the smallest count that was kept, if the histogram was cut; 1 if it is whole.
        users: how many users were counted, before any cut and by the same ids; with it, ``"pcr"``
            releases more. It must be the exact number: with one that is rounded, estimated or
            always the same, the guarantee does not hold. Counts above it are lowered to it, without
            an error, which would reveal that there are some.
        method: as for `release`; ``"rationed"`` and ``"threshold"`` need events.
        relative_error: as for `release`.
        candidates: as for `release`.
        min_users: as for `release`.
        top: as for `release`.
        columns: as for `release`.
        ledger: as for `release`; each call is charged.
        dataset: as for `release`.
        user: with a ledger, the column that identified the users who were counted. A budget
            protects one kind of user, and the ledger refuses another.
        unsafe_seed: as for `release`.
        progress: as for `release`.
        cancel: as for `release`.
    """
    question = HistogramQuestion(
        counts=counts,
        budget=budget_of(budget, rho=rho, epsilon=epsilon, delta=delta),
        item=item,
        count=count,
        minimum=minimum,
        users=users,
        method=method,
        relative_error=relative_error,
        candidates=candidates,
        min_users=min_users,
        top=top,
        columns=columns,
        user=user,
    )
    return ask_of_histogram(
        question,
        ledger=ledger,
        dataset=dataset,
        unsafe_seed=unsafe_seed,
        progress=progress,
        cancel=cancel,
    )
