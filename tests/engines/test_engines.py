"""One body for all engines: the same release, up to noise, wherever the data is."""

import datetime
import sqlite3
from decimal import Decimal

import duckdb
import ibis
import polars
import pyarrow as pa
import pytest

import headcount
from headcount.engines.postgres.count import Postgres
from headcount.engines.spark.count import Spark
from tests.engines.servers import ENGINES

BUDGET = headcount.Budget(rho=20.0)
TYPED = [engine for engine in ENGINES if engine != "sqlite"]  # SQLite has no such types

# Items that a collation, a trim or a normalisation would take for one another.
ALIKE = [
    "a",
    "A",
    "a ",
    " a",
    "ä",
    "a\u0308",
    "Ä",
    "ss",
    "ß",
    "",
    " ",
    "ﬁ",
    "fi",
    "🙂",
    "a\tb",
    "'",
    '"',
    "\\",
]


def table_of(items, people=60, kind=None):
    """Item number n has `people − n` users; each user has each item twice."""
    rows = [
        (f"u{person}", item) for n, item in enumerate(items) for person in range(people - n)
    ] * 2
    users, values = zip(*rows, strict=True)
    return pa.table({"who": pa.array(users), "what": pa.array(values, kind)})


def released(call, **changes):
    """Release as a user would; by `pcr` too, which must find the same items."""
    call = {"user": "who", "item": "what", "budget": BUDGET, "unsafe_seed": 4, **call, **changes}
    source = call.pop("source")
    release = headcount.release(source, **call)
    if "method" not in call and "candidates" not in call:
        one_pass = headcount.release(source, **call, method="pcr")
        assert items_of(release).equals(items_of(one_pass))
    return release


def items_of(release):
    items = release.table.column_names[:-4]  # before the count, its error and its interval
    return polars.from_arrow(release.table.select(items)).sort(items)


@pytest.mark.parametrize("engine", ENGINES)
def test_text_is_compared_byte_by_byte(engine, on_engine):
    table = table_of(ALIKE)
    ours = released(on_engine(engine, table))
    assert sorted(ours.table["what"].to_pylist()) == sorted(ALIKE)
    assert ours.table.equals(released({"source": table}).table)


@pytest.mark.parametrize("engine", ENGINES)
def test_null_users_and_items_are_left_out_and_rows_counted_once(engine, on_engine):
    table = table_of(["x", "y"])
    nulls = pa.table({"who": [None, "u1", None] * 50, "what": ["x", None, None] * 50})
    with_nulls = pa.concat_tables([table, nulls.cast(table.schema)])
    assert released(on_engine(engine, with_nulls)).table.equals(released({"source": table}).table)


@pytest.mark.parametrize("engine", ENGINES)
def test_ties_at_the_cut_are_broken_alike(engine, on_engine):
    """Six items with the same count, of which two are candidates: by their bytes."""
    items = ["é", "b", "B", "a", "Z", "_"]
    rows = [(f"u{n}", item) for item in items for n in range(40)]
    more = [(f"u{n}", "most") for n in range(90)]
    users, values = zip(*rows, *more, strict=False)
    table = pa.table({"who": list(users), "what": list(values)})
    from headcount.engines.session import Session
    from headcount.inputs import Request, open_source
    from headcount.views.histogram import count_distinct_users

    call = on_engine(engine, table)
    with Session() as session:
        request = Request(call.get("table"), engine=call.get("engine"))
        events = open_source(session, call["source"], request)
        top = count_distinct_users(events, "who", ["what"], 4)
    assert top.items["what"].to_pylist() == ["most", "B", "Z", "_"]
    assert top.counts.to_pylist() == [90, 40, 40, 40]


@pytest.mark.parametrize("engine", ENGINES)
def test_large_integers_keep_their_value(engine, on_engine):
    numbers = [2**53, 2**53 + 1, 2**63 - 1, -(2**63), 0]
    table = table_of(numbers, kind=pa.int64())
    ours = released(on_engine(engine, table))
    assert sorted(ours.table["what"].to_pylist()) == sorted(numbers)


@pytest.mark.parametrize("engine", TYPED)
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.date32(), [datetime.date(1582, 10, 4), datetime.date(2026, 2, 28)]),
        (pa.timestamp("us"), [datetime.datetime(2026, 1, 1, 0, 0, 0, n) for n in (1, 2)]),
        (pa.decimal128(30, 4), [Decimal("12345678901234567890.0001"), Decimal("0.0002")]),
        (pa.binary(), [b"\x00\xff", b"\x00"]),
        (pa.bool_(), [True, False]),
    ],
    ids=str,
)
def test_items_of_other_types_keep_their_value(engine, kind, values, on_engine):
    ours = released(on_engine(engine, table_of(values, kind=kind)))
    assert sorted(ours.table["what"].to_pylist()) == sorted(values)


@pytest.mark.parametrize("engine", ENGINES)
def test_several_item_columns(engine, on_engine):
    table = table_of(["x", "y"]).append_column("where", pa.array(["d", "e"] * 119))
    ours = released(on_engine(engine, table), item=["where", "what"])
    assert ours.table.column_names[:2] == ["where", "what"]
    assert ours.table.equals(released({"source": table}, item=["where", "what"]).table)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_without_rows_is_no_error(engine, on_engine):
    ours = released(on_engine(engine, table_of(["x"]).slice(0, 0)))
    assert len(ours) == 0
    assert ours.spent == released({"source": table_of(["x"]).slice(0, 1)}).spent


@pytest.mark.parametrize("engine", ENGINES)
def test_a_missing_column_is_named(engine, on_engine):
    call = on_engine(engine, table_of(["x"]))
    with pytest.raises(
        headcount.SourceError, match=r"no column 'whom'; the columns are: 'who', 'what'"
    ):
        released(call, user="whom")


@pytest.mark.parametrize("engine", ENGINES)
def test_no_more_than_the_candidates_and_one_row_are_fetched(engine, on_engine, monkeypatch):
    from headcount.views import coded_population, histogram

    fetched = []
    cut = histogram.TopCounts

    def counting(items, counts):
        fetched.append((items.num_rows, len(counts)))
        return cut(items, counts)

    monkeypatch.setattr(histogram, "TopCounts", counting)
    monkeypatch.setattr(coded_population, "TopCounts", counting)
    released(on_engine(engine, table_of(ALIKE)), candidates=3)
    assert fetched == [(4, 4)]


@pytest.mark.parametrize("engine", ["sqlite", "duckdb file"])
def test_a_collation_of_the_database_merges_nothing(engine, tmp_path):
    """GROUP BY would return any one person's spelling."""
    items = ["apple", "aPpLe", "APPLE"]
    rows = [(f"{u}{n}", item) for item in items for u in "xX" for n in range(40)]
    source = tmp_path / f"events.{engine.partition(' ')[0]}"
    module = sqlite3 if engine == "sqlite" else duckdb
    connection = module.connect(str(source))
    connection.execute("CREATE TABLE t (who TEXT COLLATE NOCASE, what TEXT COLLATE NOCASE)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    connection.commit()
    connection.close()
    table = pa.table({"who": [u for u, _ in rows], "what": [i for _, i in rows]})
    ours = released({"source": source, "table": "t"})
    assert sorted(ours.table["what"].to_pylist()) == sorted(items)
    assert ours.table.equals(released({"source": table}).table)


@pytest.mark.parametrize("method", ["pcr-paper", "rationed"])
@pytest.mark.parametrize(
    ("engine", "function", "keeps"),
    [("postgres", "CONVERT_TO(", "materialise"), ("spark", "BINARY(", "group_users")],
)
def test_a_server_groups_text_by_its_bytes(engine, function, keeps, on_engine, monkeypatch, method):
    """Collations that take texts for the same are not in every build of these servers."""
    queries, step = [], "run" if method == "pcr-paper" else keeps
    kind = {"postgres": Postgres, "spark": Spark}[engine]
    does = getattr(kind, step)
    monkeypatch.setattr(
        kind,
        step,
        lambda self, query, *more: queries.append(query) or does(self, query, *more),
    )
    released(on_engine(engine, table_of(["x"])), method=method)
    dialect = "pyspark" if engine == "spark" else engine
    sql = str(ibis.to_sql(queries[0], dialect=dialect)).upper()
    assert sql.count(function) == 2


@pytest.mark.parametrize("engine", ["duckdb", "duckdb file", "polars", "spark"])
def test_zero_and_not_a_number_have_one_look(engine, on_engine):
    """−0.0 equals 0.0, so that GROUP BY might return the sign of one person's zero."""
    values = [-0.0] + [0.0] * 40 + [float("nan")] * 30
    table = pa.table({"who": [f"u{n}" for n in range(71)], "what": values})
    found = released(on_engine(engine, table)).table["what"].to_pylist()
    # Through Ibis, Spark takes NaN for NULL.
    assert sorted(map(str, found)) == (["0.0"] if engine == "spark" else ["0.0", "nan"])


@pytest.mark.parametrize("engine", ["duckdb", "polars"])  # others have no columns without a type
@pytest.mark.parametrize("rows", [0, 9])
def test_a_column_of_nothing_but_null_has_no_items(engine, rows, on_engine):
    table = pa.table({"who": pa.array([f"u{n}" for n in range(rows)], "string")})
    ours = released(on_engine(engine, table.append_column("what", pa.nulls(rows))))
    assert ours.table["what"].to_pylist() == []
    assert ours.table["what"].type == pa.string()


def test_a_query_for_null_has_no_items(tmp_path):
    source = tmp_path / "events.duckdb"
    duckdb.connect(str(source)).close()
    assert len(released({"source": source, "sql": "SELECT 'u' AS who, NULL AS what"})) == 0


@pytest.mark.parametrize("rows", [0, 60])
def test_decimals_too_long_for_polars_are_refused_with_or_without_rows(rows, on_engine):
    table = table_of([Decimal("9" * 50)], kind=pa.decimal256(60, 0)).slice(0, rows)
    with pytest.raises(headcount.SourceError, match="no decimals of more than 38 digits"):
        released(on_engine("polars", table))


# Values that Python has none for, and one that is plain; none may be an error only because its
# count is among the highest.
FAR = {
    "date32": (pa.date32(), 2**31 - 1),
    "timestamp of milliseconds": (pa.timestamp("ms"), 2**53),
    "timestamp of microseconds": (pa.timestamp("us"), 2**62),
    "timestamp with a zone": (pa.timestamp("us", "UTC"), -(2**62)),
    "time of day": (pa.time64("us"), 86_400_000_000),
}


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize("name", FAR)
def test_far_values_are_no_error_whatever_their_rank(engine, name, on_engine):
    kind, far = FAR[name]
    for most, least in ((far, 5), (5, far)):
        users = [f"u{n}" for n in range(90)]
        table = pa.table({"who": [*users, "u1"], "what": pa.array([most] * 90 + [least], kind)})
        # DuckDB, which keeps pairs for Polars, refuses times of day in nanoseconds before 1.5.
        method = "pcr-paper" if (engine, name) == ("polars", "time of day") else "pcr"
        found = released(on_engine(engine, table), candidates=1, method=method)
        # Polars reads what is no time of day as NULL, since 2.0.
        read_as_null = (engine, name, most) == ("polars", "time of day", far)
        assert len(found) == (0 if read_as_null and polars.__version__ >= "2" else 1)


def test_a_panic_of_rust_is_an_error_without_its_message():
    from headcount.engines.guard import opening, running

    class PanicException(BaseException):  # as pyo3's is
        pass

    def panic():
        raise PanicException("somebody's value")

    for guarded in (opening, running):
        with pytest.raises(headcount.HeadcountError, match=r"\(PanicException\)$") as caught:
            guarded(panic, "it cannot be read")
        assert "somebody" not in str(caught.value)
        assert caught.value.__context__ is None


def test_what_is_no_error_goes_through_the_wall():
    from headcount.engines.guard import running

    def interrupted():
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        running(interrupted, "it cannot be read")
