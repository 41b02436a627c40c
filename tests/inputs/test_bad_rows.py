"""What one row can do to others: the table of docs/explanation/known-limits.md, row by row."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.errors import SourceError
from tests.inputs.counting import counts
from tests.markdown import ROOT

PAGE = ROOT / "docs" / "explanation" / "known-limits.md"
#: Lines that are rows without values to every DuckDB.
NULLS = (b"null", b"\r", b"{}")
OLD_DUCKDB = int(duckdb.__version__.partition(".")[0]) < 2
MB = 2**20

CSV = [b"u,i,x", b"1,a,", b"2,a,", b"3,b,"]
JSON = [b'{"u": 1, "i": "a"}', b'{"u": 2, "i": "a"}', b'{"u": 3, "i": "b"}']
#: Each row of the table, and ways to write it.
OF_CSV = {
    "with a field too many or too few": [b"7,z", b"7,z,z,z"],
    'with text after a closing quote, as in `"say \\"hi\\""`': [b'7,"z"z,', rb'7,"say \"hi\"",'],
    "with a quote that no later row closes": [b'7,"z,'],
    "with such a quote in its last column": [b'7,z,"'],
    "with a quote that a later row closes": [b'7,"z,\n1,b,\n8,z",'],
    "that is not UTF-8": [b"7,\xff,"],
    "that ends in CR LF where others end in LF": [b"7,z,y\r"],
    "that ends in LF where others end in CR LF": [b"LF"],
    "with a carriage return outside of quotes": [b"7,z\rz,"],
    "of more than 2 MB": [b"7," + b"z" * 3 * MB + b","],
}
FIRST = "that comes first, and "
OF_JSON = {
    f"{FIRST}is not one object": [b'{"u": 7, "i": "z"', b'{"u": 7, "i": "z"}{"u": 8}', b"{}"],
    f"{FIRST}has a list or an object in a column that is asked for": [
        b'{"u": 7, "i": ["z"]}',
        b'{"u": 7, "i": {"z": 1}}',
    ],
    "that comes later, and is not one object": [
        *(b"z", b"[", b"]", b"{", b"}", b'"', b'"z', b"7", b"null", b"[]", b"\0", b"\r", b"{}"),
        *(b'{"u": 7, "i": [', b'{"u": 7, "i":', b'{"u": 7, "i": "z', b'{"u": 7, "i": "z\0"}'),
        *(b'[{"u": 7, "i": "z"}]', b'[{"u": 7,', b'{"u": 7, "i": "z\n"}', b"[" * 5000),
    ],
    "that is not UTF-8": [b'{"u": 7, "i": "\xff"}', b'{"u": 7, "i": "z", "\xff": 1}'],
    'with half a character, such as an emoji cut in two (`"\\ud83d"`)': [
        rb'{"u": 7, "i": "\ud83d"}',
        rb'{"u": 7, "i": "\\\uDE00"}',
        rb'{"u": "\ud83d", "i": "z"}',
    ],
    "with a key twice": [b'{"u": 7, "i": "z", "i": "z"}'],
    "with keys that are the same but for case": [b'{"u": 7, "i": "z", "I": "y", "U": 8}'],
    "of more than 16 MB": [b'{"u": 7, "i": "' + b"z" * 34 * MB + b'"}'],
}
#: A column with such a value.
NOT_UTF_8 = pa.Array.from_buffers(pa.string(), 2, pa.array([b"a", b"\xff"]).buffers())
BELOW_0 = pa.Array.from_buffers(pa.time64("us"), 2, pa.array([1, -1]).buffers())
ARROW = "Parquet, Arrow"
OF_COLUMNS = {
    (ARROW, "with text that is not UTF-8"): NOT_UTF_8,
    (ARROW, "with a time of day below 0 or above 24:00"): BELOW_0,
    (
        "Parquet",
        "with a time in milliseconds or seconds that overflows in microseconds",
    ): pa.array([1, 2**62]).cast(pa.timestamp("ms")),
    ("pandas, Polars", "that makes every value of a column of Python objects a list"): [["a"], ()],
}


def table():
    """Return the rows of the table: source, row, and what happens with DuckDB and with Spark."""
    section = PAGE.read_text().split("## Rows that make a run fail")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines[2:]]


def test_what_is_documented_is_tested_and_the_other_way_round():
    tested = [("CSV", row) for row in OF_CSV] + [("JSON lines", row) for row in OF_JSON]
    assert [(source, row) for source, row, *_ in table()] == [*tested, *OF_COLUMNS]


TEXTS = [
    pytest.param(form, row, line, outcome, engine, id=f"{engine} {form} {row} {n}")
    for form, ways in (("CSV", OF_CSV), ("JSON lines", OF_JSON))
    for source, row, *outcomes in table()
    for engine, outcome in zip(("duckdb", "spark"), outcomes, strict=True)
    for n, line in enumerate(ways.get(row, ()) if source == form else ())
    if not (OLD_DUCKDB and engine == "duckdb" and "more than 16 MB" in row)  # it may never end
]


def written(tmp_path, form, row, line):
    """Return a file with a row among three others: two users have a, one has b."""
    if form == "CSV":
        path, rows, place = tmp_path / "e.csv", CSV, 2
    else:
        path, rows, place = tmp_path / "e.jsonl", JSON, 0 if row.startswith(FIRST) else 1
    text = b"\n".join([*rows[:place], line, *rows[place:], b""])
    path.write_bytes(b"u,i,x\r\n1,a,\r\n2,a,y\n7,z,\r\n3,b,\r\n" if line == b"LF" else text)
    return path


def entries_of(tmp_path, source, **options):
    """Return what a ledger has of a run that fails."""
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("d", budget=hc.Budget(rho=1, delta=1e-6))
    budget = hc.Budget(rho=1, delta=1e-6)
    with pytest.raises(SourceError):
        hc.release(source, user="u", item="i", budget=budget, ledger=ledger, dataset="d", **options)
    return [str(entry.kind) for entry in ledger.log()]


@pytest.mark.parametrize(("form", "row", "line", "outcome", "engine"), TEXTS)
def test_a_row_of_text(tmp_path, request, form, row, line, outcome, engine):
    if engine == "spark":
        request.getfixturevalue("spark")
    elif OLD_DUCKDB and line not in NULLS and (outcome.endswith("values") or "twice" in row):
        outcome = "fails"
    path = written(tmp_path, form, row, line)
    if outcome in ("fails", "can fail"):
        with pytest.raises(SourceError):
            counts(path, engine=engine)
        return
    found = counts(path, engine=engine)
    others = {"a": 2, "b": 1}
    if outcome in ("has no values", "can have no values"):
        assert found == others
    elif outcome == "is read":
        assert found.items() > others.items()
    else:
        assert outcome == "takes other rows"
        assert found.get("b", 0) < path.read_bytes().count(b",b,")


if not OLD_DUCKDB:  # for which such rows are errors

    def test_many_rows_without_values_change_no_others(tmp_path):
        """Also where DuckDB reads a file in several pieces at once."""
        bad = [param.values[2] for param in TEXTS if param.values[3] == "has no values"]
        good = [b'{"u": %d, "i": "a", "x": "%s"}' % (n, b"x" * 10_000) for n in range(8_000)]
        lines = [line for n, one in enumerate(good) for line in (bad[n % len(bad)], one)]
        (tmp_path / "e.jsonl").write_bytes(b"\n".join([*good[:1], *lines]))
        assert counts(tmp_path / "e.jsonl") == {"a": 8_000}


FAILING = [param for param in TEXTS if param.values[3] == "fails" and param.values[4] == "duckdb"]


@pytest.mark.parametrize(("form", "row", "line", "outcome", "engine"), FAILING)
def test_a_row_that_fails_costs_only_those_who_could_choose_it(
    tmp_path, form, row, line, outcome, engine
):
    path = written(tmp_path, form, row, line)
    (tmp_path / "said").mkdir()
    assert entries_of(tmp_path, path) == ["open", "reserve", "return"]
    said = {"CSV": "csv", "JSON lines": "json"}[form]
    assert entries_of(tmp_path / "said", path, input_format=said) == ["open", "reserve"]


# An older DuckDB reads some times below 0.
@pytest.mark.parametrize(
    ("source", "row"),
    [of for of, column in OF_COLUMNS.items() if not (OLD_DUCKDB and column is BELOW_0)],
)
def test_a_value_of_a_column(tmp_path, source, row):
    column, path = OF_COLUMNS[source, row], tmp_path / "e.parquet"
    if source.startswith("pandas"):
        objects = pd.Series(column, dtype=object)
        forms = [pd.DataFrame({"u": [1, 2], "i": objects})]
        forms += [pl.DataFrame({"u": [1, 2], "i": pl.Series(column, dtype=pl.Object)})]
        assert counts(pd.DataFrame({"u": [1, 2, 3], "i": pd.Series([*column, "x"])}))["x"] == 1
    else:
        events = pa.table({"u": [1, 2], "i": column})
        pq.write_table(events, path)
        forms = [path] + [events] * ("Arrow" in source)
    for n, form in enumerate(forms):
        (tmp_path / str(n)).mkdir()
        assert entries_of(tmp_path / str(n), form) == ["open", "reserve", "return"]
