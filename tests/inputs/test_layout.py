"""What is said about files beside their name: what they are, and what separates their fields."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.engines import Session, reader, register, unregister
from headcount.engines.layout import Layout, likely_delimiter
from headcount.errors import SettingsError, SourceError
from tests.engines import shop
from tests.inputs.counting import counts


@pytest.mark.parametrize(
    ("typed", "between"),
    [(";", ";"), ("|", "|"), ("tab", "\t"), ("\\t", "\t"), ("\t", "\t"), (",", ","), (" ", " ")],
)
@pytest.mark.parametrize("name", ["e.csv", "e.tsv", "e.csv.gz"])
def test_delimiters(tmp_path, typed, between, name):
    content = f'u{between}i\n1{between}a\n2{between}"a{between}b"\n'.encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    expected = {"a": 1, f"a{between}b": 1}
    assert counts(path, layout=Layout(delimiter=typed)) == expected


@pytest.mark.parametrize("typed", ["", ";;", '"', "\n", "\r", "x", "0", "\\", "ü", "\0", 5])
def test_what_is_no_delimiter(typed):
    with pytest.raises(SettingsError, match="a delimiter is one character"):
        Layout(delimiter=typed)


def test_a_format_takes_the_place_of_an_ending(tmp_path):
    table = pa.table({"u": [1, 2], "i": ["a", "a"]})
    pq.write_table(table, tmp_path / "events.dat")
    (tmp_path / "events.txt").write_text("u;i\n1;a\n2;a\n")
    (tmp_path / "events.log.gz").write_bytes(gzip.compress(b'{"u":1,"i":"a"}\n{"u":2,"i":"a"}'))
    assert counts(tmp_path / "events.dat", layout=Layout("parquet")) == {"a": 2}
    assert counts(tmp_path / "events.dat", layout=Layout("parquet"), engine="polars") == {"a": 2}
    assert counts(tmp_path / "events.txt", layout=Layout("csv", ";")) == {"a": 2}
    assert counts(tmp_path / "events.log.gz", layout=Layout("json")) == {"a": 2}
    with pytest.raises(SourceError, match="is not what the input format says"):
        counts(tmp_path / "events.dat", layout=Layout("csv"))
    with pytest.raises(SourceError, match="name it with --input-format"):
        counts(tmp_path / "events.txt")
    with pytest.raises(SettingsError, match="an input format is one of: parquet, arrow"):
        Layout("excel")


def test_both_in_a_release(tmp_path):
    path = tmp_path / "events.txt"
    path.write_text("u;i\n" + "".join(f"{n};tea\n" for n in range(3000)))
    asked = {"source": path, "user": "u", "item": "i", "input_format": "csv", "delimiter": ";"}
    question = hc.Question(**asked, budget=hc.Budget(rho=1))
    assert hc.Question.from_json(question.to_json()).delimiter == ";"
    assert hc.ask(question).table["i"].to_pylist() == ["tea"]
    assert hc.release(**asked, rho=1).table["i"].to_pylist() == ["tea"]
    sql = "SELECT u, upper(i) AS i FROM events"
    assert hc.release(**asked, rho=1, sql=sql).table["i"].to_pylist() == ["TEA"]


@pytest.mark.parametrize("layout", [Layout("csv"), Layout(delimiter=";")])
def test_neither_goes_with_a_table(tmp_path, layout):
    with pytest.raises(SettingsError, match="only for files and stdin"):
        counts(pa.table({"u": [1], "i": ["a"]}), layout=layout)
    with pytest.raises(SettingsError, match="only for files and stdin"):
        counts("postgres://nowhere.invalid/db", layout=layout, table="t")


def test_a_delimiter_goes_with_csv(tmp_path):
    pq.write_table(pa.table({"u": [1], "i": ["a"]}), tmp_path / "e.parquet")
    (tmp_path / "e.jsonl").write_text('{"u":1,"i":"a"}')
    for name in ("e.parquet", "e.jsonl"):
        with pytest.raises(SettingsError, match="a delimiter is only for CSV files"):
            counts(tmp_path / name, layout=Layout(delimiter=";"))


def test_an_engine_that_knows_no_layout(tmp_path):
    (tmp_path / "e.csv").write_text("u,i\n1,a\n")
    register(shop.reader)
    try:
        assert counts(tmp_path / "e.csv", engine="shop") == {"a": 1}
        with pytest.raises(SettingsError, match="The shop recognises files by their endings"):
            counts(tmp_path / "e.csv", engine="shop", layout=Layout(delimiter=";"))
    finally:
        unregister("shop")


@pytest.mark.parametrize(
    ("header", "found"),
    [("u;i", ";"), ("u\ti", "\t"), ("u|i|j", "|"), ("u,i;j,k", ","), ("user", None)],
)
def test_a_likely_delimiter(header, found):
    assert likely_delimiter(header) == found


@pytest.mark.parametrize(
    ("between", "said"),
    [
        (";", r"--delimiter ';' \(delimiter=';'\)"),
        ("|", r"--delimiter '\|'"),
        ("\t", r"by a tab, use --delimiter 'tab'"),
    ],
)
def test_a_header_that_looks_like_one_name_is_told(tmp_path, between, said):
    (tmp_path / "e.csv").write_text(f"u{between}i\n1{between}a\n")
    with pytest.raises(SourceError, match=said):
        counts(tmp_path / "e.csv")


def test_no_delimiter_is_guessed_where_there_are_columns(tmp_path):
    (tmp_path / "e.csv").write_text("user,a;b\n1,a\n")
    with pytest.raises(SourceError, match=r"the columns are: 'user', 'a;b'$"):
        counts(tmp_path / "e.csv", user="who", item="a;b")


def test_what_is_expected_of_a_line_names_the_delimiter(tmp_path):
    (tmp_path / "e.csv").write_text("u;i\n1;a;b\n")
    with pytest.raises(SourceError, match="separated by ';', quotes closed"):
        counts(tmp_path / "e.csv", layout=Layout(delimiter=";"))


def test_polars_reads_parquet_only(tmp_path):
    (tmp_path / "e.csv").write_text("u;i\n1;a\n")
    with pytest.raises(
        SourceError, match="Polars reads Parquet files here, and this is CSV; leave"
    ):
        counts(tmp_path / "e.csv", engine="polars", layout=Layout(delimiter=";"))


ELSEWHERE = {
    "http://host/e.csv?token=s3cret": "curl -L ADDRESS",
    "https://user:s3cret@host/e.csv": "curl -L ADDRESS",
    "s3://bucket/s3cret.parquet": "--engine spark",
    "gs://bucket/s3cret.parquet": "pyarrow.dataset",
    "odd://s3cret": "supported are postgres://",
}


@pytest.mark.parametrize(("address", "said"), ELSEWHERE.items())
def test_an_address_is_refused_with_what_to_do(address, said):
    with pytest.raises(SourceError) as refused:
        hc.release(address, user="u", item="i", rho=1)
    assert said in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_spark_does_not_read_the_web():
    with pytest.raises(SourceError, match="https:// addresses are not read"):
        hc.release("https://host/e.csv", user="u", item="i", rho=1, engine="spark")


def test_spark_folders_are_parquet(tmp_path):
    with Session() as session, pytest.raises(SourceError, match="name its files with a glob"):
        reader("spark").read_files(session, str(tmp_path), None, {}, Layout("csv"))
