"""Once noise is drawn no released value makes anything fail, whatever Python thinks of it."""

import datetime
import decimal

import duckdb
import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pytest

import headcount as hc
from headcount.ledger.published import fingerprint_of_file
from headcount.outputs import FORMATS, render
from headcount.outputs.table import to_table
from headcount.pages import Document, Origin, release_page
from headcount.results.canonical import fingerprint, plain_column
from headcount.results.rows import RowLimits
from tests.outputs.releases import release_of

mpl.use("Agg")

EDGES = [-(2**63) + 1, 2**63 - 1, 0]
ZONES = (None, "UTC", "Europe/Berlin")
ROWS = 4


def _of(numbers, kind):
    return pa.array(numbers, "int32" if kind.bit_width == 32 else "int64").cast(kind)


ODD = {
    "date": _of([2**31 - 1, -(2**31) + 1, 35_804_721, -719_163], pa.date32()),  # ±infinity, BC
    "date in ms": _of([86_400_000 * day for day in (10**9, -(10**9))], pa.date64()),
    **{
        f"stamp in {unit}, {zone}": _of(EDGES, pa.timestamp(unit, zone))
        for unit in ("s", "ms", "us", "ns")
        # pandas holds the last nanoseconds, but cannot show their local time.
        for zone in ZONES[: 2 if unit == "ns" else 3]
    },
    "time in s": _of([86_400, 86_399, -1], pa.time32("s")),
    "time in us": _of([86_400_000_000, 86_399_999_999], pa.time64("us")),
    "time in ns": _of([86_400_000_000_000, 1], pa.time64("ns")),
    "float16": pa.array(np.array([np.nan, np.inf, 6e-8], "float16")),
    "float32": pa.array([float("nan"), 3.4e38, 1e-45], pa.float32()),
    "float64": pa.array([float("nan"), float("inf"), float("-inf"), 5e-324]),
    "decimal": pa.array([decimal.Decimal("9" * 38)], pa.decimal128(38, 0)),
    "small decimal": pa.array([decimal.Decimal(1).scaleb(-38)], pa.decimal128(38, 38)),
    "unsigned": pa.array([2**64 - 1], pa.uint64()),
    "bytes": pa.array([b"\xff\0", b""]),
    "uuid": pa.array([b"\xff" * 16], pa.binary(16)),
    "bool": pa.array([True, False]),
    "text": pa.array(["\0", "\u202e", "infinity", "x" * 70_000]),
    "day": _of([2**31 - 1, 0], pa.date32()),  # the name of a column of periods
}


def repeated(column):
    return column.take(pa.array([n % len(column) for n in range(ROWS)]))


@pytest.fixture(scope="module")
def release():
    return release_of({name: repeated(column) for name, column in ODD.items()})


OUTPUTS = {
    **{name: lambda release, name=name: render(release, name) for name in FORMATS},
    "terminal": lambda release: to_table(release, width=80),
    "page": lambda release: release_page(Document.of_release(release), Origin()),
    "notebook": lambda release: release._repr_html_(),
    "plot": lambda release: release.plot(),
    "pandas": lambda release: repr(release.to_pandas()),
    "polars": lambda release: repr(release.to_polars()),
    "words": lambda release: release.summary(),
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_takes_all_of_them(output, release):
    assert OUTPUTS[output](release)


@pytest.mark.parametrize("column", ODD)
@pytest.mark.parametrize("output", ["terminal", "page", "polars"])
def test_each_may_be_the_only_column(output, column):
    assert OUTPUTS[output](release_of({column: repeated(ODD[column])}))


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_files_still_hold_the_values_that_were_released(form, release, tmp_path):
    path = tmp_path / f"r.{form}"
    path.write_bytes(render(release, form))
    assert fingerprint_of_file(path) == fingerprint(release.table)


def test_data_frames_show_what_python_has_no_value_for_as_text(release):
    pandas, polars = release.to_pandas(), release.to_polars()
    for name in ("date", "stamp in us, None", "stamp in s, UTC"):
        text = plain_column(release.table[name])
        assert pandas[name].to_list() == polars[name].to_list() == text
    assert pandas["time in us"].to_list() == plain_column(release.table["time in us"])
    plain = release_of({"i": pa.array([datetime.date(2026, 5, 1)])})
    assert plain.to_pandas()["i"].to_list() == plain.to_polars()["i"].to_list()
    assert plain.to_pandas()["i"].to_list() == [datetime.date(2026, 5, 1)]


@pytest.mark.parametrize("column", ODD)
def test_the_top_of_each_segment(column):
    """NaN is one segment, though each is another to Python."""
    segments = repeated(ODD[column])
    doubled = pa.concat_arrays([segments, segments])
    released = release_of({column: doubled, "item": list(map(str, range(len(doubled))))})
    kept = RowLimits(top=1, per=(column,)).applied_to(released)
    names = list(map(str, plain_column(kept.table[column])))
    assert sorted(names) == sorted(set(map(str, plain_column(pa.chunked_array([segments])))))


DAYS = ["infinity", "-infinity", "100000-01-01", "0044-03-15 (BC)", "2026-05-01"]


@pytest.mark.parametrize("method", ["auto", "pcr"])
@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S"])
def test_a_run_that_releases_them_is_not_lost(kind, method, headcount, tmp_path):
    source, ledger = tmp_path / "e.duckdb", tmp_path / "ledger.db"
    with duckdb.connect(str(source)) as connection:
        connection.execute(f"CREATE TABLE e (who INTEGER, what {kind}, item TEXT)")
        for day in DAYS:
            connection.execute(
                f"INSERT INTO e SELECT n, CAST(? AS {kind}), item "
                "FROM range(200) people(n), (VALUES ('a'), ('b')) items(item)",
                [day],
            )
    hc.Ledger(ledger).init("shop", budget=hc.Budget(rho=100, delta=1e-3))
    asked = {"table": "e", "user": "who", "item": "item", "per": "what", "top": 1, "rho": 50}
    made = hc.release(source, **asked, method=method, ledger=ledger, dataset="shop")
    assert len(made) == len(DAYS)
    for ending in ("csv", "json", "parquet"):
        ran = headcount("ledger", "fetch", ledger, "3", "--output", tmp_path / f"r.{ending}")
        assert (ran.code, ran.out) == (0, ""), ran.err
    assert headcount("ledger", "fetch", ledger, "3").code == 0
