"""A name that is not there is answered with one that looks like it, if one does."""

import duckdb
import pyarrow as pa
import pytest

import headcount as hc
from headcount.engines.names import did_you_mean


@pytest.mark.parametrize(
    ("given", "there", "meant"),
    [
        ("user", ["user_id", "query"], "user_id"),
        ("USER_ID", ["user_id", "query"], "user_id"),
        ("qeury", ["user_id", "query"], "query"),
        ("person", ["user_id", "query"], None),
        ("x", [], None),
        ("gone.csv", ["e.csv", "a.csv"], None),
        ("event.csv", ["e.csv", "Events.CSV"], "Events.CSV"),
    ],
)
def test_the_closest_name_is_asked_about(given, there, meant):
    assert did_you_mean(given, there) == (f". Did you mean {meant!r}?" if meant else "")


def test_columns_and_tables(tmp_path):
    with pytest.raises(hc.SourceError, match=r"'user_id', 'i'\. Did you mean 'user_id'\?$"):
        hc.release(pa.table({"user_id": ["a"], "i": ["x"]}), user="usr_id", item="i", rho=1)
    path = tmp_path / "d.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE plays AS SELECT 'a' AS u, 'x' AS i")
    with pytest.raises(hc.SourceError, match=r"Did you mean 'plays'\?$"):
        hc.release(path, table="play", user="u", item="i", rho=1)


def test_files(tmp_path):
    for name in ("events.parquet", "events.py"):
        (tmp_path / name).touch()
    with pytest.raises(
        hc.SourceError, match=r"event\.parquet'\. Did you mean 'events\.parquet'\?$"
    ):
        hc.release(tmp_path / "event.parquet", user="u", item="i", rho=1)
    with pytest.raises(hc.SourceError, match=r"evening\.csv'$"):
        hc.release(tmp_path / "evening.csv", user="u", item="i", rho=1)


@pytest.mark.parametrize(
    "first", ['{"u":"zoe","i":"flu"}', '[{"u":"zoe","i":"flu"},', ' {"u": "zoe"}']
)
@pytest.mark.parametrize("asked", [{}, {"by": ("day", "at")}, {"where": "x = '1'"}])
def test_a_row_that_is_taken_for_the_names_of_columns_is_not_shown(tmp_path, first, asked):
    (tmp_path / "e.csv").write_text(f"{first}\n{first}\n")
    with pytest.raises(hc.SourceError, match="looks like JSON lines") as raised:
        hc.release(tmp_path / "e.csv", user="u", item="i", rho=1, **asked)
    assert "zoe" not in str(raised.value)
